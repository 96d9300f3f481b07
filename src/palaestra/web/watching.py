"""Runs as they change: what is read of them, and the times of files that tell when to read it again.

A run and the list are each read once for all who look (`watched`), and only where something has changed. Knows nothing
of how runs are shown.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from palaestra.base.errors import PalaestraError, RunError
from palaestra.live.progress_file import PROGRESS, Progress, read_progress
from palaestra.live.run import Run
from palaestra.runs.folder import CONFIG, LOCK, MANIFEST, RunFolder
from palaestra.runs.overview import RunRow, describe, folders_of, is_running, newest_first
from palaestra.web import commands, training
from palaestra.web.commands import Command
from palaestra.web.house import House
from palaestra.web.watched import Watched

Times = tuple[int | None, ...]


# One run.


@dataclass(frozen=True)
class SeenRun:
    """A run at one moment. `run` is None where its folder cannot be read, or is not there yet."""

    name: str
    row: RunRow | None  # None while there is no folder
    run: Run | None
    progress: Progress | None  # of a process that trains now
    command: Command | None  # that a page started last, while it runs or after it failed
    starting: bool  # the command runs, and the run does not yet
    made_from: Times = ()  # times of the files that `run` was read from

    @property
    def state(self) -> str:
        return "starting" if self.starting else "not there" if self.row is None else self.row.state

    @property
    def is_active(self) -> bool:
        return self.state in ("starting", "running")

    @property
    def problem(self) -> str | None:
        """What is wrong, in words: with the folder, or with the command that was to change it."""
        if self.command is not None and self.command.failed and not self.is_active:
            return self.command.last_line or "the command failed; its log is empty"
        return None if self.row is None else self.row.problem


def look_at(house: House, name: str, before: SeenRun | None = None) -> SeenRun:
    """A run as it is now; what has not changed since `before` is not read again."""
    folder = house.runs / name
    command = training.last_command(house, name)
    at_work = command is not None and command.is_running
    told = command if at_work or (command is not None and command.failed) else None
    try:
        house.allowed.run(name)
    except RunError as error:
        strange = RunRow(name, "not a run", 0.0, problem=str(error)) if folder.exists() and not at_work else None
        return SeenRun(name, strange, None, None, told, at_work)
    times = _times(folder, (MANIFEST, CONFIG))
    row, run = _kept(folder, before) if before is not None and before.made_from == times else (None, None)
    if row is None:
        try:
            run = Run(folder)
        except (PalaestraError, OSError):  # no network yet, or damaged: the row says which
            run = None
        row = describe(folder) if run is None else run.row
    progress = read_progress(folder) if row.state == "running" else None
    return SeenRun(name, row, run, progress, told, at_work and row.state != "running", times)


def _kept(folder: Path, before: SeenRun) -> tuple[RunRow | None, Run | None]:
    """What was read before, of a run whose files are the same: running or not. None if it is to be read again."""
    row = before.row
    if row is None or row.state in ("damaged", "not a run"):
        return None, None
    if is_running(RunFolder(folder)):
        return replace(row, state="running"), before.run
    return (None, None) if row.state == "running" else (row, before.run)


def _mark(house: House, name: str, seen: SeenRun | None) -> object:
    folder, about = house.runs / name, training.folder_of_command(house, name)
    times = _times(folder, (MANIFEST, CONFIG, PROGRESS, LOCK)), _times(about, (commands.RECORD,))
    active = seen is not None and seen.is_active  # only then does it cost nobody anything to try the lock
    alive = (is_running(RunFolder(folder)), commands.is_running(about)) if active else None
    return times, alive


# The list.


@dataclass(frozen=True)
class SeenRuns:
    """Every row of the runs folder, the newest first."""

    rows: list[RunRow] = field(default_factory=list)
    made_from: dict[str, Times] = field(default_factory=dict)

    @property
    def running(self) -> list[str]:
        return [row.name for row in self.rows if row.state == "running"]


def look_at_all(house: House, before: SeenRuns | None = None) -> SeenRuns:
    """All runs; a row whose files have not changed is kept, unless it was running."""
    if not house.runs.is_dir():
        return SeenRuns()
    known = {} if before is None else {row.name: row for row in before.rows if row.state != "running"}
    old = {} if before is None else before.made_from
    rows, times = [], _list_times(house, before)
    for folder in folders_of(house.runs):
        name = folder.name
        rows.append(known[name] if name in known and old.get(name) == times.get(name) else describe(folder))
    return SeenRuns(newest_first(rows), times)


def _mark_of_all(house: House, seen: SeenRuns | None) -> object:
    if not house.runs.is_dir():
        return None
    alive = [is_running(RunFolder(house.runs / name)) for name in (seen.running if seen is not None else ())]
    return _list_times(house, seen), alive


def _list_times(house: House, seen: SeenRuns | None) -> dict[str, Times]:
    """What tells that a row has changed: not how far a run is inside an iteration, but that one has begun again."""
    at_work = seen.running if seen is not None else ()
    return {
        folder.name: _times(folder, (MANIFEST, CONFIG) if folder.name in at_work else (MANIFEST, CONFIG, PROGRESS))
        for folder in folders_of(house.runs)
    }


def _times(folder: Path, names: tuple[str, ...]) -> Times:
    """When each of these files was written last, in nanoseconds; None for one that is not there."""
    found: list[int | None] = []
    for name in names:
        try:
            found.append(os.stat(folder / name).st_mtime_ns)
        except OSError:
            found.append(None)
    return tuple(found)


# For pages.


def watched_runs(house: House) -> Watched[SeenRuns]:
    """The list, read once for all who look at it."""
    before: list[SeenRuns] = []

    def read() -> SeenRuns:
        before[:] = [look_at_all(house, before[0] if before else None)]
        return before[0]

    return Watched(lambda: _mark_of_all(house, before[0] if before else None), read)


def watched_run(house: House, name: str) -> Watched[SeenRun]:
    """One run, read once for all who look at it."""
    before: list[SeenRun] = []

    def read() -> SeenRun:
        before[:] = [look_at(house, name, before[0] if before else None)]
        return before[0]

    return Watched(lambda: _mark(house, name, before[0] if before else None), read)
