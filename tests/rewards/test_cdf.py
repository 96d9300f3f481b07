from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from palaestra.base.errors import RunError
from palaestra.rewards.base import TableReward
from palaestra.rewards.cdf import Cdf, CdfBonus, bonus_values, cdf_values
from palaestra.rewards.outcomes import OutcomeSpace
from tests.rewards.windows import (
    MARGIN,
    PLAIN,
    PLIES,
    WIDTH,
    alphas,
    brute_bonus,
    brute_cdf,
    int32,
    match_score,
    untimed,
    windows,
)

KINDS: dict[str, Callable[[], TableReward]] = {
    "cdf": lambda: Cdf(PLIES),
    "bonus 0": lambda: CdfBonus(PLIES, alpha=0.0),
    "bonus 0.5": lambda: CdfBonus(PLIES, alpha=0.5),
    "bonus 1": lambda: CdfBonus(PLIES, alpha=1.0),
    "printed": lambda: CdfBonus(PLIES, alpha=0.5, printed=True),
    "printed 0.1": lambda: CdfBonus(PLIES, alpha=0.1, printed=True),
}
kinds = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


def seen(reward: TableReward, *generations: list[int]) -> TableReward:
    for outcomes in generations:
        reward.observe(int32(outcomes))
    return reward


# Laws of every reward that learns from a window.


@kinds
@untimed
@given(window=windows)
def test_values_grow_with_the_outcome_and_stay_between_minus_one_and_one(
    make: Callable[[], TableReward], window: list[int]
) -> None:
    values = seen(make(), window).value(PLIES.outcomes())
    assert (np.diff(values) >= -1e-6).all()
    assert np.abs(values).max() <= 1


@kinds
@untimed
@given(window=windows)
def test_the_second_player_sees_the_negative_of_what_the_first_sees(
    make: Callable[[], TableReward], window: list[int]
) -> None:
    outcomes = PLIES.outcomes()
    mirrored = seen(make(), [-outcome for outcome in window])
    np.testing.assert_allclose(mirrored.value(-outcomes), -seen(make(), window).value(outcomes), atol=1e-6)


@kinds
def test_an_empty_window_makes_everything_equal(make: Callable[[], TableReward]) -> None:
    assert make().value(PLIES.outcomes()).tolist() == [0.0] * PLIES.count
    assert seen(make(), []).value(PLIES.outcomes()).tolist() == [0.0] * PLIES.count


@kinds
def test_only_the_last_generations_count(make: Callable[[], TableReward]) -> None:
    late = [[1, -2], [3], [4, 4], [-5], [0, 6]]
    forgotten = seen(make(), [12, 12, 12], *late)
    np.testing.assert_array_equal(forgotten.value(PLIES.outcomes()), seen(make(), *late).value(PLIES.outcomes()))
    held = seen(make(), [12, 12, 12], *late[1:])
    assert (held.value(PLIES.outcomes()) != seen(make(), *late[1:]).value(PLIES.outcomes())).any()


@kinds
@untimed
@given(window=windows, other=st.lists(st.integers(-WIDTH, WIDTH), max_size=5))
def test_what_is_saved_is_taken_over_bit_for_bit(
    make: Callable[[], TableReward], window: list[int], other: list[int]
) -> None:
    original, copy = seen(make(), window, other), seen(make(), [3, 3], [7], [9])
    copy.load_state(original.state())
    for reward in (original, copy):
        seen(reward, [2], [], [-8, 1])
    np.testing.assert_array_equal(copy.value(PLIES.outcomes()), original.value(PLIES.outcomes()))
    assert {key: array.tolist() for key, array in copy.state().items()} == {
        key: array.tolist() for key, array in original.state().items()
    }


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ({}, "not one of cdf: it holds nothing"),
        ({"results": int32([1])}, r"not one of cdf: it holds results int32\[1\]"),
        ({"outcomes": int32([1]), "lengths": int32([1])}, "not one of cdf"),
        ({"outcomes": int32([1, 2]), "lengths": np.array([1])}, "damaged: 2 outcomes"),
        ({"outcomes": int32([]), "lengths": np.array([-1, 1])}, "damaged"),
        ({"outcomes": int32([]), "lengths": np.zeros(6, dtype=np.int64)}, "holds 6 generations; cdf keeps 5"),
    ],
)
def test_a_window_of_something_else_is_refused_and_changes_nothing(
    arrays: dict[str, np.ndarray], complaint: str
) -> None:
    reward = seen(Cdf(PLIES), [3, -4])
    with pytest.raises(RunError, match=complaint):
        reward.load_state(arrays)
    assert reward.value(int32([3, -4])).tolist() == [1.0, -1.0]


# Ranks alone.


positions = st.lists(st.integers(1, 60), min_size=WIDTH, max_size=WIDTH, unique=True)


@untimed
@given(window=windows, lost=positions, won=positions, alpha=alphas)
def test_recorded_outcomes_keep_their_value_under_every_relabelling_that_keeps_their_order(
    window: list[int], lost: list[int], won: list[int], alpha: float
) -> None:
    relabelled = [*sorted(-size for size in lost), 0, *sorted(won)]  # of the outcomes -WIDTH … WIDTH
    wide = OutcomeSpace("margin", max_plies=63, lowest=-60, highest=60)
    image = [relabelled[outcome + WIDTH] for outcome in window]
    for make in (Cdf, lambda space: CdfBonus(space, alpha)):
        before, after = seen(make(PLIES), window), seen(make(wide), image)
        np.testing.assert_array_equal(after.value(int32(image)), before.value(int32(window)))


@untimed
@given(window=windows, shift=st.integers(-40, 40))
def test_to_ranks_alone_it_is_all_the_same_which_outcome_is_the_draw(window: list[int], shift: int) -> None:
    wide = OutcomeSpace("margin", max_plies=63, lowest=-60, highest=60)
    image = [outcome + shift for outcome in window]
    np.testing.assert_array_equal(
        seen(Cdf(wide), image).value(int32(image)), seen(Cdf(PLIES), window).value(int32(window))
    )


@untimed
@given(window=windows, alpha=alphas)
def test_unseen_outcomes_depend_on_their_rank_among_the_possible_ones_and_not_on_what_they_count(
    window: list[int], alpha: float
) -> None:
    for make in (Cdf, lambda space: CdfBonus(space, alpha)):
        by_plies, by_margin = seen(make(PLIES), window), seen(make(MARGIN), window)
        np.testing.assert_array_equal(by_plies.value(PLIES.outcomes()), by_margin.value(MARGIN.outcomes()))


# CDF.


@untimed
@given(window=windows)
def test_a_recorded_outcome_is_worth_the_share_of_worse_games(window: list[int]) -> None:
    assume(window)
    wanted = [brute_cdf(place, window) for place in range(len(window))]
    np.testing.assert_allclose(seen(Cdf(PLIES), window).value(int32(window)), wanted, atol=1e-6)


@untimed
@given(window=windows)
def test_at_alpha_one_a_bonus_is_plain_rank_against_all_other_games(window: list[int]) -> None:
    assume(window)
    plain, bonus = seen(Cdf(PLIES), window), seen(CdfBonus(PLIES, alpha=1.0), window)
    np.testing.assert_allclose(plain.value(int32(window)), bonus.value(int32(window)), atol=1e-6)


@untimed
@given(st.lists(st.integers(-WIDTH, WIDTH), min_size=2, max_size=20, unique=True))
def test_without_ties_strictly_worse_games_alone_give_the_same(window: list[int]) -> None:
    shares = [sum(other < outcome for other in window) / (len(window) - 1) for outcome in window]
    np.testing.assert_allclose(seen(Cdf(PLIES), window).value(int32(window)), 2 * np.array(shares) - 1, atol=1e-6)


def test_unseen_outcomes_lie_on_lines_between_their_neighbours_and_the_ends() -> None:
    reward = seen(Cdf(PLIES), [-2, -2, 4, 4])  # worth -2/3 and 2/3
    wanted = [-1, -5 / 6, -2 / 3, 0, 2 / 3, 5 / 6, 1]
    assert reward.value(int32([-12, -7, -2, 1, 4, 8, 12])).tolist() == pytest.approx(wanted)


def test_an_end_that_was_recorded_is_worth_its_rank_and_no_more() -> None:
    assert seen(Cdf(PLIES), [12, 12, 12, -3]).value(int32([12]))[0] == pytest.approx(1 / 3)


def test_without_a_tiebreak_it_is_the_primitive_reward_shifted_by_how_often_one_wins() -> None:
    assert seen(Cdf(PLAIN), [1, 1, 1, -1]).value(int32([-1, 0, 1])).tolist() == pytest.approx([-1, -1 / 3, 1 / 3])


def test_a_window_of_ten_thousand_games_and_a_hundred_thousand_outcomes_agree_with_counting() -> None:
    space = OutcomeSpace("plies", 180, -180, 180)
    rng = np.random.default_rng(1)
    window = rng.integers(-180, 181, size=10_000).astype(np.int32)
    reward = Cdf(space)
    reward.observe(window)
    asked = rng.choice(window, size=100_000)
    ordered = np.sort(window)
    worse, not_better = np.searchsorted(ordered, asked, "left"), np.searchsorted(ordered, asked, "right")
    np.testing.assert_allclose(reward.value(asked), (worse + not_better - 10_000) / 9_999, atol=1e-6)


# CDF with a bonus.


@untimed
@given(window=windows, alpha=alphas)
def test_a_recorded_outcome_is_worth_its_mean_over_virtual_matches(window: list[int], alpha: float) -> None:
    wanted = [brute_bonus(place, window, alpha) for place in range(len(window))]
    np.testing.assert_allclose(seen(CdfBonus(PLIES, alpha), window).value(int32(window)), wanted, atol=1e-6)


@untimed
@given(window=windows, alpha=alphas)
def test_a_draw_that_was_never_played_meets_every_game_and_stands_in_the_middle_of_the_jump(
    window: list[int], alpha: float
) -> None:
    decisive = [outcome for outcome in window if abs(outcome) not in (0, 1)]
    assume(decisive)
    before, draw, after = seen(CdfBonus(PLIES, alpha), decisive).value(int32([-1, 0, 1]))
    assert draw == pytest.approx(sum(match_score(0, other, alpha) for other in decisive) / len(decisive), abs=1e-6)
    assert draw - before == pytest.approx((1 - alpha) / 2, abs=1e-6)
    assert after - draw == pytest.approx((1 - alpha) / 2, abs=1e-6)


def test_outcomes_beyond_the_window_run_on_to_what_one_extreme_game_would_score() -> None:
    tied, single = seen(CdfBonus(PLIES), [-3, 5, 5]), seen(CdfBonus(PLIES), [-3, 5, 12])
    assert tied.value(int32([12])) == single.value(int32([12])) == pytest.approx(0.75)
    low, high = tied.value(int32([5, 12])).tolist()
    assert tied.value(int32([6]))[0] == pytest.approx(low + (high - low) / 7)


LOSSES, WINS = 40, 85  # the paper's example: L, W


def example(alpha: float, printed: bool) -> np.ndarray:
    """Values of L different losses, the draw and W different wins, one game each but for the draw."""
    counts = np.ones(LOSSES + 1 + WINS, dtype=np.int64)
    counts[LOSSES] = 0
    return bonus_values(counts, LOSSES, alpha, printed)


def test_the_worked_example_of_the_paper() -> None:
    assert example(0.5, printed=True)[0] == pytest.approx(-0.8387, abs=5e-5)
    assert example(0.5, printed=False)[0] == pytest.approx(-0.8427, abs=5e-5)


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_the_formulas_of_the_sources(alpha: float) -> None:
    """The table of printed and exact terms (sources: bonus), over every index i."""
    n = LOSSES + WINS - 1
    i = np.arange(LOSSES + WINS)
    lost, won = i[:LOSSES], i[LOSSES:]
    draw = (1 + alpha) * (LOSSES - WINS) / (2 * (LOSSES + WINS))
    printed = [
        -1 + (LOSSES - alpha * LOSSES + 2 * alpha * lost) / n,
        [draw],
        1 - (WINS - alpha * WINS + 2 * alpha * (n - won)) / n,
    ]
    exact = [
        -1 + ((1 - alpha) * (LOSSES - 1) + 2 * alpha * lost) / n,
        [draw],
        1 - ((1 - alpha) * (WINS - 1) + 2 * alpha * (n - won)) / n,
    ]
    np.testing.assert_allclose(example(alpha, printed=True), np.concatenate(printed), atol=1e-12)
    np.testing.assert_allclose(example(alpha, printed=False), np.concatenate(exact), atol=1e-12)


def test_printed_and_exact_differ_by_the_game_that_is_paired_with_itself() -> None:
    difference = example(0.5, printed=True) - example(0.5, printed=False)
    slip = 0.5 / (LOSSES + WINS - 1)
    np.testing.assert_allclose(difference, [slip] * LOSSES + [0.0] + [-slip] * WINS, atol=1e-12)
    np.testing.assert_allclose(example(1.0, printed=True), example(1.0, printed=False), atol=1e-12)


def test_printed_formulas_leave_draws_of_the_window_out() -> None:
    window = [-9, -2, 3, 8]
    with_draws, without = (seen(CdfBonus(PLIES, printed=True), games) for games in ([*window, 0, 0], window))
    np.testing.assert_array_equal(with_draws.value(PLIES.outcomes()), without.value(PLIES.outcomes()))


def test_of_counts_alone_nothing_is_changed() -> None:
    counts = np.array([0, 2, 0, 1, 0])
    cdf_values(counts)
    bonus_values(counts, 2, 0.5)
    assert counts.tolist() == [0, 2, 0, 1, 0]
