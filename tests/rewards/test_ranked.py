from __future__ import annotations

import math
import operator as op
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from palaestra.base.errors import RunError
from palaestra.rewards.ranked import First, Ranked, Ties
from tests.rewards.windows import SCORE, int32, untimed

scores = st.lists(st.integers(0, SCORE.highest), max_size=40)
taus = st.integers(1, 99).map(lambda percent: Fraction(percent, 100))


def brute_settle(
    results: list[int], tau: Fraction, window: int, draws: list[float], *, share: bool = False, stored: bool = False
) -> list[int]:
    """Eq. 7.1 word for word, with the threshold (sources: ranked reward) read before, or after, the result is stored.

    A tie succeeds if its draw is below 1/2 or, with `share`, below the chance that lets 1 - tau of those kept succeed.
    """
    kept: list[int] = []
    targets = []
    for result, draw in zip(results, draws, strict=True):
        known = kept
        kept = [*kept, result][-window:]
        ordered = sorted(kept if stored else known)
        coin = 1 if draw < (_tie_chance(ordered, tau) if share and ordered else 0.5) else -1
        threshold = ordered[math.floor(tau * len(ordered))] if ordered else result
        if result == SCORE.highest:
            targets.append(1)
        else:
            targets.append(1 if result > threshold else -1 if result < threshold else coin)
    return targets


def _tie_chance(ordered: list[int], tau: Fraction) -> float:
    threshold = ordered[math.floor(tau * len(ordered))]
    above = sum(result > threshold for result in ordered)
    return float(((1 - tau) * len(ordered) - above) / ordered.count(threshold))


@untimed
@given(
    results=scores,
    tau=taus,
    window=st.integers(1, 12),
    seed=st.integers(0, 9),
    ties=st.sampled_from(["coin", "share"]),
    first=st.sampled_from(["judge", "store"]),
)
def test_targets_are_those_of_the_equation_over_the_window(
    results: list[int], tau: Fraction, window: int, seed: int, ties: Ties, first: First
) -> None:
    draws = np.random.default_rng(seed).random(len(results)).tolist()
    reward = Ranked(SCORE, float(tau), window, ties, first)
    targets = reward.settle(int32(results), np.random.default_rng(seed))
    expected = brute_settle(results, tau, window, draws, share=ties == "share", stored=first == "store")
    assert targets.tolist() == expected
    assert list(reward.window) == results[-window:]


def test_a_tau_of_almost_one_is_the_best_result_of_the_window() -> None:
    reward = Ranked(SCORE, math.nextafter(1.0, 0.0), 12)
    reward.observe(int32([3, 9, 5]))
    assert reward.threshold == 9


@untimed
@given(results=scores, tau=taus, window=st.integers(1, 12))
def test_values_compare_with_the_threshold_and_are_monotone(results: list[int], tau: Fraction, window: int) -> None:
    reward = Ranked(SCORE, float(tau), window)
    reward.observe(int32(results))
    values = reward.value(SCORE.outcomes())
    kept = sorted(results[-window:])
    if kept:
        threshold = kept[math.floor(tau * len(kept))]
        assert reward.threshold == threshold
        wanted = np.sign(SCORE.outcomes() - threshold)
        wanted[-1] = 1
        assert values.tolist() == wanted.tolist()
    assert (np.diff(values) >= 0).all()


@untimed
@given(results=scores, seed=st.integers(0, 9))
def test_learning_with_or_without_targets_leaves_the_same_window(results: list[int], seed: int) -> None:
    settled, observed = Ranked(SCORE, window=7), Ranked(SCORE, window=7)
    settled.settle(int32(results), np.random.default_rng(seed))
    observed.observe(int32(results))
    assert settled.state()["results"].tolist() == observed.state()["results"].tolist()
    assert settled.threshold == observed.threshold


@untimed
@given(results=st.lists(st.integers(0, 9), max_size=30), seed=st.integers(0, 9))
def test_targets_are_the_same_under_every_relabelling_that_keeps_the_order(results: list[int], seed: int) -> None:
    targets = [
        Ranked(SCORE, window=9).settle(int32([result * scale for result in results]), np.random.default_rng(seed))
        for scale in (1, 2)
    ]
    np.testing.assert_array_equal(*targets)


def test_while_there_are_no_results_every_value_is_a_tie_but_the_best() -> None:
    reward = Ranked(SCORE)
    assert reward.threshold is None and not reward.stuck
    assert reward.value(int32([0, 7, 19, 20])).tolist() == [0, 0, 0, 1]


def test_a_tie_is_a_fair_toss_that_the_generator_decides() -> None:
    reward = Ranked(SCORE)
    reward.observe(int32([9]))
    targets = reward.settle(int32([9] * 4000), np.random.default_rng(5))
    assert set(targets.tolist()) == {-1.0, 1.0} and abs(targets.mean()) < 0.08
    other = Ranked(SCORE)
    other.observe(int32([9]))
    np.testing.assert_array_equal(other.settle(int32([9] * 4000), np.random.default_rng(5)), targets)


@untimed
@given(results=scores.filter(bool), tau=taus)
def test_with_ties_that_share_just_one_minus_tau_of_the_window_succeeds(results: list[int], tau: Fraction) -> None:
    reward = Ranked(SCORE, float(tau), window=40, ties="share")
    reward.observe(int32(results))
    assert reward.threshold is not None
    above, tied = (sum(compare(result, reward.threshold) for result in results) for compare in (op.gt, op.eq))
    assert 0 <= reward.tie_chance <= 1
    assert above + reward.tie_chance * tied == pytest.approx(float((1 - tau) * len(results)))


def test_a_window_of_ties_succeeds_seldom_when_they_share() -> None:
    reward = Ranked(SCORE, tau=0.95, ties="share")
    reward.observe(int32([9] * 200))
    targets = reward.settle(int32([9] * 4000), np.random.default_rng(5))
    assert (targets > 0).mean() == pytest.approx(0.05, abs=0.01)
    assert reward.value(int32([8, 9, 10])).tolist() == pytest.approx([-1.0, -0.9, 1.0])


def test_the_best_possible_result_is_always_a_success() -> None:
    reward = Ranked(SCORE)
    reward.observe(int32([20] * 10))
    assert reward.value(int32([20])).tolist() == [1.0]
    assert reward.settle(int32([20] * 50), np.random.default_rng(1)).tolist() == [1.0] * 50


@pytest.mark.parametrize(
    ("results", "stuck"), [([], False), ([5], False), ([5, 5], True), ([5, 5, 6], False), ([4, 5, 5, 5], True)]
)
def test_a_window_is_stuck_when_it_holds_one_result_only(results: list[int], stuck: bool) -> None:
    reward = Ranked(SCORE, window=3)
    reward.observe(int32(results))
    assert reward.stuck == stuck


def test_what_is_saved_is_taken_over_bit_for_bit() -> None:
    original, copy = Ranked(SCORE, window=5), Ranked(SCORE, window=5)
    original.observe(int32([9, 3, 11, 4, 8, 2, 7]))
    copy.load_state(original.state())
    more = int32([5, 9, 9, 1, 10, 4])
    np.testing.assert_array_equal(
        copy.settle(more, np.random.default_rng(2)), original.settle(more, np.random.default_rng(2))
    )
    np.testing.assert_array_equal(copy.value(SCORE.outcomes()), original.value(SCORE.outcomes()))


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({}, "not one of ranked: it holds nothing"),
        ({"results": np.array([1.5])}, r"not one of ranked: it holds results float64\[1\]"),
        ({"results": int32([1]), "more": int32([1])}, "not one of ranked"),
        ({"results": int32(range(6))}, "holds 6 results; ranked keeps 5"),
    ],
)
def test_a_window_of_something_else_is_refused_and_changes_nothing(
    arrays: dict[str, np.ndarray], complaint: str
) -> None:
    reward = Ranked(SCORE, window=5)
    reward.observe(int32([3, 4]))
    with pytest.raises(RunError, match=complaint):
        reward.load_state(arrays)
    assert reward.threshold == 4
