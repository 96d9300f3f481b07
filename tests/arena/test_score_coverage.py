"""How often a score's interval holds the truth: summed over every possible result of n games, not sampled."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from palaestra.arena.statistics import Z95, score_interval
from palaestra.base.types import Float64s, Int64s

LEAST = 0.93
WIDEST = 1.25  # beside the plain interval, wherever that one holds the truth often enough
PERCENTS = range(101)
COARSE = (0, 1, 2, 4, 7, 15, 30, 50)  # percent of the two rarer results


@dataclass(frozen=True)
class Coverage:
    """Of one kind of interval, for every triple of chances, float64[G]."""

    share: Float64s  # of results whose interval holds the truth
    width: Float64s  # on average


def plain_interval(wins: int, draws: int, losses: int) -> tuple[float, float]:
    """Wilson's without correction, its variance lessened by the share of draws that was seen: too narrow near 100 %."""
    n, z2 = wins + draws + losses, Z95 * Z95
    mean, drawn = (wins + draws / 2) / n, draws / (n + z2)
    centre = n * mean + z2 / 2
    root = math.sqrt(max(centre**2 - (n + z2) * (n * mean**2 + z2 * drawn / 4), 0.0))
    return (centre - root) / (n + z2), (centre + root) / (n + z2)


def coverage(n: int, chances: Float64s, intervals: Float64s, results: Int64s) -> Coverage:
    """Exact coverage under `chances` float64[G, 3], from the `intervals` float64[R, 2] of all `results` int64[R, 3]."""
    logs = np.array([math.lgamma(k + 1) for k in range(n + 1)])
    ways = logs[n] - logs[results].sum(axis=1)
    truths = chances[:, 0] + chances[:, 1] / 2
    low, high = intervals.T
    shares, widths = [], []
    with np.errstate(divide="ignore"):
        certain = np.maximum(np.log(chances), -1e6)  # log 0, so that 0 games of it are certain
    for some in range(0, len(chances), 64):
        part = np.exp(ways + certain[some : some + 64] @ results.T)
        truth = truths[some : some + 64, None]
        shares.append((part * ((low - 1e-12 <= truth) & (truth <= high + 1e-12))).sum(axis=1))
        widths.append(part @ (high - low))
    return Coverage(np.concatenate(shares), np.concatenate(widths))


def results_of(n: int) -> Int64s:
    return np.array([(w, d, n - w - d) for w in range(n + 1) for d in range(n + 1 - w)])


def hold_everywhere(n: int, percents: list[tuple[int, int, int]]) -> tuple[float, float]:
    """The least share, and the largest ratio of widths where the plain interval holds; asserts both."""
    results, chances = results_of(n), np.array(percents) / 100
    ours, plain = (
        coverage(n, chances, np.array([interval(*row) for row in results.tolist()]), results)
        for interval in (score_interval, plain_interval)
    )
    ratio = np.where(plain.share >= LEAST, ours.width / plain.width, 0.0)
    worst, widest = int(ours.share.argmin()), int(ratio.argmax())
    assert ours.share[worst] >= LEAST, (n, percents[worst], ours.share[worst])
    assert ratio[widest] <= WIDEST, (n, percents[widest], ratio[widest])
    return float(ours.share[worst]), float(ratio[widest])


@pytest.mark.parametrize("n", [1, 2, 10, 20, 40])
def test_at_least_93_percent_hold_the_truth_whatever_the_chances(n: int) -> None:
    rare = [(a, b, 100 - a - b) for a in COARSE for b in COARSE]
    hold_everywhere(n, sorted({(x[i], x[j], x[3 - i - j]) for x in rare for i in range(3) for j in range(3) if i != j}))


@pytest.mark.slow
@pytest.mark.parametrize("n", [10, 20, 40, 100, 400])
def test_the_same_on_the_whole_grid(n: int) -> None:
    least, widest = hold_everywhere(n, [(w, d, 100 - w - d) for w in PERCENTS for d in range(101 - w)])
    print(f"{n} games: at least {least:.1%}, at most {widest:.3f} times as wide")


@pytest.mark.parametrize(("percents", "n"), [((98, 2, 0), 20), ((98, 2, 0), 40), ((99, 1, 0), 40)])
def test_the_sum_over_all_results_finds_an_interval_that_is_too_narrow(percents: tuple[int, int, int], n: int) -> None:
    results = results_of(n)
    intervals = np.array([plain_interval(*row) for row in results.tolist()])
    assert coverage(n, np.array([percents]) / 100, intervals, results).share[0] < 0.82
