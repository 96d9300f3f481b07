"""Evaluators: what a search asks about the leaves of its trees.

`Evaluator.__call__(leaves)` answers for a batch of positions that are not over:

- `logits` float32[N, A], or None for "all legal moves alike";
- `values` float32[N] in [-1, 1], for the player to move.

Row i may use `leaves.streams[i]` for random numbers, and nothing else that depends on the batch, so that an answer
never depends on which leaves are asked about together. This module knows no game's rules and no network.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from palaestra.base.types import Float32s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.base import Game, Playouts
from palaestra.rewards.base import Reward
from palaestra.search.memory import Memory


@dataclass(frozen=True, eq=False)
class Leaves:
    """A batch of positions to be evaluated, none of them over."""

    states: Int8s  # [N, S]
    counts: Int32s  # [N] number of legal actions
    actions: Int32s  # [N, L] legal actions, ascending
    streams: UInt64s  # [N] random streams, advanced in place by whoever draws

    def take(self, rows: Int64s) -> Leaves:
        """Some of the leaves, as copies."""
        return Leaves(self.states[rows], self.counts[rows], self.actions[rows], self.streams[rows])


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Answers for a batch of leaves; `playouts` are those that gave the values, if any and if traced."""

    logits: Float32s | None  # [N, A]
    values: Float32s  # [N], for the player to move
    playouts: Playouts | None = None


class Evaluator(ABC):
    """Says how good positions are and which moves look promising."""

    memory: Memory | None = None  # answers that are known already; a search looks there and asks about the rest

    @abstractmethod
    def __call__(self, leaves: Leaves) -> Evaluation: ...

    def ask(self, leaves: Leaves) -> Evaluation:
        """The answers for leaves that were not found in `memory`."""
        return self(leaves)

    @property
    def network_seconds(self) -> float | None:
        """Time spent inside networks since this was made; None if there is none."""
        return None


class Uniform(Evaluator):
    """Knows nothing: all moves alike, every position worth 0."""

    def __call__(self, leaves: Leaves) -> Evaluation:
        return Evaluation(None, np.zeros(len(leaves.states), dtype=np.float32))


class Rollout(Evaluator):
    """The value of one uniform random game from the leaf (Alg. 10 without a network; sources: Alg. 10 to 14)."""

    def __init__(self, game: Game, reward: Reward, trace: bool = False) -> None:
        self.game, self.reward, self.trace = game, reward, trace

    def __call__(self, leaves: Leaves) -> Evaluation:
        playouts = self.game.rollout(leaves.states, leaves.streams, trace=True) if self.trace else None
        outcomes = self.game.playout_outcomes(leaves.states, leaves.streams) if playouts is None else playouts.outcomes
        values = self.reward.value(outcomes)
        values[leaves.states[:, 0] == 1] *= -1.0
        return Evaluation(None, values, playouts)


class Mixed(Evaluator):
    """(1 - w) · value of `first` + w · value of `second`; logits from `first` (Eq. 5.5 and 5.6; sources: Alg. 3 and 5).

    w = 1 still asks `first` for its logits: that is the Rollout enhancement (Alg. 10).
    """

    def __init__(self, first: Evaluator, second: Evaluator, weight: float) -> None:
        self.first, self.second, self.weight = first, second, weight

    def __call__(self, leaves: Leaves) -> Evaluation:
        one, two = self.first(leaves), self.second(leaves)
        values = (1.0 - self.weight) * one.values + self.weight * two.values
        return Evaluation(one.logits, values.astype(np.float32), two.playouts or one.playouts)

    @property
    def network_seconds(self) -> float | None:
        spent = [seconds for part in (self.first, self.second) if (seconds := part.network_seconds) is not None]
        return sum(spent) if spent else None


class Scripted(Evaluator):
    """Answers from a function of the states: for tests, where every number must be known."""

    def __init__(self, script: Callable[[Int8s], tuple[Float32s | None, Float32s]]) -> None:
        self.script = script

    def __call__(self, leaves: Leaves) -> Evaluation:
        return Evaluation(*self.script(leaves.states))
