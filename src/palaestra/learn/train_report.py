"""What training an iteration reports. Apart from the trainer, because whoever reads it need not load PyTorch."""

from __future__ import annotations

from dataclasses import dataclass


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
