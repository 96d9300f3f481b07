"""The self-play of one iteration: that of each game of the run's course, and what they are together."""

from __future__ import annotations

from dataclasses import dataclass

from palaestra.learn.course import Course
from palaestra.learn.due_evaluations import Judged
from palaestra.learn.examples import Examples
from palaestra.learn.selfplay import SelfPlay
from palaestra.learn.workforce import by_worker
from palaestra.runs.game_record import GameRecord
from palaestra.runs.metrics import CourseGame, CourseState, GameResults, WarmStartState, WorkerSpeed


@dataclass(frozen=True, eq=False)
class Played:
    """Games by the number of their game in the course; most runs have one."""

    parts: dict[int, SelfPlay]

    @property
    def examples(self) -> dict[int, Examples]:
        return {number: part.examples for number, part in self.parts.items()}

    @property
    def positions(self) -> int:
        """Of all games, learned from."""
        return sum(len(part.examples) for part in self.parts.values())

    @property
    def records(self) -> tuple[GameRecord, ...]:
        return tuple(record for part in self.parts.values() for record in part.records)

    @property
    def mean_plies(self) -> float:
        return sum(len(record.moves) for record in self.records) / len(self.records)

    @property
    def results(self) -> GameResults:
        """Of games for two players."""
        parts = [part.results for part in self.parts.values()]
        return GameResults(*(sum(getattr(part, name) for part in parts) for name in ("first", "draw", "second")))

    @property
    def simulations(self) -> int:
        return sum(part.simulations for part in self.parts.values())

    @property
    def simulations_per_second(self) -> float:
        return self.simulations / sum(part.seconds for part in self.parts.values())

    @property
    def network_share(self) -> float:
        """Share of the threads' time that is spent in the network."""
        parts = self.parts.values()
        return sum(part.evaluator_seconds for part in parts) / sum(part.threads * part.seconds for part in parts)

    @property
    def speeds(self) -> tuple[WorkerSpeed, ...]:
        """Of each worker, over all games."""
        return by_worker(speed for part in self.parts.values() for speed in part.speeds)

    @property
    def ages(self) -> tuple[int, ...] | None:
        """How many games' networks were 0, 1, … iterations old; only a run of one game has older ones."""
        return next(iter(self.parts.values())).ages

    @property
    def warm(self) -> WarmStartState | None:
        """Of a warm start, while it lasts: it is the same at all games."""
        return next(iter(self.parts.values())).warm


def course_state(course: Course, stage: int, played: Played, judged: Judged, progress: float) -> CourseState | None:
    """What the iteration's line says of its games; None for a run of one game."""
    if len(course.games) == 1:
        return None
    games = tuple(
        CourseGame(
            course.games[number].id,
            len(part.records),
            len(part.examples),
            part.mean_plies,
            part.results,
            judged.elsewhere.get(number) if judged.elsewhere else None,
        )
        for number, part in played.parts.items()
    )
    return CourseState(games, course.ended(stage, progress, judged.history))
