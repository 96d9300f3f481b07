"""Q-learning, QM-learning and TD(λ), and what their curves say (sources: Alg. 1; Alg. 9; TD baseline).

A learner plays matches, sides alternating, and updates a table of (role, state, action) after each. Q-learning follows
Eq. 2.2 and explores with a fixed ε or with the decaying one of Eq. 2.3; QM-learning also asks flat Monte Carlo in
states that the table does not know, and QN-learning nested Monte Carlo (sources: QM-learning with nested search);
TD(λ) is the baseline. Which code plays the matches is decided in `palaestra.learn.tabular_matches`.

A game of two players is needed: its goals are 1, ½ and 0 (shares of 100).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from palaestra.base.errors import ConfigError, GameError
from palaestra.base.fields import accepted
from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Float64s, Int64s
from palaestra.games.base import Game
from palaestra.learn.tabular_matches import Matches, play_compiled, play_lockstep, runs_compiled
from palaestra.learn.tabular_rules import Settings
from palaestra.players.qtable import NESTED
from palaestra.players.registry import make_player
from palaestra.players.table import About, Table

POINTS = 10  # of a curve while ε decays: the thesis logs every l/10 matches
NAMES = {"q": "Q-learning", "qm": "QM-learning", "qn": "QN-learning", "td": "TD(λ)"}
Heard = Callable[[int], None]  # told the number of matches just played


class TabularConfig(BaseModel):
    """How a table is learned. None: what the paper used for this learner."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    learner: Literal["q", "qm", "qn", "td"] = "q"
    matches: int = Field(30_000, ge=1, le=10**8)
    alpha: float | None = Field(None, gt=0, le=1)  # learning rate; paper: 0.1, TD(λ) 0.3
    gamma: float | None = Field(None, ge=0, le=1)  # discount of a step; paper: 0.9, TD(λ) 1
    lambda_: float | None = Field(None, ge=0, le=1)  # decay of traces, for td; paper: 0.7
    epsilon: float | None = Field(None, ge=0, le=1)  # fixed; none: Eq. 2.3, but TD(λ) 0.01 as in the paper
    decay: int | None = Field(None, ge=1, le=10**8)  # l of Eq. 2.3; none: two thirds of the matches, as in the paper
    a: float = Field(0.5, ge=0, le=1)  # ε(k) = a·cos(πk/2l) + b for k ≤ l, then 0; paper: 0.5
    b: float = Field(0.0, ge=0, le=1)  # paper: 0
    playouts: int | None = Field(None, ge=1, le=10**7)  # for qm, qn, in a state without a row; 50 if no ms is given
    ms: float | None = Field(None, gt=0, le=3_600_000)  # for qm, instead of playouts; paper: 50
    noops: bool = True  # rows for states off turn, too, as in GDL, where every role moves at every ply
    ply: bool = True  # whether positions that differ only in their ply are different states
    lockstep: int = Field(32, ge=1, le=65_536)  # matches played at once against players other than random

    @model_validator(mode="before")
    @classmethod
    def _papers(cls, data: Any) -> Any:
        """Fill in what the paper used for the learner."""
        if not isinstance(data, dict):
            return data
        traces = data.get("learner") == "td"
        values: dict[str, Any] = {"alpha": 0.3 if traces else 0.1, "gamma": 1.0 if traces else 0.9}
        if traces:
            values["lambda_"] = 0.7
            values["epsilon"] = 0.01 if data.get("decay") is None else None
        if data.get("learner") in ("qm", NESTED) and data.get("ms") is None:
            values["playouts"] = 50
        return {**values, **{key: value for key, value in data.items() if value is not None}}

    @model_validator(mode="after")
    def _together(self) -> TabularConfig:
        if self.epsilon is not None and self.decay is not None:
            raise ValueError("give either epsilon, which is fixed, or decay, the matches until it has sunk to 0")
        if self.a + self.b > 1:
            raise ValueError(f"a + b is {self.a + self.b:g}; ε begins there and is at most 1")
        if self.lambda_ is not None and self.learner != "td":
            raise ValueError("lambda belongs to the learner td")
        if self.playouts is not None and self.ms is not None:
            raise ValueError("give either playouts or ms, not both")
        if self.playouts is not None and self.learner not in ("qm", NESTED):
            raise ValueError("playouts belong to the learners qm and qn")
        if self.ms is not None and self.learner != "qm":
            raise ValueError("ms belongs to the learner qm")
        return self

    @property
    def horizon(self) -> int:
        """l: the matches until ε is 0; it spaces the points of the curve, also where ε is fixed."""
        return self.decay if self.decay is not None else max(1, round(self.matches * 2 / 3))

    def epsilons(self) -> Float64s:
        """float64[matches]: the chance of a random move in each match."""
        if self.epsilon is not None:
            return np.full(self.matches, self.epsilon)
        k, l = np.arange(self.matches), self.horizon
        return np.where(k <= l, self.a * np.cos(np.pi * np.minimum(k, l) / (2 * l)) + self.b, 0.0)

    def logged(self) -> Int64s:
        """Numbers of matches after which the curve has a point: every l/10; the last takes in what is left over."""
        step = max(1, self.horizon // POINTS)
        return np.array([*range(step, self.matches - step + 1, step), self.matches])

    def settings(self) -> Settings:
        """The same for kernels."""
        assert self.alpha is not None and self.gamma is not None
        return Settings(
            self.learner == "td",
            self.alpha,
            self.gamma,
            self.lambda_ or 0.0,
            self.playouts or 0,
            self.noops,
            self.learner == NESTED,
        )


def read_config(**values: Any) -> TabularConfig:
    """The settings; ConfigError in one line where they do not fit."""
    try:
        return TabularConfig(**values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if not first["loc"]:
            raise ConfigError(first["msg"].removeprefix("Value error, ")) from None
        key = str(first["loc"][0])
        if key not in TabularConfig.model_fields:
            raise ConfigError(f"{key} is no setting; known: {', '.join(TabularConfig.model_fields)}") from None
        words = accepted(TabularConfig.model_fields[key])
        raise ConfigError(f"{key.rstrip('_')} is {first['input']}; it must be {words}") from None


@dataclass(frozen=True, eq=False)
class Learned:
    """One table, and the goals (1, ½ or 0) of the matches that made it, in their order."""

    config: TabularConfig
    table: Table
    goals: Float64s  # [matches]
    seconds: float

    @property
    def about(self) -> About:
        return About(self.config.learner, self.config.matches, self.config.playouts, self.config.ms)


def learn_table(
    game: Game,
    config: TabularConfig,
    opponent: str = "random",
    seed: int = 0,
    repeat: int = 0,
    heard: Heard | None = None,
) -> Learned:
    """Learn one table; its random numbers are a function of (seed, repeat). `heard` is told of matches as they end."""
    if game.players != 2:
        raise GameError(f"{game.id} has one player; a tabular learner needs an opponent, as in tic_tac_toe-3x3")
    numbers = np.arange(config.matches)
    matches = Matches(
        game,
        config.settings(),
        config.ms,
        config.epsilons(),
        np.stack([keyed_seeds(seed, repeat, numbers, who) for who in (0, 1)], axis=1),
        (keyed_seeds(seed, repeat, numbers, 2) % np.uint64(game.num_starts)).astype(np.int64),
        np.zeros(config.matches),
    )
    player = make_player(opponent, game)
    table = Table(game, config.ply)
    began = time.perf_counter()
    if runs_compiled(matches, player):
        played: Iterator[int] = play_compiled(matches, table)
    else:
        played = play_lockstep(matches, table, player, config.lockstep)
    for number in played:
        if heard is not None:
            heard(number)
    return Learned(config, table, matches.goals, time.perf_counter() - began)


@dataclass(frozen=True, eq=False)
class Curve:
    """Win rates of R repeats (goals as shares of 100, so that a draw is ½) at P numbers of matches."""

    matches: Int64s  # [P]
    rates: Float64s  # [R, P] over the matches since the point before
    so_far: Float64s  # [R, P] over all matches so far

    @classmethod
    def of(cls, config: TabularConfig, repeats: Sequence[Float64s]) -> Curve:
        """The curve of the goals [matches] of each repeat."""
        at = config.logged()
        sums = np.stack([np.cumsum(goals)[at - 1] for goals in repeats])
        steps = np.diff(sums, axis=1, prepend=0.0)
        return cls(at, steps / np.diff(at, prepend=0), sums / at)
