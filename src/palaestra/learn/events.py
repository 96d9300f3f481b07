"""What a run says while it goes on. The loop emits these; views, logs and files listen.

Nothing here knows who listens. A listener is a plain function of one event; it is called in the thread that runs the
loop, or for `StageProgress` and `WorkersSeen` in one that works for it, and should return quickly.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from palaestra.arena.match import Running
from palaestra.base.progress import ProgressListener
from palaestra.games.base import Game
from palaestra.learn.config import RunConfig
from palaestra.runs.metrics import AgentScore, AnchorResult, Elo, MetricsLine, Score, WorkerSpeed

if TYPE_CHECKING:  # views listen, and need not load what plays
    from palaestra.learn.gate import GateResult

Stage = Literal["selfplay", "deep", "training", "gate", "evaluation", "saving"]


@dataclass(frozen=True)
class RunStarted:
    """A run begins, or goes on after `iteration` iterations that took `seconds`."""

    folder: Path
    config: RunConfig
    iteration: int
    seconds: float
    history: tuple[MetricsLine, ...]  # the iterations so far


@dataclass(frozen=True)
class StageStarted:
    iteration: int
    stage: Stage
    total: int | None = None  # what `StageProgress.done` counts up to, where it is known
    unit: str = ""  # of what is counted: games, batches


@dataclass(frozen=True)
class StageProgress:
    iteration: int
    stage: Stage
    done: int
    total: int | None


@dataclass(frozen=True)
class WorkersSeen:
    """How fast each worker plays the games of self-play; those of the iteration under way so far."""

    speeds: tuple[WorkerSpeed, ...]


@dataclass(frozen=True)
class StageEnded:
    iteration: int
    stage: Stage
    seconds: float


@dataclass(frozen=True)
class GateEnded:
    """The candidate was accepted or not."""

    iteration: int
    result: GateResult


@dataclass(frozen=True)
class EvaluationEnded:
    """Results against the anchors, or with one player the scores of the agent and of the anchors."""

    iteration: int
    results: tuple[AnchorResult, ...] | tuple[Score, ...]


@dataclass(frozen=True)
class IterationEnded:
    """The iteration is on the disk; `metrics` is its line of metrics.jsonl."""

    iteration: int
    metrics: MetricsLine


@dataclass(frozen=True)
class Warned:
    """Something a person should know, one line; the run goes on."""

    message: str


@dataclass(frozen=True)
class Summary:
    """A run as a whole, when it ends."""

    folder: Path
    game: Game
    config: RunConfig
    iterations: int
    games: int
    positions: int
    seconds: float
    best: int  # iteration of the network that plays
    metrics: tuple[MetricsLine, ...]

    @property
    def elo(self) -> dict[str, Elo]:
        """The last evaluation: anchor -> (Elo difference, low, high); None where it is infinite."""
        return next((line.elo for line in reversed(self.metrics) if line.elo), {})

    @property
    def score(self) -> AgentScore | None:
        """With one player, the last evaluation of the agent and its anchors; None with two."""
        return next((line.score for line in reversed(self.metrics) if line.score is not None), None)


@dataclass(frozen=True)
class RunEnded:
    summary: Summary


Event = (
    RunStarted
    | StageStarted
    | StageProgress
    | WorkersSeen
    | StageEnded
    | GateEnded
    | EvaluationEnded
    | IterationEnded
    | Warned
    | RunEnded
)
Listener = Callable[[Event], None]


class StageTimer:
    """A stage as a context: `with` it, the stage begins and ends; called, it tells of progress.

    Its seconds are left in `spent`. It knows nothing of what is done in the stage.
    """

    def __init__(
        self, tell: Listener, spent: dict[str, float], iteration: int, stage: Stage, total: int | None, unit: str
    ) -> None:
        self.tell, self.spent = tell, spent
        self.iteration, self.stage, self.total, self.unit = iteration, stage, total, unit
        self.matched = 0  # games of the parts or matches so far

    def __enter__(self) -> Self:
        self.tell(StageStarted(self.iteration, self.stage, self.total, self.unit))
        self.began = time.perf_counter()
        return self

    def __call__(self, done: int, total: int | None = None) -> None:
        self.tell(StageProgress(self.iteration, self.stage, done, total or self.total))

    def part(self, count: int) -> ProgressListener:
        """A listener of the stage's next part, which counts up to `count`; what the parts before counted is done."""
        before, self.matched = self.matched, self.matched + count
        return lambda done, total: self(before + done)

    def match(self, games: int) -> Callable[[Running], None]:
        """A listener of the stage's next match, which has so many games; those of the matches before it are done."""
        before, self.matched = self.matched, self.matched + games
        return lambda running: self(before + running.finished)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        seconds = time.perf_counter() - self.began
        self.spent[self.stage] = seconds
        if kind is None:
            self.tell(StageEnded(self.iteration, self.stage, seconds))
