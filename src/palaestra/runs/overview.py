"""All runs of a folder, one row each, whatever state they are in: what `palaestra runs` lists.

Nothing is written and no game is made, so that a stranger's folder can be looked at. A folder that cannot be read is a
row that says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from palaestra.base.errors import RunError
from palaestra.base.locks import is_held
from palaestra.base.types import JsonLike
from palaestra.runs.folder import CONFIG, LOCK, MANIFEST, METRICS, RunFolder
from palaestra.runs.manifest import Manifest
from palaestra.runs.metrics import Lines
from palaestra.runs.places import BESIDE_RUNS, SWEEP

State = Literal["running", "finished", "stopped", "damaged", "not a run"]


@dataclass(frozen=True)
class Strength:
    """The last evaluation: Elo above `against`, or with one player the mean score (`against` is None)."""

    iteration: int
    against: str | None
    value: float | None
    low: float | None  # None where the interval has no end
    high: float | None


@dataclass(frozen=True)
class RunRow:
    """One folder below the runs. What is not known, because the run was not begun or is damaged, is None."""

    name: str
    state: State
    changed: float  # seconds since the epoch, of the newest of the files that every iteration writes
    game: str | None = None
    minutes: float | None = None
    iterations: int | None = None
    strength: Strength | None = None
    problem: str | None = None
    start: str | None = None  # whose weights it began with
    others: tuple[str, ...] = ()  # games of its course beside its own

    def to_json(self) -> dict[str, JsonLike]:
        return asdict(self)


def list_runs(root: Path) -> list[RunRow]:
    """A row for every folder below `root`, newest first; RunError if `root` itself cannot be read."""
    return newest_first(describe(folder) for folder in folders_of(root))


def folders_of(root: Path) -> list[Path]:
    """The folders that may be runs, so not hidden ones. RunError if `root` itself cannot be read."""
    try:
        return [
            path for path in root.iterdir() if path.is_dir() and not path.name.startswith(".") and _may_be_run(path)
        ]
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RunError(f"cannot read {root} ({reason}); runs are made by palaestra train, in ./runs") from None


def _may_be_run(path: Path) -> bool:
    """Not what pages keep beside runs; a run may have any name."""
    return path.name not in BESIDE_RUNS or (path / MANIFEST).exists() or (path / CONFIG).exists()


def newest_first(rows: Iterable[RunRow]) -> list[RunRow]:
    return sorted(rows, key=lambda row: (-row.changed, row.name))


def describe(path: Path) -> RunRow:
    """The row of one folder; never an error."""
    name, changed = path.name, _changed(path)
    try:
        if not (path / MANIFEST).exists() and not (path / CONFIG).exists():
            return RunRow(name, "not a run", changed, problem=_foreign(path))
        home = RunFolder(path)
        manifest = home.manifest()
        running = is_running(home)
        if manifest is None:  # killed before its first checkpoint, or just begun
            return RunRow(name, "running" if running else "stopped", changed, iterations=0, minutes=0.0)
        strength = last_strength(home.metrics(manifest))
        minutes = (_number(manifest.seconds) or 0.0) / 60
    except Exception as error:  # a damaged file may be wrong in any way, and the other rows are still wanted
        problem = str(error) if isinstance(error, RunError) else f"{type(error).__name__}: {error}"
        return RunRow(name, "damaged", changed, problem=problem)
    state: State = "running" if running else "finished" if manifest.finished else "stopped"
    start, others = manifest.config.get("start"), _others(manifest)
    begun = start if isinstance(start, str) else None
    return RunRow(name, state, changed, str(manifest.game), minutes, manifest.iteration, strength, None, begun, others)


def _others(manifest: Manifest) -> tuple[str, ...]:
    """The games of a run's course beside its own, as the settings name them; runs from before courses have none."""
    course = manifest.config.get("course")
    games = course.get("games") if isinstance(course, dict) else None
    return tuple(map(str, games)) if isinstance(games, list) else ()


def is_running(home: RunFolder) -> bool:
    """Whether a process holds the run's lock; not, where the lock cannot be tried, as in a folder of others."""
    try:
        with open(home.path / LOCK, "rb") as file:
            return is_held(file.fileno())
    except OSError:
        return False


def last_strength(lines: Lines) -> Strength | None:
    """Of the last iteration that was evaluated: against random where that was met, else the first anchor."""
    for line in reversed(lines):
        if (score := line.score) is not None:
            return Strength(line.iteration, None, score.mean, score.low, score.high)
        if line.elo:
            anchor = "random" if "random" in line.elo else next(iter(line.elo))
            return Strength(line.iteration, anchor, *line.elo[anchor])
    return None


def _number(value: object) -> float | None:
    """A finite number or nothing, as a damaged file may hold anything."""
    if value is None:
        return None
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise RunError(f"{value!r} stands where a number should")
    return float(value)


def _foreign(path: Path) -> str:
    """What a folder without a manifest is: an experiment keeps its runs one folder deeper, a sweep two."""
    if (path / SWEEP).is_file():
        return f"it holds a sweep: palaestra sweep --report {path}"
    inside = sum(1 for _ in path.glob(f"*/{MANIFEST}"))
    runs = "1 run" if inside == 1 else f"{inside} runs"
    return f"it holds {runs}: palaestra runs {path}" if inside else f"it has no {MANIFEST}"


def _changed(path: Path) -> float:
    """When an iteration was last saved; of a folder that is no run, when something was put into it."""
    times = []
    for file in (path / MANIFEST, path / METRICS, path / CONFIG, path):
        try:
            times.append(file.stat().st_mtime)
        except OSError:
            continue
    return max(times[:-1], default=times[-1] if times else 0.0)
