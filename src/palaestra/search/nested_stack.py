"""The memory of nested searches: one record, one line and one position or set of weights per level, in arrays.

Also what a call of a level of NRPA is given and gives, compiled or not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from palaestra.base.types import Float64s, Int8s, Int32s, Int64s
from palaestra.games.base import Game

# Columns of a level's record.
STEP = 0  # NMCS: moves from the root to the level's current position; NRPA: how often its best line came again
COUNT = 1  # NMCS: legal moves there; NRPA: playouts of level 0 since level 1 last adapted
TRIED = 2  # NMCS: how many of them were searched; NRPA: how many of its n calls the level has made; level 0: playouts
BEST = 3  # outcome of the best line
LENGTH = 4  # moves of the best line, counted from the root

NOTHING = -(2**62)  # BEST of a level that has no line yet: below every outcome

# Weights stay inside these, so that a sum of them is finite and not 0 however long the search.
LIGHTEST, HEAVIEST = 1e-250, 1e250


class NmcsStack(NamedTuple):
    """Levels 0 … top; level 0 is the random game."""

    records: Int64s  # [top+1, 5]
    states: Int8s  # [top+1, S] where the level stands
    actions: Int32s  # [top+1, L] legal actions there
    lines: Int32s  # [top+1, max_plies] best line, from the root on


class NrpaStack(NamedTuple):
    """Levels 0 … top; level 0 is the last playout. A code is an action number."""

    records: Int64s  # [top+1, 5]
    root: Int8s  # [S]
    state: Int8s  # [S] scratch
    weights: Float64s  # [top+1, A] exp(logit) of every code
    images: Int32s  # [A, K] the codes that change together with each code, its own among them, then -1
    change: Float64s  # [A] scratch, zero between uses
    touched: Int32s  # [max_plies·L] scratch: the codes that change
    sums: Float64s  # [L] scratch
    lines: Int32s  # [top+1, max_plies] best line, from the root on
    offsets: Int32s  # [top+1, max_plies+1] where in `options` the legal actions of each step begin
    options: Int32s  # [top+1, max_plies·L] legal actions along the best line


def nmcs_stack(game: Game, state: Int8s, top: int) -> NmcsStack:
    """A stack whose top level stands at `state`."""
    states = np.zeros((top + 1, game.state_size), dtype=np.int8)
    states[top] = state
    return NmcsStack(
        records=np.zeros((top + 1, 5), dtype=np.int64),
        states=states,
        actions=np.zeros((top + 1, game.max_legal), dtype=np.int32),
        lines=np.zeros((top + 1, game.max_plies), dtype=np.int32),
    )


@dataclass(frozen=True, eq=False)
class NrpaSettings:
    """How NRPA adapts, but for its beam: `palaestra.search.nested.nrpa` says what each of these is."""

    n: int
    alpha: float
    playouts: int
    repeats: int | None
    images: Int32s


@dataclass
class Played:
    """A finished game, or none yet: what was legal at each step, what was played, and how many games it took."""

    outcome: int = NOTHING
    line: list[int] = field(default_factory=list)
    options: list[list[int]] = field(default_factory=list)
    playouts: int = 0


def initial_weights(game: Game, logits: Float64s | None) -> Float64s:
    """exp(logit) of every code, float64[A]: all 1 where no logits are given."""
    if logits is None:
        return np.ones(game.num_actions, dtype=np.float64)
    bound = np.log(HEAVIEST)
    return np.asarray(np.exp(np.clip(np.asarray(logits, dtype=np.float64), -bound, bound)))


def nrpa_stack(game: Game, state: Int8s, top: int, weights: Float64s, images: Int32s) -> NrpaStack:
    """A stack for a search from `state` that begins with these weights [A]."""
    records = np.zeros((top + 1, 5), dtype=np.int64)
    records[:, BEST] = NOTHING
    return NrpaStack(
        records=records,
        root=np.array(state, dtype=np.int8),
        state=np.zeros(game.state_size, dtype=np.int8),
        weights=np.repeat(weights[None, :], top + 1, axis=0),
        images=images,
        change=np.zeros(game.num_actions, dtype=np.float64),
        touched=np.zeros(game.max_plies * game.max_legal, dtype=np.int32),
        sums=np.zeros(game.max_legal, dtype=np.float64),
        lines=np.zeros((top + 1, game.max_plies), dtype=np.int32),
        offsets=np.zeros((top + 1, game.max_plies + 1), dtype=np.int32),
        options=np.zeros((top + 1, game.max_plies * game.max_legal), dtype=np.int32),
    )
