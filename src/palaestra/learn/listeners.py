"""Listeners that write: TensorBoard, where it is installed. (metrics.jsonl is part of a checkpoint: see `folder`.)"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from palaestra.learn.events import Event, IterationEnded, Listener, Metrics, RunEnded


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

    def __init__(self, writer: Any) -> None:
        self.writer = writer

    def __call__(self, event: Event) -> None:
        if isinstance(event, IterationEnded):
            for name, value in scalars(event.metrics).items():
                self.writer.add_scalar(name, value, event.iteration)
            self.writer.flush()
        elif isinstance(event, RunEnded):
            self.writer.close()


def scalars(metrics: Metrics) -> dict[str, float]:
    """The numbers of an iteration by the names that TensorBoard groups: "losses/policy", "elo/random"."""
    found = {f"losses/{name}": value for name, value in metrics["losses"].items()}
    found |= {f"seconds/{stage}": value for stage, value in metrics["seconds"].items()}
    found |= {f"elo/{anchor}": elo[0] for anchor, elo in (metrics["elo"] or {}).items()}
    found |= {f"selfplay/{name}": metrics[name] for name in ("mean_plies", "simulations_per_second", "network_share")}
    found |= {"training/lr": metrics["lr"], "training/buffer": metrics["buffer"]}
    if metrics["running_elo"] is not None:
        found["elo/running"] = metrics["running_elo"]["elo"]
    if metrics["demerits"] is not None:
        found["demerits"] = metrics["demerits"]["demerits"]
    found |= {f"reward/{name}": value for name, value in (metrics["learned"] or {}).items()}
    if metrics["scores"] is not None:
        found |= {f"score/{name}": metrics["scores"][name] for name in ("mean", "highest", "best")}
        found |= {"score/threshold": (metrics["ranked"] or {}).get("threshold")}
        found |= {"score/exploration": metrics["exploration"], "score/agent": (metrics["score"] or {}).get("mean")}
    if metrics["gate"] is not None:
        found["gate/accepted"] = float(metrics["gate"]["accepted"])
    return {name: float(value) for name, value in found.items() if value is not None}
