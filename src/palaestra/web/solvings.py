"""Games for one player that a page lets a search solve: `palaestra solve GAME --out FOLDER`, again to go on.

    RUNS/solved/NAME            the folder of the search (`lab.solve_folder`)
    RUNS/solved/.commands/NAME  the command as it was started last

What a browser asks for is checked here before anything is started.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from palaestra.base.errors import ConfigError, PalaestraError, RunError
from palaestra.lab.solve_folder import ABOUT
from palaestra.live.solve_file import SolveFile
from palaestra.runs.places import SOLVED
from palaestra.web.commands import Command, is_running
from palaestra.web.house import House
from palaestra.web.places import Place
from palaestra.web.tournaments import MOST_SEED, refuse_crowd, whole

MOST_FILES = 200  # solutions of a list
MOST_MINUTES = 100_000.0


@dataclass(frozen=True)
class Seen:
    """All that a page shows of a search. `file` is not copied, and grows; None before the search has begun."""

    file: SolveFile | None
    files: tuple[Path, ...]  # the best solutions
    command: Command | None
    running: bool

    @property
    def state(self) -> str:
        return "running" if self.running else "stopped"


@dataclass(frozen=True)
class Row:
    """A search in a list."""

    name: str
    title: str
    standing: str
    best: int | None
    running: bool
    problem: str = ""


def place(house: House) -> Place:
    return Place(house.runs / SOLVED, "solved game")


def folder_of_command(house: House, name: str) -> Path:
    return house.runs / SOLVED / ".commands" / name


def words(house: House, game: str, player: str, minutes: Any, seed: Any, folder: Path) -> list[str]:
    """The command of a search, without `palaestra`; a PalaestraError says what is wrong with what was asked for."""
    rules = house.allowed.game(game)
    if rules.players != 1:
        raise ConfigError(f"{game} is for two players, and solving is for one: try morpion-5d, or the page Compare")
    allowed = house.allowed.player(player)
    given = [
        "--player",
        allowed,
        "--minutes",
        f"{minutes_of(minutes):.10g}",
        "--seed",
        str(whole("the seed", seed, 0, MOST_SEED)),
    ]
    return ["solve", game, *given, "--out", str(folder)]


def start(house: House, given: list[str], name: str) -> Command:
    """Start a search whose words were checked."""
    refuse_crowd([folder_of_command(house, folder.name) for folder in place(house).all()])
    return Command.start(given, folder_of_command(house, name))


def go_on(house: House, name: str, minutes: Any) -> Command:
    """Go on with a search by what its folder says; that is checked like what a browser says."""
    folder = place(house).named(name)
    about = SolveFile(folder).journal.about
    if not all(isinstance(text, str) for text in (about.game, about.player, about.opening)):
        raise RunError(f"{name} does not say what it solves; start another search")
    player = about.player.replace(f"{house.runs}/", "")  # a run is named by its folder where runs are not in ./runs
    given = words(house, about.game, player, minutes, about.seed, folder)
    game = house.allowed.game(about.game)
    if about.opening:
        game.from_moves(about.opening)
        given += ["--moves", about.opening]
    return start(house, given, name)


def minutes_of(given: Any) -> float:
    """Minutes of a form; ConfigError if they are none."""
    number = given if isinstance(given, int | float) and not isinstance(given, bool) else None
    if number is None or not 0 < number <= MOST_MINUTES:
        raise ConfigError(f"minutes is {given}; it must be a number above 0 and at most {MOST_MINUTES:,.0f}")
    return float(number)


def rows(house: House) -> list[Row]:
    """All searches, the one that changed last first."""
    return [_row(house, folder) for folder in place(house).all()]


def _row(house: House, folder: Path) -> Row:
    running = is_running(folder_of_command(house, folder.name))
    try:
        file = SolveFile(folder)
        file.look()
    except PalaestraError as error:
        return Row(folder.name, "", "", None, running, "" if running else str(error))
    return Row(folder.name, file.title, file.standing, file.journal.best, running)


class Reader:
    """What `web.watched` needs of a search."""

    def __init__(self, house: House, name: str) -> None:
        self.folder, self.about = place(house).root / name, folder_of_command(house, name)
        self.file: SolveFile | None = None

    def mark(self) -> object:
        size = 0 if self.file is None else self.file.size
        return size, (self.folder / ABOUT).exists(), is_running(self.about), Command.last(self.about)

    def read(self) -> Seen:
        running = is_running(self.about)
        if self.file is None and (self.folder / ABOUT).exists():
            self.file = SolveFile(self.folder)
        if self.file is not None:
            self.file.look()
        files = () if self.file is None else tuple(self.file.best_files()[:MOST_FILES])
        return Seen(self.file, files, Command.last(self.about), running)
