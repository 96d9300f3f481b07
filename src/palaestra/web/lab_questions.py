"""What the process of the page Laboratory is asked: experiments, how far they are, what they gave; sweeps.

All of it may take seconds, for thousands of jobs have keys to be made and files to be looked for. What does not change
while a process lives is made once. A browser names a result by its id alone; code of one's own is not for pages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from palaestra.base.errors import ConfigError, PalaestraError
from palaestra.base.text import clip
from palaestra.lab.experiment import SCALES, Identity, Published, Table
from palaestra.work.asked import Tell

if TYPE_CHECKING:
    from palaestra.lab.costs import Costs
    from palaestra.lab.experiment import Experiment
    from palaestra.lab.jobs import Job
    from palaestra.lab.plan import Plan
    from palaestra.lab.reproduce import Outcome
    from palaestra.lab.sweep_report import Figure

MOST_JOBS = 40  # of a list
_ID = re.compile(r"[a-z0-9][a-z0-9.-]{0,60}")


@dataclass(frozen=True)
class ResultRow:
    """A result in the list. `where` is the scale that was run here, or `atlas`; None where there is nothing."""

    identity: Identity
    declared: bool = True
    where: str | None = None
    jobs: int | None = None  # None until they are counted
    done: int = 0
    answers: tuple[str, ...] | None = None
    seconds: float | None = None  # that the rest takes on one core; None where nobody has measured it
    problem: str = ""


@dataclass(frozen=True)
class Answer:
    """A claim and what the data say of it; no answer where there are none."""

    text: str
    ours: bool
    answer: str | None = None
    figure: str = ""
    what: str = ""


@dataclass(frozen=True)
class Found:
    """What was measured, and how."""

    where: str
    scale: str
    seeds: int
    minutes: float
    table: Table
    command: str


@dataclass(frozen=True)
class Result:
    """A result's page."""

    identity: Identity
    reading: str
    departs: dict[str, str]  # scale -> how it departs from what was published
    arms: int
    claims: tuple[Answer, ...]
    published: tuple[Published, ...]
    found: Found | None
    problem: str = ""


@dataclass(frozen=True)
class Jobs:
    """How far an experiment's jobs are."""

    jobs: int
    done: int
    share: float
    shown: tuple[tuple[str, float], ...]  # those under way first, then those that wait, then those that are done


@dataclass(frozen=True)
class SweepPage:
    """What a sweep says."""

    game: str
    facts: dict[str, str]
    figures: tuple[Figure, ...]
    trials: tuple[tuple[str, ...], ...]
    front: tuple[str, ...]


def checked_id(id: str) -> str:
    """An id as a browser may send it; ConfigError for what cannot be one."""
    if not _ID.fullmatch(id):
        raise ConfigError(f"{clip(id)} is not a result of the laboratory; for example fig-4.2")
    return id


def checked_scale(scale: str) -> str:
    if scale not in SCALES:
        raise ConfigError(f"there is no scale {clip(scale)}; there are {', '.join(SCALES)}")
    return scale


@lru_cache(maxsize=128)
def _plan(id: str, scale: str) -> Plan:
    from palaestra.lab.plan import make_plan

    return make_plan(_experiment(id), scale)


@lru_cache(maxsize=128)
def _jobs(id: str, scale: str) -> tuple[Job, ...]:
    from palaestra.lab.reproduce import jobs_of

    return tuple(jobs_of([_plan(id, scale)]))


@lru_cache(maxsize=1)
def _costs() -> Costs:
    from palaestra.lab.costs import Costs

    return Costs()  # nothing is measured for a page


def _experiment(id: str) -> Experiment:
    from palaestra.lab.catalogue import declared

    if (found := declared().get(checked_id(id))) is None:
        raise ConfigError(f"{clip(id)} is not a result of the laboratory; for example fig-4.2")
    return found


# The list.


def list_results(scale: str, home: Path, atlas: Path | None, tell: Tell) -> None:
    """Tell all rows as far as they are known at once, then each row again when its jobs have been counted."""
    from palaestra.lab.catalogue import declared, listed

    there = declared()
    rows = {one.id: _known(one, one.id in there, checked_scale(scale), home, atlas) for one in listed()}
    tell(list(rows.values()))
    for row in rows.values():
        if row.declared:
            tell([_counted(row, scale, home)])


def _known(identity: Identity, is_declared: bool, scale: str, home: Path, atlas: Path | None) -> ResultRow:
    if not is_declared:
        return ResultRow(identity, False)
    try:
        outcome = _outcome(identity.id, scale, home, atlas)
    except PalaestraError as error:
        return ResultRow(identity, problem=str(error))
    if outcome is None:
        return ResultRow(identity)
    where, found = outcome
    return ResultRow(identity, True, where, answers=tuple(verdict.answer for _, verdict in found.verdicts))


def _counted(row: ResultRow, scale: str, home: Path) -> ResultRow:
    from palaestra.lab.jobs import Store

    try:
        jobs, store = _jobs(row.identity.id, scale), Store(home)
        left = list(jobs) if not home.is_dir() else [job for job in jobs if store.share(job) < 1.0]
        seconds = _costs().total(left)
    except PalaestraError as error:
        return ResultRow(row.identity, True, row.where, answers=row.answers, problem=str(error))
    done = len(jobs) - len(left)
    return ResultRow(row.identity, True, row.where, len(jobs), done, row.answers, seconds, row.problem)


def _outcome(id: str, scale: str, home: Path, atlas: Path | None) -> tuple[str, Outcome] | None:
    """What a folder of this machine holds at that scale, or else the atlas that comes with the repository."""
    from palaestra.lab.atlas import stored_plan
    from palaestra.lab.reproduce import DATA, SETTINGS, read_outcome

    for where, folder in ((scale, home / id), ("atlas", None if atlas is None else atlas / id)):
        if folder is not None and (folder / DATA).is_file() and (folder / SETTINGS).is_file():
            return where, read_outcome(stored_plan(_experiment(id), folder), folder)
    return None


# One result.


def read_result(id: str, scale: str, home: Path, atlas: Path | None, tell: Tell) -> Result:
    """A result: what it claims, and what was found."""
    experiment, problem, outcome = _experiment(id), "", None
    try:
        outcome = _outcome(id, checked_scale(scale), home, atlas)
    except PalaestraError as error:
        problem = str(error)
    departs: dict[str, str] = {name: experiment.scales[name].departs for name in SCALES}
    claims = tuple(Answer(claim.text, claim.ours) for claim in experiment.claims)
    found = None
    if outcome is not None:
        where, out = outcome
        claims = tuple(
            Answer(claim.text, claim.ours, verdict.answer, str(verdict.estimate), verdict.what)
            for claim, verdict in out.verdicts
        )
        found = _found(where, out)
    arms = len(experiment.arms)
    return Result(experiment.identity, experiment.reading, departs, arms, claims, experiment.published, found, problem)


def _found(where: str, out: Outcome) -> Found:
    from palaestra.lab.atlas import command_of

    plan = out.plan
    return Found(where, plan.scale_name, len(plan.seeds), out.seconds / 60, out.table, command_of(plan))


def look_at_jobs(id: str, scale: str, home: Path, tell: Tell) -> Jobs:
    """How far the jobs of an experiment are, from what they have left on the disk."""
    from palaestra.lab.jobs import Store

    jobs, store = _jobs(id, checked_scale(scale)), Store(home)
    shares = [(str(job), store.share(job)) for job in jobs]
    done = sum(share >= 1.0 for _, share in shares)
    order = sorted(shares, key=lambda one: (not 0.0 < one[1] < 1.0, one[1]))
    total = sum(share for _, share in shares) / max(len(shares), 1)
    return Jobs(len(shares), done, total, tuple(order[:MOST_JOBS]))


# Sweeps.


def read_sweep(folder: Path, tell: Tell) -> SweepPage:
    """The findings of a sweep; RecordError where no trial is finished yet."""
    from palaestra.lab.sweep_report import facts_of, figures_of, find, trial_rows

    found = find(folder)
    front = tuple(map(str, found.front))
    return SweepPage(found.plan.base.game, facts_of(found), tuple(figures_of(found)), tuple(trial_rows(found)), front)


def check_sweep(game: str, space: str, trials: int, minutes: float, games: int, seed: int, tell: Tell) -> None:
    """ConfigError where `palaestra sweep` would refuse these."""
    from palaestra.lab.sweep import check_players, count_trials, make_plan
    from palaestra.lab.sweep_space import check_extra

    check_extra()
    ends = {"minutes": minutes, "seed": seed}
    plan = make_plan(game, space, ("elo", "minutes"), None, None, (), ends, games=games)
    count_trials(plan, trials)
    check_players(plan)


def figure_file(folders: Sequence[Path]) -> Path | None:
    """The first picture of a result in these folders: PNG, or else SVG."""
    names = ("figure.png", "figure.svg")
    return next((folder / name for folder in folders for name in names if (folder / name).is_file()), None)
