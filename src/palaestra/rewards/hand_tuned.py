"""The reward that a person writes down: sooner is better, or more is better, in proportion. Knows no window."""

from __future__ import annotations

import numpy as np

from palaestra.base.types import Float64s
from palaestra.rewards.base import TableReward


class HandTuned(TableReward):
    """Ordered by plies: ±(1 - t / max_plies) for a game that ends at ply t, draw 0 (sources: other rewards).

    Ordered by margin: margin / largest margin.
    """

    def _values(self) -> Float64s:
        outcomes = self.space.outcomes().astype(np.float64)
        if self.space.tiebreak == "plies":
            # An outcome of size s is a game that ended at ply t = max_plies + 1 - s, so that 1 - t / max_plies is:
            return np.sign(outcomes) * (np.abs(outcomes) - 1.0) / self.space.max_plies + 0.0
        return outcomes / self.space.highest
