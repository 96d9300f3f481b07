"""The positions of the last iterations, and batches drawn from them in random orientations.

A batch is made of a few array operations: rows are gathered, observed in one call, and one kernel turns planes and
policies by the same symmetry (sources: L1): a board that is mirrored without its policy teaches nonsense).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from palaestra.base.errors import RunError
from palaestra.base.jit import kernel
from palaestra.base.types import Arrays, Float32s, Int32s, Int64s
from palaestra.games.base import Game
from palaestra.learn.config import LearnConfig
from palaestra.learn.examples import ExampleQueue, Examples
from palaestra.learn.learner import Batch
from palaestra.nets.facts import GameFacts, Shared


class Replay:
    """Examples of the last `window` iterations, or of the last `share` of all iterations where those are more."""

    def __init__(self, window: int, share: float = 0.0) -> None:
        self.window, self.share = window, share
        self._sizes: dict[int, int] = {}  # iteration -> how many examples, ascending
        self._queue = ExampleQueue()

    def __len__(self) -> int:
        """Positions in the window."""
        return len(self._queue)

    @property
    def iterations(self) -> tuple[int, ...]:
        """The iterations in the window, oldest first."""
        return tuple(self._sizes)

    def add(self, iteration: int, examples: Examples) -> None:
        """Take in the examples of the newest iteration; those that fall out of the window are forgotten."""
        if self._sizes and iteration <= max(self._sizes):
            raise ValueError(f"iteration {iteration} comes after {max(self._sizes)}: iterations are added in order")
        window = max(self.window, math.ceil(self.share * iteration))
        for old in [known for known in self._sizes if known <= iteration - window]:
            self._queue.drop(self._sizes.pop(old))
        self._queue.append(examples)
        self._sizes[iteration] = len(examples)

    def clear(self) -> None:
        """Forget all of it."""
        self._sizes, self._queue = {}, ExampleQueue()

    def save_iteration(self, iteration: int) -> Arrays:
        """Copies of the arrays of one iteration, to be saved."""
        first = sum(size for known, size in self._sizes.items() if known < iteration)
        part = self._queue.all().take(slice(first, first + self._sizes[iteration]))
        return {name: array.copy() for name, array in part.to_arrays().items()}

    def steps(self, config: LearnConfig, orientations: int) -> int:
        """How many batches to learn in this iteration, at least 1, of a game with so many symmetries.

        ⌊positions / batch⌋ an epoch (sources: replay and training), or so many that each position of the newest
        iteration is drawn `samples_per_position` times if it were drawn from alone.
        """
        if config.epochs is not None:
            copies = orientations if config.count_symmetries else 1
            return max(1, round(config.epochs * (copies * len(self) // config.batch)))
        assert config.samples_per_position is not None, "the run's configuration has one of the two"
        newest = self._sizes[max(self._sizes)] if self._sizes else 0
        return max(1, math.ceil(config.samples_per_position * newest / config.batch))

    def batches(
        self,
        game: Game,
        config: LearnConfig,
        rng: np.random.Generator,
        *,
        turn_policies: bool = True,
        shared: Shared | None = None,
        number: int = 0,
    ) -> Iterator[Batch]:
        """Batches without end, drawn with replacement (sources: replay and training), in random orientations.

        They are of the window as it is now, and must not be drawn after the next `add`, which may move it.

        With `turn_policies` off, a policy stays as it is where its board is turned (sources: L1). `shared` says how a
        network that learns several kinds of games sees this one, `number` which game of the run's course it is.
        """
        if not len(self):
            raise RunError("there are no positions to learn from: no game of the window was searched in full")
        images = Images(game, legal_only=config.legal_only, turn_policies=turn_policies, shared=shared, number=number)
        return _draw(self._queue.all(), images, config, rng)


def _draw(examples: Examples, images: Images, config: LearnConfig, rng: np.random.Generator) -> Iterator[Batch]:
    while True:
        chosen = rng.integers(len(examples), size=config.batch)
        which = np.zeros(config.batch, dtype=np.int64)
        if config.symmetries:
            which = rng.integers(images.count, size=config.batch)
        yield images.batch(examples.take(chosen), which)


class Images:
    """The symmetries of a game as tables, for batches whose rows have different orientations."""

    def __init__(
        self,
        game: Game,
        *,
        legal_only: bool = False,
        turn_policies: bool = True,
        shared: Shared | None = None,
        number: int = 0,
    ) -> None:
        self.game, self.shared, self.number = game, shared, number
        self.num_actions = GameFacts.of(game, shared).num_actions
        self.turn_policies = turn_policies
        self.illegal = -1.0 if legal_only else 0.0  # what the policy says of illegal moves
        self.count = len(game.symmetries)
        channels = np.arange(game.observation_shape[0], dtype=np.int32)
        self._cells = np.stack([one.cells for one in game.symmetries]).astype(np.int32)  # [K, H*W]
        self._actions = np.stack([one.actions for one in game.symmetries]).astype(np.int32)  # [K, A]
        self._channels = np.stack(
            [channels if one.channels is None else one.channels.astype(np.int32) for one in game.symmetries]
        )  # [K, C]

    def batch(self, examples: Examples, which: Int64s) -> Batch:
        """The examples as a batch, row i under symmetry which[i]; values and outcomes do not change."""
        planes = self.game.observe(examples.states)
        counts, legal = self.game.legal(examples.states)
        policy = np.full((len(examples), self.num_actions), self.illegal, dtype=np.float32)
        turned = np.empty_like(planes)
        flat = (*planes.shape[:2], -1)
        turn_planes(planes.reshape(flat), which, self._cells, self._channels, turned.reshape(flat))
        turned_by = which if self.turn_policies else np.zeros_like(which)
        turn_policies(examples.policy, counts, legal, turned_by, self._actions, policy)
        if self.shared is not None:
            turned = self.shared.fill(self.game, turned)
        movers = self.game.to_play(examples.states)
        return Batch(turned, policy, examples.value, examples.outcome, examples.ply, movers, self.number)


@kernel
def turn_planes(planes: Float32s, which: Int64s, cells: Int32s, channels: Int32s, out: Float32s) -> None:
    """out[b, channel's image, cell's image] = planes[b, channel, cell], by symmetry which[b]."""
    for b in range(planes.shape[0]):
        k = which[b]
        for c in range(planes.shape[1]):
            into = out[b, channels[k, c]]
            for i in range(planes.shape[2]):
                into[cells[k, i]] = planes[b, c, i]


@kernel
def turn_policies(
    policy: Float32s, counts: Int32s, legal: Int32s, which: Int64s, actions: Int32s, out: Float32s
) -> None:
    """Write policies [B, L] over legal moves into rows [B, A] over all actions, by symmetry which[b]."""
    for b in range(policy.shape[0]):
        for i in range(counts[b]):
            out[b, actions[which[b], legal[b, i]]] = policy[b, i]
