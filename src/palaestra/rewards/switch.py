"""Two rewards, one after the other: the jump-start. Knows nothing of what they are."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from palaestra.base.errors import RunError
from palaestra.base.types import Float32s, Int32s
from palaestra.rewards.base import Reward, State, saved_arrays


class Switch(Reward):
    """`first` for the first `at` generations, search and targets alike, and `then` from there on.

    Both learn from every generation, so that the second one's window is full when its turn comes.
    """

    learns: ClassVar[bool] = True
    lasting: ClassVar[bool] = False

    def __init__(self, first: Reward, then: Reward, at: int, text: str = "switch") -> None:
        self.first, self.then, self.at, self.text = first, then, at, text
        self.generation = 0  # how many have been observed
        self.space = then.space or first.space

    @property
    def now(self) -> Reward:
        return self.first if self.generation < self.at else self.then

    def value(self, outcomes: Int32s) -> Float32s:
        return self.now.value(outcomes)

    def expected(self, results: Float32s, tiebreaks: Float32s, plies: Int32s) -> Float32s:
        return self.now.expected(results, tiebreaks, plies)

    def observe(self, outcomes: Int32s) -> None:
        self.first.observe(outcomes)
        self.then.observe(outcomes)
        self.generation += 1

    def settle(self, outcomes: Int32s, rng: np.random.Generator) -> Float32s:
        """The targets of the reward that the games were played under."""
        now, other = (self.first, self.then) if self.generation < self.at else (self.then, self.first)
        targets = now.settle(outcomes, rng)
        other.observe(outcomes)
        self.generation += 1
        return targets

    def state(self) -> dict[str, NDArray[np.generic]]:
        """`generation` int64[1], and the arrays of both rewards under `first.` and `then.`"""
        arrays: dict[str, NDArray[np.generic]] = {"generation": np.array([self.generation], dtype=np.int64)}
        for name, reward in (("first", self.first), ("then", self.then)):
            arrays |= {f"{name}.{key}": array for key, array in reward.state().items()}
        return arrays

    def load_state(self, arrays: State) -> None:
        first, then = _below(arrays, "first."), _below(arrays, "then.")
        own = {key: array for key, array in arrays.items() if not key.startswith(("first.", "then."))}
        (generation,) = saved_arrays(own, self.text, generation=np.int64)
        if generation.shape != (1,):
            raise RunError(f"the saved reward is damaged: {self.text} counts one generation, not {generation.tolist()}")
        self.first.load_state(first)
        self.then.load_state(then)
        self.generation = int(generation[0])


def _below(arrays: State, prefix: str) -> dict[str, NDArray[np.generic]]:
    """The arrays whose names begin so, under the rest of their names."""
    return {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
