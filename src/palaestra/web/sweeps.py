"""Sweeps that a page shows and starts: `palaestra sweep GAME --space SPACE --trials N --out FOLDER`.

    RUNS/sweeps/NAME              a sweep that a page started
    RUNS/sweeps/.commands/NAME    what was asked for, and the command as it was started last
    RUNS/NAME, sweeps/NAME        sweeps that were started elsewhere, in the runs folder and beside it

A browser names a sweep of the list, a game and a space of the package. Nothing of it becomes a path.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from palaestra.base.atomic import make_folder, write_file
from palaestra.base.errors import ConfigError, RunError
from palaestra.base.locks import is_held
from palaestra.base.reading import parse_json, read_bytes
from palaestra.base.text import clip
from palaestra.lab.sweep_space import NAMES
from palaestra.runs.overview import RunRow, describe
from palaestra.runs.places import SWEEP, SWEEP_LOCK, SWEEPS, TRIALS
from palaestra.web.commands import Command, is_running
from palaestra.web.house import House
from palaestra.web.places import Place
from palaestra.web.solvings import minutes_of
from palaestra.web.tournaments import MOST_SEED, refuse_crowd, whole

ASKED = "sweep.json"
MOST_TRIALS, MOST_GAMES = 1000, 1000
MOST_ASKED = 2**16  # bytes


@dataclass(frozen=True)
class Asked:
    """What a form asks for."""

    game: str
    space: str
    trials: int
    minutes: float  # of every run
    games: int  # of a trial against each opponent
    seed: int

    def words(self, house: House, folder: Path) -> list[str]:
        """The command, without `palaestra`."""
        house.allowed.game(self.game)
        options = {"space": self.space, "minutes": f"{self.minutes:.10g}", "games": self.games, "seed": self.seed}
        given = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        return ["sweep", self.game, *given, "--trials", str(self.trials), "--out", str(folder)]


@dataclass(frozen=True)
class Seen:
    """A sweep as far as its files say at once."""

    name: str
    done: int  # trials
    running: bool
    under_way: tuple[RunRow, ...]
    asked: Asked | None
    command: Command | None

    @property
    def total(self) -> int | None:
        """Trials in all, as they were asked for last; None where that is not known."""
        return None if self.asked is None else self.asked.trials

    @property
    def state(self) -> str:
        if self.running:
            return "running"
        return "done" if self.total is not None and self.done >= self.total else "stopped"


# What a browser asks for.


def place(house: House) -> Place:
    return Place(house.runs / SWEEPS, "sweep")


def folder_of_command(house: House, name: str) -> Path:
    return house.runs / SWEEPS / ".commands" / name


def checked(house: House, game: str, space: str, trials: Any, minutes: Any, games: Any, seed: Any) -> Asked:
    """What a form asks for; a PalaestraError says what is wrong with it."""
    if house.allowed.game(game).players != 2:
        raise ConfigError(f"{game} is for one player: a sweep rates agents against each other")
    if space not in NAMES:
        raise ConfigError(f"{clip(space)} is not a space of this page; there are {', '.join(NAMES)}")
    pairs = whole("the number of games", games, 2, MOST_GAMES)
    if pairs % 2:
        raise ConfigError(f"games are pairs with sides swapped: an even number such as {pairs + 1}, not {pairs}")
    count = whole("the number of trials", trials, 1, MOST_TRIALS)
    return Asked(game, space, count, minutes_of(minutes), pairs, whole("the seed", seed, 0, MOST_SEED))


def start(house: House, asked: Asked, folder: Path) -> Command:
    """Begin a sweep, or go on with it."""
    refuse_crowd([folder_of_command(house, one.name) for one in place(house).all()])
    about = folder_of_command(house, folder.name)
    words = asked.words(house, folder)
    make_folder(place(house).root)
    make_folder(about)
    if not is_running(about):
        write_file(about / ASKED, json.dumps(asdict(asked), indent=1).encode())
    return Command.start(words, about)


def go_on(house: House, name: str, trials: Any) -> Command:
    """Go on with a sweep that a page began, up to so many trials; what it asked for is checked again."""
    asked = read_asked(house, name)
    if asked is None:
        raise RunError(f"{name} was not begun by a page: go on with the command that began it")
    given = replace(asked, trials=trials)
    return start(house, checked(house, *asdict(given).values()), place(house).named(name))


def read_asked(house: House, name: str) -> Asked | None:
    """What was asked for; None where no page did."""
    try:
        kept = parse_json(read_bytes(folder_of_command(house, name) / ASKED, MOST_ASKED))
        texts, numbers = [kept["game"], kept["space"]], [kept["trials"], kept["minutes"], kept["games"], kept["seed"]]
        if not all(isinstance(x, str) for x in texts) or not all(isinstance(x, int | float) for x in numbers):
            return None
        return Asked(*texts, *numbers)
    except (OSError, ValueError, TypeError, KeyError):
        return None


# What there is.


def sweeps(house: House) -> dict[str, Path]:
    """The sweeps by name, the one that changed last first."""
    found: dict[str, tuple[float, Path]] = {}
    for root in (house.runs.parent / "sweeps", house.runs, place(house).root):
        for file in root.glob(f"*/{SWEEP}"):
            if not file.parent.is_symlink() and file.parent.name.isprintable():
                found[file.parent.name] = (file.parent.stat().st_mtime, file.parent)
    return {name: path for name, (_, path) in sorted(found.items(), key=lambda one: -one[1][0])}


def sweep(house: House, name: str) -> Path:
    """The folder of a sweep of the list, or of one that has just been asked for; RunError if it is none of them."""
    if (found := sweeps(house).get(name)) is not None:
        return found
    if not Place.is_name(name) or read_asked(house, name) is None:
        raise RunError(f"{clip(name)} is not a sweep of this page; they are in {house.runs} and in sweeps beside it")
    return place(house).root / name


def look(house: House, name: str, folder: Path) -> Seen:
    """How far a sweep is. Reads files."""
    trials = folder / TRIALS
    done = {path.stem for path in trials.glob("[0-9]*.json")}
    begun = sorted(path for path in trials.glob("[0-9]*") if path.is_dir() and path.name not in done)
    running = _is_worked_on(folder) or is_running(folder_of_command(house, name))
    ours = folder == place(house).root / name
    rows = tuple(describe(path) for path in begun) if running else ()
    last = Command.last(folder_of_command(house, name)) if ours else None
    return Seen(name, len(done), running, rows, read_asked(house, name) if ours else None, last)


def _is_worked_on(folder: Path) -> bool:
    """Whether some process, a page's or not, goes on with the sweep."""
    try:
        with open(folder / SWEEP_LOCK, "rb") as file:
            return is_held(file.fileno())
    except OSError:
        return False


def all_seen(house: House) -> Sequence[Seen]:
    """All sweeps, the one that changed last first. Reads files."""
    return [look(house, name, folder) for name, folder in sweeps(house).items()]
