"""Ranked reward for one player: beat your own recent results (sources: ranked reward). Knows only scores, no game."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Iterable
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from palaestra.base.errors import RunError
from palaestra.base.types import Float32s, Float64s, Int32s
from palaestra.rewards.base import State, TableReward, saved_arrays
from palaestra.rewards.outcomes import OutcomeSpace

Ties = Literal["coin", "share"]
First = Literal["judge", "store"]


class Ranked(TableReward):
    """z = 1, -1, or a fair coin's ±1 for a result above, below or equal to the threshold (Eq. 7.1).

    The threshold is the result at place ⌊tau · n⌋, from 0, of the last n ≤ `window` results in ascending order (thesis:
    tau = 0.75, window 200). The best possible result is always worth 1. While there are no results every one is a tie:
    the thesis's code puts a score of about random play there instead, which nobody knows of a new game.
    `value` gives a tie what the coin gives on average, 0; `settle` throws it.

    Scores are whole numbers, so ties are many: a policy that learns from successes learns, by a fair coin, mostly what
    it does already. With ties = "share" the coin is not fair: a tie succeeds as often as it takes for 1 - tau of the
    window to succeed.

    What a game was told stays true of it: it did, or did not, beat the results before it. As published, examples keep
    that z while they are in the window of training, though the threshold rises meanwhile (`lasting`); the presets have
    short windows for it.
    """

    learns: ClassVar[bool] = True

    def __init__(
        self,
        space: OutcomeSpace,
        tau: float = 0.75,
        window: int = 200,
        ties: Ties = "coin",
        first: First = "judge",
        text: str = "ranked",
    ) -> None:
        self.tau, self.size, self.ties, self.first = tau, window, ties, first
        self._fill(())
        super().__init__(space, text)

    @property
    def threshold(self) -> float | None:
        """The result to beat; none while there are no results."""
        if not self._sorted:
            return None
        # Decimal settings such as 0.29 · 100 fall just short of their whole number in binary; tau may be almost 1.
        place = math.floor(self.tau * len(self._sorted) + 1e-9)
        return float(self._sorted[min(place, len(self._sorted) - 1)])

    @property
    def tie_chance(self) -> float:
        """How often a result equal to the threshold is a success."""
        count, threshold = len(self._sorted), self.threshold
        if self.ties == "coin" or threshold is None:
            return 0.5
        above = count - bisect_right(self._sorted, threshold)
        tied = count - above - bisect_left(self._sorted, threshold)
        return min(1.0, max(0.0, ((1.0 - self.tau) * count - above) / tied))

    @property
    def stuck(self) -> bool:
        """Whether the window holds several results, all equal: a further one like them is a mere toss of the coin."""
        return len(self._sorted) > 1 and self._sorted[0] == self._sorted[-1]

    def observe(self, outcomes: Int32s) -> None:
        for outcome in outcomes.tolist():
            self._store(outcome)
        self._rebuild()

    def settle(self, outcomes: Int32s, rng: np.random.Generator) -> Float32s:
        """Each game, in order, against the threshold before its own result is stored; with first = "store" after it."""
        draws = rng.random(len(outcomes))
        targets = np.empty(len(outcomes), dtype=np.float32)
        for game, outcome in enumerate(outcomes.tolist()):
            if self.first == "store":
                self._store(outcome)
            targets[game] = self._judge(outcome) or (1 if draws[game] < self.tie_chance else -1)
            if self.first == "judge":
                self._store(outcome)
        self._rebuild()
        return targets

    def state(self) -> dict[str, NDArray[np.generic]]:
        """`results` int32[n], the oldest first."""
        return {"results": np.array(self.window, dtype=np.int32)}

    def load_state(self, arrays: State) -> None:
        (results,) = saved_arrays(arrays, self.text, results=np.int32)
        if len(results) > self.size:
            raise RunError(f"the saved reward holds {len(results)} results; {self.text} keeps {self.size}")
        self._fill(results.tolist())
        self._rebuild()

    def _fill(self, results: Iterable[int]) -> None:
        self.window = deque(results)  # the oldest first
        self._sorted = sorted(self.window)

    def _store(self, outcome: int) -> None:
        if len(self.window) == self.size:
            del self._sorted[bisect_left(self._sorted, self.window.popleft())]
        self.window.append(outcome)
        insort(self._sorted, outcome)

    def _judge(self, outcome: int) -> int:
        """1, -1, or 0 for a tie."""
        if outcome >= self.space.highest:
            return 1
        threshold = self.threshold
        return 0 if threshold is None else int(outcome > threshold) - int(outcome < threshold)

    def _values(self) -> Float64s:
        outcomes, threshold = self.space.outcomes(), self.threshold
        values = np.zeros(len(outcomes)) if threshold is None else np.sign(outcomes - threshold)
        values[values == 0] = 2.0 * self.tie_chance - 1.0
        values[-1] = 1.0
        return values
