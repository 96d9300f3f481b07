"""Compiled rules of a game given by gates: 64 games to a word, states with the header of `palaestra.games.rows`.

A row is uint64[1 + K]: the header's eight bytes, then the facts as `palaestra.ggp.kernels` packs them. Who is to play
is read off the legal moves: whoever has a choice. Where neither role has one, a role that may do something else than
wait is to play (`Turns.idle` says what waiting is), and otherwise the one who was not before. Knows no terms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from palaestra.base.jit import allocating, inlined, kernel
from palaestra.base.types import Bools, Float32s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.bits import lowest
from palaestra.games.rows import ONGOING
from palaestra.ggp.kernels import (
    LANES,
    Gates,
    clear_moves,
    empty_block,
    evaluate,
    load,
    next_words,
    set_facts,
    store,
    word_of,
)

_0, _1, _ALL = np.uint64(0), np.uint64(1), np.uint64(0xFFFFFFFFFFFFFFFF)
_16, _32, _LOW = np.uint64(16), np.uint64(32), np.uint64(0xFFFFFFFF)
STUCK, AT_ONCE = 1, 2  # what is wrong with a state, or 0: a role without a move, two roles with a choice


class Turns(NamedTuple):
    """What a Game says beyond the gates."""

    move_of: Int32s  # [roles, actions]: a number among all moves, or -1
    idle: Bools  # [moves of all roles]: what a role does while the other one has a choice
    ranks: Int32s  # [101]: the place of a goal among all goals of the rules
    margin: bool  # whether an outcome is the difference of ranks, not just its sign
    max_plies: int


# The header as one word.


@inlined
def pack_header(mover: int, ply: int, outcome: int) -> np.uint64:
    return np.uint64(mover) | np.uint64(ply) << _16 | (np.uint64(outcome) & _LOW) << _32


@inlined
def mover_of(row: UInt64s) -> np.int64:
    return np.int64(row[0] & np.uint64(255))


@inlined
def ply_of(row: UInt64s) -> np.int64:
    return np.int64((row[0] >> _16) & np.uint64(0xFFFF))


@inlined
def is_over(row: UInt64s) -> bool:
    return (row[0] >> _32) != (np.uint64(ONGOING) & _LOW)


# What a block of states says, word by word; gates of the part STATE are evaluated.


@kernel
def _options(
    values: UInt64s, gates: Gates, turns: Turns, begin: int, end: int, w: int
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Games in which a role has a move, games in which it has several, and games in which it may wait.

    The role's moves are begin … end-1: a role's number, a literal, would compile this once for each.
    """
    some, several, idle = _0, _0, _0
    for move in range(begin, end):
        word = word_of(values, gates.legal[move], w)
        several |= some & word
        some |= word
        if turns.idle[move]:
            idle |= word
    return some, several, idle


@kernel
def judge(values: UInt64s, gates: Gates, turns: Turns, w: int, before: np.uint64) -> tuple[np.uint64, ...]:
    """Games whose next mover is the second role, games that are over, and games with a fault: stuck, at once.

    `before` are the games in which the second role moved last.
    """
    over = word_of(values, gates.terminal[0], w)
    some, several, idle = _options(values, gates, turns, gates.roles[0], gates.roles[1], w)
    if gates.roles.shape[0] == 2:
        return _0, over, ~over & ~some, _0
    some1, several1, idle1 = _options(values, gates, turns, gates.roles[1], gates.roles[2], w)
    alike = ~(idle ^ idle1)
    forced = (idle & ~idle1) | (alike & ~before)
    second = (several1 | (~several & forced)) & ~over | over & ~before
    return second, over, ~over & ~(some & some1), ~over & several & several1


@kernel
def wait(values: UInt64s, gates: Gates, w: int, on_turn: UInt64s) -> None:
    """Of two roles, each does its only move in the games on_turn[r] in which the other one, r, is to play."""
    for role in range(2):
        for move in range(gates.roles[role], gates.roles[role + 1]):
            values[1 + gates.facts + move, w] |= word_of(values, gates.legal[move], w) & on_turn[1 - role]


@kernel
def list_word(
    values: UInt64s, turns: Turns, gates: Gates, w: int, movers: UInt64s, counts: Int32s, actions: Int32s
) -> None:
    """Legal actions of up to 64 games, ascending; movers[r] are the games in which role r is to play."""
    for action in range(turns.move_of.shape[1]):
        for role in range(turns.move_of.shape[0]):
            move = turns.move_of[role, action]
            if move < 0:
                continue
            word = word_of(values, gates.legal[move], w) & movers[role]
            while word:
                lane = lowest(word)
                word &= word - _1
                actions[lane, counts[lane]] = action
                counts[lane] += 1


@allocating
def end_games(values: UInt64s, gates: Gates, turns: Turns, w: int, ended: np.uint64, rows: UInt64s) -> None:
    """Write the outcomes of `ended` games into their headers; all parts but AFTER are evaluated.

    Two players: the goals compared, and a draw where the game was cut off. One player: the goal as it stands.
    """
    roles = gates.roles.shape[0] - 1
    over = word_of(values, gates.terminal[0], w)
    goals = np.zeros(2, dtype=np.int64)
    while ended:
        lane = lowest(ended)
        bit = _1 << np.uint64(lane)
        ended &= ended - _1
        goals[:] = 0
        for goal in range(gates.goals.shape[0]):
            if word_of(values, gates.goals[goal], w) & bit:
                owner = gates.owners[goal]
                goals[owner] = max(goals[owner], gates.values[goal])
        outcome = goals[0]
        if roles == 2:
            outcome = np.int64(turns.ranks[goals[0]] - turns.ranks[goals[1]]) if over & bit else np.int64(0)
            if not turns.margin:
                outcome = np.int64(np.sign(outcome))
        rows[lane, 0] = pack_header(mover_of(rows[lane]), ply_of(rows[lane]), outcome)


@kernel
def evaluate_goals(values: UInt64s, gates: Gates) -> None:
    """Beyond the part STATE."""
    evaluate(values, gates, gates.parts[1], gates.parts[2])
    evaluate(values, gates, gates.parts[3], gates.parts[4])


@inlined
def _second_movers(rows: UInt64s, first: int) -> np.uint64:
    """Of 64 rows from `first` on, those in which the second role is to play."""
    word = _0
    for lane in range(min(LANES, rows.shape[0] - first)):
        word |= np.uint64(mover_of(rows[first + lane])) << np.uint64(lane)
    return word


@inlined
def running_of(rows: UInt64s, first: int) -> np.uint64:
    """Of 64 rows from `first` on, those that are not over; there may be fewer rows."""
    word = _0
    for lane in range(min(LANES, rows.shape[0] - first)):
        word |= np.uint64(not is_over(rows[first + lane])) << np.uint64(lane)
    return word


@allocating
def _do(values: UInt64s, gates: Gates, turns: Turns, rows: UInt64s, first: int, actions: Int32s) -> None:
    """Set the moves of a block: of the mover the action given, of the other role its only move."""
    on_turn = np.empty(2, dtype=np.uint64)
    clear_moves(values, gates)
    for w in range(values.shape[1]):
        begin = first + LANES * w
        on_turn[1] = _second_movers(rows, begin)
        on_turn[0] = ~on_turn[1]
        if gates.roles.shape[0] == 3:
            wait(values, gates, w, on_turn)
        for lane in range(min(LANES, rows.shape[0] - begin)):
            move = turns.move_of[mover_of(rows[begin + lane]), actions[begin + lane]]
            if move >= 0:
                values[1 + gates.facts + move, w] |= _1 << np.uint64(lane)


@allocating
def _enter(
    values: UInt64s,
    gates: Gates,
    turns: Turns,
    rows: UInt64s,
    first: int,
    counts: Int32s,
    listed: Int32s,
    faults: Int8s,
) -> None:
    """Complete the headers of a block of new states, whose facts are in `values`: mover, outcome, legal actions.

    The rows' headers still say who moved last, and already the new ply. Without columns, `listed` stays empty.
    """
    evaluate(values, gates, gates.parts[0], gates.parts[1])
    width, ending = values.shape[1], False
    ended, movers = np.zeros(width, dtype=np.uint64), np.zeros(2, dtype=np.uint64)
    for w in range(width):
        begin = first + LANES * w
        lanes = min(LANES, rows.shape[0] - begin)
        second, over, stuck, at_once = judge(values, gates, turns, w, _second_movers(rows, begin))
        for lane in range(lanes):
            bit, row = np.uint64(lane), rows[begin + lane]
            done = (over >> bit) & _1 or ply_of(row) >= turns.max_plies
            ended[w] |= np.uint64(done) << bit
            row[0] = pack_header((second >> bit) & _1, ply_of(row), ONGOING)
            if not done:
                faults[begin + lane] = STUCK * ((stuck >> bit) & _1) + AT_ONCE * ((at_once >> bit) & _1)
        ending |= ended[w] != _0
        if listed.shape[1] and lanes > 0:
            valid = _ALL >> np.uint64(LANES - lanes)
            movers[0], movers[1] = valid & ~ended[w] & ~second, valid & ~ended[w] & second
            list_word(values, turns, gates, w, movers, counts[begin : begin + lanes], listed[begin : begin + lanes])
    if ending:
        evaluate_goals(values, gates)
        for w in range(width):
            end_games(values, gates, turns, w, ended[w], rows[first + LANES * w :])


@allocating
def step_rows(
    gates: Gates,
    turns: Turns,
    rows: UInt64s,
    actions: Int32s,
    width: int,
    counts: Int32s,
    listed: Int32s,
    faults: Int8s,
) -> None:
    """Play one legal action in every row, in place; counts [B] are zeros, and actions are listed if there is room.

    Without actions, the rows become initial states: they hold the facts, and headers as `_enter` wants them. One
    kernel for both, because to compile a second one would take seconds.
    """
    facts = gates.facts
    values, words = empty_block(gates, width), np.empty((facts, width), dtype=np.uint64)
    for first in range(0, rows.shape[0], LANES * width):
        load(values, facts, rows, first)
        if actions.shape[0]:
            evaluate(values, gates, gates.parts[0], gates.parts[1])
            _do(values, gates, turns, rows, first, actions)
            evaluate(values, gates, gates.parts[1], gates.parts[3])
            next_words(values, gates, words)
            store(words, rows, first)
            set_facts(values, words)
            for row in range(first, min(rows.shape[0], first + LANES * width)):
                rows[row, 0] = pack_header(mover_of(rows[row]), ply_of(rows[row]) + 1, ONGOING)
        _enter(values, gates, turns, rows, first, counts, listed, faults)


@allocating
def legal_rows(gates: Gates, turns: Turns, rows: UInt64s, width: int, counts: Int32s, listed: Int32s) -> None:
    """The mover's legal actions; counts [B] are zeros."""
    values, movers = empty_block(gates, width), np.zeros(2, dtype=np.uint64)
    for first in range(0, rows.shape[0], LANES * width):
        load(values, gates.facts, rows, first)
        evaluate(values, gates, gates.parts[0], gates.parts[1])
        for w in range(width):
            begin = first + LANES * w
            running, second = running_of(rows, begin), _second_movers(rows, begin)
            movers[0], movers[1] = running & ~second, running & second
            if running:
                list_word(values, turns, gates, w, movers, counts[begin:], listed[begin:])


@kernel
def observe_rows(rows: UInt64s, places: Int64s, weights: Float32s, turn_at: int, planes: Float32s) -> None:
    """Fill planes [B, C, H·W], which hold zeros.

    places [2, facts, 2] is where a fact shows when role r is to play: its plane and its cell, or -1 for all cells;
    `weights` [facts] is what it shows as. Plane `turn_at`, unless it is -1, says whether the second role is to play.
    """
    for i in range(rows.shape[0]):
        role = mover_of(rows[i])
        if turn_at >= 0 and role == 1:
            planes[i, turn_at] = 1.0
        for k in range(1, rows.shape[1]):
            word = rows[i, k]
            while word:
                fact = LANES * (k - 1) + lowest(word)
                word &= word - _1
                plane, cell = places[role, fact]
                if cell >= 0:
                    planes[i, plane, cell] = weights[fact]
                else:
                    planes[i, plane] = weights[fact]
