"""Listeners that write: TensorBoard, where it is installed. (metrics.jsonl is part of a checkpoint: see `folder`.)"""

from __future__ import annotations

from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from palaestra.learn.events import Event, IterationEnded, Listener, RunEnded
from palaestra.runs.metrics import MetricsLine


class Writer(Protocol):
    """What is used of TensorBoard's SummaryWriter."""

    def add_scalar(self, tag: str, scalar_value: float, global_step: int, /) -> None: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


def tensorboard(folder: Path) -> Listener | None:
    """A listener that writes every iteration for TensorBoard into the run's folder; None where it is not installed.

    A run that goes on after a crash writes the iteration it lost once more; TensorBoard shows the later one.
    """
    if find_spec("tensorboard") is None:
        return None
    from torch.utils.tensorboard import SummaryWriter

    return TensorBoard(SummaryWriter(str(folder / "tensorboard")))


class TensorBoard:
    """Scalars of every iteration, by its number."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def __call__(self, event: Event) -> None:
        if isinstance(event, IterationEnded):
            for name, value in scalars(event.metrics).items():
                self.writer.add_scalar(name, value, event.iteration)
            self.writer.flush()
        elif isinstance(event, RunEnded):
            self.writer.close()


def scalars(line: MetricsLine) -> dict[str, float]:
    """The numbers of an iteration by the names that TensorBoard groups: "losses/policy", "elo/random"."""
    found: dict[str, float | None] = {f"losses/{name}": value for name, value in asdict(line.losses).items()}
    found |= {f"seconds/{stage}": value for stage, value in line.seconds.by_stage().items()}
    found |= {f"elo/{anchor}": elo for anchor, (elo, _, _) in (line.elo or {}).items()}
    found |= {"selfplay/mean_plies": line.mean_plies, "selfplay/network_share": line.network_share}
    found |= {"selfplay/simulations_per_second": line.simulations_per_second}
    found |= {"training/lr": line.lr, "training/buffer": line.buffer}
    if line.running_elo is not None:
        found["elo/running"] = line.running_elo.elo
    if line.demerits is not None:
        found["demerits"] = line.demerits.demerits
    if line.learned is not None:
        found |= {f"reward/{name}": value for name, value in asdict(line.learned).items()}
    if (scores := line.scores) is not None:
        found |= {"score/mean": scores.mean, "score/highest": scores.highest, "score/best": scores.best}
        found |= {"score/exploration": line.exploration}
    if line.ranked is not None:
        found["score/threshold"] = line.ranked.threshold
    if line.score is not None:
        found["score/agent"] = line.score.mean
    if line.gate is not None:
        found["gate/accepted"] = float(line.gate.accepted)
    return {name: float(value) for name, value in found.items() if value is not None}
