"""Players that training made: `run:NAME@best(simulations=100)` searches, `net:NAME@12` is the network alone, and
`agent:GAME` comes with the package.

NAME is a run's name below ./runs, or its folder; after @ stands best (the default), last or an iteration. Where several
players are wanted, @* stands for all checkpoints and @*5 for every fifth (`expand_network`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from palaestra.base.errors import PlayerError
from palaestra.base.text import clip
from palaestra.players.kinds import MAX_MS, MAX_SIMULATIONS, Kind, default_limit
from palaestra.players.shipped import LevelName
from palaestra.search.config import RuleName, exploration

if TYPE_CHECKING:
    from palaestra.games.base import Game
    from palaestra.players.base import Player
    from palaestra.players.runs import StoredRun

_EVERY = re.compile(r"\*([1-9][0-9]{0,8})?")


class Run(Kind):
    """The agent of a run: its network in the search of its self-play, unless told otherwise, without noise."""

    name = "run"
    example = "run:NAME@best(simulations=100)"
    subject = "network"

    network: str = Field(min_length=1)  # NAME@best, NAME@last, NAME@12 or NAME
    simulations: int | None = Field(None, ge=1, le=MAX_SIMULATIONS)  # 100 when no limit is given
    ms: float | None = Field(None, gt=0, le=MAX_MS)  # milliseconds a move
    rule: RuleName | None = None  # uct, puct, rave, gumbel or module:attribute; none: the run's own
    c: float | None = Field(None, ge=0, le=1000)  # exploration of the rule; none: the run's own
    fpu: float | None = Field(None, ge=-2, le=2)  # first-play urgency; none: the run's own
    solver: bool | None = None  # prove values from the ends of games upwards; none: as the run does
    nodes: int | None = Field(None, ge=2, le=2**30)  # most nodes of one tree; none: the run's own
    leaves: int = Field(1, ge=1, le=4096)  # leaves of one tree per step
    reuse: bool = True  # keep the subtree of the moves played; sequential halving cannot
    averaged: bool = False  # ask the network in every orientation of the board
    # What outcomes are worth, as "cdf(generations=5)"; none: the run's. Another one needs a network with outcomes.
    reward: str | None = Field(None, min_length=1)
    temperature: float = Field(0.0, ge=0, le=100)  # moves are drawn from visits ** (1 / temperature); 0: most visited

    @model_validator(mode="before")
    @classmethod
    def _limit(cls, data: Any) -> Any:
        return default_limit(data, "simulations", 100, "ms")

    def build(self, game: Game, text: str) -> Player:
        from palaestra.players.runs import make_agent, playing_search

        run, content = load(self.network, game)
        own = {"rule": self.rule, "fpu": self.fpu, "solver": self.solver, "node_budget": self.nodes}
        own |= exploration(self.rule or run.search.rule, self.c)
        search = playing_search(
            run.search,
            self.simulations,
            ms=self.ms,
            leaves_per_step=self.leaves,
            reuse=self.reuse,
            temperature=self.temperature,
            **{name: value for name, value in own.items() if value is not None},
        )
        reward = run.make_reward(game, self.reward)
        if self.reward is not None:
            run.refuse_reward(reward, game)
        return make_agent(game, text, content, search, self.averaged, reward)


class Net(Kind):
    """The network of a run without any search: its favourite move, or one drawn from its policy."""

    name = "net"
    example = "net:NAME@12"
    subject = "network"

    network: str = Field(min_length=1)  # NAME@best, NAME@last, NAME@12 or NAME
    temperature: float = Field(0.0, ge=0, le=100)  # moves are drawn from policy ** (1 / temperature); 0: the favourite

    def build(self, game: Game, text: str) -> Player:
        from palaestra.nets.evaluator import OnnxEvaluator
        from palaestra.players.policy import PolicyPlayer

        run, content = load(self.network, game)
        evaluator = OnnxEvaluator(game, content, reward=run.make_reward(game))
        return PolicyPlayer(game, text, evaluator, self.temperature)


class Agent(Kind):
    """The agent that comes with the package for a game, at one of three strengths; `palaestra agents` lists them."""

    name = "agent"
    example = "agent:connect_four-6x7(level=medium)"
    subject = "of"

    of: str = Field(min_length=1)  # the game's id
    level: LevelName = "hard"  # easy, medium or hard: the simulations and the temperature of its card
    simulations: int | None = Field(None, ge=1, le=MAX_SIMULATIONS)  # in place of the level's
    ms: float | None = Field(None, gt=0, le=MAX_MS)  # milliseconds a move, in place of simulations
    temperature: float | None = Field(None, ge=0, le=100)  # in place of the level's

    def build(self, game: Game, text: str) -> Player:
        from palaestra.nets.evaluator import OnnxEvaluator
        from palaestra.players import shipped
        from palaestra.players.policy import PolicyPlayer
        from palaestra.players.runs import make_agent, playing_search
        from palaestra.rewards.registry import make_reward
        from palaestra.search.config import SearchConfig

        card = shipped.find_card(self.of)
        if (card.game, card.version) != (game.id, game.version):
            raise PlayerError(
                f"{text} plays {card.game} version {card.version}, not {game.id} version {game.version}; there are"
                f" agents for {', '.join(shipped.cards())}"
            )
        level = card.levels[self.level]
        limit = self.simulations or (level.simulations if self.ms is None else None)
        temperature = level.temperature if self.temperature is None else self.temperature
        content, reward = shipped.network(card), make_reward(card.reward, game)
        if limit == 0:
            return PolicyPlayer(game, text, OnnxEvaluator(game, content, reward=reward), temperature)
        search = playing_search(SearchConfig(**card.search), limit, ms=self.ms, temperature=temperature)
        return make_agent(game, text, content, search, reward=reward)


def load(network: str, game: Game) -> tuple[StoredRun, bytes]:
    """The run that `NAME@which` names, which must be able to play this game, and the ONNX file."""
    run, iteration = find_checkpoint(network)
    if not run.plays(game):
        raise PlayerError(f"run {run.name} plays {run.game}, not {game.id}; give that game, or a run of this one")
    return run, run.network(iteration)


def find_checkpoint(network: str) -> tuple[StoredRun, int]:
    """The run that `NAME@which` names, and the iteration of the network."""
    from palaestra.players.runs import open_run

    name, at, which = network.rpartition("@")
    run = open_run(name if at else network)
    return run, run.pick(which if at else "best")


def expand_network(network: str) -> list[str]:
    """`NAME@*` as NAME@0, NAME@1, …, one for each checkpoint of the run; `NAME@*5` every fifth, and the last."""
    from palaestra.players.runs import open_run

    name, at, which = network.rpartition("@")
    if not (at and which.startswith("*")):
        return [network]
    if not _EVERY.fullmatch(which):
        raise PlayerError(
            f"after @* stands nothing or a positive whole number, not {clip(which[1:])}; for example run:NAME@*5"
        )
    return [f"{name}@{iteration}" for iteration in open_run(name).spread(int(which[1:] or 1))]
