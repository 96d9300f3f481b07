"""Every kind of player as a frozen model: what it takes, between which bounds, what the papers used.

A kind's `build` imports its implementation when it is called, so that naming a player loads no search and no network.
Unknown arguments, wrong types and values out of range are refused by the models; `palaestra.base.text_model` puts that
into words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, model_validator

from palaestra.base.text import Value
from palaestra.base.text_model import TextModel

if TYPE_CHECKING:
    from palaestra.games.base import Game
    from palaestra.players.base import Player

MAX_SIMULATIONS = 10_000_000
MAX_MS = 3_600_000


class Kind(TextModel, ABC):
    """A kind of player. Subclasses give `name`, `example`, fields, and `build`."""

    @abstractmethod
    def build(self, game: Game, text: str) -> Player:
        """The player of `game`; `text` is the name that it carries in tables."""


class Random(Kind):
    """Uniform over the legal moves."""

    name = "random"
    example = "random"

    def build(self, game: Game, text: str) -> Player:
        from palaestra.players.simple import RandomPlayer

        return RandomPlayer(game, text)


class Greedy(Kind):
    """Looks one move ahead: wins if it can, does not lose at once if it can help it, else the best static score."""

    name = "greedy"
    example = "greedy"

    def build(self, game: Game, text: str) -> Player:
        from palaestra.players.simple import GreedyPlayer

        return GreedyPlayer(game, text)


class AlphaBeta(Kind):
    """Iterative deepening with a transposition table and killer moves; exact when it reaches the end."""

    name = "alphabeta"
    example = "alphabeta(depth=6)"

    depth: int | None = Field(None, ge=1, le=1000)  # plies; 6 when neither limit is given
    ms: float | None = Field(None, gt=0, le=MAX_MS)  # milliseconds a move

    @model_validator(mode="before")
    @classmethod
    def _limit(cls, data: Any) -> Any:
        return default_limit(data, "depth", 6, "ms")

    def build(self, game: Game, text: str) -> Player:
        from palaestra.players.alphabeta import AlphaBetaPlayer

        return AlphaBetaPlayer(game, text, depth=self.depth, ms=self.ms)


class Perfect(Kind):
    """Plays without mistakes: retrograde analysis for `opposition`, a solver for small boards.

    Where the solver does not finish, it plays the best move so far, which is not proven.
    """

    name = "perfect"
    example = "perfect"

    nodes: int = Field(100_000_000, ge=1, le=10**10)  # positions that one solution may visit before it is cut short
    seconds: float = Field(60.0, gt=0, le=MAX_MS / 1000)  # the same by the clock, and then not reproducible

    def build(self, game: Game, text: str) -> Player:
        from palaestra.players.perfect import PerfectPlayer

        return PerfectPlayer(game, text, nodes=self.nodes, seconds=self.seconds)


class Mcs(Kind):
    """Flat Monte Carlo: random playouts for each move in turn, best mean (sources: Alg. 8)."""

    name = "mcs"
    example = "mcs(ms=50)"

    playouts: int | None = Field(None, ge=1, le=MAX_SIMULATIONS)  # a move, over all legal moves together
    ms: float | None = Field(None, gt=0, le=MAX_MS)  # paper: 50

    @model_validator(mode="before")
    @classmethod
    def _limit(cls, data: Any) -> Any:
        return default_limit(data, "ms", 50.0, "playouts")

    @model_validator(mode="after")
    def _one_limit(self) -> Mcs:
        if self.playouts is not None and self.ms is not None:
            raise ValueError("give either playouts or ms, not both")
        return self

    def build(self, game: Game, text: str) -> Player:
        from palaestra.players.flat import McsPlayer

        return McsPlayer(game, text, playouts=self.playouts, ms=self.ms)


class Rhea(Kind):
    """Rolling-horizon evolution (sources: Alg. 15)."""

    name = "rhea"
    example = "rhea(population=10, evaluations=50)"

    population: int = Field(10, ge=1, le=10_000)  # paper: 10
    horizon: int = Field(10, ge=1, le=10_000)  # own moves in an individual; paper: 10
    mutation: float = Field(0.2, ge=0, le=1)  # chance per gene; paper: 0.2
    playouts: int = Field(2, ge=1, le=10_000)  # random playouts an evaluation; paper: 2
    evaluations: int = Field(50, ge=1, le=1_000_000)  # a move; paper: 50, that is 100 playouts
    sequences: Literal["valid", "any"] = "valid"  # plans that could be played (Alg. 15), or any action numbers

    @model_validator(mode="after")
    def _everyone_is_judged(self) -> Rhea:
        if self.evaluations < self.population:
            raise ValueError(
                f"evaluations is {self.evaluations}; it must be at least the population, {self.population}"
            )
        return self

    def build(self, game: Game, text: str) -> Player:
        from palaestra.players.evolution import RheaPlayer

        return RheaPlayer(
            game,
            text,
            population=self.population,
            horizon=self.horizon,
            mutation=self.mutation,
            playouts=self.playouts,
            evaluations=self.evaluations,
            sequences=self.sequences,
        )


class TwoOpt(Kind):
    """Whole tours of the travelling salesman, improved by 2-opt (sources: travelling salesman)."""

    name = "two_opt"
    example = "two_opt(starts=10)"

    starts: int = Field(1, ge=1, le=1_000_000)  # tours of which the best is taken, all but the first from random ones

    def build(self, game: Game, text: str) -> Player:
        from palaestra.players.tours import TwoOptPlayer

        return TwoOptPlayer(game, text, starts=self.starts)


class Nmcs(Kind):
    """Nested Monte Carlo search, for one player (sources: NMCS)."""

    name = "nmcs"
    example = "nmcs(level=2)"
    always = ("level",)

    level: int = Field(2, ge=1, le=6)

    def build(self, game: Game, text: str) -> Player:
        from palaestra.players.nested import NmcsPlayer

        return NmcsPlayer(game, text, level=self.level)


class Nrpa(Kind):
    """Nested rollout policy adaptation for one player, if wanted with a network's policy as prior (sources: NRPA)."""

    name = "nrpa"
    example = "nrpa(level=2)"
    always = ("level",)

    level: int = Field(2, ge=1, le=6)
    n: int = Field(100, ge=1, le=100_000)  # calls of the level below; paper: 100
    alpha: float = Field(1.0, gt=0, le=100)  # step of the adaptation; paper: 1
    playouts: int = Field(1, ge=1, le=100_000)  # before each adaptation of level 1; paper: 1, stabilised: some
    repeats: int | None = Field(None, ge=1, le=100_000)  # of its best line, after which a level ends; paper: no limit
    model: str | None = Field(None, min_length=1)  # the prior's network: an ONNX file
    run: str | None = Field(None, min_length=1)  # or that of a run: NAME@best, NAME@last, NAME@12 or NAME
    prior: float = Field(1.0, gt=0, le=100)  # what its mean centred logits are multiplied by; paper: no prior
    beam: int = Field(1, ge=1, le=1000)  # lines that the top level keeps, each with a policy; paper: 1
    symmetric: bool = False  # whether moves that are images of each other share a code; paper: no
    avoid: str | None = Field(None, min_length=1)  # a file of solutions: the search begins with lower logits there
    penalty: float = Field(1.0, gt=0, le=100)  # by so much, for a move that all of them play

    @model_validator(mode="after")
    def _read_together(self) -> Nrpa:
        if self.avoid is None and "penalty" in self.model_fields_set:
            raise ValueError("a penalty is for moves of known grids: give avoid=FILE with it")
        if self.model is not None and self.run is not None:
            raise ValueError("give either model or run, not both")
        if self.model is None and self.run is None and "prior" in self.model_fields_set:
            raise ValueError("a prior comes from a network: give model or run with it")
        return self

    def build(self, game: Game, text: str) -> Player:
        from palaestra.players.nested import NrpaPlayer

        network = None
        if (model := self._network(game)) is not None:
            from palaestra.nets.evaluator import OnnxEvaluator

            network = OnnxEvaluator(game, model)
        known = None
        if self.avoid is not None:
            from palaestra.players.known_grids import read_known_grids

            known = read_known_grids(self.avoid, game)
        names = ("level", "n", "alpha", "prior", "playouts", "repeats", "beam", "symmetric", "penalty")
        return NrpaPlayer(game, text, network=network, known=known, **{name: getattr(self, name) for name in names})

    def _network(self, game: Game) -> str | bytes | None:
        """The file of the prior's network, or its content."""
        if self.run is None:
            return self.model
        from palaestra.players.run_kinds import load

        return load(self.run, game)[1]


class QTable(Kind):
    """A table that `palaestra qlearn` has learned and saved: the action with the largest value."""

    name = "qtable"
    example = "qtable:tictactoe.table"
    subject = "table"

    table: str = Field(min_length=1)  # its file
    # Random games for a state that has no row: 0 is a random move, none is what the learner did.
    playouts: int | None = Field(None, ge=0, le=MAX_SIMULATIONS)

    def build(self, game: Game, text: str) -> Player:
        from palaestra.players.qtable import TablePlayer

        return TablePlayer.read(game, text, self.table, self.playouts)


class Human(Kind):
    """A person at the terminal, who is asked for every move."""

    name = "human"
    example = "human"

    def build(self, game: Game, text: str) -> Player:
        from palaestra.players.human import HumanPlayer

        return HumanPlayer(game, text)


def default_limit(data: Any, limit: str, value: Value, other: str) -> Any:
    """`limit = value` when neither limit was given."""
    if isinstance(data, dict) and limit not in data and other not in data:
        return {**data, limit: value}
    return data
