"""Random games to their ends in compiled code, for games given by gates; see `palaestra.ggp.game_kernels` for rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from palaestra.base.jit import allocating, kernel
from palaestra.base.streams import below
from palaestra.base.types import Int8s, Int32s, Int64s, UInt64s
from palaestra.games.bits import lowest
from palaestra.games.rows import ONGOING
from palaestra.ggp.game_kernels import (
    AT_ONCE,
    STUCK,
    Turns,
    end_games,
    evaluate_goals,
    is_over,
    judge,
    list_word,
    mover_of,
    pack_header,
    ply_of,
    running_of,
    wait,
)
from palaestra.ggp.kernels import (
    LANES,
    Gates,
    clear_moves,
    empty_block,
    evaluate,
    load,
    next_words,
    put,
    set_facts,
    take,
)

_0, _1 = np.uint64(0), np.uint64(1)


class Seats(NamedTuple):
    """The places of a block in which games are played out: 64·W of them, a bit of W words each."""

    games: Int64s  # [64·W]: the row in each place, or -1
    busy: UInt64s  # [W]
    fresh: UInt64s  # [W]: places whose row has just come, so that its header says who is to play
    last: UInt64s  # [W]: places where the second role is to play, or moved last


@kernel
def _seat(place: int, following: int, rows: UInt64s, seats: Seats, words: UInt64s) -> int:
    """Let the next unfinished row into a place of the block, or leave it empty; the row to look at after it."""
    w, bit = place // LANES, np.uint64(place % LANES)
    seats.games[place] = -1
    seats.busy[w] &= ~(_1 << bit)
    while following < rows.shape[0] and is_over(rows[following]):
        following += 1
    if following == rows.shape[0]:
        return following
    seats.games[place] = following
    seats.busy[w] |= _1 << bit
    seats.fresh[w] |= _1 << bit
    seats.last[w] = (seats.last[w] & ~(_1 << bit)) | np.uint64(mover_of(rows[following])) << bit
    put(words, w, bit, rows[following, 1:])
    return following + 1


@kernel
def _goes_on(
    values: UInt64s, gates: Gates, turns: Turns, w: int, seats: Seats, rows: UInt64s, faults: Int8s
) -> np.uint64:
    """The busy places of a word whose games are not over; who is to play there goes into seats.last."""
    second, over, stuck, at_once = judge(values, gates, turns, w, seats.last[w])
    seats.last[w] = (seats.fresh[w] & seats.last[w]) | (~seats.fresh[w] & second)
    seats.fresh[w] = _0
    playing = left = seats.busy[w] & ~over
    while left:
        lane = lowest(left)
        left &= left - _1
        if ply_of(rows[seats.games[LANES * w + lane]]) >= turns.max_plies:
            playing &= ~(_1 << np.uint64(lane))
    if playing & stuck:
        faults[0] = STUCK
    elif playing & at_once:
        faults[0] = AT_ONCE
    return playing


@allocating
def _play_word(
    values: UInt64s,
    gates: Gates,
    turns: Turns,
    w: int,
    playing: np.uint64,
    seats: Seats,
    rows: UInt64s,
    streams: UInt64s,
    trace: tuple[Int32s, Int32s, Int8s],
    lists: Int32s,
) -> None:
    """One random action in each playing game of a word: the moves are set, the ply is counted, the trace written."""
    lengths, moves, movers = trace
    counts, on_turn = np.zeros(LANES, dtype=np.int32), np.empty(2, dtype=np.uint64)
    on_turn[0], on_turn[1] = playing & ~seats.last[w], playing & seats.last[w]
    list_word(values, turns, gates, w, on_turn, counts, lists)
    if gates.roles.shape[0] == 3:
        wait(values, gates, w, on_turn)
    while playing:
        lane = lowest(playing)
        playing &= playing - _1
        game, mover = seats.games[LANES * w + lane], np.int64((seats.last[w] >> np.uint64(lane)) & _1)
        action = lists[lane, below(streams, game, counts[lane])]
        values[1 + gates.facts + turns.move_of[mover, action], w] |= _1 << np.uint64(lane)
        if moves.shape[1]:
            moves[game, lengths[game]] = action
            movers[game, lengths[game]] = mover
        lengths[game] += 1
        rows[game, 0] = pack_header(mover, ply_of(rows[game]) + 1, ONGOING)


@allocating
def play_out_rows(
    gates: Gates,
    turns: Turns,
    rows: UInt64s,
    streams: UInt64s,
    width: int,
    trace: tuple[Int32s, Int32s, Int8s],
    faults: Int8s,
) -> None:
    """Uniform random games to their ends, in place; game i draws from streams[i] alone.

    A place of the block whose game is over takes the next one. The trace is lengths [B], zeros, and moves and movers
    [B, most], which are written if they have columns. A fault, written to faults [1], ends everything.
    """
    facts = gates.facts
    values, words = empty_block(gates, width), np.zeros((facts, width), dtype=np.uint64)
    lists = np.empty((LANES, turns.move_of.shape[1]), dtype=np.int32)
    playing, empty = np.zeros(width, dtype=np.uint64), np.full(LANES * width, -1, dtype=np.int64)
    seats = Seats(empty, np.zeros_like(playing), np.zeros_like(playing), np.zeros_like(playing))
    following, running = np.int64(0), np.int64(0)  # literals would compile _seat for themselves
    for place in range(LANES * width):
        following = _seat(place, following, rows, seats, words)
        running += seats.games[place] >= 0
    while running:
        set_facts(values, words)
        evaluate(values, gates, gates.parts[0], gates.parts[1])
        clear_moves(values, gates)
        for w in range(width):
            playing[w] = _goes_on(values, gates, turns, w, seats, rows, faults)
            if faults[0]:
                return
            _play_word(values, gates, turns, w, playing[w], seats, rows, streams, trace, lists)
        evaluate(values, gates, gates.parts[1], gates.parts[3])
        next_words(values, gates, words)
        for w in range(width):
            left = seats.busy[w] & ~playing[w]
            while left:
                lane = lowest(left)
                left &= left - _1
                place, game = LANES * w + lane, seats.games[LANES * w + lane]
                rows[game, 1:] = _0
                take(values[1 : 1 + facts], w, np.uint64(lane), rows[game, 1:])
                rows[game, 0] = pack_header((seats.last[w] >> np.uint64(lane)) & _1, ply_of(rows[game]), ONGOING)
                following = _seat(place, following, rows, seats, words)
                running -= seats.games[place] < 0
    _close(gates, turns, rows, width)


@kernel
def _close(gates: Gates, turns: Turns, rows: UInt64s, width: int) -> None:
    """Write the outcomes of rows that have come to their ends and do not say so yet."""
    values = empty_block(gates, width)
    for first in range(0, rows.shape[0], LANES * width):
        load(values, gates.facts, rows, first)
        evaluate(values, gates, gates.parts[0], gates.parts[1])
        evaluate_goals(values, gates)
        for w in range(width):
            end_games(values, gates, turns, w, running_of(rows, first + LANES * w), rows[first + LANES * w :])
