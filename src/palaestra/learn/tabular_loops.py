"""Whole matches of a tabular learner against `random` in compiled code: a template bound per game.

The free names `start`, `legal` and `move` are the game's, `nested_place` is its nested search.
`palaestra.learn.tabular_matches` plays the same matches against any player:
with the same random numbers and one match at a time both make the same table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.jit import allocating, inlined
from palaestra.base.streams import below, next_word
from palaestra.base.types import Float64s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.rows import ONGOING, mover, outcome, set_outcome
from palaestra.learn.tabular_rules import UNSEEN, Settings, choose, learn_match
from palaestra.players.table import ROWS, VALUES, Rows
from palaestra.search.flat import best_mean

if TYPE_CHECKING:
    from palaestra.games.kernel_game import legal, move, start
    from palaestra.search.nested_duel_loops import nested_place

LEARNER, OPPONENT = 0, 1  # columns of the streams


@inlined
def _view(ended: int, role: int) -> np.float64:
    """What an outcome is to a role: 1, 0 or -1."""
    return np.float64(np.sign(ended) * (1 - 2 * role))


@inlined
def _flat_place(
    state: Int8s,
    count: int,
    actions: Int32s,
    playouts: int,
    p: Int64s,
    streams: UInt64s,
    own: UInt64s,
    child: Int8s,
    scratch: Int32s,
    totals: Float64s,
) -> np.int64:
    """Flat Monte Carlo as in `palaestra.search.flat`: the moves in turn, at least one playout each, best mean."""
    totals[:count] = 0.0
    made = max(count, playouts)
    for k in range(made):
        own[0] = next_word(streams, LEARNER)
        for i in range(state.shape[0]):
            child[i] = state[i]
        move(child, actions[k % count], p)
        while outcome(child) == ONGOING:
            move(child, scratch[below(own, 0, legal(child, scratch, p))], p)
        totals[k % count] += _view(outcome(child), mover(state))
    return best_mean(totals, count, made)


@allocating
def play_matches(
    first: int,
    last: int,
    epsilons: Float64s,
    seeds: UInt64s,
    starts: Int64s,
    rows: Rows,
    settings: Settings,
    goals: Float64s,
    max_plies: int,
    max_legal: int,
    p: Int64s,
) -> int:
    """Play and learn from the matches first … last-1, and return the first that was not played: the table was full.

    The learner is the first player in even matches. `seeds` uint64[M, 2] are the streams of each match, the learner's
    and the opponent's, and `goals` float64[M] gets the learner's.
    """
    states = np.empty((max_plies, rows.keys.shape[1] * 8), np.int8)
    counts, places = np.empty(max_plies, np.int32), np.empty(max_plies, np.int32)
    state, child = np.empty(states.shape[1], np.int8), np.empty(states.shape[1], np.int8)
    actions, scratch = np.empty(max_legal, np.int32), np.empty(max_legal, np.int32)
    totals = np.empty(max_legal, np.float64)
    own, streams = np.empty(1, np.uint64), np.empty(2, np.uint64)
    for m in range(first, last):
        if rows.sizes[ROWS] + max_plies > rows.keys.shape[0]:
            return m
        if rows.sizes[VALUES] + max_plies * max_legal > rows.values.shape[0]:
            return m
        role, length = m % 2, 0
        streams[LEARNER], streams[OPPONENT] = seeds[m, LEARNER], seeds[m, OPPONENT]
        state[:] = 0
        set_outcome(state, ONGOING)
        start(state, starts[m], p)
        while outcome(state) == ONGOING:
            count = legal(state, actions, p)
            mine = mover(state) == role
            if mine:
                place = choose(rows, state, role, count, epsilons[m], streams, LEARNER)
                if place == UNSEEN and settings.nested:
                    place = nested_place(state, count, actions, settings.playouts, p, streams, LEARNER, totals)
                elif place == UNSEEN and settings.playouts > 0:
                    place = _flat_place(
                        state, count, actions, settings.playouts, p, streams, own, child, scratch, totals
                    )
                elif place == UNSEEN:
                    place = below(streams, LEARNER, count)
            else:
                own[0] = next_word(streams, OPPONENT)  # a stream for each move, as any player gets
                place = below(own, 0, count)
            if mine or settings.noops:
                for i in range(state.shape[0]):
                    states[length, i] = state[i]
                counts[length], places[length] = (count, place) if mine else (1, 0)
                length += 1
            move(state, actions[place], p)
        goals[m] = (1.0 + _view(outcome(state), role)) / 2.0
        learn_match(rows, settings, states, counts, places, role, length, goals[m])
    return last
