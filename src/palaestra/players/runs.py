"""What a player needs of a run's folder (DESIGN §5): its manifest, its networks, and how it searched.

Only JSON and ONNX files are read, and nothing is ever written; learning is not known here, so that playing against a
run loads none of it. A network whose hash the manifest knows must have it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from palaestra.errors import ModelError, PlayerError
from palaestra.players.text import clip
from palaestra.search.config import SearchConfig

if TYPE_CHECKING:
    from palaestra.games.base import Game
    from palaestra.players.base import Player

RUNS = Path("runs")  # where `palaestra train` puts runs by default
FORMAT = 1
MOST_SHOWN = 12  # names or numbers listed in an error


@dataclass(frozen=True)
class StoredRun:
    """A run as its manifest describes it."""

    name: str
    folder: Path
    game: str
    iteration: int
    best: int  # iteration of the network that plays
    search: SearchConfig  # that of self-play
    files: Mapping[str, str]  # relative path -> SHA-256

    @property
    def checkpoints(self) -> list[int]:
        """Iterations whose networks are there, ascending; 0 is the untrained one."""
        found = (path.stem for path in (self.folder / "checkpoints").glob("*.onnx"))
        return sorted(number for number in map(_number, found) if number is not None and number <= self.iteration)

    def pick(self, which: str) -> int:
        """The iteration that `best`, `last` or a number means; PlayerError lists what there is."""
        there = self.checkpoints
        number = self.best if which == "best" else there[-1] if which == "last" and there else _number(which)
        if number is None or number not in there:
            raise PlayerError(f"run {self.name} has no network {clip(which)}; it has best, last, {_listed(there)}")
        return number

    def spread(self, step: int) -> list[int]:
        """Every `step`-th checkpoint, the first and the last among them; PlayerError if there is none."""
        there = self.checkpoints
        if not there:
            raise PlayerError(f"run {self.name} has no networks yet: {self.folder / 'checkpoints'} holds no .onnx file")
        return sorted({*there[::step], there[-1]})

    def network(self, iteration: int) -> bytes:
        """The ONNX file of an iteration; ModelError if it cannot be read or is not the file that was saved."""
        relative = f"checkpoints/{iteration:04d}.onnx"
        path = self.folder / relative
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ModelError(f"{path}: cannot read this network ({(error.strerror or str(error)).lower()})") from None
        if (saved := self.files.get(relative)) is not None and hashlib.sha256(content).hexdigest() != saved:
            raise ModelError(f"{path} is damaged: it is not the network that was saved; the run has {self._others()}")
        return content

    def _others(self) -> str:
        return f"best ({self.best}), {_listed(self.checkpoints)}"


def open_run(name: str, root: Path = RUNS) -> StoredRun:
    """The run with this name below `root`, or in this folder; PlayerError lists the runs that there are."""
    folder = find_run(name, root)
    path = folder / "manifest.json"
    try:
        body = json.loads(path.read_bytes())
        if body["format"] != FORMAT:
            raise PlayerError(f"{path} has format {body['format']!r}; this version of Palaestra reads {FORMAT}")
        search = SearchConfig(**body["config"]["selfplay"]["search"])
        return StoredRun(
            name, folder, str(body["game"]), int(body["iteration"]), int(body["best"]), search, dict(body["files"])
        )
    except OSError as error:
        raise PlayerError(f"cannot read {path} ({(error.strerror or str(error)).lower()})") from None
    except (ValueError, KeyError, TypeError, ValidationError):
        raise PlayerError(f"{path} is damaged: it is not the manifest of a run") from None


def find_run(name: str, root: Path = RUNS) -> Path:
    """The folder of a run; a name below `root` is tried before a path."""
    try:
        for folder in (root / name, Path(name)):
            if (folder / "manifest.json").is_file():
                return folder
        there = sorted(path.parent.name for path in root.glob("*/manifest.json"))
        is_folder = Path(name).is_dir()
    except (OSError, ValueError):  # a name too long for a file system, or with a null byte
        there, is_folder = [], False
    what = "is a folder but not a run: it has no manifest.json" if is_folder else "is not a run"
    known = f"runs in ./{root}: {_listed(there)}" if there else f"there are none in ./{root}"
    raise PlayerError(f"{clip(name)} {what}; {known}; a run is made by: palaestra train GAME --run NAME")


def playing_search(search: SearchConfig, simulations: int | None, **changes: Any) -> SearchConfig:
    """How a run's agent searches when it is judged: PUCT with the exploration of self-play, no noise, best move.

    Gate, evaluation and `run:` players all use this, so that they speak of the same agent.
    """
    settings: dict[str, Any] = {
        "rule": "puct",
        "num_simulations": simulations,
        "c_puct": search.c_puct,
        "fpu": search.fpu,
        "solver": search.solver,
        "node_budget": search.node_budget,
    }
    return SearchConfig(**{**settings, **changes})


def make_agent(game: Game, text: str, model: bytes, search: SearchConfig, averaged: bool = False) -> Player:
    """A player that searches with this network, whose answers it remembers; one for each thread.

    `averaged` asks the network in every orientation of the board, which costs as many evaluations as there are.
    """
    from palaestra.nets.averaged import Averaged
    from palaestra.nets.cache import Cached, default_entries
    from palaestra.nets.evaluator import OnnxEvaluator
    from palaestra.players.tree import TreePlayer

    network = OnnxEvaluator(game, model)
    evaluator = Cached(Averaged(network, game) if averaged else network, game, default_entries(game))
    return TreePlayer(game, text, evaluator, search)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _listed(names: list[Any]) -> str:
    shown = [str(name) for name in names]
    if len(shown) > MOST_SHOWN:
        shown = [*shown[: MOST_SHOWN // 2], "…", *shown[-MOST_SHOWN // 2 :]]
    return ", ".join(shown) if shown else "no networks"
