"""What a player needs of a run's folder (DESIGN §5): its manifest, its networks, its reward, and how it searched.

Only JSON, ONNX, safetensors and PGN files are read, and nothing is ever written; learning is not known here, so that
playing against a run loads none of it. A file whose hash the manifest knows must have it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from palaestra.errors import ModelError, PlayerError
from palaestra.search.config import SearchConfig
from palaestra.text import clip

if TYPE_CHECKING:
    from palaestra.games.base import Game
    from palaestra.players.base import Player
    from palaestra.rewards.base import Reward
    from palaestra.types import Int32s

RUNS = Path("runs")  # where `palaestra train` puts runs by default
FORMAT = 1
MOST_SHOWN = 12  # names or numbers listed in an error
_OUTCOME = re.compile(rb'^\[Outcome "(-?[0-9]{1,9})"\]', re.MULTILINE)


@dataclass(frozen=True)
class StoredRun:
    """A run as its manifest describes it."""

    name: str
    folder: Path
    game: str
    net: str  # the name of its kind of network
    iteration: int
    best: int  # iteration of the network that plays
    search: SearchConfig  # that of self-play
    files: Mapping[str, str]  # relative path -> SHA-256
    reward: str = "default"  # what outcomes were worth, as a text

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
        content = self._read(relative, "network")
        if not self._is_whole(relative, content):
            others = f"best ({self.best}), {_listed(self.checkpoints)}"
            raise ModelError(
                f"{self.folder / relative} is damaged: it is not the network that was saved; the run has {others}"
            )
        return content

    def make_reward(self, game: Game, text: str | None = None) -> Reward:
        """The run's reward with all that it has learned so far, or the one that `text` describes in its place.

        What a reward learns is how good the players of now are; another one is taught by the run's own games, all
        generations in their order, as if it had been there from the start.
        """
        from palaestra.rewards.registry import make_reward

        reward = make_reward(self.reward if text is None else text, game)
        if not reward.learns:
            return reward
        if text is None:
            reward.load_state(self._reward_state())
        else:
            for outcomes in self.outcomes():
                reward.observe(outcomes)
        return reward

    def refuse_reward(self, reward: Reward, game: Game) -> None:
        """PlayerError if the networks of the run cannot play under another reward than their own.

        What a value head says is a value under the reward that it learned; only ends of games would be valued anew.
        """
        from palaestra.nets.architecture import parse_net
        from palaestra.nets.heads import CATEGORICAL_HEAD, OUTCOME_HEAD, VALUE_HEAD
        from palaestra.rewards.registry import make_reward

        own = make_reward(self.reward, game).text
        if reward.text != own and parse_net(self.net).head == VALUE_HEAD:
            head = OUTCOME_HEAD if game.players == 2 else CATEGORICAL_HEAD
            raise PlayerError(
                f"run {self.name} cannot play under {reward.text}: the values of its network {self.net} are those of"
                f" {own}, which it learned; one that foretells outcomes can: train with --set net={self.net}-{head}"
            )

    def outcomes(self) -> Iterator[Int32s]:
        """int32[n], the first player's, of the self-play games of each iteration."""
        for iteration in range(1, self.iteration + 1):
            games = self._read(f"games/{iteration:04d}.pgn", "file of games")
            yield np.array([int(found) for found in _OUTCOME.findall(games)], dtype=np.int32)

    def _reward_state(self) -> dict[str, np.ndarray[Any, Any]]:
        from safetensors import SafetensorError
        from safetensors.numpy import load

        relative = f"reward/{self.iteration:04d}.safetensors"
        content = self._read(relative, "reward's state")
        try:
            if self._is_whole(relative, content):
                return dict(load(content))
        except SafetensorError:
            pass  # said below
        raise ModelError(f"{self.folder / relative} is damaged: it is not the reward's state that was saved")

    def _read(self, relative: str, what: str) -> bytes:
        path = self.folder / relative
        try:
            return path.read_bytes()
        except OSError as error:
            raise ModelError(f"{path}: cannot read this {what} ({(error.strerror or str(error)).lower()})") from None

    def _is_whole(self, relative: str, content: bytes) -> bool:
        """Whether this is the file that was saved, as far as the manifest knows."""
        saved = self.files.get(relative)
        return saved is None or hashlib.sha256(content).hexdigest() == saved


def open_run(name: str, root: Path = RUNS) -> StoredRun:
    """The run with this name below `root`, or in this folder; PlayerError lists the runs that there are."""
    folder = find_run(name, root)
    path = folder / "manifest.json"
    try:
        body = json.loads(path.read_bytes())
        if body["format"] != FORMAT:
            raise PlayerError(f"{path} has format {body['format']!r}; this version of Palaestra reads {FORMAT}")
        config = body["config"]
        return StoredRun(
            name,
            folder,
            str(body["game"]),
            str(config["net"]),
            int(body["iteration"]),
            int(body["best"]),
            SearchConfig(**config["selfplay"]["search"]),
            dict(body["files"]),
            str(config.get("reward", "default")),  # runs from before there was a choice have none
        )
    except OSError as error:
        raise PlayerError(f"cannot read {path} ({(error.strerror or str(error)).lower()})") from None
    except (ValueError, KeyError, TypeError, AttributeError, ValidationError):
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
    raise PlayerError(f"{clip(name)} {what}; {known}; a run is made by: palaestra train GAME --out NAME")


def playing_search(search: SearchConfig, simulations: int | None, **changes: Any) -> SearchConfig:
    """How a run's agent searches when it is judged: PUCT with the exploration of self-play, no noise, best move.

    Gate, evaluation and `run:` players all use this, so that they speak of the same agent.
    """
    settings: dict[str, Any] = {
        "rule": "puct",
        "simulations": simulations,
        "c_puct": search.c_puct,
        "fpu": search.fpu,
        "solver": search.solver,
        "node_budget": search.node_budget,
    }
    return SearchConfig(**{**settings, **changes})


def make_agent(
    game: Game, text: str, model: bytes, search: SearchConfig, averaged: bool = False, reward: Reward | None = None
) -> Player:
    """A player that searches with this network, whose answers it remembers; one for each thread.

    `averaged` asks the network in every orientation of the board, which costs as many evaluations as there are.
    `reward` says what outcomes are worth to the search (by default the game's own), also those that the network
    predicts; it must not learn while the agent plays.
    """
    from palaestra.nets.averaged import Averaged
    from palaestra.nets.cache import Cached, default_entries
    from palaestra.nets.evaluator import OnnxEvaluator
    from palaestra.players.tree import TreePlayer

    network = OnnxEvaluator(game, model, reward=reward)
    evaluator = Cached(Averaged(network, game) if averaged else network, game, default_entries(game))
    return TreePlayer(game, text, evaluator, search, reward)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _listed(names: list[Any]) -> str:
    shown = [str(name) for name in names]
    if len(shown) > MOST_SHOWN:
        shown = [*shown[: MOST_SHOWN // 2], "…", *shown[-MOST_SHOWN // 2 :]]
    return ", ".join(shown) if shown else "no networks"
