"""What the best possible player scores against `random`: the exact ceiling of a learner's curve.

All positions are listed ply by ply, each once, and valued backwards from the ends: on its own turn the player takes the
best move, on the other's it gets the mean over all of them. Through the public interface of a game only; a game with
more positions than allowed has no known ceiling.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from palaestra.base.types import Bools, Float64s, Int8s, Int64s
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.rewards.base import Primitive

MOST_POSITIONS = 250_000  # a layer and the moves in it take a few hundred bytes a position


@dataclass(frozen=True, eq=False)
class _Layer:
    """The N positions at one ply that are not over, and the M moves there are in them, position by position."""

    movers: Int8s  # [N]
    begins: Int64s  # [N] each position's first move
    counts: Int64s  # [N]
    goes_on: Bools  # [M] whether a move leads to a position of the next layer,
    following: Int64s  # [sum(goes_on)] namely to this one,
    ends: Float64s  # [M] or to an end: the first player's goal then, otherwise without a meaning


def best_response(game: Game, most: int = MOST_POSITIONS) -> tuple[float, float] | None:
    """The expected goals (win 1, draw ½) of the best first and of the best second player against a random one.

    The mean over all initial positions; None for a game of more than `most` positions.
    """
    states = game.start(np.arange(game.num_starts))
    found, starts = _distinct(states)
    layers: list[_Layer] = []
    total = 0
    while len(found):
        total += len(found)
        if total > most:
            return None
        layer, found = _layer(game, found)
        layers.append(layer)
    first, second = (_value(layers, role)[starts].mean() for role in (0, 1))
    return float(first), float(second)


def _layer(game: Game, states: Int8s) -> tuple[_Layer, Int8s]:
    """The layer of these positions, and the positions of the next."""
    counts, actions = game.legal(states)
    real = np.arange(actions.shape[1]) < counts[:, None]
    after = game.advance(np.repeat(states, counts, axis=0), actions[real])
    outcomes = game.outcome(after)
    goes_on = outcomes == ONGOING
    ends = (1.0 + Primitive().value(outcomes).astype(np.float64)) / 2.0
    found, following = _distinct(after[goes_on])
    sizes = counts.astype(np.int64)
    return _Layer(game.to_play(states), np.cumsum(sizes) - sizes, sizes, goes_on, following, ends), found


def _distinct(states: Int8s) -> tuple[Int8s, Int64s]:
    """The different ones among states [B, S], and which of them each is."""
    rows = np.ascontiguousarray(states).view(np.dtype((np.void, states.shape[1])))[:, 0]
    _, first, which = np.unique(rows, return_index=True, return_inverse=True)
    return states[first], which


def _value(layers: list[_Layer], role: int) -> Float64s:
    """float64[N]: the goal of a role in each position of the first layer."""
    values = np.empty(0)
    for layer in reversed(layers):
        moves = layer.ends.copy() if role == 0 else 1.0 - layer.ends
        moves[layer.goes_on] = values[layer.following]
        best = np.maximum.reduceat(moves, layer.begins)
        mean = np.add.reduceat(moves, layer.begins) / layer.counts
        values = np.where(layer.movers == role, best, mean)
    return values
