"""Rewards from ranks alone: how an outcome compares with those of the last generations (sources: CDF reward; bonus).

Only the order of outcomes counts (with a bonus, also which are wins and which are losses). The value of an outcome that
the window holds depends on nothing but how many games of the window ended worse, alike and better: it is the same under
every increasing relabelling of outcomes. An outcome that the window does not hold is interpolated, linearly in its rank
among all outcomes of the game: it is the same whatever numbers stand for those outcomes in their order, but not when
the relabelling puts further possible outcomes between them. Both functions below see counts by rank, and no outcome.
"""

from __future__ import annotations

from collections import deque
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from palaestra.base.errors import RunError
from palaestra.base.types import Float64s, Int32s, Int64s
from palaestra.rewards.base import State, TableReward, saved_arrays
from palaestra.rewards.outcomes import OutcomeSpace


class Cdf(TableReward):
    """r = 2f - 1, f the share of the window's other games that ended worse, those that ended alike counted half.

    A game is not compared with itself: so the worst of the window is worth -1 and the best 1, and `cdf_bonus` with
    alpha = 1, whose printed formulas divide by all games but one, is the same.

    The window is the last `generations` generations (paper: 5). While it is empty everything is worth 0. Beyond the
    worst and the best outcome of the window, values run on to -1 and 1 at the worst and the best possible one.
    """

    learns: ClassVar[bool] = True
    lasting: ClassVar[bool] = False

    def __init__(self, space: OutcomeSpace, generations: int = 5, text: str = "cdf") -> None:
        self.generations = generations
        self.window: deque[Int32s] = deque(maxlen=generations)  # one array a generation, the oldest first
        super().__init__(space, text)

    def observe(self, outcomes: Int32s) -> None:
        self.window.append(np.array(outcomes, dtype=np.int32))
        self._rebuild()

    def state(self) -> dict[str, NDArray[np.generic]]:
        """`outcomes` int32[n] of all generations, the oldest first, and `lengths` int64[g] of each."""
        lengths = [len(generation) for generation in self.window]
        return {"outcomes": self._joined(), "lengths": np.array(lengths, dtype=np.int64)}

    def load_state(self, arrays: State) -> None:
        outcomes, lengths = saved_arrays(arrays, self.text, outcomes=np.int32, lengths=np.int64)
        if (lengths < 0).any() or lengths.sum() != len(outcomes):
            raise RunError(
                f"the saved reward is damaged: {len(outcomes)} outcomes for generations of {lengths.tolist()}"
            )
        if len(lengths) > self.generations:
            raise RunError(f"the saved reward holds {len(lengths)} generations; {self.text} keeps {self.generations}")
        pieces = np.split(outcomes, np.cumsum(lengths))[:-1]
        self.window = deque(pieces, maxlen=self.generations)
        self._rebuild()

    def _joined(self) -> Int32s:
        return np.concatenate([np.empty(0, dtype=np.int32), *self.window])

    def _counts(self) -> Int64s:
        """int64[count]: how often the window holds each outcome, ascending."""
        return np.bincount(self.space.index(self._joined()), minlength=self.space.count)

    def _values(self) -> Float64s:
        return cdf_values(self._counts())


class CdfBonus(Cdf):
    """The mean score of an outcome in virtual matches against the other games of the window (sources: bonus).

    Of two games the better one scores 1 when one is won and the other lost, `alpha` when both are won or both lost,
    (1 + alpha) / 2 when one of them is drawn, and 0 when they are alike; the worse one scores its negative. So winning
    itself is worth a jump of 1 - alpha, and how one wins the rest; alpha = 1 is plain rank (paper: 0.5).

    `printed` shifts lost games up and won ones down by (1 - alpha) / (decisive games - 1): the formulas as they were
    printed, which pair a game with itself. They know no draws in the window, and leave them out.
    """

    def __init__(
        self,
        space: OutcomeSpace,
        alpha: float = 0.5,
        generations: int = 5,
        printed: bool = False,
        text: str = "cdf_bonus",
    ) -> None:
        self.alpha, self.printed = alpha, printed
        super().__init__(space, generations, text)

    def _values(self) -> Float64s:
        return bonus_values(self._counts(), -self.space.lowest, self.alpha, self.printed)


def cdf_values(counts: Int64s) -> Float64s:
    """float64[K] from the counts int64[K] of outcomes by rank: (worse - better) / others, lines where counts are 0."""
    total = counts.sum()
    if total == 0:
        return np.zeros(len(counts))
    worse = np.cumsum(counts) - counts
    values = (2 * worse + counts - total) / max(total - 1, 1)
    return _interpolated(np.flatnonzero(counts), values, -1.0, 1.0)


def bonus_values(counts: Int64s, draw: int, alpha: float, printed: bool = False) -> Float64s:
    """float64[K] from the counts int64[K] of outcomes by rank, `draw` the rank of the draw.

    Losses and wins are interpolated apart, so that the jump between them stays where it is. Beyond the window's
    extremes values run on to what a single game there would score, in place of one of its kind; next to the draw they
    run on to what one more game would score there. Without draws that is the draw's value ∓ (1 - alpha) / 2.
    """
    lost, won = counts[:draw], counts[draw + 1 :]
    losses, draws, wins = int(lost.sum()), 0 if printed else int(counts[draw]), int(won.sum())
    total = losses + draws + wins
    if total == 0:
        return np.zeros(len(counts))
    half = (1.0 + alpha) / 2.0
    values = np.empty(len(counts))
    values[draw] = half * (losses - wins) / (max(total - 1, 1) if draws else total)
    # A win is a loss seen by the other player: negated, and in the opposite order.
    values[:draw] = _side(lost, wins + half * draws, total, alpha, printed)
    values[draw + 1 :] = -_side(won[::-1], losses + half * draws, total, alpha, printed)[::-1]
    return values


def _side(counts: Int64s, behind: float, total: int, alpha: float, printed: bool) -> Float64s:
    """Values of losses by rank: `behind` is what a loss gives away to draws and wins, `total` counts all games."""
    own, others = int(counts.sum()), max(total - 1, 1)
    edge = (alpha * own - behind) / total  # one more loss, better than all others
    if own == 0:
        return np.full(len(counts), edge)
    worse = np.cumsum(counts) - counts
    scores = (alpha * (2 * worse + counts - own) - behind) / others
    worst = (-alpha * (own - 1) - behind) / others
    if printed and total > 2:  # of two games, the printed terms would rank a loss above a draw
        shift = (1.0 - alpha) / others
        scores, worst = scores + shift, worst + shift
    seen = np.flatnonzero(counts)
    return _interpolated(seen, scores, worst, max(edge, scores[seen[-1]]))


def _interpolated(seen: Int64s, values: Float64s, lowest: float, highest: float) -> Float64s:
    """`values` float64[K] where `seen`, and between them lines, to `lowest` and `highest` at ranks 0 and K - 1."""
    last = len(values) - 1
    ranks, known = seen.tolist(), values[seen].tolist()
    if ranks[0] > 0:
        ranks, known = [0, *ranks], [lowest, *known]
    if ranks[-1] < last:
        ranks, known = [*ranks, last], [*known, highest]
    return np.interp(np.arange(len(values)), ranks, known)
