from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from palaestra.arena.statistics import Z95, elo_of, score_interval, score_of

counts = st.integers(0, 3000)


@pytest.mark.parametrize(("wins", "losses"), [(0, 10), (7, 3), (50, 50), (200, 0)])
def test_without_draws_the_interval_is_wilsons(wins: int, losses: int) -> None:
    n, p, z = wins + losses, wins / (wins + losses), Z95
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert score_interval(wins, 0, losses) == pytest.approx((centre - half, centre + half), abs=1e-12)


@given(counts, counts, counts)
def test_the_interval_holds_the_score_and_mirrors(wins: int, draws: int, losses: int) -> None:
    low, high = score_interval(wins, draws, losses)
    assert 0.0 <= low <= score_of(wins, draws, losses) + 1e-12
    assert score_of(wins, draws, losses) - 1e-12 <= high <= 1.0
    assert low < high
    assert score_interval(losses, draws, wins) == pytest.approx((1 - high, 1 - low), abs=1e-9)


@given(counts, counts, counts)
def test_draws_in_place_of_decisive_games_narrow_the_interval(wins: int, draws: int, losses: int) -> None:
    def width(w: int, d: int, l: int) -> float:
        low, high = score_interval(w, d, l)
        return high - low

    assert width(wins, draws + 2, losses) <= width(wins + 1, draws, losses + 1) + 1e-12


@pytest.mark.parametrize(
    "chances", [(0.5, 0.0, 0.5), (0.3, 0.5, 0.2), (0.05, 0.9, 0.05), (0.9, 0.05, 0.05), (0.97, 0.0, 0.03)]
)
@pytest.mark.parametrize("games", [40, 400])
def test_the_interval_covers_the_truth_about_95_times_in_100(chances: tuple[float, float, float], games: int) -> None:
    truth = chances[0] + chances[1] / 2
    samples = np.random.default_rng(7).multinomial(games, chances, size=4000)
    covered = sum(low <= truth <= high for low, high in (score_interval(*map(int, sample)) for sample in samples))
    assert 0.93 <= covered / len(samples) <= 0.997  # wide only where nearly all games are draws


def test_elo_is_logistic_with_400() -> None:
    assert elo_of(0.5) == 0.0
    assert elo_of(10 / 11) == pytest.approx(400.0)
    assert elo_of(0.76) == pytest.approx(200.2, abs=0.1)
    assert elo_of(0.0) == -math.inf and elo_of(1.0) == math.inf
