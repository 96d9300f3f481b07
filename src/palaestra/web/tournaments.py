"""Tournaments that a page starts: `palaestra tournament … --pgn FILE --resume`, in a folder of their own.

    RUNS/tournaments/NAME/tournament.json    what is played
                          games.pgn          the games; the command goes on with them
                          command.json, .log the command as it was started last

What a browser asks for is checked here before anything is started.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from palaestra.arena.crosstable import Crosstable
from palaestra.arena.ratings import Ratings
from palaestra.arena.schedule import FORMATS, Format, check_plan, pairings_a_stage
from palaestra.base.atomic import make_folder, write_file
from palaestra.base.errors import ConfigError, PalaestraError, RunError
from palaestra.base.reading import parse_json, read_bytes
from palaestra.live.tournament_file import TournamentFile
from palaestra.runs.places import TOURNAMENTS
from palaestra.web.commands import Command, is_running
from palaestra.web.house import House
from palaestra.web.places import Place

ABOUT, GAMES = "tournament.json", "games.pgn"
MOST_PLAYERS, MOST_GAMES, MOST_SEED = 32, 10_000, 2**31 - 1
MOST_AT_ONCE = 4  # under way
MOST_ABOUT = 2**16  # bytes
FULL = "done"


@dataclass(frozen=True)
class Plan:
    """What is played; `players` as a browser names them, `names` as the games call them."""

    game: str
    players: tuple[str, ...]
    names: tuple[str, ...]
    games: int
    format: str
    seed: int

    @property
    def total(self) -> int:
        """Games in all."""
        stages = check_plan(self.format, len(self.players), None)
        return stages * pairings_a_stage(cast("Format", self.format), len(self.players)) * self.games

    def words(self, house: House, folder: Path) -> list[str]:
        """The command, without `palaestra`; all that it names is checked."""
        house.allowed.game(self.game)
        players = [house.allowed.player(text) for text in self.players]
        options = ["--games", str(self.games), "--format", self.format, "--seed", str(self.seed)]
        return ["tournament", self.game, *players, *options, "--pgn", str(folder / GAMES), "--resume"]


@dataclass(frozen=True)
class Row:
    """A tournament in a list."""

    name: str
    plan: Plan | None
    played: int
    running: bool

    @property
    def state(self) -> str:
        if self.running:
            return "running"
        return FULL if self.plan is not None and self.played >= self.plan.total else "stopped"


@dataclass(frozen=True)
class Standing:
    """All that a page shows of a tournament; `file` is not copied, and grows."""

    plan: Plan | None
    file: TournamentFile
    crosstable: Crosstable
    ratings: Ratings
    command: Command | None
    running: bool

    @property
    def played(self) -> int:
        return len(self.file.games)

    @property
    def state(self) -> str:
        return Row("", self.plan, self.played, self.running).state


def place(house: House) -> Place:
    return Place(house.runs / TOURNAMENTS, "tournament")


def checked(house: House, game: str, players: Sequence[str], games: Any, format: str, seed: Any) -> Plan:
    """The plan that a form describes; a PalaestraError says what is wrong with it. Players are not made yet."""
    rules = house.allowed.game(game)
    if rules.players != 2:
        raise ConfigError(f"{game} is for one player, and a tournament is for two: try the page Solve")
    texts = tuple(house.allowed.player(text) for text in players)
    if not 2 <= len(texts) <= MOST_PLAYERS or len(set(texts)) < len(texts):
        raise ConfigError(f"a tournament has 2 to {MOST_PLAYERS} different players, for example random and greedy")
    count = whole("the number of games of a pairing", games, 2, MOST_GAMES)
    if count % 2:
        raise ConfigError(f"games are pairs with sides swapped: an even number such as {count + 1}, not {count}")
    if format not in FORMATS:
        raise ConfigError(f"a tournament is one of {', '.join(FORMATS)}")
    check_plan(format, len(texts), None)
    return Plan(game, tuple(players), texts, count, format, whole("the seed", seed, 0, MOST_SEED))


def whole(what: str, given: Any, least: int, most: int) -> int:
    """A number of a form; ConfigError if it is no whole number between these."""
    number = given if isinstance(given, int | float) and not isinstance(given, bool) else None
    if number is None or number != number or number != int(number) or not least <= number <= most:
        raise ConfigError(f"{what} is {given}; it must be a whole number from {least} to {most:,}")
    return int(number)


def begin(house: House, plan: Plan, folder: Path) -> Command:
    """Start a new tournament."""
    refuse_crowd(place(house).all())
    words = plan.words(house, folder)
    make_folder(folder)
    write_file(folder / ABOUT, json.dumps(asdict(plan), indent=1, ensure_ascii=False).encode())
    return Command.start(words, folder)


def go_on(house: House, folder: Path) -> Command:
    """Go on with one that was stopped, by its own plan; what it names is checked again."""
    plan = read_plan(folder)
    if plan is None:
        raise ConfigError(f"{folder.name} has no {ABOUT} that says what is played; start another tournament")
    refuse_crowd(place(house).all())
    return Command.start(plan.words(house, folder), folder)


def refuse_crowd(folders: Sequence[Path]) -> None:
    """RunError if so many commands of these folders run already that one more would only make all of them slow."""
    busy = [folder.name for folder in folders if is_running(folder)]
    if len(busy) >= MOST_AT_ONCE:
        raise RunError(f"{', '.join(busy)} are under way already; stop one, or wait until it ends")


def read_plan(folder: Path) -> Plan | None:
    """What is played in a folder; None if it does not say."""
    try:
        kept = parse_json(read_bytes(folder / ABOUT, MOST_ABOUT))
        lists = [kept[name] for name in ("players", "names")]
        texts = [kept["game"], kept["format"], *lists[0], *lists[1]]
        numbers = [kept["games"], kept["seed"]]
        if not all(isinstance(x, str) for x in texts) or not all(isinstance(x, int) for x in numbers):
            return None
        plan = Plan(kept["game"], tuple(lists[0]), tuple(lists[1]), kept["games"], kept["format"], kept["seed"])
        return plan if plan.total > 0 else None
    except (OSError, ValueError, TypeError, KeyError, PalaestraError):
        return None


def rows(house: House) -> list[Row]:
    """All tournaments, the one that changed last first."""
    return [_row(folder) for folder in place(house).all()]


def _row(folder: Path) -> Row:
    try:
        played = read_bytes(folder / GAMES).count(b'[Event "')
    except OSError:
        played = 0
    return Row(folder.name, read_plan(folder), played, is_running(folder))


class Reader:
    """What `web.watched` needs of a tournament."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.plan = folder, read_plan(folder)
        self.file = TournamentFile(folder / GAMES, () if self.plan is None else self.plan.names)

    def mark(self) -> object:
        try:
            size = (self.folder / GAMES).stat().st_size
        except OSError:
            size = 0
        return size, is_running(self.folder), Command.last(self.folder)

    def read(self) -> Standing:
        running = is_running(self.folder)  # before the games, so that an end is never told with games missing
        self.file.look()
        tables = self.file.crosstable(), self.file.ratings()
        return Standing(self.plan, self.file, *tables, Command.last(self.folder), running)
