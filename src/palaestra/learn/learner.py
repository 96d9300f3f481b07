"""What training takes and gives, and what the loop needs of a trainer. Loads no PyTorch; `trainer` does the work.

The arrays of a batch say nothing about where its positions came from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from palaestra.base.progress import ProgressListener
from palaestra.base.types import Arrays, Float32s, Int8s, Int32s


@dataclass(frozen=True, eq=False)
class Batch:
    """B positions with their targets. A head that predicts outcomes makes its target of the last three arrays."""

    planes: Float32s  # [B, C, H, W], as `Game.observe` gives them
    policy: Float32s  # [B, A], the target π, adding up to 1, or to 0 where there is none; -1: not compared
    value: Float32s  # [B], in [-1, 1], for the player to move
    outcome: Int32s  # [B], of the game that the position is from, for the first player
    ply: Int32s  # [B], plies before the position
    mover: Int8s  # [B], 0 or 1: the player to move
    game: int = 0  # the number of the game in the run's course

    def __len__(self) -> int:
        return len(self.planes)


@dataclass(frozen=True, eq=False)
class MixedBatch:
    """Positions of several games of a run's course, learned in one step."""

    parts: tuple[Batch, ...]  # one of each game

    def __len__(self) -> int:
        return sum(map(len, self.parts))


@dataclass(frozen=True)
class Losses:
    """The four losses of Ch4, whichever of them is minimised."""

    policy: float
    value: float
    sum: float
    product: float

    @classmethod
    def of(cls, policy: float, value: float) -> Losses:
        return cls(policy, value, policy + value, policy * value)


@dataclass(frozen=True)
class TrainReport:
    """What one call of `Trainer.train` did. Losses are means over batches, each before its update."""

    epochs: tuple[Losses, ...]  # of each epoch, at least one; the last is whole where `learn.epochs` is no whole number
    steps: int  # updates made and kept
    samples: int
    seconds: float
    lr: float
    stopped: str | None = None  # why it ended early

    @property
    def losses(self) -> Losses:
        """Of the last epoch; not a number where no batch was learned."""
        return self.epochs[-1]


Batches = Iterator[Batch | MixedBatch]


class Learner(Protocol):
    """A network in training (`trainer.Trainer`)."""

    steps: int  # updates since the run began

    def train(
        self, batches: Batches, steps: int, progress: float, listen: ProgressListener | None = None
    ) -> TrainReport: ...

    def onnx(self) -> bytes: ...

    def adopt(self, weights: dict[str, Float32s], planes: Float32s, steps: int = 0) -> None: ...

    def state(self) -> Arrays: ...

    def load_state(self, state: Arrays) -> None: ...
