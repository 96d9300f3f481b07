from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import load, save

from palaestra.base.errors import RunError
from palaestra.rewards.base import Primitive
from palaestra.rewards.cdf import Cdf
from palaestra.rewards.ranked import Ranked
from palaestra.rewards.switch import Switch
from tests.rewards.windows import PLIES, SCORE, int32

GAMES = int32([-5, 2, 2, 9])


def rng() -> np.random.Generator:
    return np.random.default_rng(4)


def test_the_first_reward_serves_for_so_many_generations_in_search_and_targets() -> None:
    reward, cdf = Switch(Primitive(), Cdf(PLIES), at=2), Cdf(PLIES)
    for generation in range(4):
        now = Primitive() if generation < 2 else cdf
        np.testing.assert_array_equal(reward.value(PLIES.outcomes()), now.value(PLIES.outcomes()))
        cdf.observe(GAMES + generation)
        np.testing.assert_array_equal(reward.settle(GAMES + generation, rng()), now.value(GAMES + generation))


def test_the_second_reward_has_learned_from_all_generations_when_its_turn_comes() -> None:
    reward = Switch(Primitive(), Cdf(PLIES), at=1)
    reward.observe(GAMES)
    assert reward.value(GAMES).tolist() == [-1.0, 0.0, 0.0, 1.0]


def test_what_an_outcome_head_foresees_changes_with_the_reward() -> None:
    reward = Switch(Primitive(), Cdf(PLIES), at=1)
    win, late = np.array([[1, 0, 0]], dtype=np.float32), np.array([[11, 1]], dtype=np.float32)
    assert reward.expected(win, late, int32([0])).tolist() == [1.0]
    reward.observe(GAMES)
    assert reward.expected(win, late, int32([0])) == [0.0]  # at ply 11: the middle of the window


def test_targets_of_a_ranked_reward_are_thrown_by_it() -> None:
    reward, ranked = Switch(Ranked(SCORE), Cdf(SCORE), at=1), Ranked(SCORE)
    games = int32([5, 9, 9, 3])
    np.testing.assert_array_equal(reward.settle(games, rng()), ranked.settle(games, rng()))


def test_the_counter_and_both_windows_are_saved_and_taken_over() -> None:
    def make() -> Switch:
        inner = Switch(Primitive(), Cdf(PLIES, 2), at=1)
        return Switch(inner, Cdf(PLIES, 3), at=3)

    original, copy = make(), make()
    copy.load_state(load(save(original.state())))  # before the first generation
    for generation in range(5):
        original.observe(GAMES + generation)
        copy = make()
        copy.load_state(load(save(original.state())))
        np.testing.assert_array_equal(copy.value(PLIES.outcomes()), original.value(PLIES.outcomes()))
        assert copy.generation == original.generation == generation + 1


@pytest.mark.parametrize("lost", ["generation", "then.outcomes", "then.lengths"])
def test_a_saved_state_that_lacks_something_is_refused(lost: str) -> None:
    saved = Switch(Primitive(), Cdf(PLIES), at=1).state()
    del saved[lost]
    with pytest.raises(RunError, match="the saved reward is not one of"):
        Switch(Primitive(), Cdf(PLIES), at=1).load_state(saved)


def test_a_saved_state_that_holds_more_is_refused() -> None:
    saved = Switch(Primitive(), Cdf(PLIES), at=1).state()
    for extra in ("other", "first.outcomes"):
        with pytest.raises(RunError, match="the saved reward"):
            Switch(Primitive(), Cdf(PLIES), at=1).load_state(saved | {extra: int32([1])})
