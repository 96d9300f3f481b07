"""A stage of the loop as a context: its events, its progress and its seconds. Knows nothing of what is done in it."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from palaestra.arena.match import Running
from palaestra.learn import events
from palaestra.learn.events import Listener, Stage


class StageTimer:
    """`with` it, the stage begins and ends; called, it tells of progress. Its seconds are left in `spent`."""

    def __init__(
        self, tell: Listener, spent: dict[str, float], iteration: int, stage: Stage, total: int | None, unit: str
    ) -> None:
        self.tell, self.spent = tell, spent
        self.iteration, self.stage, self.total, self.unit = iteration, stage, total, unit
        self.matched = 0  # games of the matches so far

    def __enter__(self) -> Self:
        self.tell(events.StageStarted(self.iteration, self.stage, self.total, self.unit))
        self.began = time.perf_counter()
        return self

    def __call__(self, done: int, total: int | None = None) -> None:
        self.tell(events.StageProgress(self.iteration, self.stage, done, total or self.total))

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
            self.tell(events.StageEnded(self.iteration, self.stage, seconds))
