"""Plain minimax without pruning or table, level by level through the public interface: the reference for alpha-beta."""

from __future__ import annotations

import numpy as np

from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Int8s, Int64s
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.search.alphabeta_values import Terms, worth


def minimax(game: Game, states: Int8s, depth: int, terms: Terms) -> Int64s:
    """int64[B]: values of states `depth` plies above the horizon."""
    values = worth(game, states, terms)
    going_on = np.flatnonzero(game.outcome(states) == ONGOING)
    if depth == 0 or not going_on.size:
        return values
    counts, actions = game.legal(states[going_on])
    real = np.arange(actions.shape[1]) < counts[:, None]
    after = game.advance(np.repeat(states[going_on], counts, axis=0), actions[real])
    below = minimax(game, after, depth - 1, terms)
    first = np.cumsum(counts) - counts
    most, least = np.maximum.reduceat(below, first), np.minimum.reduceat(below, first)
    values[going_on] = np.where(states[going_on, 0] == 0, most, least)
    return values


def move_values(game: Game, state: Int8s, depth: int, terms: Terms) -> dict[int, int]:
    """Each legal move's value, `depth` plies counted from the position before it."""
    counts, actions = game.legal(state[None])
    moves = actions[0, : counts[0]]
    after = game.advance(np.repeat(state[None], len(moves), axis=0), moves)
    return dict(zip(moves.tolist(), minimax(game, after, depth - 1, terms).tolist(), strict=True))


def random_positions(game: Game, count: int, seed: int, last: int | None = None) -> Int8s:
    """Positions that are not over, met in random games, spread over the plies (only the last ones, if asked)."""
    streams = keyed_seeds(seed, np.arange(count))
    starts = game.initial(count, np.random.default_rng(seed))
    played = game.rollout(starts, streams, trace=True)
    assert played.lengths is not None and played.moves is not None
    found = []
    for row in range(count):
        length = int(played.lengths[row])
        stop = row % length if last is None else max(0, length - 1 - row % last)
        state = starts[row : row + 1]
        for action in played.moves[row, :stop]:
            state = game.advance(state, np.array([action], dtype=np.int32))
        found.append(state[0])
    return np.stack(found)
