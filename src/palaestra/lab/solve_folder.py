"""The folder of `palaestra solve`: what is solved, a journal of its restarts, and every best solution.

    solve.json      game, player, seed, opening and grids avoided; a folder is continued only with the same
    journal.jsonl   one line a piece of work: its restarts, how often each score was met, when it ended
    solutions/      every new best, and every different grid that equals the best: SCORE-restart-NUMBER.txt and .svg

A solution is verified and on the disk before the line that tells of it, and a line is on the disk before anything else
is begun with it. So a process that is killed loses only the restarts that were under way; the next one makes them
again, with the same random numbers. Knows no search.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from palaestra.base.atomic import TEMPORARY, append_file, disk_error, make_folder, sweep, write_file
from palaestra.base.errors import RecordError, RunError
from palaestra.base.locks import lock
from palaestra.base.reading import MOST_TEXT, opened, parse_json, read_bytes
from palaestra.base.types import Int8s, Int32s
from palaestra.games.base import Game
from palaestra.learn.best_solutions import write_solution
from palaestra.runs.solutions import Solution, final_state, make_solution, parse_solution

ABOUT, JOURNAL, SOLUTIONS, LOCK = "solve.json", "journal.jsonl", "solutions", "lock"
FORMAT = 1
MOST_EQUALS = 1000  # solutions of one score that are kept: where the best is easy, there is no end of them


@dataclass(frozen=True)
class About:
    """What a folder solves; `at_once` restarts make one piece of work and one line of the journal."""

    game: str
    version: int
    player: str
    seed: int
    opening: str
    at_once: int
    avoided_grids: str = ""  # digest of the file of grids that the player avoids, if it does


@dataclass(frozen=True)
class Entry:
    """A piece of work: restarts `restart` to `restart + count - 1`."""

    restart: int
    count: int
    scores: dict[int, int]  # score -> how often
    seconds: float  # of solving in all sessions, when it ended
    took: float  # of these, on its own thread

    def line(self) -> bytes:
        return json.dumps({**asdict(self), "seconds": round(self.seconds, 3), "took": round(self.took, 3)}).encode()


@dataclass
class Journal:
    """The restarts of one folder, in the order in which they ended."""

    about: About
    entries: list[Entry] = field(default_factory=list)
    scores: Counter[int] = field(default_factory=Counter)  # score -> how often
    first_met: dict[int, float] = field(default_factory=dict)  # score -> seconds

    def add(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.scores.update(entry.scores)
        for score in entry.scores:
            self.first_met.setdefault(score, entry.seconds)

    @property
    def restarts(self) -> int:
        return sum(self.scores.values())

    @property
    def best(self) -> int | None:
        return max(self.scores, default=None)

    @property
    def seconds(self) -> float:
        """Of solving, up to the last line."""
        return max((entry.seconds for entry in self.entries), default=0.0)


def read_journal(folder: Path, lines: bool = True) -> Journal:
    """The journal of a folder, for plots and tables; without `lines` only what it is about."""
    about = _read_about(folder)
    return _read_journal(folder, about)[0] if lines else Journal(about)


@contextlib.contextmanager
def open_folder(path: Path, game: Game, about: About) -> Iterator[SolveFolder]:
    """The folder, made if there is none, for this process alone; RunError if it is of another search.

    The lock ends with the process, however it ends.
    """
    _settle(path, about)  # before anything is written
    make_folder(path / SOLUTIONS)
    try:
        handle = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise disk_error("cannot write", path, error) from None
    try:
        lock(handle, path, RunError)
        about = _settle(path, about)  # again: another process may have made the folder meanwhile
        for folder in (path, path / SOLUTIONS):
            sweep(folder)
        if not (path / ABOUT).exists():
            write_file(path / JOURNAL, b"")
            write_file(path / ABOUT, json.dumps({"format": FORMAT, **asdict(about)}, indent=1).encode())
        yield SolveFolder(path, game, about)
    finally:
        os.close(handle)


class SolveFolder:
    """A folder that this process writes; `journal` is what stands in it."""

    def __init__(self, path: Path, game: Game, about: About) -> None:
        self.path, self.game = path, game
        self.journal, self._length = _read_journal(path, about)
        self._grids = {self._grid(final_state(solution, game)) for solution in self.best_solutions()}

    def waiting(self) -> Iterator[int]:
        """First restarts of the pieces of work that are not in the journal, without end; gaps come first."""
        done, number = {entry.restart for entry in self.journal.entries}, 0
        while True:
            if number not in done:
                yield number
            number += self.journal.about.at_once

    def record(self, entry: Entry, outcomes: Int32s, lines: list[Int32s]) -> None:
        """Keep what deserves it of the restarts' outcomes int32[N] and lines, then write the line of the journal."""
        best = int(outcomes.max())
        if self.journal.best is None or best > self.journal.best:
            self._grids.clear()
        if self.journal.best is None or best >= self.journal.best:
            equal = np.flatnonzero(outcomes == best).tolist()
            for i, grid in zip(equal, self._grids_of([lines[i] for i in equal]), strict=True):
                if grid not in self._grids and len(self._grids) < MOST_EQUALS:
                    self._keep(best, entry.restart + i, lines[i])
                    self._grids.add(grid)
        line = entry.line() + b"\n"
        append_file(self.path / JOURNAL, line, self._length)
        self._length += len(line)
        self.journal.add(entry)

    def best_files(self) -> list[Path]:
        """The solutions of the best score in the journal."""
        best = self.journal.best
        return [] if best is None else sorted((self.path / SOLUTIONS).glob(f"{best:03d}-restart-*.txt"))

    def best_solutions(self) -> list[Solution]:
        return [parse_solution(_text(path), str(path)) for path in self.best_files()]

    def _keep(self, score: int, restart: int, actions: Int32s) -> None:
        about = self.journal.about
        note = f"found by {about.player}, seed {about.seed}, restart {restart}"
        found = make_solution(self.game, about.opening, actions.tolist(), [note])
        write_solution(self.path / SOLUTIONS / f"{score:03d}-restart-{restart:06d}", found, self.game, score)

    def _grids_of(self, lines: list[Int32s]) -> list[bytes]:
        """The grid in which each line ends; together, because random games that end alike come by the thousand."""
        lengths = np.array([len(line) for line in lines])
        states = np.repeat(self.game.from_moves(self.journal.about.opening)[None], len(lines), axis=0)
        for ply in range(lengths.max()):
            going = np.flatnonzero(lengths > ply)
            actions = np.array([lines[i][ply] for i in going], dtype=np.int32)
            states[going] = self.game.advance(states[going], actions)
        different, place = np.unique(states, axis=0, return_inverse=True)
        grids = [self._grid(state) for state in different]
        return [grids[i] for i in place.reshape(-1)]

    def _grid(self, state: Int8s) -> bytes:
        """The same bytes for all positions that are images of each other."""
        images = (self.game.permute(state[None], symmetry) for symmetry in self.game.symmetries)
        return min(image.tobytes() for image in images)


def _settle(path: Path, about: About) -> About:
    """What the folder says if it is there and of the same search, else `about`; RunError if it is anything else."""
    if (path / ABOUT).exists():
        known = _read_about(path)
        wanted = replace(about, at_once=known.at_once)  # how work is cut changes no restart
        for name, value in asdict(wanted).items():
            if (there := getattr(known, name)) != value:
                what = name.replace("_", " ")
                raise RunError(f"{path} solves with {what} {there!r}, not {value!r}; give the same, or another --out")
        return known
    try:
        names = [entry.name for entry in path.iterdir()] if path.exists() else []
    except OSError as error:
        raise disk_error("cannot read", path, error) from None
    if JOURNAL in names and _text(path / JOURNAL):
        raise RunError(f"{path} has a {JOURNAL} but no {ABOUT} that says what it solves; give another --out")
    if strange := [name for name in names if name not in (JOURNAL, SOLUTIONS, LOCK) and not name.endswith(TEMPORARY)]:
        raise RunError(f"{path} holds other files, such as {strange[0]}; give another --out")
    return about


def _text(path: Path) -> str:
    try:
        return read_bytes(path, MOST_TEXT).decode()
    except OSError as error:
        raise disk_error("cannot read", path, error) from None
    except UnicodeDecodeError:
        raise RecordError(f"{path} is damaged: it is not text") from None


def _read_about(folder: Path) -> About:
    path = folder / ABOUT
    if not path.is_file():
        raise RunError(f"{folder} is no folder of palaestra solve: it has no {ABOUT}")
    try:
        given: dict[str, Any] = parse_json(_text(path))
        if given.pop("format") != FORMAT:
            raise RunError(f"{path} has another format than {FORMAT}; this version of Palaestra cannot go on with it")
        return About(**given)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise RunError(f"{path} is damaged: it does not say what is solved") from None


def _read_entry(given: dict[str, Any]) -> Entry:
    """A line of the journal; ValueError, TypeError, KeyError or AttributeError if it is none."""
    scores = {int(score): int(count) for score, count in given["scores"].items()}
    if not scores:
        raise ValueError("restarts without a score")
    return Entry(int(given["restart"]), int(given["count"]), scores, float(given["seconds"]), float(given["took"]))


def _read_journal(folder: Path, about: About) -> tuple[Journal, int]:
    """The journal and how many bytes of it are whole lines."""
    journal = Journal(about)
    return journal, read_on(folder, journal, 0)


def read_on(folder: Path, journal: Journal, length: int) -> int:
    """Add the lines behind the first `length` bytes to a journal, and return how many bytes are whole lines now.

    The last line may have been cut off by a kill, or be under way.
    """
    path = folder / JOURNAL
    begun = len(journal.entries)
    try:
        with opened(path) as file:
            file.seek(length)
            data = file.read(MOST_TEXT + 1)
    except OSError as error:
        raise disk_error("cannot read", path, error) from None
    if len(data) > MOST_TEXT:
        raise RunError(f"cannot read {path}: it is larger than {MOST_TEXT:,} bytes")
    for number, line in enumerate(data.splitlines(keepends=True), start=begun + 1):
        if not line.endswith(b"\n"):
            break
        try:
            journal.add(_read_entry(parse_json(line)))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise RunError(f"{path} is damaged in line {number}: it is not the journal of a search") from None
        length += len(line)
    return length
