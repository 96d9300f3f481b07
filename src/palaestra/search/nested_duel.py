"""Nested Monte Carlo for a move of a game for two players (sources: QM-learning with nested search).

Level 0 is a random game. In a game of level 1 the player to move at the root tries each of its moves with one random
game and plays the one that ended best, of equals one at random; the opponent moves at random. The chosen move is the
one whose games of level 1 end best on average: as flat Monte Carlo, with better games.

The budget is counted in random games, those inside games of level 1 included, so that it compares with flat Monte
Carlo's. Moves take their turns until it is spent, and each has at least one game. Only who wins counts. The opponent is
random at every level: what is found is good against such a player, and says nothing of a better one.
"""

from __future__ import annotations

from functools import lru_cache
from types import ModuleType

import numpy as np

from palaestra.base.streams import below, next_word
from palaestra.base.types import Int8s, Int32s, Int64s, UInt64s
from palaestra.games.base import Game
from palaestra.games.kernel_game import KernelGame, Rules
from palaestra.games.rows import ONGOING


def nested_actions(game: Game, states: Int8s, streams: UInt64s, playouts: int) -> Int32s:
    """int32[B]: a move for every state, none of them over; row i draws from streams[i] alone, in place."""
    counts, actions = game.legal(states)
    places = np.empty(len(states), dtype=np.int64)
    if isinstance(game, KernelGame):
        loops(game.rules).nested_places(states, counts, actions, playouts, game.params, streams, places)
    else:
        for row in range(len(states)):
            places[row] = plain_place(game, states[row], streams, row, playouts)
    return np.asarray(actions[np.arange(len(states)), places])


@lru_cache(maxsize=64)
def loops(rules: Rules) -> ModuleType:
    """The compiled search of a game."""
    return rules.bind("palaestra.search.nested_duel_loops")


def plain_place(game: Game, state: Int8s, streams: UInt64s, row: int, playouts: int) -> int:
    """The same through the game's interface: every random number and every answer are those of the compiled search."""
    counts, _ = game.legal(state[None])
    count, role = int(counts[0]), int(state[0])
    totals = np.zeros(count)
    made = k = 0
    while k < count or made < playouts:
        own = np.array([next_word(streams, row)], dtype=np.uint64)
        ended, cost = _nested_game(game, _after(game, state, k % count), role, own)
        totals[k % count] += _result(game, ended, role)
        made, k = made + cost, k + 1
    shares: Int64s = k // count + (np.arange(count) < k % count)
    return int(np.argmax(totals / shares))


def _nested_game(game: Game, state: Int8s, role: int, own: UInt64s) -> tuple[Int8s, int]:
    made = 1
    while game.outcome(state[None])[0] == ONGOING:
        count = int(game.legal(state[None])[0][0])
        if state[0] != role or count == 1:
            state = _after(game, state, int(below(own, 0, count)))
            continue
        best, place, equals = -2, 0, 0
        for i in range(count):
            found = _result(game, game.rollout(_after(game, state, i)[None], own).states[0], role)
            if found > best:
                best, place, equals = found, i, 1
            elif found == best:
                equals += 1
                if below(own, 0, equals) == 0:
                    place = i
        made += count
        state = _after(game, state, place)
    return state, made


def _result(game: Game, state: Int8s, role: int) -> int:
    return int(np.sign(game.outcome(state[None])[0])) * (1 - 2 * role)


def _after(game: Game, state: Int8s, place: int) -> Int8s:
    """The state after the legal move at this place of the list."""
    _, actions = game.legal(state[None])
    return game.advance(state[None], actions[0, place : place + 1])[0]
