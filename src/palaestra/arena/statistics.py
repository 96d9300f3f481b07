"""What a number of games says about strength: intervals of a score, and logistic Elo differences.

A score is points per game: a win is 1, a draw ½. Everything is 95 %. Nothing here knows players or games.
"""

from __future__ import annotations

import math
from statistics import NormalDist

from palaestra.base.types import Float64s

Z95 = 1.959963984540054  # two-sided 95 % of the normal distribution
_HALVINGS = 53  # of the bracket of an interval's end: down to rounding


def score_of(wins: int, draws: int, losses: int) -> float:
    """Points per game; ½ before any game was played."""
    games = wins + draws + losses
    return (wins + 0.5 * draws) / games if games else 0.5


def score_interval(wins: int, draws: int, losses: int, z: float = Z95) -> tuple[float, float]:
    """Interval of the expected score of a game: Wilson's with a continuity correction, carried over to draws.

    A game with expected score p and draw probability d has variance p(1-p) - d/4. The interval holds every p that the
    observed score m does not reject: |m - p| is at most z standard deviations *at p* and half a step. For d the most
    likely draw probability *at p* is taken, because the share of draws that was seen says little about a p far from m:
    after 19 wins and a draw, p = 0.99 is quite possible, but only if nearly all that is not won is drawn. A step is the
    distance between neighbouring scores of n games: ½ point, or a point where no game was drawn.

    Exactly computed, it holds the truth in at least 95 of 100 matches for all chances of wins, draws and losses and 10
    to 400 games (`tests/arena/test_score_coverage.py`). It always holds m, stays inside [0, 1], and is Wilson's
    corrected interval where no game was drawn.

    Games of a pair are treated as independent and alike. With sides swapped from one opening their results are as a
    rule negatively correlated, and first and second mover have chances of their own: for both reasons the score varies
    less than assumed, and the interval is slightly too wide. Games that are copies of each other make it far too
    narrow, which is why the number of distinct games is shown beside it.
    """
    n = wins + draws + losses
    if n == 0:
        return 0.0, 1.0
    low = 1.0 - _highest_score(losses, draws, wins, z)
    return (0.0 if losses == n else low), _highest_score(wins, draws, losses, z)


def _highest_score(wins: int, draws: int, losses: int, z: float) -> float:
    """The largest expected score that the games do not reject."""
    n = wins + draws + losses
    if wins == n:
        return 1.0
    points = wins + draws / 2 + (0.25 if draws else 0.5)
    low, high = score_of(wins, draws, losses), 1.0
    for _ in range(_HALVINGS):
        p = (low + high) / 2
        distance = max(n * p - points, 0.0)
        if distance * distance <= z * z * n * _variance(wins, draws, losses, p):
            low = p
        else:
            high = p
    return low


def _variance(wins: int, draws: int, losses: int, p: float) -> float:
    """Variance of a game with expected score p, under the draw probability d that makes the games most likely.

    With w = p - d/2 and l = 1 - p - d/2, the derivative of wins·log w + draws·log d + losses·log l is 0 where
    n·d²/2 - b·d + 2·draws·p(1-p) = 0, b = draws + wins·(1-p) + losses·p; the smaller root is the one with w, l ≥ 0.
    """
    n, spread = wins + draws + losses, p * (1.0 - p)
    b = draws + wins * (1.0 - p) + losses * p
    root = math.sqrt(max(b * b - 4.0 * n * draws * spread, 0.0))
    return spread - draws * spread / (b + root) if b > 0.0 else spread


def student_95(freedom: int) -> float:
    """Two-sided 95 % point of Student's t."""
    return student(freedom, 0.025)


def student(freedom: int, tail: float) -> float:
    """The point of Student's t with so much beyond it (Cornish and Fisher's expansion; exact for one degree)."""
    if freedom == 1:
        return math.tan(math.pi * (0.5 - tail))
    z, n = NormalDist().inv_cdf(1.0 - tail), float(freedom)
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * n**4)
    )


def mean_and_margin(samples: Float64s) -> tuple[Float64s, Float64s | None]:
    """Means over R repeats of float64[R, P], and half of their 95 % intervals (Student's t); None for one repeat."""
    count = len(samples)
    if count < 2:
        return samples[0], None
    return samples.mean(axis=0), student_95(count - 1) * samples.std(axis=0, ddof=1) / math.sqrt(count)


def elo_of(score: float) -> float:
    """Logistic Elo difference of an expected score: 400·log10(p / (1-p)); infinite at 0 and 1."""
    if score <= 0.0:
        return -math.inf
    if score >= 1.0:
        return math.inf
    return 400.0 * math.log10(score / (1.0 - score))


def finite(number: float) -> float | None:
    """The number, or None where JSON could not write it."""
    return number if math.isfinite(number) else None


def elo_in_words(elo: tuple[float | None, float | None, float | None]) -> str:
    """ "+312 (−40 to +∞)": a difference and its interval, whose infinite ends may be None, as JSON has them."""
    middle, low, high = elo
    low, high = -math.inf if low is None else low, math.inf if high is None else high
    if middle is None:
        middle = high if high == math.inf else low
    words = [f"{value:+.0f}".replace("-", "−").replace("inf", "∞") for value in (middle, low, high)]
    return f"{words[0]} ({words[1]} to {words[2]})"
