"""Statistics that verdicts rest on: estimates with 95 % intervals, over seeds, games or players. Knows no experiment.

Intervals over seeds are Student's t. An estimate from a single seed has no interval, and no verdict can rest on it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from palaestra.arena.results import Results
from palaestra.arena.statistics import Z95, score_interval, score_of, student, student_95
from palaestra.base.types import Float64s
from palaestra.lab.data import Data

REPEATS = 10_000  # of a bootstrap
FEW = 5  # seeds
_SIDES = (("arm", "seed"), ("opponent", "opponent_seed"))


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval, which is None where the data give none."""

    value: float
    interval: tuple[float, float] | None = None

    def __str__(self) -> str:
        if self.interval is None:
            return _short(self.value)
        return f"{_short(self.value)} ({_short(self.interval[0])} to {_short(self.interval[1])})"

    def times(self, factor: float) -> Estimate:
        """In another unit."""
        low, high = sorted(factor * end for end in self.interval) if self.interval else (0.0, 0.0)
        return Estimate(factor * self.value, (low, high) if self.interval else None)


def mean(values: Float64s | Sequence[float]) -> Estimate:
    """The mean over seeds; those that have no value (NaN) are left out."""
    known = np.asarray(values, dtype=np.float64)
    known = known[np.isfinite(known)]
    if not known.size:
        return Estimate(math.nan)
    middle = float(known.mean())
    if known.size == 1 or (known.size < FEW and np.ptp(known) == 0):  # a few that are alike say nothing of a spread
        return Estimate(middle)
    half = student_95(known.size - 1) * float(known.std(ddof=1)) / math.sqrt(known.size)
    return Estimate(middle, (middle - half, middle + half))


def paired_difference(one: Float64s, other: Float64s) -> Estimate:
    """The mean of `one` minus `other`, seed by seed; both float64[S] of the same seeds, unknown if they are not.

    Runs of two arms with one seed begin with the same network where both have the same kind. Where that is all they
    share, this is as right as a comparison of two means, with an interval that is a little wider.
    """
    if len(one) != len(other):
        return Estimate(math.nan)
    return mean(np.asarray(one) - np.asarray(other))


def least_difference(pairs: Mapping[str, tuple[Float64s, Float64s]]) -> tuple[Estimate, str]:
    """The least of several differences of pairs by seed, and whose it is: what "all are above 0" rests on.

    The interval reaches down as far as that of any pair, so that all are above where it is. The least was chosen by
    looking, which makes it look too small: the upper end is that of as many intervals as hold at once (Bonferroni).
    """
    found = {name: paired_difference(*pair) for name, pair in pairs.items()}
    least = min(found, key=lambda name: found[name].value)
    ends = [one.interval for one in found.values() if one.interval is not None]
    if len(ends) < len(found):
        return Estimate(found[least].value), least
    wider = [
        one.value + _wider(len(pairs[name][0]) - 1, len(pairs)) * (high - one.value)
        for (name, one), (_, high) in zip(found.items(), ends, strict=True)
    ]
    return Estimate(found[least].value, (min(low for low, _ in ends), min(wider))), least


def _wider(freedom: int, count: int) -> float:
    """By how much an interval of Student's t grows so that `count` of them hold at once."""
    return student(freedom, 0.025 / count) / student(freedom, 0.025)


def difference(one: Float64s, other: Float64s) -> Estimate:
    """The difference of two means over seeds that have nothing in common (Welch)."""
    a, b = (np.asarray(some)[np.isfinite(some)] for some in (one, other))
    if not a.size or not b.size:
        return Estimate(math.nan)
    lead = float(a.mean() - b.mean())
    if min(a.size, b.size) < 2:
        return Estimate(lead)
    va, vb = float(a.var(ddof=1)) / a.size, float(b.var(ddof=1)) / b.size
    if va + vb == 0:
        return Estimate(lead, (lead, lead))
    freedom = (va + vb) ** 2 / (va**2 / (a.size - 1) + vb**2 / (b.size - 1))
    half = student_95(max(1, int(freedom))) * math.sqrt(va + vb)
    return Estimate(lead, (lead - half, lead + half))


def beside(values: Float64s, middle: float, spread: float, runs: int) -> Estimate:
    """Our mean minus a published one, of which only mean, standard deviation and number of runs are known (Welch)."""
    known = np.asarray(values)[np.isfinite(values)]
    if known.size < 2:
        return Estimate(float(known.mean()) - middle if known.size else math.nan)
    lead, error = float(known.mean()) - middle, math.sqrt(float(known.var(ddof=1)) / known.size + spread**2 / runs)
    half = student_95(known.size - 1) * error
    return Estimate(lead, (lead - half, lead + half))


def share(held: int, of: int) -> Estimate:
    """The share of runs for which something is true (Wilson's interval)."""
    if not of:
        return Estimate(math.nan)
    p, z2 = held / of, Z95**2
    middle = (p + z2 / (2 * of)) / (1 + z2 / of)
    half = Z95 * math.sqrt(p * (1 - p) / of + z2 / (4 * of * of)) / (1 + z2 / of)
    return Estimate(p, (max(0.0, middle - half), min(1.0, middle + half)))


def score(wins: int, draws: int, losses: int) -> Estimate:
    """Points a game, from games that are independent."""
    if not wins + draws + losses:
        return Estimate(math.nan)
    return Estimate(score_of(wins, draws, losses), score_interval(wins, draws, losses))


def pooled_score(data: Data) -> Estimate:
    """Points a game from rows with wins, draws and losses: the mean over seeds, never surer than the games are.

    Games of one seed are not independent: they share a network. A handful of seeds that happen to score alike says
    less than their spread of 0, so the interval is at least that of so many independent games.
    """
    wins, draws, losses = (round(data.total(name)) for name in ("wins", "draws", "losses"))
    games = score(wins, draws, losses)
    seeds = mean([_points(some) for some in data.by("seed").values()])
    if games.interval is None or seeds.interval is None:
        return games
    low, high = min(games.interval[0], seeds.interval[0]), max(games.interval[1], seeds.interval[1])
    return Estimate(seeds.value, (max(0.0, low), min(1.0, high)))


def spearman(x: Float64s | Sequence[float], y: Float64s | Sequence[float]) -> Estimate:
    """Spearman's rank correlation, with Fisher's interval as Bonett and Wright (2000) widen it."""
    a, b = _ranks(np.asarray(x, dtype=np.float64)), _ranks(np.asarray(y, dtype=np.float64))
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return Estimate(math.nan)
    rho = float(np.corrcoef(a, b)[0, 1])
    if len(a) < 4 or abs(rho) >= 1.0:
        return Estimate(rho, (rho, rho) if len(a) >= 4 else None)
    half = Z95 * math.sqrt((1 + rho * rho / 2) / (len(a) - 3))
    return Estimate(rho, (math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half)))


def bounded(correlation: Estimate) -> Estimate:
    """A mean of correlations, whose interval ends at -1 and 1."""
    if correlation.interval is None:
        return correlation
    return Estimate(correlation.value, (max(-1.0, correlation.interval[0]), min(1.0, correlation.interval[1])))


def least_squares(columns: Mapping[str, Float64s], target: Float64s) -> dict[str, float]:
    """name -> coefficient of the plane through a target; a constant is fitted too. All float64[n]."""
    design = np.column_stack([np.ones(len(target)), *columns.values()])
    solved = np.linalg.lstsq(design, np.asarray(target), rcond=None)[0]
    return dict(zip(columns, (float(one) for one in solved[1:]), strict=True))


def pareto(points: Sequence[tuple[int, float, float]]) -> list[int]:
    """Of (number, gain, cost), those that no other one beats in both, cheapest first."""
    front, best = [], -math.inf
    for number, gain, _ in sorted(points, key=lambda point: (point[2], -point[1])):
        if gain > best:
            front.append(number)
            best = gain
    return front


def best_chances(groups: Mapping[str, Float64s], seed: int = 0) -> dict[str, float]:
    """For each group of values over seeds, the chance that its mean is the largest (bootstrap over seeds)."""
    means = _resampled(groups, seed)
    first = np.argmax(means, axis=0)
    return {name: float((first == number).mean()) for number, name in enumerate(groups)}


def order_chance(groups: Mapping[str, Float64s], order: Sequence[str], seed: int = 0) -> float:
    """The chance that the groups' means fall in this order, from the largest down (bootstrap over seeds)."""
    means = _resampled({name: groups[name] for name in order}, seed)
    return float((np.diff(means, axis=0) < 0).all(axis=0).mean())


@dataclass(frozen=True)
class Rated:
    """A player of a tournament: its arm and seed, and its Elo with interval above the mean of all.

    `score` and `drawn` are shares of its games; `opponents` is their mean Elo, over the games.
    """

    arm: str
    seed: int | None
    elo: Estimate
    score: float
    games: int
    drawn: float
    opponents: float


def elo_list(data: Data, anchor: str | None = None, *, first_listed_white: bool = False) -> list[Rated]:
    """Everybody in a crosstable, best first; `anchor` is the arm whose mean Elo is called 0, else the mean of all.

    Rows are pairings: arm and seed against opponent and opponent_seed, with wins, draws and losses. They are rated
    without an advantage of the first move, because every pairing swaps sides. With `first_listed_white` they are rated
    as in the published tournaments (sources: L8), for comparison with them only: `arm` counts as White in all games of
    its row, and BayesElo's advantage is taken off it.
    """
    from palaestra.arena.rating_model import RatingConfig
    from palaestra.arena.ratings import rate

    if not len(data):
        return []
    results = _results(data)
    ratings = rate(results, RatingConfig() if first_listed_white else RatingConfig(advantage=0.0))
    rated = []
    for i in ratings.order():
        arm, _, seed = ratings.players[i].rpartition("\t")
        elo = float(ratings.elo[i])
        rated.append(
            Rated(
                arm,
                int(seed) if seed else None,
                Estimate(elo, (elo - float(ratings.minus[i]), elo + float(ratings.plus[i]))),
                float(ratings.score[i]),
                int(ratings.games[i]),
                float(ratings.draws[i] / ratings.games[i]),
                float(ratings.opponents[i]),
            )
        )
    shift = float(np.mean([one.elo.value for one in rated if one.arm == anchor])) if anchor is not None else 0.0
    return [
        replace(one, elo=_shifted(one.elo, -shift), opponents=one.opponents - shift) if shift else one for one in rated
    ]


def elo_by_arm(data: Data, anchor: str | None = None, *, first_listed_white: bool = False) -> dict[str, Float64s]:
    """arm -> Elo float64[S] of its entries by seed, best arm first: the spread that intervals over seeds need."""
    found: dict[str, dict[int, float]] = {}
    for one in elo_list(data, anchor, first_listed_white=first_listed_white):
        found.setdefault(one.arm, {})[one.seed or 0] = one.elo.value
    arms = {arm: np.array([by_seed[seed] for seed in sorted(by_seed)]) for arm, by_seed in found.items()}
    return dict(sorted(arms.items(), key=lambda item: -float(item[1].mean())))


def _results(data: Data) -> Results:
    """The pairings as counts of games; a player's name is its arm and its seed."""
    names: dict[str, int] = {}
    rows = [
        [names.setdefault(f"{row[who] or ''}\t{_empty(row[seed])}", len(names)) for who, seed in _SIDES]
        + [int(row[name] or 0) for name in ("wins", "draws", "losses")]
        for row in data.rows
    ]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    return Results(tuple(names), columns[0].astype(np.int32), columns[1].astype(np.int32), *columns[2:])


def _empty(value: object) -> str:
    return "" if value is None else str(value)


def _shifted(estimate: Estimate, by: float) -> Estimate:
    ends = estimate.interval
    return Estimate(estimate.value + by, None if ends is None else (ends[0] + by, ends[1] + by))


def _points(data: Data) -> float:
    wins, draws, losses = (data.total(name) for name in ("wins", "draws", "losses"))
    games = wins + draws + losses
    return (wins + draws / 2) / games if games else math.nan


def _resampled(groups: Mapping[str, Float64s], seed: int) -> Float64s:
    """float64[groups, REPEATS]: means of values drawn again."""
    rng = np.random.default_rng(seed)
    return np.stack([np.asarray(v)[rng.integers(len(v), size=(REPEATS, len(v)))].mean(axis=1) for v in groups.values()])


def _ranks(values: Float64s) -> Float64s:
    """float64[n]: ranks from 1; equal values share the mean of theirs."""
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[where]


def _short(number: float) -> str:
    if not math.isfinite(number):
        return "–" if math.isnan(number) else "∞" if number > 0 else "−∞"
    size = abs(number)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 or size == 0 else 3
    shown = f"{number:.{digits}f}".replace("-", "−")
    return shown if shown.strip("−0.") else "0"
