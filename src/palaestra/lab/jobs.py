"""The jobs of experiments, their keys, and the folder that holds what they leave behind.

    OUT/runs/GAME-KEY/    the run of a `Train`, whichever experiments read it
    OUT/jobs/NAME-KEY.json    the rows of a `Call`, written when it is done

A key is a hash of everything that a result depends on: settings, seed, the version of the game's rules, and for a call
the text of its function. So what two experiments share is done once, and nothing old is taken for new. Who only wants
to know which jobs are the same compares `same`, for which no game is made. Jobs know nothing of experiments.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import os
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from palaestra.base.atomic import make_folder, write_file
from palaestra.base.errors import RunError
from palaestra.base.reading import MOST_TEXT, parse_json, read_bytes
from palaestra.base.types import JsonLike
from palaestra.lab.data import Row, Value
from palaestra.learn.config import RunConfig
from palaestra.learn.settings import NONE, flatten
from palaestra.runs.folder import CONFIG, RunFolder
from palaestra.runs.metrics import MetricsLine
from palaestra.work.jobs import report

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

    from palaestra.learn.events import Event, Listener

RUNS, JOBS = "runs", "jobs"
# Settings that runs did not have when keys began, each as it is where nobody sets it: no key knows them there.
LATER = {
    "start": NONE, "course.games": [], "course.mode": "mixed", "course.shares": [], "course.progress": 0.55,
    "course.judged": "own", "selfplay.first_simulations": NONE, "selfplay.search_until": 1.0, "selfplay.overlap": 0.0,
    "learn.given_epochs": 5.0, "growth.nets": [], "growth.after": [], "clock": "wall", "learn.precision": "float32",
    "learn.surprise": 0.0, "selfplay.precision": "float32",
}  # fmt: skip
_json = json.JSONEncoder(sort_keys=True).encode
Until = Callable[[MetricsLine], bool]


@dataclass(frozen=True)
class Train:
    """A run, brought to the end that its configuration sets, or to the first line for which `until` is true."""

    config: RunConfig
    until: Until | None = None
    after: Train | None = None  # the finished run whose network it starts with

    @cached_property
    def key(self) -> str:
        first = () if self.after is None else (_json(self.after.key),)
        return f"{self.name}-{_hash(self.same[0], _json(game_version(self.config.game)), *first)}"

    @cached_property
    def same(self) -> tuple[str, ...]:
        """Equal where keys are: the settings of this run, and of the one before it."""
        settings = {**_settings(self.config.model_copy(update={"seed": 0})), "seed": self.config.seed}
        return (_json(settings), *(() if self.after is None else self.after.same))

    @property
    def name(self) -> str:
        return _plain(self.config.game)

    def __str__(self) -> str:
        return f"run {self.key}"


Given = tuple[Mapping[str, Value], Sequence[Path]]  # the arguments of a call, and the folders of the runs it needs


@dataclass(frozen=True)
class Batch:
    """Calls that take less time when they are done at once: all with the same `name`.

    `function` does several of them, and gives rows with the place of their call as each of them ends: the same rows as
    one by one. `beside` says with how many others a player is asked, for estimates of time.
    """

    function: Callable[[Sequence[Given]], Iterable[tuple[int, list[Row]]]]
    name: str
    beside: int = 1


@dataclass(frozen=True)
class Call:
    """A function of arguments that JSON can hold, and of the folders of finished runs; it returns rows.

    It is called as `function(**arguments)`, or `function(runs=[folder, …], **arguments)` where it needs runs. Other
    processes call it, so it stands at the top of a module. Its result may depend on nothing else.
    """

    function: Callable[..., Iterable[Row]]
    arguments: Mapping[str, Value]
    needs: tuple[Train, ...] = ()
    units: float = 1.0  # how much work it is, compared with its trial
    trial: Call | None = None  # the same on a small scale, to tell the time; None: not worth counting
    batch: Batch | None = None

    @cached_property
    def key(self) -> str:
        game = self.arguments.get("game")
        version = game_version(game) if isinstance(game, str) else ""
        needs = [run.key for run in self.needs]
        return f"{self.name}-{_hash(self._given, _json(needs), _json(version), begun=_begun(self.function))}"

    @property
    def same(self) -> tuple[object, ...]:
        """Equal where keys are."""
        return (_meaning(self.function), self._given, *(run.same for run in self.needs))

    @cached_property
    def _given(self) -> str:
        return _json(dict(self.arguments))

    @property
    def name(self) -> str:
        return _plain(self.function.__name__.strip("_"))

    def __str__(self) -> str:
        shown = (str(value) for value in self.arguments.values() if isinstance(value, str))
        return f"{self.name.replace('_', ' ')} {', '.join(shown)}"


Job = Train | Call


def with_needs(job: Job) -> tuple[Job, ...]:
    """A job behind all that has to be done before it."""
    if isinstance(job, Train):
        return (job,) if job.after is None else (job.after, job)
    return (*[run.after for run in job.needs if run.after is not None], *job.needs, job)


@dataclass(frozen=True)
class There:
    """Names of all that jobs had left in a store when it was looked into, so that no job has to be looked for."""

    names: frozenset[str]

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(name.rpartition("-")[0] for name in self.names)

    def like(self, job: Job) -> bool:
        """Whether there is anything of a job with the same name, up to the key."""
        return job.name in self._beginnings

    def __contains__(self, job: Job) -> bool:
        """Whether there is anything of this job; no key is made where the name says that there is not."""
        return self.like(job) and _file_name(job) in self.names


@dataclass(frozen=True)
class Store:
    """The folder that all jobs share."""

    out: Path
    _rows: dict[str, list[Row]] = field(default_factory=dict, compare=False, repr=False)

    def run(self, job: Train) -> Path:
        """The folder of a run."""
        return self.out / RUNS / _file_name(job)

    def lines(self, job: Train) -> list[MetricsLine]:
        """The lines of a run that count: up to its end, or up to the one that `until` accepts."""
        home = RunFolder(self.run(job))
        manifest = home.manifest() if (home.path / CONFIG).is_file() else None
        lines: list[MetricsLine] = [] if manifest is None else [*home.metrics(manifest)[: job.config.iterations]]
        for number, line in enumerate(lines, start=1):
            if job.until is not None and job.until(line):
                return lines[:number]
        return lines

    def share(self, job: Job) -> float:
        """How much of a job is done, from 0 to 1."""
        if isinstance(job, Call):
            return float(self._file(job).is_file())
        folder, config = self.run(job), job.config
        manifest = RunFolder(folder).manifest() if (folder / CONFIG).is_file() else None
        if manifest is None:  # not begun, or killed before its first checkpoint
            return 0.0
        if job.until is not None and (lines := self.lines(job)) and job.until(lines[-1]):
            return 1.0
        by_iterations = manifest.iteration / config.iterations if config.iterations is not None else 0.0
        by_minutes = manifest.seconds / (60 * config.minutes) if config.minutes is not None else 0.0
        return min(1.0, max(by_iterations, by_minutes))

    def there(self) -> There:
        """What jobs have left here so far."""
        runs, calls = _entries(self.out / RUNS), _entries(self.out / JOBS)
        return There(frozenset([*(one.name for one in runs), *(one.name for one in calls if one.is_file())]))

    def done(self, job: Job, there: There) -> bool:
        """Whether a job was done when it was looked what is `there`."""
        return job in there and (isinstance(job, Call) or self.share(job) >= 1.0)

    def rows(self, job: Call) -> list[Row]:
        """What a call has returned; RunError if it is not done, or its file is damaged."""
        if job.key not in self._rows:
            self._rows[job.key] = _read(self._file(job))["rows"]
        return self._rows[job.key]

    def seconds(self, job: Job) -> float:
        """How long a job has taken so far."""
        if isinstance(job, Call):
            return float(_read(self._file(job))["seconds"])
        manifest = RunFolder(self.run(job)).manifest() if (self.run(job) / CONFIG).is_file() else None
        return 0.0 if manifest is None else float(manifest.seconds)

    def do(self, job: Job) -> None:
        """Do a job, or what is left of it. Killed at any moment, it goes on when it is done again."""
        if isinstance(job, Train):
            self._train(job)
        else:
            self._call(job)

    def _train(self, job: Train) -> None:
        from palaestra.learn.loop import resume, train

        folder, config = self.run(job), job.config
        while self.share(job) < 1.0:
            iterations = config.iterations
            if job.until is not None:  # iteration by iteration, so that none is trained in vain
                iterations = len(self.lines(job)) + 1
            heard = [_reporter(job)]
            if (folder / CONFIG).is_file():
                resume(folder, iterations=iterations, minutes=config.minutes, game=config.game, listeners=heard)
            else:
                start = config.start if job.after is None else f"run:{self.run(job.after)}@best"
                train(config.model_copy(update={"iterations": iterations, "start": start}), folder, heard)

    def do_batch(self, jobs: Sequence[Call]) -> None:
        """Do several calls of one batch at once; each is kept as it ends."""
        left = [job for job in jobs if self.share(job) < 1.0]
        if not left:
            return
        batch, last = left[0].batch, time.perf_counter()
        assert batch is not None, "these calls have none"
        given = [(job.arguments, [self.run(need) for need in job.needs]) for job in left]
        for done, (place, rows) in enumerate(batch.function(given), start=1):
            now = time.perf_counter()
            self._keep(left[place], rows, now - last)
            last = now
            report(done / len(left), f"{left[place].name.replace('_', ' ')} {done} of {len(left)}, {batch.name}")

    def _call(self, job: Call) -> None:
        if self._file(job).is_file():
            return
        began = time.perf_counter()
        runs = {"runs": [self.run(need) for need in job.needs]} if job.needs else {}
        rows = list(job.function(**runs, **job.arguments))
        self._keep(job, rows, time.perf_counter() - began)

    def _keep(self, job: Call, rows: Sequence[Row], seconds: float) -> None:
        """Write what a call has returned; from now on it is done."""
        file = self._file(job)
        written = {
            "function": f"{job.function.__module__}:{job.function.__name__}",
            "arguments": dict(job.arguments),
            "runs": [need.key for need in job.needs],
            "units": job.units,
            "seconds": seconds,
            "rows": [dict(row) for row in rows],
        }
        make_folder(file.parent)
        write_file(file, json.dumps(written).encode())

    def _file(self, job: Call) -> Path:
        return self.out / JOBS / _file_name(job)


def _file_name(job: Job) -> str:
    """Of the folder of a run, or of the file of a call."""
    return job.key if isinstance(job, Train) else f"{job.key}.json"


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _reporter(job: Train) -> Listener:
    """Tells those who wait for a run at which iteration it is."""
    from palaestra.learn.events import IterationEnded

    def heard(event: Event) -> None:
        if isinstance(event, IterationEnded):
            of, config = "", job.config
            by_minutes = event.metrics.elapsed / (60 * config.minutes) if config.minutes is not None else 0.0
            by_iterations = 0.0
            if config.iterations is not None:
                of, by_iterations = f" of {config.iterations}", event.iteration / config.iterations
            report(max(by_minutes, by_iterations), f"{job.key} is at iteration {event.iteration}{of}")

    return heard


@lru_cache(maxsize=256)
def game_version(game: str) -> str:
    """The version of a game's rules, as its id and a number."""
    from palaestra.games.registry import make_game

    made = make_game(game)
    return f"{made.id} version {made.version}"


@lru_cache(maxsize=1024)
def _settings(config: RunConfig) -> dict[str, JsonLike]:
    """The settings that a run's key holds; the runs of an arm differ in their seed alone, and there are thousands.

    What is off is left out: a switch that a later version brings changes no key of a run that never turns it on.
    """
    return {
        name: value
        for name, value in flatten(config).items()
        if value is not None and value is not False and (name, value) != ("threads", 1) and LATER.get(name) != value
    }


def _read(path: Path) -> dict[str, Any]:
    try:
        found = parse_json(read_bytes(path, MOST_TEXT))
        return {"rows": [dict(row) for row in found["rows"]], "seconds": float(found["seconds"])}
    except (OSError, ValueError, TypeError, KeyError):
        raise RunError(f"{path} is damaged; remove it, and the same command does this job again") from None


@lru_cache(maxsize=256)
def _meaning(function: Callable[..., object]) -> str:
    """A function's text without comments and layout, so that a changed function is another job."""
    name = f"{function.__module__}:{function.__name__}"
    return f"{name} {ast.dump(ast.parse(textwrap.dedent(inspect.getsource(function))))}"


@lru_cache(maxsize=256)
def _begun(function: Callable[..., object]) -> Hash:
    """The hash of a call's key as far as it is the same for all calls of a function: the long text comes first."""
    return hashlib.sha256(f"[{_json(_meaning(function))}, ".encode())


def _hash(*parts: str, begun: Hash | None = None) -> str:
    """Of a list in JSON that has these parts; `begun` has seen what stands before them."""
    hashed = hashlib.sha256(b"[") if begun is None else begun.copy()
    hashed.update(f"{', '.join(parts)}]".encode())
    return hashed.hexdigest()[:12]


@lru_cache(maxsize=256)
def _plain(text: str) -> str:
    return "".join(character if character.isalnum() or character in "-_." else "-" for character in text)
