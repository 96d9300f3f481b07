"""BayesElo's model (sources: rating model): what ratings say about results, and how plausible results make ratings.

With R the players' ratings, A the advantage of moving first and D the width of draws, all in Elo,

    P(first wins) = 1 / (1 + 10^((R_second - R_first - A + D) / 400)),
    P(first loses) = 1 / (1 + 10^((R_first - R_second + A + D) / 400)),   P(draw) = the rest.

The rest is (10^(2D/400) - 1) · P(first wins) · P(first loses): a draw counts as a win and a loss of each, times a
constant, and the logarithm of the posterior is a sum of log-sigmoids of linear functions. It is concave in R, A and D
together, so that it has one maximum.

The prior is made of virtual draws: each player spreads prior / 2 draws over its opponents in proportion to their games,
half with each side. Inside, everything is in natural units x = R · ln 10 / 400. Nothing here maximises anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from palaestra.arena.results import Results
from palaestra.base.errors import ConfigError
from palaestra.base.types import Float64s, Int64s

PER_ELO = math.log(10) / 400  # natural units of one Elo
ADVANTAGE, DRAW = 32.8, 97.3  # published, from games of chess


class RatingConfig(BaseModel):
    """How results become ratings. BayesElo: advantage 32.8, draw 97.3, prior 2, mean 0.

    The prior draws all players together. Where ratings are spread (standard deviation) by 300 Elo this costs little; at
    500 Elo, intervals of 1,000 simulated round robins held the truth in 83 % of cases with prior 2, in 95 % with 0.5.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    advantage: float | None = Field(
        ADVANTAGE, ge=-2000, le=2000, description="Elo that moving first is worth; none: fitted"
    )
    draw: float | None = Field(DRAW, ge=0, le=2000, description="Elo: the larger, the more draws; none: fitted")
    prior: float = Field(2.0, ge=0.001, le=1000, description="virtual draws of a player, about")
    anchor: tuple[str, float] | None = Field(None, description="a player and its Elo; none: the mean is 0")


def printed_scale(draw: float) -> tuple[float, float]:
    """The factor 4x/(1+x)², x = exp(-draw), of printed ratings, and its derivative; `draw` in natural units.

    With it, one printed Elo near equality is worth as much score as one logistic Elo.
    """
    x = math.exp(-draw)
    factor = 4 * x / (1 + x) ** 2
    return factor, factor * (x - 1) / (1 + x)


class Slopes(NamedTuple):
    """First and second derivatives at a point, by row: enough to make the gradient, and the Hessian or its products."""

    gradient: Float64s  # [P + free]
    bend: Float64s  # [n] minus the second derivative by the row's rating difference
    mixed: Float64s  # [n] minus the derivative by the difference and by the draw parameter, where that is free
    draw_bend: float  # minus the second derivative by the draw parameter, where that is free


@dataclass(frozen=True, eq=False)
class Posterior:
    """The logarithm of the posterior, as a function of a point: P ratings, then A and D where they are free.

    Rows are ordered pairs of players (n rows). Virtual draws are about the ratings alone: where A or D is free, they
    stand in rows of their own and keep the published A and D, as they would otherwise be evidence for many draws.
    """

    players: int
    first: Int64s  # [n]
    second: Int64s  # [n]
    real: Float64s  # [n] 1 where A and D are those of the point, 0 in rows of virtual draws that keep their own
    not_lost: Float64s  # [n] wins and draws of the first mover
    not_won: Float64s  # [n] its losses and draws
    drawn: int  # real draws
    advantage: float  # where it is fixed; else where the search begins, and that of virtual draws
    draw: float
    free_advantage: bool
    free_draw: bool

    @classmethod
    def of(cls, results: Results, config: RatingConfig, prior: float | None = None) -> Posterior:
        """The posterior of these results; `prior` replaces that of the configuration (0: the likelihood)."""
        _check_parameters(results, config)
        size, drawn = len(results.players), int(results.draws.sum())
        free_advantage, free_draw = config.advantage is None, config.draw is None and drawn > 0
        share = np.divide(1.0, results.games, where=results.games > 0, out=np.zeros(size))
        virtual = (config.prior if prior is None else prior) / 4 * results.played
        virtual = virtual * (share[results.first] + share[results.second])
        first = np.concatenate([results.first, results.first, results.second]).astype(np.int64)
        second = np.concatenate([results.second, results.second, results.first])
        apart = np.repeat([0, 1, 1], len(virtual)) * (free_advantage or free_draw)
        keys, rows = np.unique(2 * (size * first + second) + apart, return_inverse=True)

        def add(counts: Int64s) -> Float64s:
            return np.bincount(rows, np.concatenate([counts, virtual, virtual]), len(keys)).astype(np.float64)

        return cls(
            players=size,
            first=keys // 2 // size,
            second=keys // 2 % size,
            real=1.0 - keys % 2,
            not_lost=add(results.wins + results.draws),
            not_won=add(results.losses + results.draws),
            drawn=drawn,
            advantage=PER_ELO * (ADVANTAGE if config.advantage is None else config.advantage),
            # No draws at all are most likely with D = 0.
            draw=PER_ELO * (config.draw if config.draw is not None else DRAW if drawn else 0.0),
            free_advantage=free_advantage,
            free_draw=free_draw,
        )

    @property
    def start(self) -> Float64s:
        """Equal ratings."""
        free = [self.advantage] * self.free_advantage + [self.draw] * self.free_draw
        return np.concatenate([np.zeros(self.players), free])

    def parameters(self, point: Float64s) -> tuple[float, float]:
        """The advantage and the draw parameter, fixed or free."""
        advantage = point[self.players] if self.free_advantage else self.advantage
        return float(advantage), float(point[-1]) if self.free_draw else self.draw

    def margins(self, point: Float64s) -> tuple[Float64s, Float64s]:
        """float64[n] twice: the log-odds that the first mover does not win, and that it does not lose."""
        advantage, draw = self.parameters(point)
        lead = point[self.first] - point[self.second]
        if not (self.free_advantage or self.free_draw):
            return draw - advantage - lead, draw + advantage + lead
        lead += self.advantage + self.real * (advantage - self.advantage)
        width = self.draw + self.real * (draw - self.draw)
        return width - lead, width + lead

    def value(self, point: Float64s) -> float:
        """The logarithm of the posterior, up to a constant; -∞ where a free draw parameter is not positive."""
        draw = self.parameters(point)[1]
        if self.free_draw and draw <= 0:
            return -math.inf
        rest = self.drawn * (2 * draw + math.log(-math.expm1(-2 * draw))) if self.free_draw else 0.0
        no_win, no_loss = self.margins(point)
        return rest - float(self.not_lost @ softplus(no_win) + self.not_won @ softplus(no_loss))

    def slopes(self, point: Float64s) -> Slopes:
        """The derivatives of `value`."""
        p, q = map(sigmoid, self.margins(point))
        up, down = self.not_lost * p, self.not_won * q
        bend_up, bend_down = up * (1 - p), down * (1 - q)
        by_draw, draw_bend = 0.0, 0.0
        if self.free_draw:
            x = math.exp(-2 * self.parameters(point)[1])
            by_draw = 2 * self.drawn / (1 - x) - float(self.real @ (up + down))
            draw_bend = 4 * self.drawn * x / (1 - x) ** 2 + float(self.real @ (bend_up + bend_down))
        gradient = self.gather(up - down, by_draw)
        return Slopes(gradient, bend_up + bend_down, self.real * (bend_down - bend_up), draw_bend)

    def gather(self, by_row: Float64s, by_draw: float) -> Float64s:
        """float64[P + free]: derivatives by the rows' leads, carried over to the point's coordinates."""
        size = self.players
        ratings = np.bincount(self.first, by_row, size) - np.bincount(self.second, by_row, size)
        return np.concatenate([ratings, [self.real @ by_row] * self.free_advantage, [by_draw] * self.free_draw])

    def times_hessian(self, slopes: Slopes, step: Float64s) -> Float64s:
        """The Hessian of -value times a step, without the Hessian."""
        along = step[self.first] - step[self.second]
        if self.free_advantage:
            along = along + self.real * step[self.players]
        if not self.free_draw:
            return self.gather(slopes.bend * along, 0.0)
        by_draw = float(slopes.mixed @ along) + slopes.draw_bend * step[-1]
        return self.gather(slopes.bend * along + slopes.mixed * step[-1], by_draw)

    def diagonal(self, slopes: Slopes) -> Float64s:
        """float64[P + free]: the diagonal of the Hessian of -value."""
        size, bend = self.players, slopes.bend
        ratings = np.bincount(self.first, bend, size) + np.bincount(self.second, bend, size)
        return np.concatenate([ratings, [self.real @ bend] * self.free_advantage, [slopes.draw_bend] * self.free_draw])

    def hessian(self, slopes: Slopes) -> Float64s:
        """float64[P + free, P + free]: the whole Hessian of -value; singular, as all ratings may move together."""
        size = self.players
        whole = np.zeros((size + self.free_advantage + self.free_draw,) * 2)
        np.subtract.at(whole, (self.first, self.second), slopes.bend)
        whole[:size, :size] += whole[:size, :size].T
        for row in range(size, len(whole)):
            unit = np.zeros(len(whole))
            unit[row] = 1.0
            whole[row] = whole[:, row] = self.times_hessian(slopes, unit)
        np.fill_diagonal(whole, self.diagonal(slopes))
        return whole


def _check_parameters(results: Results, config: RatingConfig) -> None:
    """ConfigError where a parameter is to be fitted that the results leave without bound, or where D = 0 and draws."""
    wins, draws, losses = (int(counts.sum()) for counts in (results.wins, results.draws, results.losses))
    tally = f"first movers won {wins}, drew {draws} and lost {losses} games"
    if config.draw == 0 and draws:
        raise ConfigError(f"draw is 0, which means that no game is drawn, and {draws} were; use 97.3, or fit it")
    if config.draw is None and not (wins or losses):
        raise ConfigError(f"the draw parameter cannot be fitted: {tally}; fix it, for example at {DRAW}")
    both = (wins, losses) if config.draw is None else (wins + draws, losses + draws)
    if config.advantage is None and not all(both):
        raise ConfigError(f"the advantage cannot be fitted: {tally}; fix it, for example at {ADVANTAGE}")


def sigmoid(x: Float64s) -> Float64s:
    with np.errstate(over="ignore"):  # e^∞ gives 0, as it should
        return np.asarray(1.0 / (1.0 + np.exp(-x)))


def softplus(x: Float64s) -> Float64s:
    """log(1 + e^x)."""
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))
