"""Methods for one player beside each other: each searches, or learns, for the same time, seed after seed.

    FOLDER/METHOD-SEED/   a folder of `palaestra solve`, or for `ranked` a run; time.json says how long it has searched

Restarts of a search keep their journal (`solve_folder`); a run keeps its metrics, which are read here as a journal of
the best that each iteration has found. `nrpa-led` is NRPA whose prior is the policy of the run with the same seed: its
time begins where that run ends. Everything goes on where it was stopped, and what is finished is only read.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from palaestra.base.atomic import write_file
from palaestra.base.errors import ConfigError, RunError
from palaestra.base.reading import MOST_TEXT, parse_json, read_bytes
from palaestra.games.base import Game
from palaestra.lab.restarts import Limits, Restarts
from palaestra.lab.solve_folder import About, Entry, Journal, open_folder, read_journal
from palaestra.lab.trained import trained
from palaestra.learn.config import RunConfig
from palaestra.learn.events import Listener
from palaestra.players.registry import make_player
from palaestra.players.solo import games_at_once, is_shared
from palaestra.runs.folder import RunFolder, numbered
from palaestra.runs.metrics import Lines

TIME = "time.json"
RANKED, LED = "ranked", "nrpa-led"
PLAYERS = {"random": "random", "uct": "uct(simulations=1000)", "nmcs": "nmcs(level=2)"}
LABELS = {RANKED: "ranked reward", LED: "nrpa with its policy as prior"}


@dataclass(frozen=True)
class Method:
    """A line of the comparison: what it is called, and the player of its restarts; None is the run that learns."""

    name: str
    player: str | None

    @property
    def label(self) -> str:
        return LABELS.get(self.name, self.player or self.name)


def methods(level: int, home: Path, seed: int) -> list[Method]:
    """All methods of one seed in the order in which they run; `level` is NRPA's."""
    nrpa = f"nrpa(level={level})"
    # The network's own file: a run that is trained further must not change what a search began with.
    led = f'nrpa(level={level}, model="{_network(home, seed)}")'
    players = PLAYERS | {"nrpa": nrpa}
    return [*(Method(name, text) for name, text in players.items()), Method(RANKED, None), Method(LED, led)]


def compare(
    home: Path,
    game: Game,
    configs: Mapping[int, RunConfig],
    level: int,
    begins: Callable[[str], None],
    listeners: Iterable[Listener] = (),
) -> dict[str, list[Journal]]:
    """method's label -> its journals, one a seed; `configs` are the runs of each seed, which also say how long.

    `begins` hears what is about to run. KeyboardInterrupt leaves all that is finished.
    """
    if game.players != 1:
        raise ConfigError(f"{game.id} is for two players, and this compares searches for one: try morpion-5d")
    if game.num_starts > 1:
        raise ConfigError(
            f"{game.id} begins in {game.num_starts:,} ways, and the best of one says nothing of another; palaestra"
            " evaluate compares means over the same beginnings, and this a game with one, for example morpion-5d"
        )
    found: dict[str, list[Journal]] = {}
    for seed, config in configs.items():
        assert config.minutes is not None, "a comparison is one of equal times"
        for method in methods(level, home, seed):
            begins(f"{method.label}, seed {seed}")
            folder = home / f"{method.name}-{seed}"
            if method.player is None:
                journal = run_journal(game, seed, trained(folder, config, listeners))
                _keep_network(folder)
            else:
                journal = _searched(folder, game, method.player, seed, 60 * config.minutes, config.threads)
            journal = replace(journal, about=replace(journal.about, player=method.label))
            found.setdefault(method.label, []).append(journal)
    return found


def run_journal(game: Game, seed: int, lines: Lines) -> Journal:
    """A run as a journal: one entry an iteration, with the best score that it found in any of its stages."""
    journal = Journal(About(game.id, game.version, RANKED, seed, "", 1))
    for line in lines:
        assert line.scores is not None, "these games are for one player"
        found = [line.scores.highest]
        found += [line.scores.deep.highest] if line.scores.deep is not None else []
        found += [line.score.best] if line.score is not None else []
        took = line.seconds.total
        journal.add(Entry(line.iteration, line.games, {max(found): line.games}, line.elapsed, took))
    return journal


def best_and_when(journal: Journal) -> tuple[int, float] | None:
    """The best score of a journal, and after how many seconds it was met first; None if nothing ended."""
    return None if journal.best is None else (journal.best, journal.first_met[journal.best])


def _searched(folder: Path, game: Game, player: str, seed: int, seconds: float, threads: int) -> Journal:
    """The journal of restarts for so many seconds in all, gone on with where some of them are left."""
    spent = _spent(folder)
    if spent < seconds:
        began = time.perf_counter()
        first = make_player(player, game)
        more = range(threads - 1)
        players = [first, *(first if is_shared(first) else make_player(player, game) for _ in more)]
        about = About(game.id, game.version, first.text, seed, "", games_at_once(first))
        with open_folder(folder, game, about) as opened:
            session = Restarts(opened, players, Limits(seconds - spent), began)
            session.run(lambda entry: None)
            if session.stopped_by == "interrupt":
                raise KeyboardInterrupt
            write_file(folder / TIME, json.dumps({"seconds": seconds}).encode())
    return read_journal(folder)


def _spent(folder: Path) -> float:
    """Seconds of searching that a folder holds: up to its last line, or all that were asked for if it is finished."""
    if (folder / TIME).is_file():
        try:
            return float(parse_json(read_bytes(folder / TIME, MOST_TEXT))["seconds"])
        except (OSError, ValueError, TypeError, KeyError):
            raise RunError(f"{folder / TIME} is damaged: it does not say how long was solved") from None
    return read_journal(folder).seconds if (folder / "solve.json").is_file() else 0.0


def _network(home: Path, seed: int) -> Path:
    return home / f"{RANKED}-{seed}" / "prior.onnx"


def _keep_network(folder: Path) -> None:
    """The network of a finished run as a file that no later training changes."""
    manifest = RunFolder(folder).manifest()
    assert manifest is not None, "the run is finished"
    path = folder / "prior.onnx"
    if not path.exists():
        write_file(path, RunFolder(folder).read(numbered("checkpoints", manifest.best, "onnx"), manifest))
