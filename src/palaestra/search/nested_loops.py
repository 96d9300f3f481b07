"""Nested search for one player, compiled once per game: a template for `palaestra.base.jit.bind`.

Both kernels are machines with an explicit stack, one record a level, and no recursion. A call goes on from where the
last one stopped and makes about `quota` playouts, so that the caller can be interrupted however high the level. The
stacks are laid out in `palaestra.search.nested_stack`; `palaestra.search.nested` explains the algorithms. Free names:
the game's `move` and `legal`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.jit import inlined, kernel
from palaestra.base.streams import below, uniform
from palaestra.base.types import Float64s, Int32s, Int64s, UInt64s
from palaestra.games.rows import ONGOING, copy_state, outcome
from palaestra.search.nested_stack import (
    BEST,
    COUNT,
    HEAVIEST,
    LENGTH,
    LIGHTEST,
    NOTHING,
    STEP,
    TRIED,
    NmcsStack,
    NrpaStack,
)

if TYPE_CHECKING:
    from palaestra.games.kernel_game import legal, move


# Explicit loops, not slice assignments: those cost microseconds each in compiled code (sources: prototype of Morpion).


@inlined
def unsigned(index: int) -> np.uint64:
    """An index that cannot be negative, so that nobody looks whether it counts from the end."""
    return np.uint64(index)


@inlined
def copy_part(source: Int32s, target: Int32s, begin: int, end: int) -> None:
    for i in range(begin, end):
        target[i] = source[i]


@inlined
def open_level(stack: NmcsStack, level: int, step: int, p: Int64s) -> None:
    """Begin a search at states[level], which is not over and `step` moves from the root."""
    stack.records[level, STEP] = step
    stack.records[level, BEST] = NOTHING
    stack.records[level, COUNT] = legal(stack.states[level], stack.actions[level], p)
    stack.records[level, TRIED] = 0


@inlined
def absorb(stack: NmcsStack, level: int) -> None:
    """Remember the line found one level below if it is better than the best one here."""
    if stack.records[level - 1, BEST] > stack.records[level, BEST]:
        length = stack.records[level - 1, LENGTH]
        copy_part(stack.lines[level - 1], stack.lines[level], stack.records[level, STEP], length)
        stack.records[level, LENGTH] = length
        stack.records[level, BEST] = stack.records[level - 1, BEST]


@inlined
def random_game(stack: NmcsStack, step: int, streams: UInt64s, p: Int64s) -> None:
    """Level 0: uniform play from states[0], `step` moves from the root, to the end."""
    state = stack.states[0]
    while outcome(state) == ONGOING:
        count = legal(state, stack.actions[0], p)
        action = stack.actions[0, below(streams, 0, count)]
        stack.lines[0, step] = action
        step += 1
        move(state, action, p)
    stack.records[0, LENGTH] = step
    stack.records[0, BEST] = outcome(state)


@kernel
def nmcs_open(stack: NmcsStack, top: int, p: Int64s) -> None:
    """Begin at the root, which is in states[top]."""
    open_level(stack, top, 0, p)


@kernel
def nmcs_run(stack: NmcsStack, level: int, top: int, streams: UInt64s, p: Int64s, quota: int) -> np.int64:
    """Go on at `level` for about `quota` playouts; the level to go on at next, `top` + 1 when the search is done."""
    records = stack.records
    made = 0
    while level <= top and made < quota:
        step = records[level, STEP]
        if records[level, TRIED] == records[level, COUNT]:  # every move was tried: follow the best line by one
            state = stack.states[level]
            move(state, stack.lines[level, step], p)
            if outcome(state) == ONGOING:
                records[level, STEP] = step + 1
                records[level, COUNT] = legal(state, stack.actions[level], p)
                records[level, TRIED] = 0
            else:
                level += 1
                if level <= top:
                    absorb(stack, level)
            continue
        action = stack.actions[level, records[level, TRIED]]
        records[level, TRIED] += 1
        child = level - 1
        copy_state(stack.states[level], stack.states[child])
        move(stack.states[child], action, p)
        stack.lines[child, step] = action
        if child > 0 and outcome(stack.states[child]) == ONGOING:
            open_level(stack, child, step + 1, p)
            level = child
            continue
        if child == 0:
            random_game(stack, step + 1, streams, p)
        else:
            records[child, LENGTH] = step + 1
            records[child, BEST] = outcome(stack.states[child])
        absorb(stack, level)
        made += 1
    records[0, TRIED] += made
    return np.int64(level)


@inlined
def weighted_game(stack: NrpaStack, streams: UInt64s, p: Int64s) -> None:
    """Level 0: play to the end from the root, each move in proportion to its weight at level 1; keep every list."""
    weights, state = stack.weights[1], stack.state
    sums, offsets, options = stack.sums, stack.offsets[0], stack.options[0]
    copy_state(stack.root, state)
    step = 0
    begin = np.int64(0)
    while outcome(state) == ONGOING:
        count = legal(state, options[begin:], p)
        total = 0.0
        for i in range(count):
            total += weights[unsigned(options[begin + i])]
            sums[i] = total
        target = uniform(streams, 0) * total
        chosen = np.int64(0)
        for i in range(count - 1):  # all of them, which is faster than to guess where to stop
            chosen += sums[i] <= target
        action = options[begin + chosen]
        stack.lines[0, step] = action
        begin += count
        step += 1
        offsets[step] = begin
        move(state, action, p)
    stack.records[0, LENGTH] = step
    stack.records[0, BEST] = outcome(state)


@inlined
def adapt(stack: NrpaStack, level: int, alpha: float) -> None:
    """Draw the weights of a level toward its best line: logit +α for the move played, -α·p for every legal one.

    All probabilities are those before the change; the lists were kept, so nothing is replayed. Codes that are images of
    each other have equal weights and take the changes of all of them.
    """
    weights, change, images, touched = stack.weights[level], stack.change, stack.images, stack.touched
    offsets, options, line = stack.offsets[level], stack.options[level], stack.lines[level]
    length, count = stack.records[level, LENGTH], np.int64(0)
    for step in range(length):
        total = 0.0
        for i in range(offsets[step], offsets[step + 1]):
            total += weights[unsigned(options[i])]
        share = alpha / total
        for i in range(offsets[step], offsets[step + 1]):
            code = unsigned(options[i])
            touched[count] = options[i]  # stays if it is the first time
            count += change[code] == 0.0
            change[code] -= weights[code] * share
        change[unsigned(line[step])] += alpha
    for i in range(count):
        code = unsigned(touched[i])
        if change[code] == 0.0:
            continue
        by = 0.0
        for k in range(images.shape[1]):
            image = images[code, k]
            if image >= 0:
                by += change[unsigned(image)]
                change[unsigned(image)] = 0.0
        weight = min(max(weights[code] * math.exp(by), LIGHTEST), HEAVIEST)
        for k in range(images.shape[1]):
            image = images[code, k]
            if image >= 0:
                weights[unsigned(image)] = weight


@inlined
def keep_line(stack: NrpaStack, level: int) -> None:
    """The line of the level below becomes the best one here if it is at least as good: of equals the newer.

    Counts how often a best line comes again.
    """
    below_it = level - 1
    if stack.records[below_it, BEST] >= stack.records[level, BEST]:
        length = stack.records[below_it, LENGTH]
        same = length == stack.records[level, LENGTH] and stack.records[level, BEST] != NOTHING
        step = 0
        while same and step < length:
            same = stack.lines[below_it, step] == stack.lines[level, step]
            step += 1
        stack.records[level, STEP] = stack.records[level, STEP] + 1 if same else 0
        copy_part(stack.lines[below_it], stack.lines[level], 0, length)
        copy_part(stack.offsets[below_it], stack.offsets[level], 0, length + 1)
        copy_part(stack.options[below_it], stack.options[level], 0, stack.offsets[below_it, length])
        stack.records[level, LENGTH] = length
        stack.records[level, BEST] = stack.records[below_it, BEST]


@inlined
def copy_weights(source: Float64s, target: Float64s) -> None:
    for i in range(source.shape[0]):
        target[i] = source[i]


@kernel
def nrpa_run(
    stack: NrpaStack,
    top: int,
    n: int,
    alpha: float,
    playouts: int,
    repeats: int,
    streams: UInt64s,
    p: Int64s,
    quota: int,
) -> bool:
    """Go on for about `quota` playouts; whether the search is done."""
    for _ in range(quota):
        weighted_game(stack, streams, p)
        stack.records[0, TRIED] += 1
        stack.records[0, COUNT] += 1
        level = 1
        keep_line(stack, level)
        if stack.records[0, COUNT] < playouts:
            continue
        stack.records[0, COUNT] = 0
        while True:
            adapt(stack, level, alpha)
            stack.records[level, TRIED] += 1
            if stack.records[level, TRIED] < n and stack.records[level, STEP] < repeats:
                break
            level += 1
            if level > top:
                return True
            keep_line(stack, level)
        while level > 1:  # the levels below begin afresh with the weights of the one above
            copy_weights(stack.weights[level], stack.weights[level - 1])
            level -= 1
            stack.records[level, TRIED] = 0
            stack.records[level, STEP] = 0
            stack.records[level, BEST] = NOTHING
    return False
