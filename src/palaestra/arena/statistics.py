"""What a number of games says about strength: intervals of a score, and logistic Elo differences.

A score is points per game: a win is 1, a draw ½. Everything is 95 %. Nothing here knows players or games.
"""

from __future__ import annotations

import math

from palaestra.types import Float64s

Z95 = 1.959963984540054  # two-sided 95 % of the normal distribution


def score_of(wins: int, draws: int, losses: int) -> float:
    """Points per game; ½ before any game was played."""
    games = wins + draws + losses
    return (wins + 0.5 * draws) / games if games else 0.5


def score_interval(wins: int, draws: int, losses: int, z: float = Z95) -> tuple[float, float]:
    """Interval of the expected score of a game: Wilson's, carried over to results with draws.

    A game with expected score p and draw probability d has variance p(1-p) - d/4. The interval holds every p whose
    distance to the observed score m is at most z standard deviations *at p*, which is one quadratic in p. For d the
    share of draws is taken, shrunk to draws / (games + z²), so that a row of nothing but draws still leaves room for a
    decisive game. Without draws this is Wilson's interval; it always holds m and stays inside [0, 1].

    Games of a pair are treated as independent. With sides swapped from one opening they are as a rule negatively
    correlated, so that the interval is then slightly too wide; games that are copies of each other make it far too
    narrow, which is why the number of distinct games is shown beside it.
    """
    n = wins + draws + losses
    if n == 0:
        return 0.0, 1.0
    m = score_of(wins, draws, losses)
    d = draws / (n + z * z)
    a = n + z * z
    half_b = n * m + z * z / 2
    c = n * m * m + z * z * d / 4
    root = math.sqrt(max(half_b * half_b - a * c, 0.0))
    low = 0.0 if losses == n else (half_b - root) / a  # exact where rounding would leave 1e-17
    high = 1.0 if wins == n else (half_b + root) / a
    return low, high


def student_95(freedom: int) -> float:
    """Two-sided 95 % point of Student's t (Cornish and Fisher's expansion; exact for one degree of freedom)."""
    if freedom == 1:
        return 12.7062
    z, n = Z95, float(freedom)
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
