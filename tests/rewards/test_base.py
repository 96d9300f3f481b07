from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from palaestra import make_game
from palaestra.base.errors import ConfigError, RunError
from palaestra.base.types import Float32s, Int32s
from palaestra.rewards.base import Linear, Primitive, Reward, TableReward, default_reward
from palaestra.rewards.cdf import Cdf, CdfBonus
from palaestra.rewards.hand_tuned import HandTuned
from tests.rewards.windows import MARGIN, PLAIN, PLIES, WIDTH, int32, untimed

FIXED: dict[str, Callable[[], Reward]] = {
    "primitive": Primitive,
    "hand-tuned plies": lambda: HandTuned(PLIES, "hand_tuned"),
    "hand-tuned margin": lambda: HandTuned(MARGIN, "hand_tuned"),
}
fixed = pytest.mark.parametrize("make", FIXED.values(), ids=FIXED)


@fixed
def test_fixed_rewards_are_antisymmetric_monotone_and_bounded(make: Callable[[], Reward]) -> None:
    outcomes = PLIES.outcomes()
    values = make().value(outcomes)
    np.testing.assert_array_equal(make().value(-outcomes), -values)
    assert (np.diff(values) >= 0).all() and np.abs(values).max() <= 1 and values.dtype == np.float32


@fixed
def test_a_fixed_reward_learns_nothing_and_refuses_a_saved_window(make: Callable[[], Reward]) -> None:
    reward, outcomes = make(), PLIES.outcomes()
    before = reward.value(outcomes)
    np.testing.assert_array_equal(reward.settle(outcomes, np.random.default_rng(1)), before)
    np.testing.assert_array_equal(reward.value(outcomes), before)
    assert not reward.learns and reward.state() == {}
    reward.load_state({})
    with pytest.raises(RunError, match=r"holds lengths, outcomes, but .* learns nothing"):
        reward.load_state(Cdf(PLIES).state())


def test_hand_tuned_by_plies_is_one_minus_the_share_of_the_plies_played() -> None:
    for ply in range(1, WIDTH + 1):
        win = PLIES.win_at([ply], 0)
        wanted = np.float32(1 - ply / WIDTH)
        reward = HandTuned(PLIES, "hand_tuned")
        assert reward.value(win) == pytest.approx(wanted) and reward.value(-win) == pytest.approx(-wanted)


def test_hand_tuned_in_the_opposition_game_is_that_of_the_paper() -> None:
    """±(1 - t / 20h); the shortest win of 3×9 takes 8 moves, the 15th ply of the game (sources: other rewards)."""
    game = make_game("opposition-3x9")
    state = game.from_moves("@0 b2 b9 b3 b8 b4 a9 b5 b9 b6 c9 b7 c8 b8 c7 b9")
    reward = HandTuned(PLIES.of(game), "hand_tuned")
    assert reward.value(game.outcome(state[None])) == pytest.approx(1 - 15 / 180)


def test_hand_tuned_by_margin_is_the_share_of_the_largest() -> None:
    assert HandTuned(MARGIN, "hand_tuned").value(int32([-12, -3, 0, 6])).tolist() == [-1, -0.25, 0, 0.5]


def test_one_players_score_is_spread_over_the_range_and_never_leaves_it() -> None:
    assert Linear(40).value(int32([-1, 0, 10, 40, 50])).tolist() == [-1, -1, -0.5, 1, 1]
    morpion = default_reward(make_game("morpion-5d"))
    assert morpion.value(int32([0, 42, 84])).tolist() == [-1, 0, 1]
    assert isinstance(default_reward(make_game("othello-4x4")), Primitive)


# The value that an outcome head foresees.

TABLES: dict[str, Callable[[], TableReward]] = {
    "hand-tuned plies": lambda: HandTuned(PLIES, "hand_tuned"),
    "hand-tuned margin": lambda: HandTuned(MARGIN, "hand_tuned"),
    "cdf plies": lambda: Cdf(PLIES),
    "cdf margin": lambda: Cdf(MARGIN),
    "cdf plain": lambda: Cdf(PLAIN),
    "bonus": lambda: CdfBonus(PLIES),
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
@untimed
@given(seed=st.integers(0, 2**32), rows=st.integers(0, 40))
def test_one_pass_over_the_table_equals_the_value_of_each_outcome_by_itself(
    make: Callable[[], TableReward], seed: int, rows: int
) -> None:
    rng = np.random.default_rng(seed)
    reward = make()
    reward.observe(int32([-7, -7, -3, 0, 2, 5, 5, 11]))
    results = rng.random((rows, 3), dtype=np.float32)
    tiebreaks = rng.uniform(-5, 30, size=(rows, 2)).astype(np.float32)
    odd = rng.random((rows, 2)) < 0.3
    tiebreaks[odd] = rng.choice([np.nan, np.inf, -np.inf, 0.5, 1.5, 2.5, 0.0], size=odd.sum())
    plies = rng.integers(0, WIDTH + 1, size=rows, dtype=np.int32)
    fast = reward.expected(results, tiebreaks, plies)
    np.testing.assert_allclose(fast, Reward.expected(reward, results, tiebreaks, plies), atol=1e-6)
    assert fast.dtype == np.float32


def test_what_is_foreseen_follows_what_was_learned() -> None:
    reward = Cdf(PLIES)
    sure_win, soon = np.array([[1, 0, 0]], dtype=np.float32), np.array([[3, 1]], dtype=np.float32)
    assert reward.expected(sure_win, soon, int32([4])) == [0.0]
    reward.observe(PLIES.win_at([7, 7, 8], 0))
    assert reward.expected(sure_win, soon, int32([4])) == pytest.approx(1 / 2)  # a win at ply 7 again


def test_the_primitive_reward_needs_no_amounts_and_no_game() -> None:
    results = np.array([[0.5, 0.25, 0.25], [0, 0, 1]], dtype=np.float32)
    foreseen = Primitive().expected(results, np.zeros((2, 2), dtype=np.float32), int32([3, 4]))
    assert foreseen.tolist() == [0.25, -1.0]


def test_a_reward_of_ones_own_says_what_an_outcome_head_needs_of_it() -> None:
    class Half(Reward):
        def value(self, outcomes: Int32s) -> Float32s:
            return (0.5 * np.sign(outcomes)).astype(np.float32)

    one, amount = np.array([[1, 0, 0]], dtype=np.float32), np.ones((1, 2), dtype=np.float32)
    with pytest.raises(ConfigError, match="knows no game"):
        Half().expected(one, amount, int32([0]))
    reward = Half()
    reward.space = PLAIN
    assert reward.expected(one, amount, int32([0])).tolist() == [0.5]
