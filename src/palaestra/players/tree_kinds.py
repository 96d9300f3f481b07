"""The kinds of players that search a tree: one search, four sets of settings (`palaestra.search.config`).

The thesis's enhancements (sources: Alg. 10 to 14) are combinations, with m = 100 and a network in `net.onnx`:

    Rollout  puct(net.onnx, w=1)       RAVE   rave(net.onnx)
    WRo      puct(net.onnx, w=0.5)     RoRa   rave(net.onnx, w=1, playouts=false)
                                       WRoRa  rave(net.onnx, w=0.5)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from palaestra.base.errors import PlayerError
from palaestra.base.text import format_value
from palaestra.players.kinds import MAX_MS, MAX_SIMULATIONS, Kind, default_limit
from palaestra.search.config import WITHOUT_FPU, RuleName, exploration

if TYPE_CHECKING:
    from palaestra.games.base import Game
    from palaestra.players.base import Player
    from palaestra.rewards.base import Reward
    from palaestra.search.evaluator import Evaluator


class Tree(Kind):
    """What every tree search takes."""

    simulations: int | None = Field(None, ge=1, le=MAX_SIMULATIONS)  # m; 100 when no limit is given (thesis: 100)
    ms: float | None = Field(None, gt=0, le=MAX_MS)  # milliseconds a move
    solver: bool = True  # prove values from the ends of games upwards; the papers did not
    nodes: int = Field(400_000, ge=2, le=2**30)  # most nodes of one tree
    leaves: int = Field(1, ge=1, le=4096)  # leaves of one tree per step, kept apart by virtual loss; papers: 1
    # What outcomes are worth: primitive or hand_tuned; none: the game's own. A network that gives values and not
    # outcomes should be given the one that it learned.
    reward: str | None = Field(None, min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _limit(cls, data: Any) -> Any:
        return default_limit(data, "simulations", 100, "ms")

    def judge(self, game: Game) -> Reward:
        """The reward; PlayerError for one that learns, which would have nothing to learn from."""
        from palaestra.rewards.registry import make_reward

        reward = make_reward(self.reward or "default", game)
        if reward.learns:
            raise PlayerError(
                f"{self.name}: {reward.text} is learned from the games of a run, and there is none here; take a reward"
                f" that does not learn, such as primitive, or run:NAME(reward={format_value(reward.text)})"
            )
        return reward

    def make(self, game: Game, text: str, reward: Reward, evaluator: Evaluator, **settings: Any) -> Player:
        """The player with these settings beside the common ones."""
        from palaestra.players.tree import TreePlayer
        from palaestra.search.config import SearchConfig

        config = SearchConfig(
            simulations=self.simulations,
            ms=self.ms,
            solver=self.solver,
            node_budget=self.nodes,
            leaves_per_step=self.leaves,
            **settings,
        )
        return TreePlayer(game, text, evaluator, config, reward)


class Played(Tree):
    """A search that keeps its tree during a game and chooses by visits."""

    reuse: bool = True  # keep the subtree of the moves played
    temperature: float = Field(0.0, ge=0, le=100)  # moves are drawn from visits ** (1 / temperature); 0: most visited


class Uct(Played):
    """Monte Carlo tree search: UCB1 in the tree, one random game from every leaf."""

    name = "uct"
    example = "uct(simulations=200)"

    c: float = Field(math.sqrt(2), ge=0, le=1000)  # exploration, for values in [-1, 1]
    rule: RuleName = "uct"  # how a move is chosen in the tree: a built-in rule, or module:attribute

    def build(self, game: Game, text: str) -> Player:
        reward = self.judge(game)
        return self.make(
            game,
            text,
            reward,
            rollouts(game, reward),
            rule=self.rule,
            **exploration(self.rule, self.c),
            reuse=self.reuse,
            temperature=self.temperature,
        )


class Rave(Played):
    """Tree search that shares what it learns about a move among positions (Eq. 5.2 to 5.4; sources: Alg. 11).

    Without a file its leaves are judged by random games; with one, by the network, or by both with weight w.
    """

    name = "rave"
    example = "rave(simulations=100)"
    positional = ("file",)

    file: str | None = Field(None, min_length=1)  # an ONNX network
    w: float | None = Field(None, ge=0, le=1)  # weight of a random game in a leaf's value, beside a network's
    c: float = Field(1.0, ge=0, le=1000)  # c_puct (thesis: 1)
    k: float | None = Field(None, gt=0, le=1e9)  # visits at which RAVE and the tree weigh equally; none: m (thesis)
    playouts: bool = True  # the moves of random games count too (WRoRa), or only those in the tree
    amaf: Literal["action", "cell"] = "action"  # cell: an action counts only if the same side plays it next

    @model_validator(mode="after")
    def _weight_needs_a_network(self) -> Rave:
        needs_a_network(self, "w", "weighs random games against a network")
        return self

    def build(self, game: Game, text: str) -> Player:
        reward = self.judge(game)
        if self.file is None:
            evaluator = rollouts(game, reward, self.playouts)
        else:
            evaluator = mixed(game, reward, self.file, self.w or 0.0, self.playouts)
        return self.make(
            game,
            text,
            reward,
            evaluator,
            rule="rave",
            c_puct=self.c,
            rave_k=self.k,
            rave_playouts=self.playouts,
            rave_amaf=self.amaf,
            reuse=self.reuse,
            temperature=self.temperature,
        )


class Puct(Played):
    """AlphaZero's search with a network from an ONNX file (sources: search).

    Without a file all moves have the same prior and leaves are judged by random games (Eq. 5.1 with uniform priors).
    """

    name = "puct"
    example = "puct(model.onnx, simulations=100)"
    positional = ("file",)

    file: str | None = Field(None, min_length=1)  # an ONNX network
    w: float | None = Field(None, ge=0, le=1)  # weight of a random game in a leaf's value (Eq. 5.5); 1 is Alg. 10
    c: float = Field(1.0, ge=0, le=1000)  # c_puct (thesis: 1)
    fpu: float | None = Field(None, ge=-2, le=2)  # an unvisited move counts as the node's value minus this; none: 0
    dirichlet_alpha: float = Field(1.0, gt=0, le=1000)  # shape of the noise at the root
    dirichlet_fraction: float = Field(0.0, ge=0, le=1)  # its share (thesis: no noise)
    averaged: bool = False  # ask the network in every orientation of the board
    rule: RuleName = "puct"  # how a move is chosen in the tree: a built-in rule, or module:attribute

    @model_validator(mode="after")
    def _network_settings(self) -> Puct:
        if self.fpu is not None and self.rule in WITHOUT_FPU:
            raise ValueError(f"fpu is not read by the rule {self.rule}")
        needs_a_network(self, "w", "weighs random games against a network")
        needs_a_network(self, "averaged", "asks a network")
        return self

    def build(self, game: Game, text: str) -> Player:
        reward = self.judge(game)
        if self.file is None:
            evaluator = rollouts(game, reward)
        else:
            evaluator = mixed(game, reward, self.file, self.w or 0.0, trace=False, averaged=self.averaged)
        return self.make(
            game,
            text,
            reward,
            evaluator,
            rule=self.rule,
            **exploration(self.rule, self.c),
            fpu=self.fpu,
            dirichlet_alpha=self.dirichlet_alpha,
            dirichlet_fraction=self.dirichlet_fraction,
            reuse=self.reuse,
            temperature=self.temperature,
        )


class Gumbel(Tree):
    """Sequential halving and completed Q-values, with a network from an ONNX file (sources: Gumbel root)."""

    name = "gumbel"
    example = "gumbel(model.onnx, simulations=32)"
    positional = ("file",)

    file: str = Field(min_length=1)  # an ONNX network
    considered: int = Field(16, ge=1, le=10_000)  # moves that sequential halving starts with
    visits: float = Field(50.0, ge=0, le=1e6)  # c_visit
    scale: float = Field(1.0, gt=0, le=1e6)  # c_scale
    temperature: float = Field(0.0, ge=0, le=100)  # scale of the Gumbel noise: 1 as in self-play; 0: the best move
    averaged: bool = False  # ask the network in every orientation of the board

    @model_validator(mode="after")
    def _plans_its_visits(self) -> Gumbel:
        if self.simulations is None:
            raise ValueError("sequential halving plans its visits: give simulations, not only ms")
        return self

    def build(self, game: Game, text: str) -> Player:
        reward = self.judge(game)
        return self.make(
            game,
            text,
            reward,
            mixed(game, reward, self.file, 0.0, trace=False, averaged=self.averaged),
            rule="gumbel",
            gumbel_root=True,
            gumbel_considered=self.considered,
            gumbel_visits=self.visits,
            gumbel_scale=self.scale,
            temperature=self.temperature,
            reuse=False,
        )


def needs_a_network(kind: Rave | Puct, field: str, does: str) -> None:
    """ValueError if a field that is about a network is set where no file is given."""
    if kind.file is None and field in kind.model_fields_set:
        raise ValueError(f"{field} {does}: give its file, as in {kind.name}(model.onnx, {field}=…)")


def rollouts(game: Game, reward: Reward, trace: bool = False) -> Evaluator:
    """One random game from every leaf."""
    from palaestra.search.evaluator import Rollout

    return Rollout(game, reward, trace)


def mixed(game: Game, reward: Reward, file: str, w: float, trace: bool, averaged: bool = False) -> Evaluator:
    """The network in a file, with what it said remembered; with w > 0, random games beside it."""
    from palaestra.nets.averaged import Averaged
    from palaestra.nets.cache import Cached, default_entries
    from palaestra.nets.evaluator import OnnxEvaluator
    from palaestra.search.evaluator import Mixed

    network: Evaluator = OnnxEvaluator(game, file, reward=reward)
    network = Cached(Averaged(network, game) if averaged else network, game, default_entries(game))
    return Mixed(network, rollouts(game, reward, trace), w) if w > 0.0 else network
