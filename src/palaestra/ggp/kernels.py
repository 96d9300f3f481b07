"""Compiled evaluation of a network of gates, 64 games to a word, and random games that never leave compiled code.

The values of a block of games are uint64[nodes, W]: bit l of word w of a node is its value in game 64·w + l. Inputs
come first, in the order of `palaestra.ggp.network`. Outside, a state is a row of bits, uint64[K] with fact f in bit
f % 64 of word f // 64; a block of 64 rows becomes words by transposing squares of 64×64 bits. Knows no terms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from palaestra.games.bits import lowest
from palaestra.jit import inlined, kernel
from palaestra.streams import below
from palaestra.types import Bools, Int32s, Int64s, UInt64s

_0, _1, _ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
LANES = 64


class Gates(NamedTuple):
    """A network as arrays; see `palaestra.ggp.network.Network`."""

    facts: int
    starts: Int32s  # [gates + 1]
    literals: Int32s
    loops: Int32s  # [loops, 3]
    ends: Int32s  # [4]: where the parts end, in gates
    next: Int32s  # [facts]
    legal: Int32s  # [moves of all roles]
    roles: Int32s  # [roles + 1]: where the moves of each role begin
    terminal: Int32s  # [1]
    goals: Int32s  # [goals]: literals
    values: Int32s  # [goals]
    owners: Int32s  # [goals]: the role of each


@inlined
def _word(values: UInt64s, literal: int, w: int) -> np.uint64:
    """The literal in 64 games."""
    return values[literal >> 1, w] ^ (_0 - np.uint64(literal & 1))


@kernel
def _straight(values: UInt64s, gates: Gates, first: int, last: int) -> None:
    """Gates first … last-1, once."""
    width = values.shape[1]
    inputs = values.shape[0] - (gates.starts.shape[0] - 1)
    for gate in range(first, last):
        out, begin, end = inputs + gate, gates.starts[gate], gates.starts[gate + 1]
        literal = gates.literals[begin]
        node, mask = literal >> 1, _0 - np.uint64(literal & 1)
        for w in range(width):
            values[out, w] = values[node, w] ^ mask
        for place in range(begin + 1, end):
            literal = gates.literals[place]
            node, mask = literal >> 1, _0 - np.uint64(literal & 1)
            for w in range(width):
                values[out, w] &= values[node, w] ^ mask


@kernel
def _settle(values: UInt64s, gates: Gates, begin: int, heads: int, end: int) -> None:
    """Gates begin … end-1 again and again, from nothing derived, until the nodes from `heads` on stay as they are."""
    width, last = values.shape[1], values.shape[0] - (gates.starts.shape[0] - 1) + end
    before = np.empty((last - heads, width), dtype=np.uint64)
    for node in range(heads, last):
        for w in range(width):
            values[node, w] = _ALL  # they are stored inverted
    changed = True
    while changed:
        for node in range(heads, last):
            for w in range(width):
                before[node - heads, w] = values[node, w]
        _straight(values, gates, begin, end)
        changed = False
        for node in range(heads, last):
            for w in range(width):
                changed |= before[node - heads, w] != values[node, w]


@kernel
def evaluate(values: UInt64s, gates: Gates, first: int, last: int) -> None:
    """Gates first … last-1; those of a loop until the facts that derive each other no longer change."""
    inputs = values.shape[0] - (gates.starts.shape[0] - 1)
    done = first
    for loop in range(gates.loops.shape[0]):
        begin, heads, end = gates.loops[loop]
        if begin < first or begin >= last:
            continue
        _straight(values, gates, done, begin)
        _settle(values, gates, begin, inputs + heads, end)
        done = end
    _straight(values, gates, done, last)


@kernel
def transpose(square: UInt64s) -> None:
    """Exchange bit j of word i with bit i of word j, in place, in a square uint64[64]."""
    mask, half = np.uint64(0x00000000FFFFFFFF), 32
    while half:
        shift, i = np.uint64(half), 0
        while i < LANES:
            swap = ((square[i] >> shift) ^ square[i + half]) & mask
            square[i] ^= swap << shift
            square[i + half] ^= swap
            i = (i + half + 1) & ~half
        half >>= 1
        mask ^= mask << np.uint64(half)


@kernel
def load(values: UInt64s, facts: int, rows: UInt64s, first: int) -> None:
    """Set the facts of a block to the rows from `first` on; games beyond the last row become empty states."""
    square = np.empty(LANES, dtype=np.uint64)
    for w in range(values.shape[1]):
        for k in range(rows.shape[1]):
            for lane in range(LANES):
                row = first + LANES * w + lane
                square[lane] = rows[row, k] if row < rows.shape[0] else _0
            transpose(square)
            for bit in range(min(LANES, facts - LANES * k)):
                values[1 + LANES * k + bit, w] = square[bit]


@kernel
def store(words: UInt64s, rows: UInt64s, first: int) -> None:
    """Write a block's facts, uint64[facts, W], to the rows from `first` on."""
    square = np.empty(LANES, dtype=np.uint64)
    for w in range(words.shape[1]):
        for k in range(rows.shape[1]):
            for bit in range(LANES):
                square[bit] = words[LANES * k + bit, w] if LANES * k + bit < words.shape[0] else _0
            transpose(square)
            for lane in range(min(LANES, rows.shape[0] - first - LANES * w)):
                rows[first + LANES * w + lane, k] = square[lane]


@kernel
def empty_block(gates: Gates, width: int) -> UInt64s:
    """uint64[nodes, width]: the constant true, no fact and no move."""
    inputs = 1 + gates.facts + gates.legal.shape[0]
    values = np.zeros((inputs + gates.starts.shape[0] - 1, width), dtype=np.uint64)
    values[0] = _ALL
    return values


@kernel
def survey(gates: Gates, rows: UInt64s, width: int) -> tuple[Bools, Bools]:
    """Which states are over, bool[B], and which moves are legal in them, bool[B, moves]."""
    count = rows.shape[0]
    over, legal = np.zeros(count, dtype=np.bool_), np.zeros((count, gates.legal.shape[0]), dtype=np.bool_)
    values = empty_block(gates, width)
    for first in range(0, count, LANES * width):
        load(values, gates.facts, rows, first)
        evaluate(values, gates, 0, gates.ends[0])
        for w in range(width):
            begin = first + LANES * w
            lanes = min(LANES, count - begin)
            word = _word(values, gates.terminal[0], w)
            for lane in range(lanes):
                over[begin + lane] = (word >> np.uint64(lane)) & _1
            for move in range(gates.legal.shape[0]):
                word = _word(values, gates.legal[move], w)
                while word:
                    lane = lowest(word)
                    word &= word - _1
                    if lane < lanes:
                        legal[begin + lane, move] = True
    return over, legal


@kernel
def follow(gates: Gates, rows: UInt64s, joint: Int32s, width: int) -> UInt64s:
    """The states uint64[B, K] after the moves joint int32[B, roles], each a number among all moves."""
    count, facts = rows.shape[0], gates.facts
    after = np.zeros_like(rows)
    values, words = empty_block(gates, width), np.empty((facts, width), dtype=np.uint64)
    for first in range(0, count, LANES * width):
        load(values, facts, rows, first)
        values[1 + facts : 1 + facts + gates.legal.shape[0]] = _0
        for row in range(first, min(count, first + LANES * width)):
            w, lane = (row - first) // LANES, np.uint64(row % LANES)
            for role in range(joint.shape[1]):
                values[1 + facts + joint[row, role], w] |= _1 << lane
        evaluate(values, gates, 0, gates.ends[2])
        _next_words(values, gates, words)
        store(words, after, first)
    return after


@inlined
def _next_words(values: UInt64s, gates: Gates, words: UInt64s) -> None:
    """The next state's facts, uint64[facts, W]."""
    for fact in range(gates.facts):
        literal = gates.next[fact]
        node, mask = literal >> 1, _0 - np.uint64(literal & 1)
        for w in range(values.shape[1]):
            words[fact, w] = values[node, w] ^ mask


@kernel
def score(gates: Gates, rows: UInt64s, width: int) -> Int32s:
    """int32[B, roles]: the highest goal of each role that holds, 0 where none does."""
    count = rows.shape[0]
    reached_goals = np.zeros((count, gates.roles.shape[0] - 1), dtype=np.int32)
    values = empty_block(gates, width)
    for first in range(0, count, LANES * width):
        load(values, gates.facts, rows, first)
        evaluate(values, gates, 0, gates.ends[1])
        evaluate(values, gates, gates.ends[2], gates.ends[3])
        for goal in range(gates.goals.shape[0]):
            for w in range(width):
                word = _word(values, gates.goals[goal], w)
                while word:
                    row = first + LANES * w + lowest(word)
                    word &= word - _1
                    if row < count:
                        known = reached_goals[row, gates.owners[goal]]
                        reached_goals[row, gates.owners[goal]] = max(known, gates.values[goal])
    return reached_goals


@inlined
def _choose(
    values: UInt64s, gates: Gates, w: int, playing: np.uint64, games: Int64s, streams: UInt64s, lists: Int32s
) -> int:
    """Do one random legal move of each role in every playing game of a word; a game without one, or -1."""
    counts = np.empty(LANES, dtype=np.int64)
    for role in range(gates.roles.shape[0] - 1):
        counts[:] = 0
        for move in range(gates.roles[role], gates.roles[role + 1]):
            word = _word(values, gates.legal[move], w) & playing
            while word:
                lane = lowest(word)
                word &= word - _1
                lists[lane, counts[lane]] = move
                counts[lane] += 1
        left = playing
        while left:
            lane = lowest(left)
            left &= left - _1
            game = games[LANES * w + lane]
            if counts[lane] == 0:
                return game
            chosen = 0 if counts[lane] == 1 else below(streams, game, counts[lane])
            values[1 + gates.facts + lists[lane, chosen], w] |= _1 << np.uint64(lane)
    return -1


@kernel
def _take(words: UInt64s, w: int, bit: np.uint64, row: UInt64s) -> None:
    """Copy the state of one game out of a block's facts, uint64[facts, W], to a row of zeros."""
    for fact in range(words.shape[0]):
        row[fact // LANES] |= ((words[fact, w] >> bit) & _1) << np.uint64(fact % LANES)


@kernel
def _put(words: UInt64s, w: int, bit: np.uint64, row: UInt64s) -> None:
    """Set the state of one game in a block's facts to a row."""
    for fact in range(words.shape[0]):
        value = (row[fact // LANES] >> np.uint64(fact % LANES)) & _1
        words[fact, w] = (words[fact, w] & ~(_1 << bit)) | (value << bit)


@kernel
def play_out(gates: Gates, rows: UInt64s, streams: UInt64s, width: int, most: int) -> tuple[UInt64s, Int32s, int]:
    """Random games from the rows to their ends: last states, numbers of joint moves, and a game that failed or -1.

    Game i draws from streams[i] alone. A place in the block whose game is over takes the next game, so that all are
    busy. A game fails if a role has no move, or after `most` moves; its length is then -1 or `most`.
    """
    count, facts = rows.shape[0], gates.facts
    ends, lengths = np.zeros_like(rows), np.zeros(count, dtype=np.int32)
    values, words = empty_block(gates, width), np.empty((facts, width), dtype=np.uint64)
    lists = np.empty((LANES, max(1, gates.legal.shape[0])), dtype=np.int32)
    games = np.full(LANES * width, -1, dtype=np.int64)
    busy, finished = np.zeros(width, dtype=np.uint64), np.zeros(width, dtype=np.uint64)
    started = min(count, LANES * width)
    load(values, facts, rows, 0)
    for place in range(started):
        games[place] = place
        busy[place // LANES] |= _1 << np.uint64(place % LANES)
    running = started
    while running:
        evaluate(values, gates, 0, gates.ends[0])
        values[1 + facts : 1 + facts + gates.legal.shape[0]] = _0
        for w in range(width):
            over = busy[w] & _word(values, gates.terminal[0], w)
            failed = _choose(values, gates, w, busy[w] & ~over, games, streams, lists)
            if failed >= 0:
                lengths[failed] = -1
                return ends, lengths, failed
            finished[w] = over
        evaluate(values, gates, gates.ends[0], gates.ends[2])
        _next_words(values, gates, words)
        for w in range(width):
            left = busy[w]
            while left:
                lane = lowest(left)
                left &= left - _1
                place, bit = LANES * w + lane, np.uint64(lane)
                game = games[place]
                if (finished[w] >> bit) & _1:
                    _take(values[1 : 1 + facts], w, bit, ends[game])
                    if started < count:
                        _put(words, w, bit, rows[started])
                        games[place] = started
                        started += 1
                    else:
                        busy[w] &= ~(_1 << bit)
                        running -= 1
                else:
                    lengths[game] += 1
                    if lengths[game] >= most:
                        return ends, lengths, game
        values[1 : 1 + facts] = words
    return ends, lengths, -1


@kernel
def reached(bounds: Int64s, literals: Int64s, roots: Int64s) -> Bools:
    """bool[atoms]: what the roots need; atom a reads literals[bounds[a]:bounds[a + 1]], each 2·atom + negated."""
    seen = np.zeros(bounds.shape[0] - 1, dtype=np.bool_)
    waiting = np.empty(bounds.shape[0], dtype=np.int64)
    size = 0
    for root in roots:
        if not seen[root]:
            seen[root] = True
            waiting[size] = root
            size += 1
    while size:
        size -= 1
        atom = waiting[size]
        for place in range(bounds[atom], bounds[atom + 1]):
            needed = literals[place] >> 1
            if not seen[needed]:
                seen[needed] = True
                waiting[size] = needed
                size += 1
    return seen


@kernel
def components(bounds: Int64s, literals: Int64s) -> Int64s:
    """A number for each atom, equal for atoms that need each other, lower for what others need (Tarjan, 1972)."""
    count = bounds.shape[0] - 1
    index, low = np.full(count, -1, dtype=np.int64), np.zeros(count, dtype=np.int64)
    number, position = np.full(count, -1, dtype=np.int64), bounds[:-1].copy()
    path, stack = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    seen, depth, height, found = 0, 0, 0, 0
    for root in range(count):
        if index[root] >= 0:
            continue
        path[0], depth = root, 1
        while depth:
            atom = path[depth - 1]
            if index[atom] < 0:
                index[atom] = low[atom] = seen
                seen += 1
                stack[height] = atom
                height += 1
            descended = False
            while position[atom] < bounds[atom + 1]:
                needed = literals[position[atom]] >> 1
                if index[needed] < 0:
                    path[depth] = needed
                    depth += 1
                    descended = True
                    break
                if number[needed] < 0:
                    low[atom] = min(low[atom], low[needed])
                position[atom] += 1
            if descended:
                continue
            depth -= 1
            if low[atom] == index[atom]:
                while True:
                    height -= 1
                    number[stack[height]] = found
                    if stack[height] == atom:
                        break
                found += 1
    return number
