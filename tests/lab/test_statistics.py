"""Estimates that verdicts rest on, against numbers computed by hand or by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from palaestra.lab.data import Data
from palaestra.lab.statistics import (
    Estimate,
    beside,
    best_chances,
    difference,
    elo_by_arm,
    elo_list,
    least_difference,
    mean,
    order_chance,
    paired_difference,
    pooled_score,
    share,
    spearman,
)


def ends(estimate: Estimate) -> tuple[float, float]:
    assert estimate.interval is not None
    return estimate.interval


def test_a_mean_has_students_interval_and_one_seed_has_none() -> None:
    found = mean([1.0, 2.0, 3.0, math.nan])
    assert found.value == 2.0 and ends(found) == pytest.approx((2 - 4.303 / 3**0.5, 2 + 4.303 / 3**0.5), abs=0.03)
    assert mean([5.0]) == Estimate(5.0, None) and math.isnan(mean([]).value)


def test_pairs_tell_what_groups_cannot() -> None:
    one, other = np.array([1.0, 5.0, 9.0]), np.array([0.9, 4.9, 8.88])
    assert ends(paired_difference(one, other))[0] > 0
    assert ends(difference(one, other))[0] < 0 < ends(difference(one, other))[1]


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(3)
    held = {"mean": 0, "beside": 0, "spearman": 0}
    for _ in range(400):
        values, theirs = rng.normal(2.0, 1.0, 6), rng.normal(2.0, 3.0, 8)
        low, high = ends(mean(values))
        held["mean"] += low <= 2 <= high
        low, high = ends(beside(values, theirs.mean(), theirs.std(ddof=1), 8))
        held["beside"] += low <= 0 <= high
        x = rng.normal(size=30)
        low, high = ends(spearman(x, x + rng.normal(size=30)))
        held["spearman"] += low <= 0.683 <= high  # ρ_S = 6/π · asin(r/2) with r = 1/√2
    assert all(0.90 <= count / 400 <= 0.99 for count in held.values()), held


def test_shares_are_wilsons() -> None:
    assert ends(share(5, 5))[0] == pytest.approx(0.566, abs=0.001) and ends(share(4, 5))[0] < 0.5
    assert ends(share(0, 4)) == pytest.approx((0.0, 0.490), abs=0.001)


def test_seeds_that_score_alike_do_not_make_an_interval_vanish() -> None:
    rows = [{"seed": seed, "wins": 10, "draws": 0, "losses": 0} for seed in range(2)]
    found = pooled_score(Data.of(rows))
    assert found.value == 1.0 and 0.75 < ends(found)[0] < 0.85
    apart = [{"seed": 0, "wins": 10, "draws": 0, "losses": 0}, {"seed": 1, "wins": 0, "draws": 0, "losses": 10}]
    assert ends(pooled_score(Data.of(apart))) == (0.0, 1.0)


def test_spearman_is_one_for_any_rising_curve_and_shares_ranks_of_ties() -> None:
    assert spearman([1, 2, 3, 4], [1, 8, 27, 64]).value == pytest.approx(1.0)
    assert spearman([1, 2, 2, 3, 5], [1, 2, 2, 3, 5]).value == pytest.approx(1.0)
    assert math.isnan(spearman([1, 1, 1, 1], [1, 2, 3, 4]).value)


def test_chances_of_an_order_follow_the_seeds() -> None:
    groups = {"good": np.array([9.0, 10, 11]), "fair": np.array([5.0, 9.5, 8]), "bad": np.array([1.0, 2, 3])}
    chances = best_chances(groups)
    assert chances["bad"] == 0.0 and 0.9 < chances["good"] < 1.0 and sum(chances.values()) == pytest.approx(1.0)
    assert order_chance(groups, ("good", "fair", "bad")) == pytest.approx(chances["good"], abs=0.02)
    assert order_chance(groups, ("bad", "fair", "good")) == 0.0


def test_a_crosstable_becomes_elo_with_intervals() -> None:
    def row(arm: str, seed: int, opponent: str, other: int | None, wins: int, losses: int) -> dict[str, object]:
        return {"arm": arm, "seed": seed, "opponent": opponent, "opponent_seed": other,
                "wins": wins, "draws": 0, "losses": losses}  # fmt: skip

    rows = [row("a", s, "b", t, 150, 50) for s in (0, 1) for t in (0, 1)]
    rows += [row(arm, s, "random", None, 180, 20) for arm in ("a", "b") for s in (0, 1)]
    data = Data.of(rows)  # type: ignore[arg-type]
    rated = elo_list(data, anchor="random")
    assert [one.arm for one in rated] == ["a", "a", "b", "b", "random"]
    assert rated[-1].elo.value == 0.0 and rated[-1].seed is None
    assert all(ends(one.elo)[0] < one.elo.value < ends(one.elo)[1] for one in rated[:4])
    arms = elo_by_arm(data)
    assert list(arms) == ["a", "b", "random"] and arms["a"].shape == (2,)
    assert 100 < arms["a"].mean() - arms["b"].mean() < 250  # 75 % are 191 Elo


def test_with_the_first_listed_as_white_half_of_the_points_looks_weaker() -> None:
    """The defect L8 of published tournaments."""
    rows = [{"arm": "a", "seed": 0, "opponent": "b", "opponent_seed": 0, "wins": 20, "draws": 0, "losses": 20}]
    plain, listed = (
        {one.arm: one.elo.value for one in elo_list(Data.of(rows), first_listed_white=white)} for white in (False, True)
    )
    assert plain["a"] == pytest.approx(0.0, abs=1e-6)
    assert listed["a"] == pytest.approx(-13.81, abs=0.01)


def test_a_lead_over_all_others_is_that_over_the_closest_and_no_surer_than_any() -> None:
    one = np.array([10.0, 12.0, 11.0, 9.0, 13.0])
    steady, wild = one - 5.0, one - np.array([-20.0, 40.0, 0.0, 30.0, -10.0])
    steady = steady + np.array([0.1, -0.1, 0.0, 0.1, -0.1])
    found, closest = least_difference({"steady": (one, steady), "wild": (one, wild)})
    assert closest == "steady" and found.value == pytest.approx(5.0)
    assert ends(found)[0] == pytest.approx(ends(paired_difference(one, wild))[0]), "wild is not surely beaten"
    assert ends(found)[1] > ends(paired_difference(one, steady))[1], "the closest was chosen by looking"


def test_who_is_as_good_as_all_others_is_rarely_called_worse_than_one_of_them() -> None:
    rng, called = np.random.default_rng(0), 0
    for _ in range(400):
        runs = rng.normal(size=(8, 5))
        found, _ = least_difference({str(place): (runs[0], other) for place, other in enumerate(runs[1:])})
        called += ends(found)[1] < 0
    assert called / 400 < 0.05


def test_arms_of_other_seeds_are_not_compared_seed_by_seed() -> None:
    found = paired_difference(np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0]))
    assert math.isnan(found.value) and found.interval is None
