"""The positions of a run's games: one `Replay` for each game of its course, and batches that have some of each.

Most runs have one game; then this is that game's replay, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from palaestra.base.errors import RunError
from palaestra.base.text import whole_number
from palaestra.base.types import Array, Arrays
from palaestra.learn.config import LearnConfig
from palaestra.learn.course import Course
from palaestra.learn.examples import Examples
from palaestra.learn.learner import Batch, Batches, MixedBatch
from palaestra.learn.replay import Replay


class Replays:
    """The examples of the last iterations, by the number of their game in the course."""

    def __init__(self, course: Course, config: LearnConfig) -> None:
        self.course, self.config = course, config
        self._replays = [Replay(config.window, config.window_share) for _ in course.games]

    def __len__(self) -> int:
        """Positions in the window, of all games."""
        return sum(map(len, self._replays))

    @property
    def iterations(self) -> tuple[int, ...]:
        """The iterations in the window, oldest first."""
        return tuple(sorted({iteration for replay in self._replays for iteration in replay.iterations}))

    def add(self, iteration: int, examples: Mapping[int, Examples]) -> None:
        """Take in the examples of the newest iteration, by the number of the game; other games are over."""
        for number, replay in enumerate(self._replays):
            if number in examples:
                replay.add(iteration, examples[number])
            else:
                replay.clear()

    def save_iteration(self, iteration: int) -> Arrays:
        """The arrays of one iteration, to be saved; where a run has several games, under the number of each."""
        if len(self._replays) == 1:
            return self._replays[0].save_iteration(iteration)
        arrays: dict[str, Array] = {}
        for number, replay in enumerate(self._replays):
            if iteration in replay.iterations:
                saved = replay.save_iteration(iteration)
                arrays |= {f"{number}.{name}": array for name, array in saved.items()}
        return arrays

    def load(self, iteration: int, arrays: Arrays) -> None:
        """Add an iteration that was saved with `save_iteration`."""
        if len(self._replays) == 1:
            self._replays[0].add(iteration, self._examples(0, arrays))
            return
        parts: dict[int, dict[str, Array]] = {}
        for name, array in arrays.items():
            number, _, field = name.partition(".")
            if (known := whole_number(number)) is None or known >= len(self._replays):
                raise RunError(f"saved positions have the array {name}, of a game that the run's course does not have")
            parts.setdefault(known, {})[field] = array
        self.add(iteration, {number: self._examples(number, part) for number, part in parts.items()})

    def _examples(self, number: int, arrays: Arrays) -> Examples:
        """Saved examples of a game of the course; RunError if its positions looked otherwise when they were saved."""
        examples, game = Examples.from_arrays(arrays), self.course.games[number]
        if examples.states.shape[1] != game.state_size:
            raise RunError(
                f"saved positions of {game.id} have {examples.states.shape[1]} bytes, and now they have"
                f" {game.state_size}: another version of Palaestra saved them, so start a new run; the networks of this"
                " one still play, and a new one can begin with them (train --from)"
            )
        return examples

    def steps(self, played: Sequence[int]) -> dict[int, int]:
        """How many batches of each of these games to learn in this iteration."""
        return {
            number: self._replays[number].steps(self.config, len(self.course.games[number].symmetries))
            for number in played
        }

    def batches(self, steps: Mapping[int, int], rng: np.random.Generator, *, turn_policies: bool = True) -> Batches:
        """Batches without end, each with positions of all these games, in proportion to their `steps`."""
        drawn = [
            self.batches_of(number, rng, share / sum(steps.values()), turn_policies=turn_policies)
            for number, share in steps.items()
        ]
        return drawn[0] if len(drawn) == 1 else map(MixedBatch, zip(*drawn, strict=True))

    def batches_of(
        self, number: int, rng: np.random.Generator, share: float = 1.0, *, turn_policies: bool = True
    ) -> Iterator[Batch]:
        """Batches of one game without end, each a share of a whole one."""
        part = self.config.model_copy(update={"batch": max(1, round(share * self.config.batch))})
        game, shared = self.course.games[number], self.course.shared
        return self._replays[number].batches(game, part, rng, turn_policies=turn_policies, shared=shared, number=number)
