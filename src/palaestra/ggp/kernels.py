"""Compiled evaluation of a network of gates, 64 games to a word, and random games that never leave compiled code.

The values of a block of games are uint64[nodes, W]: bit l of word w of a node is its value in game 64·w + l. Inputs
come first, in the order of `palaestra.ggp.network`. Outside, a state is a row of bits, uint64[K] with fact f in bit
f % 64 of word f // 64; a block of 64 rows becomes words by transposing squares of 64×64 bits. Knows no terms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from palaestra.base.jit import allocating, inlined, kernel
from palaestra.base.streams import below
from palaestra.base.types import Bools, Int32s, Int64s, UInt64s
from palaestra.games.bits import lowest

_0, _1, _ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
LANES = 64


class Gates(NamedTuple):
    """A network as arrays; see `palaestra.ggp.network.Network`."""

    facts: int
    starts: Int32s  # [gates + 1]
    literals: Int32s
    loops: Int64s  # [loops, 3]
    parts: Int64s  # [5]: where STATE, COMMON, AFTER and GOALS begin, in gates, and where GOALS end
    next: Int32s  # [facts]
    legal: Int32s  # [moves of all roles]
    roles: Int32s  # [roles + 1]: where the moves of each role begin
    terminal: Int32s  # [1]
    goals: Int32s  # [goals]: literals
    values: Int32s  # [goals]
    owners: Int32s  # [goals]: the role of each


@inlined
def word_of(values: UInt64s, literal: int, w: int) -> np.uint64:
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


@allocating
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
    inputs, loops = values.shape[0] - (gates.starts.shape[0] - 1), gates.loops.shape[0]
    done, loop = first, 0
    while True:  # with one call of _straight: each is compiled again wherever gates are evaluated
        while loop < loops and not first <= gates.loops[loop, 0] < last:
            loop += 1
        stop = gates.loops[loop, 0] if loop < loops else last
        _straight(values, gates, done, stop)
        if loop == loops:
            return
        _settle(values, gates, stop, inputs + gates.loops[loop, 1], gates.loops[loop, 2])
        done = gates.loops[loop, 2]
        loop += 1


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


@inlined
def words_for(facts: int) -> np.int64:
    """Words of a state with so many facts: at least one."""
    return np.int64(max(1, -(-facts // LANES)))


@allocating
def load(values: UInt64s, facts: int, rows: UInt64s, first: int) -> None:
    """Set the facts of a block to the rows from `first` on; games beyond the last row become empty states.

    Words of a row that stand before its facts, such as the header of a Game, are passed over.
    """
    square = np.empty(LANES, dtype=np.uint64)
    words = words_for(facts)
    header = rows.shape[1] - words
    for w in range(values.shape[1]):
        for k in range(words):
            for lane in range(LANES):
                row = first + LANES * w + lane
                square[lane] = rows[row, header + k] if row < rows.shape[0] else _0
            transpose(square)
            for bit in range(min(LANES, facts - LANES * k)):
                values[1 + LANES * k + bit, w] = square[bit]


@allocating
def store(words: UInt64s, rows: UInt64s, first: int) -> None:
    """Write a block's facts, uint64[facts, W], to the rows from `first` on; headers stay as they are."""
    square = np.empty(LANES, dtype=np.uint64)
    count = words_for(words.shape[0])
    header = rows.shape[1] - count
    for w in range(words.shape[1]):
        for k in range(count):
            for bit in range(LANES):
                square[bit] = words[LANES * k + bit, w] if LANES * k + bit < words.shape[0] else _0
            transpose(square)
            for lane in range(min(LANES, rows.shape[0] - first - LANES * w)):
                rows[first + LANES * w + lane, header + k] = square[lane]


@allocating
def empty_block(gates: Gates, width: int) -> UInt64s:
    """uint64[nodes, width]: the constant true, no fact and no move."""
    inputs = 1 + gates.facts + gates.legal.shape[0]
    values = np.zeros((inputs + gates.starts.shape[0] - 1, width), dtype=np.uint64)
    values[0] = _ALL
    return values


# Loops: a slice assignment would bring the making of an error message into the compiled code, and take seconds.


@inlined
def set_facts(values: UInt64s, words: UInt64s) -> None:
    """Make uint64[facts, W] the facts of a block."""
    for fact in range(words.shape[0]):
        for w in range(words.shape[1]):
            values[1 + fact, w] = words[fact, w]


@inlined
def clear_moves(values: UInt64s, gates: Gates) -> None:
    """Nobody does anything yet."""
    for move in range(gates.legal.shape[0]):
        for w in range(values.shape[1]):
            values[1 + gates.facts + move, w] = _0


@allocating
def survey(gates: Gates, rows: UInt64s, width: int) -> tuple[Bools, Bools]:
    """Which states are over, bool[B], and which moves are legal in them, bool[B, moves]."""
    count = rows.shape[0]
    over, legal = np.zeros(count, dtype=np.bool_), np.zeros((count, gates.legal.shape[0]), dtype=np.bool_)
    values = empty_block(gates, width)
    for first in range(0, count, LANES * width):
        load(values, gates.facts, rows, first)
        evaluate(values, gates, gates.parts[0], gates.parts[1])
        for w in range(width):
            begin = first + LANES * w
            lanes = min(LANES, count - begin)
            word = word_of(values, gates.terminal[0], w)
            for lane in range(lanes):
                over[begin + lane] = (word >> np.uint64(lane)) & _1
            for move in range(gates.legal.shape[0]):
                word = word_of(values, gates.legal[move], w)
                while word:
                    lane = lowest(word)
                    word &= word - _1
                    if lane < lanes:
                        legal[begin + lane, move] = True
    return over, legal


@allocating
def follow(gates: Gates, rows: UInt64s, joint: Int32s, width: int) -> UInt64s:
    """The states uint64[B, K] after the moves joint int32[B, roles], each a number among all moves."""
    count, facts = rows.shape[0], gates.facts
    after = np.zeros_like(rows)
    values, words = empty_block(gates, width), np.empty((facts, width), dtype=np.uint64)
    for first in range(0, count, LANES * width):
        load(values, facts, rows, first)
        clear_moves(values, gates)
        for row in range(first, min(count, first + LANES * width)):
            w, lane = (row - first) // LANES, np.uint64(row % LANES)
            for role in range(joint.shape[1]):
                values[1 + facts + joint[row, role], w] |= _1 << lane
        evaluate(values, gates, gates.parts[0], gates.parts[3])
        next_words(values, gates, words)
        store(words, after, first)
    return after


@inlined
def next_words(values: UInt64s, gates: Gates, words: UInt64s) -> None:
    """The next state's facts, uint64[facts, W]."""
    for fact in range(gates.facts):
        literal = gates.next[fact]
        node, mask = literal >> 1, _0 - np.uint64(literal & 1)
        for w in range(values.shape[1]):
            words[fact, w] = values[node, w] ^ mask


@allocating
def score(gates: Gates, rows: UInt64s, width: int) -> Int32s:
    """int32[B, roles]: the highest goal of each role that holds, 0 where none does."""
    count = rows.shape[0]
    reached_goals = np.zeros((count, gates.roles.shape[0] - 1), dtype=np.int32)
    values = empty_block(gates, width)
    for first in range(0, count, LANES * width):
        load(values, gates.facts, rows, first)
        evaluate(values, gates, gates.parts[0], gates.parts[2])
        evaluate(values, gates, gates.parts[3], gates.parts[4])
        for goal in range(gates.goals.shape[0]):
            for w in range(width):
                word = word_of(values, gates.goals[goal], w)
                while word:
                    row = first + LANES * w + lowest(word)
                    word &= word - _1
                    if row < count:
                        known = reached_goals[row, gates.owners[goal]]
                        reached_goals[row, gates.owners[goal]] = max(known, gates.values[goal])
    return reached_goals


@allocating
def _choose(
    values: UInt64s, gates: Gates, w: int, playing: np.uint64, games: Int64s, streams: UInt64s, lists: Int32s
) -> int:
    """Do one random legal move of each role in every playing game of a word; a game without one, or -1."""
    counts = np.empty(LANES, dtype=np.int64)
    for role in range(gates.roles.shape[0] - 1):
        counts[:] = 0
        for move in range(gates.roles[role], gates.roles[role + 1]):
            word = word_of(values, gates.legal[move], w) & playing
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
def take(words: UInt64s, w: int, bit: np.uint64, row: UInt64s) -> None:
    """Copy the state of one game out of a block's facts, uint64[facts, W], to a row of zeros."""
    for fact in range(words.shape[0]):
        row[fact // LANES] |= ((words[fact, w] >> bit) & _1) << np.uint64(fact % LANES)


@kernel
def put(words: UInt64s, w: int, bit: np.uint64, row: UInt64s) -> None:
    """Set the state of one game in a block's facts to a row."""
    for fact in range(words.shape[0]):
        value = (row[fact // LANES] >> np.uint64(fact % LANES)) & _1
        words[fact, w] = (words[fact, w] & ~(_1 << bit)) | (value << bit)


@allocating
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
    load(values, facts, rows, np.int64(0))  # a literal 0 would be compiled for itself
    for place in range(started):
        games[place] = place
        busy[place // LANES] |= _1 << np.uint64(place % LANES)
    running = started
    while running:
        evaluate(values, gates, gates.parts[0], gates.parts[1])
        clear_moves(values, gates)
        for w in range(width):
            over = busy[w] & word_of(values, gates.terminal[0], w)
            failed = _choose(values, gates, w, busy[w] & ~over, games, streams, lists)
            if failed >= 0:
                lengths[failed] = -1
                return ends, lengths, failed
            finished[w] = over
        evaluate(values, gates, gates.parts[1], gates.parts[3])
        next_words(values, gates, words)
        for w in range(width):
            left = busy[w]
            while left:
                lane = lowest(left)
                left &= left - _1
                place, bit = LANES * w + lane, np.uint64(lane)
                game = games[place]
                if (finished[w] >> bit) & _1:
                    take(values[1 : 1 + facts], w, bit, ends[game])
                    if started < count:
                        put(words, w, bit, rows[started])
                        games[place] = started
                        started += 1
                    else:
                        busy[w] &= ~(_1 << bit)
                        running -= 1
                else:
                    lengths[game] += 1
                    if lengths[game] >= most:
                        return ends, lengths, game
        set_facts(values, words)
    return ends, lengths, -1
