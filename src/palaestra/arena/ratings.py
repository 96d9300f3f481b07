"""Bayesian Elo: ratings of any number of players from their results, with honest intervals (sources: rating model).

`rate` is the only judge of more than two players. A rating says nothing without the others: ratings of players who met,
directly or through others, are shifted to mean 0, or to an anchor's Elo; an interval is that of the rating so measured.
Players who never met, even through others, form groups that are rated apart, and `Ratings.notes` says so.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from palaestra.arena.rating_fit import arms, covariance, fit
from palaestra.arena.rating_model import PER_ELO, Posterior, RatingConfig, printed_scale
from palaestra.arena.results import Results
from palaestra.arena.statistics import finite
from palaestra.base.errors import ConfigError, RecordError
from palaestra.base.types import Float64s, Int32s, Int64s

__all__ = ["RatingConfig", "Ratings", "Results", "rate"]

JOINT_PLAYERS = 2000  # up to here the covariance of all ratings is made: 32 MB, and seconds
_PULLED = 1.0  # standard deviations that the prior may move a rating before a note says so


@dataclass(frozen=True, eq=False)
class Ratings:
    """What the results say about P players, in their order in the results. Elo is printed Elo, intervals are 95 %."""

    results: Results
    config: RatingConfig
    elo: Float64s  # [P]
    plus: Float64s  # [P] the interval is elo - minus … elo + plus; infinite without games, 0 for the anchor
    minus: Float64s  # [P]
    deviation: Float64s  # [P] standard deviation, from the mean of the group
    covariance: Float64s | None  # [P, P] likewise; None beyond JOINT_PLAYERS, where each rating stands alone
    groups: Int32s  # [P] players of different numbers cannot be compared; 0 is the largest group
    pull: Float64s  # [P] how far the prior moved a rating, to first order
    advantage: float  # A in Elo, as given or fitted, not scaled as the ratings are
    draw_elo: float  # D

    @property
    def players(self) -> tuple[str, ...]:
        return self.results.players

    @property
    def games(self) -> Int64s:
        return self.results.games

    @property
    def draws(self) -> Int64s:
        return self.results.drawn

    @property
    def score(self) -> Float64s:
        """float64[P]: points per game; ½ before any game was played."""
        games = self.games
        return np.divide(self.results.points, games, where=games > 0, out=np.full(len(games), 0.5))

    @property
    def opponents(self) -> Float64s:
        """float64[P]: the mean Elo of the opponents, over the games (Table A.3); not a number without games."""
        results, games = self.results, self.games
        met = results.per_player(results.played * self.elo[results.second], results.played * self.elo[results.first])
        return np.divide(met, games, where=games > 0, out=np.full(len(games), np.nan))

    def order(self) -> list[int]:
        """Players from best to worst, group by group; equal ones in their given order."""
        return sorted(range(len(self.players)), key=lambda i: (self.groups[i], -self.elo[i]))

    def superiority(self) -> Float64s:
        """float64[P, P]: how likely the row's player is stronger than the column's; ½ where nothing compares them."""
        variance = np.square(self.deviation)
        spread = np.add.outer(variance, variance)
        if self.covariance is not None:
            spread = spread - 2 * self.covariance
        known = (self.groups[:, None] == self.groups[None, :]) & (spread > 0) & np.isfinite(spread)
        lead = np.subtract.outer(self.elo, self.elo)
        z = np.divide(lead, np.sqrt(np.where(known, spread, 1.0)), where=known, out=np.zeros_like(lead))
        return np.asarray(np.vectorize(_normal, otypes=[np.float64])(z)) if z.size else z

    def as_json(self) -> list[dict[str, Any]]:
        """As JSON, best player first; an infinite interval is null."""
        games, draws, score, opponents = self.games, self.draws, self.score, self.opponents
        return [
            {
                "player": self.players[i],
                "elo": float(self.elo[i]),
                "plus": finite(float(self.plus[i])),
                "minus": finite(float(self.minus[i])),
                "games": int(games[i]),
                "score": float(score[i]),
                "draws": int(draws[i]),
                "opponents": finite(float(opponents[i])),
            }
            for i in self.order()
        ]

    def notes(self) -> list[str]:
        """What a reader of the table must know, a line each; empty as a rule."""
        return [*_group_notes(self), *_prior_notes(self), *_other_notes(self)]


def rate(results: Results, config: RatingConfig | None = None) -> Ratings:
    """The ratings of all players."""
    config = RatingConfig() if config is None else config
    if not results.players:
        raise RecordError("there are no games to rate; a game names two players and a result")
    if config.anchor is not None and config.anchor[0] not in results.players:
        raise ConfigError(f"the anchor {config.anchor[0]!r} is no player here; players are {_some(results.players)}")
    posterior, groups = Posterior.of(results, config), results.groups()
    point, size = fit(posterior), len(results.players)
    point[:size] -= _means(point[:size], groups)
    advantage, draw = posterior.parameters(point)
    scale = printed_scale(draw)[0] / PER_ELO
    curvature = posterior.diagonal(posterior.slopes(point))[:size]
    known = curvature > 0
    variance = np.divide(scale**2, curvature, where=known, out=np.full(size, np.inf))
    joint, pull = None, np.zeros(size)
    if size <= JOINT_PLAYERS:
        likelihood = Posterior.of(results, config, prior=0.0)
        joint, pull = _joint(posterior, likelihood, point, groups)
        variance = np.where(known, np.diagonal(joint), np.inf)
    deviation = np.sqrt(variance)
    rated = Ratings(
        results=results,
        config=config,
        elo=scale * point[:size],
        plus=arms(posterior, point, 1) * deviation,
        minus=arms(posterior, point, -1) * deviation,
        deviation=deviation,
        covariance=joint,
        groups=groups,
        pull=pull,
        advantage=advantage / PER_ELO,
        draw_elo=draw / PER_ELO,
    )
    return rated if config.anchor is None else _anchored(rated, *config.anchor)


def _joint(posterior: Posterior, likelihood: Posterior, point: Float64s, groups: Int32s) -> tuple[Float64s, Float64s]:
    """The covariance float64[P, P] of printed ratings, and how far the prior moved each, float64[P]."""
    size = posterior.players
    scale, bent = printed_scale(posterior.parameters(point)[1])
    jacobian = scale * np.eye(size, len(point))
    if posterior.free_draw:  # printed ratings are stretched by a factor that is itself uncertain then
        jacobian[:, -1] += bent * point[:size]
    jacobian /= PER_ELO
    whole = covariance(posterior, posterior.slopes(point), groups)
    pull = -jacobian @ (whole @ likelihood.slopes(point).gradient)  # minus the prior's slope, at the maximum
    return jacobian @ whole @ jacobian.T, pull


def _anchored(ratings: Ratings, player: str, elo: float) -> Ratings:
    """The anchor's group shifted to its Elo, with intervals of the differences to it.

    Asymmetric intervals of two estimates give that of their difference as standard deviations would (MOVER: Zou and
    Donner, 2008): up = √(up_i² + down_a² - 2ρ up_i down_a).
    """
    anchor = ratings.players.index(player)
    mates = np.flatnonzero(ratings.groups == ratings.groups[anchor])
    shifted, plus, minus = ratings.elo.copy(), ratings.plus.copy(), ratings.minus.copy()
    shifted[mates] = elo + (shifted[mates] - shifted[anchor])  # the anchor's own is exact
    rho = np.zeros(len(mates))
    if ratings.covariance is not None and len(mates) > 1:
        rho = ratings.covariance[mates, anchor] / (ratings.deviation[mates] * ratings.deviation[anchor])
    for arm, own, other in ((plus, ratings.plus, ratings.minus[anchor]), (minus, ratings.minus, ratings.plus[anchor])):
        arm[mates] = np.sqrt(np.maximum(own[mates] ** 2 + other**2 - 2 * rho * own[mates] * other, 0.0))
        arm[anchor] = 0.0
    return replace(ratings, elo=shifted, plus=plus, minus=minus)


def _group_notes(ratings: Ratings) -> list[str]:
    """Who cannot be compared with whom."""
    notes = []
    idle = [name for name, games in zip(ratings.players, ratings.games, strict=True) if not games]
    if idle:
        notes.append(f"without games and unrated: {_some(idle)}")
    sizes = np.bincount(ratings.groups, ratings.games > 0)
    if np.count_nonzero(sizes) > 1:
        two = [[ratings.players[i] for i in np.flatnonzero(ratings.groups == group)] for group in (0, 1)]
        notes.append(
            f"{np.count_nonzero(sizes)} groups of players never met, not even through others, and their Elos cannot be "
            f"compared: {_some(two[0])}; {_some(two[1])}"
        )
    return notes


def _prior_notes(ratings: Ratings) -> list[str]:
    """Whose rating is the prior's more than the games'."""
    pulled = np.abs(ratings.pull) > _PULLED * ratings.deviation
    if not pulled.any():
        return []
    names = [ratings.players[i] for i in ratings.order() if pulled[i]]
    prior = ratings.config.prior
    return [
        f"the prior of {prior:g} draws pulls these to the middle by more than a standard deviation, which their "
        f"intervals do not show: {_some(names)}; a smaller prior such as {prior / 4:g} pulls less"
    ]


def _other_notes(ratings: Ratings) -> list[str]:
    notes = []
    if ratings.results.against_self:
        notes.append(f"games of a player against itself, left out: {ratings.results.against_self}")
    alike: dict[str, list[str]] = {}
    for name in ratings.players:
        alike.setdefault("".join(unicodedata.normalize("NFKC", name).casefold().split()), []).append(name)
    twins = [names for names in alike.values() if len(names) > 1]
    if twins:
        notes.append("rated as different players: " + "; ".join(" and ".join(map(repr, names)) for names in twins[:3]))
    if ratings.covariance is None:
        notes.append(
            f"with more than {JOINT_PLAYERS} players, intervals hold all other ratings fixed and are too narrow"
        )
    return notes


def _some(names: Sequence[str], most: int = 4) -> str:
    """The first names, and how many there are beyond."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more if names else "none"


def _means(values: Float64s, groups: Int32s) -> Float64s:
    """float64[P]: the mean of every player's group."""
    return np.asarray((np.bincount(groups, values) / np.maximum(np.bincount(groups), 1))[groups])


def _normal(z: float) -> float:
    """The normal distribution function."""
    return 0.5 * math.erfc(-z / math.sqrt(2.0))
