from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from palaestra import make_game
from palaestra.games.base import Game
from palaestra.rewards.outcomes import OutcomeSpace
from tests.rewards.windows import MARGIN, PLAIN, PLIES, SCORE, WIDTH, int32, untimed


@pytest.mark.parametrize(
    ("id", "lowest", "highest"),
    [("opposition-3x9", -180, 180), ("othello-6x6", -36, 36), ("morpion-5d", 0, 84), ("tic_tac_toe-3x3", -9, 9)],
)
def test_the_outcomes_of_a_game_are_all_that_its_tiebreak_can_give(id: str, lowest: int, highest: int) -> None:
    space = OutcomeSpace.of(make_game(id))
    assert (space.lowest, space.highest, space.count) == (lowest, highest, highest - lowest + 1)
    assert space.outcomes().tolist() == list(range(lowest, highest + 1))


@pytest.mark.parametrize("id", ["opposition-3x9", "othello-4x4", "othello-5x5", "morpion-4d", "connect_four-4x4"])
def test_random_games_end_inside_the_space(id: str) -> None:
    game = make_game(id)
    space, outcomes = OutcomeSpace.of(game), _random_outcomes(game)
    assert space.lowest <= outcomes.min() and outcomes.max() <= space.highest
    np.testing.assert_array_equal(space.outcomes()[space.index(outcomes)], outcomes)


def test_outcomes_beyond_an_end_count_as_that_end() -> None:
    assert PLIES.index(int32([-99, -12, 0, 12, 99])).tolist() == [0, 0, 12, 24, 24]
    assert SCORE.index(int32([[-3, 0], [20, 21]])).tolist() == [[0, 0], [20, 20]]


def test_a_win_in_so_many_plies_is_the_outcome_of_a_game_that_ends_then() -> None:
    assert PLIES.win_at([1.0, 3.4, 3.6], [0, 4, 4]).tolist() == [12, 6, 5]  # at plies 1, 7 and 8 of 12
    assert PLIES.loss_at([1.0, 3.4, 3.6], [0, 4, 4]).tolist() == [-12, -6, -5]


def test_plies_that_cannot_be_are_the_nearest_that_can() -> None:
    amounts = [-5.0, 0.2, 99.0, np.inf, -np.inf, np.nan]
    assert PLIES.win_at(amounts, 4).tolist() == [8, 8, 1, 1, 8, 8]  # from ply 5 to ply 12
    assert PLIES.win_at([7.0], 12).tolist() == [1]


def test_a_margin_is_the_size_of_the_outcome_whatever_the_ply() -> None:
    assert MARGIN.win_at([-3.0, 0.4, 2.6, 99.0, np.nan], 50).tolist() == [1, 1, 3, 12, 1]
    assert MARGIN.loss_at([2.0], 7).tolist() == [-2]
    assert MARGIN.amount(int32([-4, 0, 12]), 50).tolist() == [4, 0, 12]


def test_without_a_tiebreak_amounts_say_nothing() -> None:
    assert PLAIN.win_at([3.0, -1.0], 2).tolist() == [1, 1]
    assert PLAIN.loss_at([3.0], 2).tolist() == [-1]
    assert PLAIN.amount(int32([1, 0, -1]), 2).tolist() == [0, 0, 0]


@untimed
@given(outcome=st.integers(1, WIDTH), sign=st.sampled_from([-1, 1]), data=st.data())
def test_an_amount_leads_back_to_its_outcome(outcome: int, sign: int, data: st.DataObject) -> None:
    for space in (PLIES, MARGIN):
        ends_at = WIDTH + 1 - outcome
        plies = data.draw(st.integers(0, ends_at - 1))
        amount = space.amount(int32([sign * outcome]), int32([plies]))
        found = space.win_at(amount, int32([plies])) if sign > 0 else space.loss_at(amount, int32([plies]))
        assert found.tolist() == [sign * outcome]


def test_amounts_of_won_games_are_the_plies_that_were_still_to_be_played() -> None:
    assert PLIES.amount(int32([12, -6, 0]), int32([0, 4, 5])).tolist() == [1, 3, 0]


def _random_outcomes(game: Game) -> np.ndarray:
    rng = np.random.default_rng(3)
    streams = rng.integers(2**63, size=200).astype(np.uint64)
    return game.rollout(game.initial(200, rng), streams).outcomes
