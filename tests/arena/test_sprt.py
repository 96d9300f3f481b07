"""The sequential test: hand-checked values, its errors by simulation, and pairs against single games."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

from palaestra.arena.sprt import GAME_SHARES, PAIR_SHARES, PRIOR, Sprt, expected_score, parse_sprt
from palaestra.base.errors import ConfigError
from palaestra.base.types import Float64s

EVERY = 8  # pairs between two looks of the simulations


def test_the_bounds_are_walds() -> None:
    assert Sprt().bounds == pytest.approx((-math.log(19), math.log(19)))
    assert Sprt(alpha=0.1, beta=0.2).bounds == pytest.approx((math.log(0.2 / 0.9), math.log(0.8 / 0.1)))


def test_with_two_results_the_ratio_is_that_of_binomial_likelihoods() -> None:
    test, wins, losses = Sprt(0.0, 100.0), 70, 30
    p0, p1 = expected_score(0.0), expected_score(100.0)
    exact = wins * math.log(p1 / p0) + losses * math.log((1 - p1) / (1 - p0))
    assert test.ratio([losses, 0, wins], GAME_SHARES) == pytest.approx(exact, abs=20 * PRIOR)


def test_the_ratio_is_that_of_the_most_likely_probabilities_found_by_brute_force() -> None:
    """Three results with a given mean leave one free probability, so a fine grid finds the best."""
    counts, test = np.array([20.0, 50.0, 40.0]), Sprt(-20.0, 60.0)

    def best(mean: float) -> float:
        draws = np.linspace(1e-4, 1 - 1e-4, 200_001)
        wins = mean - draws / 2
        losses = 1 - draws - wins
        fits = (wins > 0) & (losses > 0)
        likelihoods = (counts[:, None] * np.log(np.stack([losses, draws, wins])[:, fits])).sum(axis=0)
        return float(likelihoods.max())

    exact = best(expected_score(60.0)) - best(expected_score(-20.0))
    assert test.ratio([20, 50, 40], GAME_SHARES) == pytest.approx(exact, abs=0.01)


def test_the_ratio_changes_sign_with_the_sides() -> None:
    counts = [3, 7, 20, 11, 9]
    assert Sprt(-10, 40).ratio(counts) == pytest.approx(-Sprt(-40, 10).ratio(counts[::-1]))
    assert Sprt().ratio([0] * 5) == 0.0


def test_extreme_counts_give_finite_ratios_and_the_right_verdicts() -> None:
    test = Sprt(0.0, 50.0)
    assert test.verdict([0, 0, 0, 0, 200]) == "accepted"
    assert test.verdict([200, 0, 0, 0, 0]) == "rejected"
    assert test.verdict([0, 0, 400, 0, 0]) == "rejected"  # nothing but 1 : 1 is no difference
    assert test.verdict([0, 0, 2, 0, 1]) is None


@pytest.mark.parametrize(
    "settings", [{"elo0": 10, "elo1": 10}, {"elo0": math.nan}, {"elo1": math.inf}, {"alpha": 0.0}, {"beta": 0.5}]
)
def test_hypotheses_that_do_not_differ_and_impossible_errors_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=r"for example 0 and 30|as 0\.05"):
        Sprt(**settings)


def test_a_test_is_read_from_two_or_four_numbers() -> None:
    assert parse_sprt("0,30") == Sprt(0.0, 30.0)
    assert parse_sprt("-5, 5.5, 0.1, 0.2") == Sprt(-5.0, 5.5, 0.1, 0.2)


@pytest.mark.parametrize("text", ["", "0", "0,30,0.05", "0,30,0.05,0.05,1", "0;30", "0,x", "30,0", "0,1e9", "nan,3"])
def test_texts_that_are_no_test_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="for example 0"):
        parse_sprt(text)


def pair_probabilities(elo: float, bias: float, draws: float) -> tuple[Float64s, Float64s]:
    """Of a pair's five results, and of a game's three: openings that favour one side by ± `bias`, sides swapped."""
    score = expected_score(elo)
    pair = np.zeros(5)
    game = np.zeros(3)
    for sign in (1, -1):
        results = []
        for mean in (score + sign * bias, score - sign * bias):
            results.append(np.array([1 - mean - draws / 2, draws, mean - draws / 2]))
            game += results[-1] / 4
        pair += np.convolve(*results) / 2
    return pair, game


def share_accepted(
    test: Sprt, probabilities: Float64s, shares: tuple[float, ...], seed: int, runs: int = 500
) -> tuple[float, float]:
    """The share of simulated tests that accept, and how many results they needed on the average."""
    rng = np.random.default_rng(seed)
    accepted = needed = 0
    for _ in range(runs):
        counts = np.zeros(len(shares), dtype=np.int64)
        verdict = None
        while verdict is None:
            counts += rng.multinomial(EVERY, probabilities)
            verdict = test.verdict(counts.tolist(), shares)
        accepted += verdict == "accepted"
        needed += int(counts.sum())
    return accepted / runs, needed / runs


def test_errors_of_both_kinds_are_near_five_percent_on_pairs() -> None:
    test = Sprt(0.0, 60.0)
    for elo, wanted in ((0.0, 0.05), (60.0, 0.95)):
        pair, _ = pair_probabilities(elo, bias=0.25, draws=0.2)
        share, _ = share_accepted(test, pair, PAIR_SHARES, seed=1)
        assert share == pytest.approx(wanted, abs=0.03)  # three standard deviations of 500 tests


def fixed_pairs(test: Sprt, probabilities: Float64s) -> float:
    """How many pairs a test of fixed size with the same two errors needs (normal approximation)."""
    shares, sure = np.array(PAIR_SHARES), NormalDist().inv_cdf
    variance = probabilities @ shares**2 - (probabilities @ shares) ** 2
    gap = expected_score(test.elo1) - expected_score(test.elo0)
    return float((sure(1 - test.alpha) + sure(1 - test.beta)) ** 2 * variance / gap**2)


def test_unequal_errors_are_kept_with_fewer_pairs_than_a_test_of_fixed_size_needs() -> None:
    test, runs = Sprt(-10.0, 50.0, alpha=0.02, beta=0.15), 500
    for elo, level in ((test.elo0, test.alpha), (test.elo1, test.beta)):
        pair, _ = pair_probabilities(elo, bias=0.3, draws=0.1)
        share, needed = share_accepted(test, pair, PAIR_SHARES, seed=5, runs=runs)
        wrong = share if elo == test.elo0 else 1 - share
        assert level / 4 < wrong < level + 3 * math.sqrt(level * (1 - level) / runs)
        assert needed < 0.9 * fixed_pairs(test, pair)


def test_far_from_the_hypotheses_the_test_is_surer_and_quicker() -> None:
    test = Sprt(0.0, 60.0)
    between, slow = share_accepted(test, pair_probabilities(30.0, 0.25, 0.2)[0], PAIR_SHARES, seed=2, runs=200)
    beyond, quick = share_accepted(test, pair_probabilities(150.0, 0.15, 0.2)[0], PAIR_SHARES, seed=2, runs=200)
    assert 0.35 < between < 0.65 and beyond > 0.99
    assert quick < slow / 2


def test_pairs_need_fewer_games_than_single_games_when_openings_favour_a_side() -> None:
    test = Sprt(0.0, 60.0)
    pair, game = pair_probabilities(60.0, bias=0.3, draws=0.1)
    _, pairs_needed = share_accepted(test, pair, PAIR_SHARES, seed=3, runs=200)
    share, games_needed = share_accepted(test, game, GAME_SHARES, seed=3, runs=200)
    assert share == pytest.approx(0.95, abs=0.05)  # independent games: the trinomial test keeps its errors too
    assert 2 * pairs_needed < 0.8 * games_needed


def test_on_independent_games_pairs_and_single_games_say_nearly_the_same() -> None:
    """Games without a favoured side carry the same information, whether or not they are counted in pairs."""
    rng = np.random.default_rng(4)
    results = rng.choice(3, size=2000, p=[0.3, 0.3, 0.4])
    singles = np.bincount(results, minlength=3)
    pairs = np.bincount(results[::2] + results[1::2], minlength=5)
    test = Sprt(0.0, 20.0)
    assert test.ratio(pairs.tolist()) == pytest.approx(test.ratio(singles.tolist(), GAME_SHARES), rel=0.1)
