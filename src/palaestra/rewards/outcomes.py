"""The outcomes that a game can give, in order, and what they are called: a win in 7 plies, a loss by 12 discs.

An outcome is one integer from the first player's view, larger is better. Neighbouring integers are
neighbouring ranks: with `tiebreak` plies they run loss at ply 1 < … < loss at the last ply < draw < win at the last
ply < … < win at ply 1 (sources: order of outcomes).
This module knows no values: `palaestra.rewards.base` and its kinds give them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from palaestra.base.types import Float32s, Int32s, Int64s
from palaestra.games.base import Game, Tiebreak


@dataclass(frozen=True)
class OutcomeSpace:
    """Every integer from `lowest` to `highest`; one player cannot lose, so that its lowest is 0."""

    tiebreak: Tiebreak
    max_plies: int
    lowest: int
    highest: int

    @classmethod
    def of(cls, game: Game) -> OutcomeSpace:
        lowest = -game.largest_outcome if game.players == 2 else 0
        return cls(game.tiebreak, game.max_plies, lowest, game.largest_outcome)

    @property
    def count(self) -> int:
        return self.highest - self.lowest + 1

    def outcomes(self) -> Int32s:
        """int32[count], ascending."""
        return np.arange(self.lowest, self.highest + 1, dtype=np.int32)

    def index(self, outcomes: ArrayLike) -> Int64s:
        """int64, the shape of `outcomes`: places in `outcomes()`; what lies beyond an end counts as that end."""
        return np.clip(np.asarray(outcomes, dtype=np.int64), self.lowest, self.highest) - self.lowest

    def win_at(self, amount: ArrayLike, plies: ArrayLike) -> Int32s:
        """int32[...]: the first player's outcome of its win with a tiebreak of `amount`, rounded to what is possible.

        Ordered by plies, the amount is how many are still to be played after `plies`, at least 1; ordered by margin, it
        is the margin; without a tiebreak it does not matter.
        """
        amount, plies = np.broadcast_arrays(np.asarray(amount, dtype=np.float64), np.asarray(plies, dtype=np.int64))
        if self.tiebreak == "none":
            return np.ones(amount.shape, dtype=np.int32)
        whole = np.fmax(np.rint(amount), 1.0)  # 1 also for what is no number
        if self.tiebreak == "plies":
            whole = self.max_plies + 1 - np.minimum(plies + whole, self.max_plies)
        return np.minimum(whole, self.highest).astype(np.int32)

    def loss_at(self, amount: ArrayLike, plies: ArrayLike) -> Int32s:
        """int32[...]: the first player's outcome when the other wins so."""
        return -self.win_at(amount, plies)

    def amount(self, outcomes: ArrayLike, plies: ArrayLike) -> Float32s:
        """float32[...]: the tiebreak of outcomes seen after `plies`, inverse of `win_at` and `loss_at`; of draws 0."""
        size = np.abs(np.asarray(outcomes, dtype=np.int64))
        if self.tiebreak == "none":
            found = np.zeros(np.broadcast_shapes(size.shape, np.shape(plies)), dtype=np.int64)
        elif self.tiebreak == "plies":
            found = np.where(size == 0, 0, self.max_plies + 1 - size - np.asarray(plies, dtype=np.int64))
        else:
            found = size + np.zeros(np.shape(plies), dtype=np.int64)
        return found.astype(np.float32)
