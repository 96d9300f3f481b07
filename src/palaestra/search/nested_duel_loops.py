"""Nested Monte Carlo for two players, compiled once per game: a template for `palaestra.base.jit.bind`.

`palaestra.search.nested_duel` explains it, and plays the same without compiled rules. Free names: the game's `move` and
`legal`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.jit import allocating, inlined
from palaestra.base.streams import below, next_word
from palaestra.base.types import Float64s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.rows import ONGOING, mover, outcome
from palaestra.search.flat import best_mean

if TYPE_CHECKING:
    from palaestra.games.kernel_game import legal, move


@inlined
def result_for(state: Int8s, role: int) -> np.int64:
    """1, 0 or -1: how a finished game ended for a role."""
    return np.int64(np.sign(outcome(state)) * (1 - 2 * role))


@inlined
def nested_game(
    state: Int8s, role: int, p: Int64s, own: UInt64s, actions: Int32s, child: Int8s, scratch: Int32s
) -> int:
    """Play to the end in place, `role` by one random game after each of its moves; how many random games that took."""
    made = 1  # this game
    while outcome(state) == ONGOING:
        count = legal(state, actions, p)
        if mover(state) != role or count == 1:
            move(state, actions[below(own, 0, count)], p)
            continue
        best, place, equals = np.int64(-2), 0, 0
        for i in range(count):
            for k in range(state.shape[0]):
                child[k] = state[k]
            move(child, actions[i], p)
            while outcome(child) == ONGOING:
                move(child, scratch[below(own, 0, legal(child, scratch, p))], p)
            found = result_for(child, role)
            if found > best:
                best, place, equals = found, i, 1
            elif found == best:
                equals += 1
                if below(own, 0, equals) == 0:
                    place = i
        made += count
        move(state, actions[place], p)
    return made


@allocating
def nested_place(
    state: Int8s, count: int, actions: Int32s, playouts: int, p: Int64s, streams: UInt64s, stream: int, totals: Float64s
) -> np.int64:
    """The place of the chosen move among the `count` legal `actions`; draws from streams[stream], in place.

    `totals` float64[L] is scratch.
    """
    own = np.empty(1, np.uint64)
    state_after, child = np.empty_like(state), np.empty_like(state)
    inner, scratch = np.empty_like(actions), np.empty_like(actions)
    role = mover(state)
    for i in range(count):
        totals[i] = 0.0
    made, k = 0, 0
    while k < count or made < playouts:
        own[0] = next_word(streams, stream)
        for i in range(state.shape[0]):
            state_after[i] = state[i]
        move(state_after, actions[k % count], p)
        made += nested_game(state_after, role, p, own, inner, child, scratch)
        totals[k % count] += result_for(state_after, role)
        k += 1
    return best_mean(totals, count, k)


@allocating
def nested_places(
    states: Int8s, counts: Int32s, actions: Int32s, playouts: int, p: Int64s, streams: UInt64s, places: Int64s
) -> None:
    """`nested_place` for states [B, S]; row i draws from stream i."""
    totals = np.empty(actions.shape[1], np.float64)
    for i in range(states.shape[0]):
        places[i] = nested_place(states[i], counts[i], actions[i], playouts, p, streams, i, totals)
