"""Loops over batches that call a game's own rules: a template that `palaestra.base.jit.bind` compiles once per game.

The free names `start`, `play`, `legal`, `observe`, `permute` and `score` are the game's (see `kernel_game.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.jit import allocating, inlined, kernel
from palaestra.base.streams import below
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.rows import ONGOING, copy_state, mover, outcome, ply, set_mover, set_outcome, set_ply

if TYPE_CHECKING:
    from palaestra.games.kernel_game import legal, observe, permute, play, score, start


@inlined
def move(state: Int8s, action: int, p: Int64s) -> None:
    """Play `action` in place: the ply is counted first, so that `play` sees the number of the move it makes."""
    set_ply(state, ply(state) + 1)
    set_outcome(state, play(state, action, p))


@inlined
def list_legal(state: Int8s, actions: Int32s, p: Int64s) -> np.int64:
    """Write the legal actions in ascending order and return their number: 0 when play is over."""
    if outcome(state) != ONGOING:
        return np.int64(0)
    return np.int64(legal(state, actions, p))


@kernel
def initial_rows(choices: Int64s, p: Int64s, states: Int8s) -> None:
    for i in range(choices.shape[0]):
        states[i] = 0
        set_outcome(states[i], ONGOING)
        start(states[i], choices[i], p)


@kernel
def advance_rows(states: Int8s, actions: Int32s, p: Int64s) -> None:
    """In place; the caller copies."""
    for i in range(states.shape[0]):
        move(states[i], actions[i], p)


@kernel
def legal_rows(states: Int8s, p: Int64s, counts: Int32s, actions: Int32s) -> None:
    for i in range(states.shape[0]):
        counts[i] = list_legal(states[i], actions[i], p)


@kernel
def step_rows(states: Int8s, moves: Int32s, p: Int64s, counts: Int32s, actions: Int32s) -> None:
    """`advance_rows` and `legal_rows` in one pass."""
    for i in range(states.shape[0]):
        move(states[i], moves[i], p)
        counts[i] = list_legal(states[i], actions[i], p)


@kernel
def observe_rows(states: Int8s, p: Int64s, planes: Float32s) -> None:
    """`planes` [B, C, H, W] holds zeros on entry."""
    for i in range(states.shape[0]):
        observe(states[i], planes[i], p)


@kernel
def permute_rows(states: Int8s, cells: Int32s, actions: Int32s, swap: bool, p: Int64s, out: Int8s) -> None:
    """Images of states under a symmetry; with `swap` the players change places too."""
    for i in range(states.shape[0]):
        out[i] = 0
        ended = outcome(states[i])
        set_ply(out[i], ply(states[i]))
        set_mover(out[i], 1 - mover(states[i]) if swap else mover(states[i]))
        set_outcome(out[i], -ended if swap and ended != ONGOING else ended)
        permute(states[i], out[i], cells, actions, swap, p)


@kernel
def score_rows(states: Int8s, p: Int64s, scores: Int32s) -> None:
    for i in range(states.shape[0]):
        scores[i] = score(states[i], p)


@kernel
def rollout_rows(states: Int8s, streams: UInt64s, p: Int64s, scratch: Int32s) -> None:
    """Uniform random play to the end, in place; row i draws from stream i only. `scratch` is int32[max_legal]."""
    for i in range(states.shape[0]):
        state = states[i]
        while outcome(state) == ONGOING:
            count = legal(state, scratch, p)
            move(state, scratch[below(streams, i, count)], p)


@kernel
def traced_rollout_rows(
    states: Int8s, streams: UInt64s, p: Int64s, scratch: Int32s, lengths: Int32s, moves: Int32s, movers: Int8s
) -> None:
    """`rollout_rows` that also writes the actions played and who played them, [B, max_plies]."""
    for i in range(states.shape[0]):
        state = states[i]
        length = 0
        while outcome(state) == ONGOING:
            count = legal(state, scratch, p)
            action = scratch[below(streams, i, count)]
            moves[i, length] = action
            movers[i, length] = mover(state)
            length += 1
            move(state, action, p)
        lengths[i] = length


@allocating
def count_leaves(state: Int8s, depth: int, p: Int64s, max_legal: int) -> np.int64:
    """Leaves `depth` plies below `state`; a game that ended earlier counts once (sources: leaf counts). Iterative."""
    if depth == 0 or outcome(state) != ONGOING:
        return np.int64(1)
    states = np.empty((depth + 1, state.shape[0]), dtype=np.int8)
    actions = np.empty((depth, max_legal), dtype=np.int32)
    counts = np.zeros(depth, dtype=np.int64)
    following = np.zeros(depth, dtype=np.int64)
    copy_state(state, states[0])
    counts[0] = legal(states[0], actions[0], p)
    level = 0
    leaves = np.int64(0)
    while level >= 0:
        if following[level] == counts[level]:
            level -= 1
            continue
        copy_state(states[level], states[level + 1])
        move(states[level + 1], actions[level, following[level]], p)
        following[level] += 1
        if level + 1 == depth or outcome(states[level + 1]) != ONGOING:
            leaves += 1
        else:
            level += 1
            counts[level] = legal(states[level], actions[level], p)
            following[level] = 0
    return leaves
