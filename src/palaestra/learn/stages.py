"""The working parts of an iteration, as the loop sees them. Tests put quick ones in their place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from palaestra.games.base import Game
from palaestra.learn.batch import Batch
from palaestra.learn.config import RunConfig


class Learner(Protocol):
    """What the loop needs of a trainer (`trainer.Trainer`)."""

    def train(self, batches: Iterator[Batch], steps: int, progress: float, listen: Any = None) -> Any: ...

    def onnx(self) -> bytes: ...

    def state(self) -> dict[str, Any]: ...

    def load_state(self, state: Mapping[str, Any]) -> None: ...


@dataclass(frozen=True)
class Stages:
    """The functions that do the work; their arguments are those of the modules named in `real_stages`."""

    make_trainer: Callable[[Game, RunConfig], Learner]
    play_games: Callable[..., Any]
    judge: Callable[..., Any]
    evaluate: Callable[..., Any]
    meet: Callable[..., Any]
    demerits: Callable[..., Any]
    score: Callable[..., Any]


def real_stages() -> Stages:
    """The stages of a real run. This is where PyTorch is loaded."""
    from palaestra.learn.evaluation import as_configured, demerits, meet, play_anchors
    from palaestra.learn.gate import judge
    from palaestra.learn.scores import play_scores
    from palaestra.learn.selfplay import play_games
    from palaestra.learn.trainer import Trainer

    evaluate, score = partial(as_configured, play_anchors), partial(as_configured, play_scores)
    return Stages(Trainer, play_games, judge, evaluate, meet, demerits, score)
