"""Rewards turn ordered outcomes into numbers in [-1, 1]: nothing else in the project compares outcomes.

A reward may learn: an outcome's worth is then how it compares with what was achieved lately. Values are for the first
player; with two players the second gets their negative. Rewards know no search and no network; `registry` makes them
from texts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from palaestra.base.errors import ConfigError, RunError
from palaestra.base.jit import allocating
from palaestra.base.types import Float32s, Float64s, Int32s
from palaestra.games.base import Game
from palaestra.rewards.outcomes import OutcomeSpace

State = Mapping[str, NDArray[np.generic]]


class Reward(ABC):
    """`value` is for the first player. A subclass that knows its game's outcomes gives `space`."""

    text: str = "custom"  # how it is written, see `registry`
    learns: ClassVar[bool] = False
    lasting: ClassVar[bool] = True  # whether what `settle` gave a game is still its worth in later generations
    space: OutcomeSpace | None = None

    @abstractmethod
    def value(self, outcomes: Int32s) -> Float32s:
        """float32 in [-1, 1], the shape of `outcomes`; monotone in the outcome."""

    def observe(self, outcomes: Int32s) -> None:
        """Learn from the outcomes int32[n] of a generation of games; a fixed reward learns nothing."""

    def settle(self, outcomes: Int32s, rng: np.random.Generator) -> Float32s:
        """float32[n], for the first player: what a finished generation's games train towards; learns from them too."""
        self.observe(outcomes)
        return self.value(outcomes)

    def state(self) -> dict[str, NDArray[np.generic]]:
        """What it has learned, as named arrays; empty for a fixed reward."""
        return {}

    def load_state(self, arrays: State) -> None:
        """Take over what `state` gave; RunError if the arrays are not of this reward."""
        if arrays:
            raise RunError(f"the saved reward holds {', '.join(sorted(arrays))}, but {self.text} learns nothing")

    def expected(self, results: Float32s, tiebreaks: Float32s, plies: Int32s) -> Float32s:
        """float32[B], for the first player: the value that an outcome head foresees (sources: outcome head).

        `results` float32[B, 3] are the probabilities of the first player's win, draw and loss, `tiebreaks`
        float32[B, 2] the amounts given its win and given its loss (`OutcomeSpace.win_at`), `plies` int32[B] those
        played so far.
        """
        if self.space is None:
            raise ConfigError(f"the reward {self.text} knows no game, which an outcome head needs; give it its `space`")
        wins = self.value(self.space.win_at(tiebreaks[:, 0], plies))
        losses = self.value(self.space.loss_at(tiebreaks[:, 1], plies))
        draw = self.value(np.zeros(1, dtype=np.int32))
        return results[:, 0] * wins + results[:, 1] * draw + results[:, 2] * losses


class TableReward(Reward):
    """A reward that keeps the value of every outcome of its game: `value` is a lookup.

    A subclass gives `_values`, and calls `_rebuild` whenever it has learned.
    """

    space: OutcomeSpace

    def __init__(self, space: OutcomeSpace, text: str) -> None:
        self.space, self.text = space, text
        self._rebuild()

    @abstractmethod
    def _values(self) -> Float64s:
        """float64[count]: the value of every outcome, ascending."""

    def _rebuild(self) -> None:
        self._table = self._values().astype(np.float32)

    def value(self, outcomes: Int32s) -> Float32s:
        return self._table[self.space.index(outcomes)]

    def expected(self, results: Float32s, tiebreaks: Float32s, plies: Int32s) -> Float32s:
        """The same in one pass over the table; searches ask for it at every leaf."""
        by_plies = self.space.tiebreak == "plies"
        return mean_worth(self._table, -self.space.lowest, by_plies, self.space.max_plies, results, tiebreaks, plies)


@allocating
def mean_worth(
    table: Float32s, draw: int, by_plies: bool, max_plies: int, results: Float32s, amounts: Float32s, plies: Int32s
) -> Float32s:
    """`Reward.expected` by a table whose entry `draw` is the draw's; sizes of outcomes as in `OutcomeSpace.win_at`."""
    largest = table.shape[0] - 1 - draw
    values = np.empty(results.shape[0], dtype=np.float32)
    for row in range(results.shape[0]):
        mean = results[row, 1] * table[draw]
        for k in range(2):
            amount = float(np.rint(amounts[row, k]))
            if not amount >= 1.0:  # also for what is no number
                amount = 1.0
            if by_plies:
                amount = max_plies + 1.0 - min(plies[row] + amount, float(max_plies))
            size = int(min(amount, float(largest)))
            place = draw + size if k == 0 else max(draw - size, 0)
            mean += results[row, 2 * k] * table[place]
        values[row] = mean
    return values


class Primitive(Reward):
    """Win 1, draw 0, loss -1 (sources: other rewards)."""

    text = "primitive"

    def value(self, outcomes: Int32s) -> Float32s:
        return np.sign(outcomes).astype(np.float32)

    def expected(self, results: Float32s, tiebreaks: Float32s, plies: Int32s) -> Float32s:
        return results[:, 0] - results[:, 2]


class Linear(Reward):
    """Scores between 0 and `highest` spread evenly over [-1, 1]: for one player, whose outcomes are never losses."""

    text = "score"

    def __init__(self, highest: int) -> None:
        self.highest = highest

    def value(self, outcomes: Int32s) -> Float32s:
        return np.clip(2.0 * outcomes / self.highest - 1.0, -1.0, 1.0).astype(np.float32)


def default_reward(game: Game) -> Reward:
    """Primitive for two players; for one player the score as a share of the largest."""
    return Primitive() if game.players == 2 else Linear(game.largest_outcome)


def saved_arrays(arrays: State, text: str, **dtypes: type[np.generic]) -> list[NDArray[Any]]:
    """The arrays [n] of these names and dtypes, in this order; RunError unless exactly they were saved."""
    if {key: (array.dtype, array.ndim) for key, array in arrays.items()} != {
        key: (np.dtype(dtype), 1) for key, dtype in dtypes.items()
    }:
        held = ", ".join(f"{key} {array.dtype}{list(array.shape)}" for key, array in sorted(arrays.items()))
        raise RunError(f"the saved reward is not one of {text}: it holds {held or 'nothing'}")
    return [arrays[key] for key in dtypes]
