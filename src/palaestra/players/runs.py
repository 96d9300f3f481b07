"""What a player needs of a run: its networks, its reward, and how it searched.

Nothing is ever written, and learning is not known here, so that playing against a run loads none of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from palaestra.base.errors import DamagedRunError, ModelError, PlayerError, RunError
from palaestra.base.text import clip, whole_number
from palaestra.base.user_code import is_code
from palaestra.games.registry import make_game, make_stored_game
from palaestra.runs.folder import MANIFEST, RunFolder, numbered
from palaestra.runs.manifest import Manifest
from palaestra.runs.places import RUNS, find_run, listed
from palaestra.search.config import WITHOUT_FPU, SearchConfig

if TYPE_CHECKING:
    from palaestra.base.types import Int32s
    from palaestra.games.base import Game
    from palaestra.players.base import Player
    from palaestra.rewards.base import Reward

_OUTCOME = re.compile(rb'^\[Outcome "(-?[0-9]{1,9})"\]', re.MULTILINE)


@dataclass(frozen=True)
class StoredRun:
    """A run as its manifest describes it."""

    name: str
    home: RunFolder
    manifest: Manifest
    search: SearchConfig  # that of self-play

    @property
    def folder(self) -> Path:
        return self.home.path

    @property
    def game(self) -> str:
        """The game's own id."""
        return self.manifest.game

    @property
    def game_text(self) -> str:
        """How the user named the game; for a game of the user's own not the id."""
        return str(self.manifest.config.get("game", self.manifest.game))

    @property
    def net(self) -> str:
        """The name of its kind of network."""
        return self.manifest.net

    @property
    def iteration(self) -> int:
        return self.manifest.iteration

    @property
    def best(self) -> int:
        """The iteration of the network that plays."""
        return self.manifest.best

    @property
    def reward(self) -> str:
        """What outcomes were worth, as a text; runs from before there was a choice have none."""
        return str(self.manifest.config.get("reward", "default"))

    def is_learned(self) -> bool:
        """Whether its reward has learned from its games."""
        return numbered("reward", self.iteration, "safetensors") in self.manifest.files

    @property
    def checkpoints(self) -> list[int]:
        """Iterations whose networks were kept, ascending; 0 is the untrained one."""
        found = (Path(name) for name in self.manifest.files if name.startswith("checkpoints/"))
        numbers = (whole_number(path.stem) for path in found if path.suffix == ".onnx")
        return sorted(number for number in numbers if number is not None)

    def make_game(self, given: str | None = None) -> Game:
        """The rules; `given` names them where they are code of the user's own, or another game that the run plays."""
        if given is not None and not is_code(given) and self.plays(other := make_game(given)):
            return other
        return make_stored_game(self.game_text, f"run {self.name}", id=self.game, given=given)

    def plays(self, game: Game) -> bool:
        """Whether its networks play this game: their own, or another that fits a network for boards of every size."""
        if game.is_called(self.game):
            return True
        from palaestra.nets.boards import can_play

        return not self.is_learned() and can_play(self.network(self.best), game)

    def pick(self, which: str) -> int:
        """The iteration that `best`, `last` or a number means; PlayerError lists what there is."""
        there = self.checkpoints
        number = self.best if which == "best" else there[-1] if which == "last" and there else whole_number(which)
        if number is None or number not in there:
            raise PlayerError(f"run {self.name} has no network {clip(which)}; it has best, last, {listed(there)}")
        return number

    def spread(self, step: int) -> list[int]:
        """Every `step`-th checkpoint, the first and the last among them; PlayerError if there is none."""
        there = self.checkpoints
        if not there:
            raise PlayerError(f"run {self.name} has no networks yet: {self.folder / 'checkpoints'} holds no .onnx file")
        return sorted({*there[::step], there[-1]})

    def network(self, iteration: int) -> bytes:
        """The ONNX file of an iteration; ModelError if it cannot be read or is not the file that was saved."""
        try:
            return self.home.read(numbered("checkpoints", iteration, "onnx"), self.manifest)
        except DamagedRunError as error:
            others = f"best ({self.best}), {listed(self.checkpoints)}"
            raise ModelError(f"{error}; the run has {others}") from None

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
            name = numbered("reward", self.iteration, "safetensors")
            reward.load_state(self.home.read_arrays(name, self.manifest))
        else:
            for outcomes in self.outcomes():
                reward.observe(outcomes)
        return reward

    def refuse_reward(self, reward: Reward, game: Game) -> None:
        """PlayerError if the networks of the run cannot play under another reward than their own.

        What a value head says is a value under the reward that it learned; only ends of games would be valued anew.
        """
        from palaestra.nets.architecture import split_head
        from palaestra.nets.heads import CATEGORICAL_HEAD, OUTCOME_HEAD, VALUE_HEAD
        from palaestra.rewards.registry import make_reward

        own = make_reward(self.reward, game).text
        if reward.text != own and split_head(self.net)[1] == VALUE_HEAD:
            head = OUTCOME_HEAD if game.players == 2 else CATEGORICAL_HEAD
            raise PlayerError(
                f"run {self.name} cannot play under {reward.text}: the values of its network {self.net} are those of"
                f" {own}, which it learned; one that foretells outcomes can: train with --set net={self.net}-{head}"
            )

    def outcomes(self) -> Iterator[Int32s]:
        """int32[n], the first player's, of the self-play games of each iteration."""
        for iteration in range(1, self.iteration + 1):
            games = self.home.read(numbered("games", iteration, "pgn"), self.manifest)
            yield np.array([int(found) for found in _OUTCOME.findall(games)], dtype=np.int32)


def open_run(name: str, root: Path = RUNS) -> StoredRun:
    """The run with this name below `root`, or in this folder; PlayerError lists the runs that there are."""
    home = RunFolder(find_run(name, root))
    manifest = home.manifest()
    if manifest is None:
        raise RunError(f"{home} has no network yet: it was stopped before its first")
    try:
        search = SearchConfig.model_validate(manifest.settings("selfplay", "search"))
    except (KeyError, ValidationError):
        raise RunError(f"{home.path / MANIFEST} is not the manifest of a run: its settings cannot be read") from None
    return StoredRun(name, home, manifest, search)


# What an agent takes over from its self-play; noise, temperature and the way its trees are kept are not among it.
JUDGED_BY = (
    "rule", "c_puct", "c_uct", "fpu", "rave_k", "rave_amaf", "gumbel_considered", "gumbel_visits", "gumbel_scale",
    "solver", "node_budget",
)  # fmt: skip


def playing_search(search: SearchConfig, simulations: int | None, **changes: Any) -> SearchConfig:
    """How a run's agent searches when it is judged: by the rule of its self-play, without noise, playing its best move.

    Gate, evaluation and `run:` players all use this, so that they speak of the same agent. The rule gumbel brings
    sequential halving at the root with it, where self-play has it and the simulations are known; under every other
    rule the agent's root is like the rest of its tree. `changes` are settings that replace the run's own.
    """
    settings = {**search.model_dump(include=set(JUDGED_BY)), "simulations": simulations, **changes}
    if settings["rule"] == "gumbel" and search.gumbel_root and simulations is not None:
        settings |= {"gumbel_root": True, "reuse": False}
    if settings["rule"] in WITHOUT_FPU and "fpu" not in changes:
        settings["fpu"] = None
    return SearchConfig(**settings)


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
