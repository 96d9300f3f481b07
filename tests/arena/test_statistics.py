from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palaestra.arena.statistics import Z95, elo_in_words, elo_of, score_interval, score_of

counts = st.integers(0, 3000)


@pytest.mark.parametrize(("wins", "losses"), [(1, 10), (7, 3), (50, 50), (199, 1)])
def test_without_draws_the_interval_is_wilsons_with_a_continuity_correction(wins: int, losses: int) -> None:
    n, p, z2 = wins + losses, wins / (wins + losses), Z95 * Z95  # Newcombe 1998, method 4
    low = 2 * n * p + z2 - 1 - Z95 * math.sqrt(z2 - 2 - 1 / n + 4 * p * (n * (1 - p) + 1))
    high = 2 * n * p + z2 + 1 + Z95 * math.sqrt(z2 + 2 - 1 / n + 4 * p * (n * (1 - p) - 1))
    assert score_interval(wins, 0, losses) == pytest.approx((low / (2 * (n + z2)), high / (2 * (n + z2))), abs=1e-12)


@pytest.mark.parametrize("games", [1, 20, 400])
def test_after_nothing_but_wins_or_losses_the_interval_ends_there(games: int) -> None:
    assert score_interval(games, 0, 0)[1] == 1.0
    assert score_interval(0, 0, games)[0] == 0.0
    assert score_interval(0, games, 0)[0] > 0.0  # draws alone say that neither is likely


def test_a_single_draw_among_wins_leaves_nearly_100_percent_possible() -> None:
    assert score_interval(19, 1, 0) == pytest.approx((0.798, 0.999), abs=5e-4)


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


def test_elo_is_logistic_with_400() -> None:
    assert elo_of(0.5) == 0.0
    assert elo_of(10 / 11) == pytest.approx(400.0)
    assert elo_of(0.76) == pytest.approx(200.2, abs=0.1)
    assert elo_of(0.0) == -math.inf and elo_of(1.0) == math.inf


def test_an_elo_without_an_end_is_written_with_infinity() -> None:
    assert elo_in_words((12.4, -30.0, 60.2)) == "+12 (−30 to +60)"
    assert elo_in_words((None, 200.0, None)) == elo_in_words((math.inf, 200.0, math.inf)) == "+∞ (+200 to +∞)"
    assert elo_in_words((None, None, -200.0)) == elo_in_words((-math.inf, -math.inf, -200.0)) == "−∞ (−∞ to −200)"
