"""How far experiments are: what their folder holds, their verdicts, and how long the rest takes on this machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palaestra.lab.costs import Costs
from palaestra.lab.jobs import Job, Store, There, Train, with_needs
from palaestra.lab.plan import Plan
from palaestra.lab.reproduce import DATA, jobs_of, read_outcome


@dataclass(frozen=True)
class Status:
    """How far an experiment is at one scale."""

    runs: int
    calls: int
    done: int  # runs and calls that are finished
    answers: tuple[str, ...] | None  # verdicts, once the data are there
    seconds: float | None  # that the rest takes, all jobs after each other; None where nobody has measured it

    @property
    def there(self) -> str:
        if self.answers is not None:
            return "done"
        return f"{self.done} of {self.runs + self.calls}" if self.done else "none"

    @property
    def verdicts(self) -> str:
        counts = Counter(self.answers or ())
        return ", ".join(f"{counts[answer]} {answer}" for answer in ("holds", "fails", "open") if counts[answer])

    @property
    def minutes(self) -> str:
        if self.seconds is None:
            return "?"
        return f"{self.seconds / 60:.1f}" if self.seconds < 600 else f"{self.seconds / 60:.0f}"

    def as_json(self) -> dict[str, Any]:
        return {
            "state": "done" if self.answers is not None else "begun" if self.done else "none",
            "runs": self.runs,
            "calls": self.calls,
            "done": self.done,
            "verdicts": None if self.answers is None else dict(Counter(self.answers)),
            "minutes": None if self.seconds is None else self.seconds / 60,
        }


def status_of(plan: Plan, out: Path, costs: Costs, there: There | None = None) -> Status:
    """What is there, and what is left. Who asks about many plans looks once for all of them what is `there`."""
    store, jobs = Store(out), jobs_of([plan])
    there = there or store.there()
    runs = sum(isinstance(job, Train) for job in jobs)
    left = [job for job in jobs if not store.done(job, there)]
    done = len(jobs) - len(left)
    folder = out / plan.experiment.id
    answers = None
    if not left and (folder / DATA).is_file():
        answers = tuple(verdict.answer for _, verdict in read_outcome(plan, folder).verdicts)
    return Status(runs, len(jobs) - runs, done, answers, costs.total(left))


def glance(plan: Plan, out: Path, costs: Costs, there: There | None = None) -> tuple[str, str, str]:
    """`there`, `verdicts` and `minutes` of the status, without counting thousands of jobs for nothing.

    Where no experiment has left anything of their names, none of them is done; and of the time of all nothing is known
    as soon as it is not known of one.
    """
    there = there or Store(out).there()
    untouched = not there.names or not any(there.like(one) for job in _each(plan) for one in with_needs(job))
    if untouched and any(costs.seconds(job) is None for job in _each(plan)):
        return "none", "", "?"
    status = status_of(plan, out, costs, there)
    return status.there, status.verdicts, status.minutes


def _each(plan: Plan) -> Iterator[Job]:
    """The jobs of a plan as its measures have them, some of them more than once."""
    return (job for measure in plan.experiment.measures for job in measure.jobs(plan))
