"""A run, watched: from its folder, while another process trains or when all is done, and from the loop's own events."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypedDict

from palaestra.base.errors import ConfigError
from palaestra.base.text import refuse_long
from palaestra.games.base import Game
from palaestra.learn import events, run_clock
from palaestra.learn.config import RunConfig
from palaestra.learn.events import Event
from palaestra.live import html
from palaestra.live.words import ago, clock, strength_in_words
from palaestra.players.base import Player
from palaestra.players.registry import make_player
from palaestra.players.runs import StoredRun, open_run
from palaestra.runs.folder import CONFIG, RunFolder, numbered
from palaestra.runs.metrics import AgentScore, Elo, Lines, MetricsLine, WorkerSpeed
from palaestra.runs.overview import RunRow, Strength, describe, last_strength
from palaestra.runs.overview import list_runs as rows_of
from palaestra.runs.pgn_games import PgnGame, read_games
from palaestra.runs.places import RUNS, find_run, free_folder

LONGEST_NAME = 200  # characters; file systems take 255 bytes
RECENT = 8  # iterations whose mean says how long the next ones take
STAGES = {
    "selfplay": "self-play",
    "deep": "deep search",
    "training": "training",
    "gate": "gate",
    "evaluation": "evaluation",
    "saving": "saving",
}


class RunDocument(TypedDict):
    """A run as JSON: what `palaestra runs` lists, its settings, and a line an iteration."""

    name: str
    folder: str
    state: str
    game: str | None
    minutes: float | None
    iterations: int | None
    strength: dict[str, Any] | None
    problem: str | None
    best: int
    settings: dict[str, Any]
    lines: list[dict[str, Any]]


class ProgressDocument(TypedDict):
    """Where a run in this process is, as JSON."""

    title: str
    folder: str | None
    iterations: int
    share: float
    seconds: float
    seconds_left: float | None
    stage: str | None
    done: int
    total: int | None
    unit: str
    line: dict[str, Any] | None  # of the last iteration
    workers: list[dict[str, Any]]  # who plays the games, and how fast each is
    warnings: list[str]
    ended: bool


class Run:
    """A run's folder as it is now; `refresh` looks again. Nothing is ever written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.refresh()

    def refresh(self) -> Run:
        """Read the folder again: another process may have gone on."""
        self.row: RunRow = describe(self.folder)
        self.stored: StoredRun = open_run(str(self.folder))
        self.lines: Lines = self.stored.home.metrics(self.stored.manifest)
        return self

    @property
    def name(self) -> str:
        """How players and verbs name the run: its name below ./runs, or its path."""
        return name_of(self.folder)

    @property
    def state(self) -> str:
        """running, finished or stopped."""
        return self.row.state

    @property
    def game(self) -> str:
        """The game's id."""
        return self.stored.game

    @property
    def config(self) -> RunConfig:
        return RunConfig.model_validate(self.stored.manifest.config)

    @property
    def iterations(self) -> int:
        return self.stored.iteration

    @property
    def seconds(self) -> float:
        return self.lines[-1].elapsed if self.lines else 0.0

    @property
    def best(self) -> int:
        """The iteration of the network that plays."""
        return self.stored.best

    @property
    def strength(self) -> Strength | None:
        """The last evaluation."""
        return last_strength(self.lines)

    @property
    def elo(self) -> dict[str, Elo]:
        """The last evaluation: anchor -> (Elo difference, low, high); None where it is infinite."""
        return next((line.elo for line in reversed(self.lines) if line.elo), {})

    @property
    def score(self) -> AgentScore | None:
        """With one player, the last evaluation of the agent and its anchors; None with two."""
        return next((line.score for line in reversed(self.lines) if line.score is not None), None)

    def text(self, network: str | int = "best", **settings: Any) -> str:
        """The player's text of one of its agents, for matches: `run:NAME@12(simulations=100)`."""
        given = ", ".join(f"{key}={value}" for key, value in settings.items())
        return f"run:{self.name}@{network}" + (f"({given})" if given else "")

    def player(self, network: str | int = "best", *, game: Game | str | None = None, **settings: Any) -> Player:
        """One of its agents: `run.player(simulations=400)`, `run.player(12)`. `game` as in `resume`."""
        rules = game if isinstance(game, Game) else self.stored.make_game(game)
        return make_player(self.text(network, **settings), rules)

    def curve(self, *path: str) -> list[tuple[int, Any]]:
        """(iteration, value) of something that the lines keep, where it is there: `run.curve("losses", "policy")`."""
        points: list[tuple[int, Any]] = []
        for line in self.lines:
            value: Any = line
            for key in path:
                value = (
                    value.get(key) if isinstance(value, dict) else getattr(value, key) if value is not None else None
                )
            if value is not None:
                points.append((line.iteration, value))
        return points

    def games(self, iteration: int) -> list[PgnGame]:
        """The self-play games of an iteration; RunError if there is none or its file was changed."""
        data = self.stored.home.read(numbered("games", iteration, "pgn"), self.stored.manifest)
        return read_games(data.decode("utf-8", "replace"))

    def plots(self) -> list[tuple[str, str, str]]:
        """(title, what it shows, SVG) of every plot that the lines can fill."""
        from palaestra.lab.plots import run_plots

        return list(run_plots(self.lines))

    def document(self) -> RunDocument:
        """The run as JSON."""
        return {
            "name": self.name,
            "folder": str(self.folder),
            "state": self.row.state,
            "game": self.row.game,
            "minutes": self.row.minutes,
            "iterations": self.row.iterations,
            "strength": None if self.row.strength is None else asdict(self.row.strength),
            "problem": self.row.problem,
            "best": self.best,
            "settings": dict(self.stored.manifest.config),
            "lines": [asdict(line) for line in self.lines],
        }

    @property
    def title(self) -> str:
        """ "first-try: connect_four-6x7, 40 iterations in 30:02, +636 ±290, finished"."""
        words = [self.game, f"{self.iterations} iterations in {clock(self.seconds)}", strength_in_words(self.strength)]
        return f"{self.name}: {', '.join(word for word in [*words, self.state] if word != '–')}"

    def __repr__(self) -> str:
        return f"<Run {self.title}>"

    def _repr_html_(self) -> str:
        return html.heading(self.title) + html.beside(*(svg for _, _, svg in self.plots()[:2]))


class RunProgress:
    """A run in this process, from its events: where it is, and how long it will still take. It is a listener."""

    def __init__(self) -> None:
        self.started: events.RunStarted | None = None
        self.lines: list[MetricsLine] = []
        self.stage: events.StageStarted | None = None
        self.done = 0  # of the stage
        self.speeds: tuple[WorkerSpeed, ...] = ()  # of the workers that play the games
        self.warnings: list[str] = []
        self.ended = False
        self._stage_clock = time.perf_counter()
        self._began = 0.0  # by the run's clock

    def __call__(self, event: Event) -> None:
        match event:
            case events.RunStarted():
                self.started, self.lines = event, list(event.history)
                self._began = run_clock.now(event.config)
            case events.StageStarted():
                self.stage, self.done, self._stage_clock = event, 0, time.perf_counter()
            case events.StageProgress():
                self.done = event.done
            case events.WorkersSeen():
                self.speeds = event.speeds
            case events.IterationEnded():
                self.lines.append(event.metrics)
            case events.Warned():
                self.warnings.append(event.message)
            case events.RunEnded():
                self.ended = True

    @property
    def title(self) -> str:
        """What is learned how, and where; the reward if it is not the game's own."""
        if self.started is None:
            return "Palaestra"
        config = self.started.config
        reward = "" if config.reward == "default" else f", {config.reward}"
        return f"{config.game}, {config.net}{reward}, seed {config.seed}, in {self.started.folder}"

    @property
    def seconds(self) -> float:
        """Of the run so far, by its clock."""
        return 0.0 if self.started is None else self.started.seconds + run_clock.now(self.started.config) - self._began

    @property
    def stage_rate(self) -> float:
        """What the stage counts, a second."""
        return self.done / max(time.perf_counter() - self._stage_clock, 1e-9)

    def share(self) -> float:
        """How much of the run is done, in [0, 1]."""
        if self.started is None:
            return 0.0
        config, shares = self.started.config, [0.0]
        if config.iterations is not None:
            shares.append(len(self.lines) / config.iterations)
        if config.minutes is not None:
            shares.append(self.seconds / (60 * config.minutes))
        return min(1.0, max(shares))

    def seconds_left(self) -> float | None:
        """An estimate; None before anything is known."""
        if self.started is None:
            return None
        config, left = self.started.config, []
        if config.minutes is not None:
            left.append(max(0.0, 60 * config.minutes - self.seconds))
        if config.iterations is not None and self.lines:
            recent = self.lines[-RECENT:]
            mean = sum(line.seconds.total for line in recent) / len(recent)
            left.append(mean * (config.iterations - len(self.lines)))
        return min(left, default=None)

    def document(self) -> ProgressDocument:
        """Where the run is, as JSON; the last iteration's line, too."""
        stage = self.stage
        return {
            "title": self.title,
            "folder": None if self.started is None else str(self.started.folder),
            "iterations": len(self.lines),
            "share": self.share(),
            "seconds": self.seconds,
            "seconds_left": self.seconds_left(),
            "stage": None if stage is None else STAGES[stage.stage],
            "done": self.done,
            "total": None if stage is None else stage.total,
            "unit": "" if stage is None else stage.unit,
            "line": asdict(self.lines[-1]) if self.lines else None,
            "workers": [{**asdict(speed), "games_per_second": speed.games_per_second} for speed in self.speeds],
            "warnings": list(self.warnings),
            "ended": self.ended,
        }


class RunList(list[RunRow]):
    """The runs of a folder, the newest first."""

    def document(self) -> list[dict[str, Any]]:
        return [row.to_json() for row in self]

    def rows(self) -> list[tuple[str, ...]]:
        """Run, game, minutes, iterations, strength, state, and how long ago it changed."""
        now = time.time()
        return [
            (
                row.name,
                game_in_words(row),
                "–" if row.minutes is None else f"{row.minutes:.1f}",
                "–" if row.iterations is None else str(row.iterations),
                strength_in_words(row.strength),
                row.state,
                ago(now - row.changed),
            )
            for row in self
        ]

    def _repr_html_(self) -> str:
        return html.table(("run", "game", "min", "iter", "strength", "state", "changed"), self.rows())


def game_in_words(row: RunRow) -> str:
    """ "othello-8x8, with 5x5, 6x6, from run:small@40"."""
    words = [row.game or "–"]
    words += [f"with {', '.join(row.others)}"] if row.others else []
    words += [f"from {row.start}"] if row.start else []
    return ", ".join(words)


def list_runs(folder: str | Path | None = None) -> RunList:
    """The runs below a folder, ./runs by default: game, minutes, iterations, strength at the last evaluation, state."""
    root = RUNS if folder is None else Path(folder)
    return RunList([] if folder is None and not root.exists() else rows_of(root))


def load_run(run: str | Path) -> Run:
    """A run by its name below ./runs, or by its folder."""
    return Run(find_run(str(run)))


# Names and folders.


def new_folder(run: str | Path | None, otherwise: str) -> Path:
    """The folder of a run that is to be made; RunError with the command to resume if it exists."""
    if run is None:
        return free_folder(otherwise)
    folder = named_folder(str(run))
    RunFolder(folder).refuse_if_taken()
    return folder


def named_folder(run: str) -> Path:
    """The folder that a run's name or path means."""
    for name in Path(run).parts:
        refuse_long(name, "the name of a run", ConfigError, LONGEST_NAME)
    if any(not character.isprintable() or character in "@(),=\"' " for character in run) or run in ("", ".", ".."):
        raise ConfigError(f"{run!r} cannot name a run: use letters, digits, - _ and ., for example --out first-try")
    return Path(run) if "/" in run else RUNS / run


def existing_folder(run: str | Path) -> Path:
    """The folder of a run that is there, also of one that was killed before its first checkpoint."""
    for folder in (RUNS / run, named_folder(str(run))):
        if (folder / CONFIG).is_file():
            return folder
    return find_run(str(run))


def name_of(folder: Path) -> str:
    """How players and verbs name the run: its name below ./runs, or its path."""
    return folder.name if folder.parent == RUNS else str(folder)
