"""A tiny, slow, obvious reference: the exact outcome of small games by minimax, through the public interface only.

    value = perfect_outcome(make_game("tic_tac_toe-3x3"))      # an outcome, from the first player's view

Positions are merged by their bytes, ply included, and by the game's symmetries; levels are handled as batches, so that
a few hundred thousand positions take seconds. Outcomes are compared as they are: larger is better for the first
player, whatever the tiebreak. The game's own `to_play` says who chooses, so passes need no care.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING


def perfect_outcome(game: Game, state: Int8s | None = None, horizon: int | None = None) -> int:
    """The outcome of perfect play by both sides from `state` (the initial position when left out).

    With a horizon, a game that is not over that many plies later counts as a draw.
    """
    start = game.start(np.zeros(1, dtype=np.int64)) if state is None else state[None]
    levels: list[Int8s] = [canonical(game, start)]
    edges: list[tuple[Int64s, Int64s]] = []  # (parent, child) row numbers between a level and the next
    while levels[-1].size and len(edges) != horizon:
        parents, children = successors(game, levels[-1])
        unique, place = np.unique(canonical(game, children), axis=0, return_inverse=True)
        levels.append(unique)
        edges.append((parents, place.reshape(-1)))
    outcomes = game.outcome(levels[-1])
    values = np.where(outcomes == ONGOING, 0, outcomes).astype(np.int32)
    for states, (parents, place) in zip(levels[-2::-1], edges[::-1], strict=True):
        values = _back_up(game, states, parents, values[place])
    return int(values[0])


def successors(game: Game, states: Int8s) -> tuple[Int64s, Int8s]:
    """Rows of the parents and the states one ply below every state that is not over."""
    counts, actions = game.legal(states)
    parents = np.repeat(np.arange(len(states)), counts)
    moves = actions[np.arange(actions.shape[1]) < counts[:, None]]
    return parents, game.advance(states[parents], moves)


def canonical(game: Game, states: Int8s) -> Int8s:
    """Of the images of each state under the game's symmetries, the one whose bytes come first."""
    best = states
    for symmetry in game.symmetries[1:]:
        image = game.permute(states, symmetry)
        differs = image != best
        first = differs.argmax(axis=1)
        rows = np.arange(len(states))
        smaller = differs.any(axis=1) & (image[rows, first] < best[rows, first])
        best = np.where(smaller[:, None], image, best)
    return best


def _back_up(game: Game, states: Int8s, parents: Int64s, below: Int32s) -> Int32s:
    """Outcomes of a level from those of its children (largest for the first player, smallest for the second)."""
    most = np.full(len(states), ONGOING, dtype=np.int64)
    least = np.full(len(states), -ONGOING, dtype=np.int64)
    np.maximum.at(most, parents, below)
    np.minimum.at(least, parents, below)
    outcomes = game.outcome(states)
    chosen = np.where(game.to_play(states) == 0, most, least)
    return np.where(outcomes == ONGOING, chosen, outcomes).astype(np.int32)
