"""Results of single moves that are certain, from a search's own proofs or from a moment of solving."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.games.registry import make_game
from palaestra.players.base import UNPROVEN, Analysis
from palaestra.players.exact import InstantJudge, results_of_values, solved_moves
from palaestra.players.registry import make_player
from palaestra.rewards.base import Primitive
from palaestra.rewards.registry import make_reward
from palaestra.search.solver import Solver

MOVES = "a1 b2 c3"  # the second player must take an edge: every corner loses


@pytest.mark.parametrize("player", ["uct(simulations=3000)", "rave(simulations=3000)", "mcs(playouts=900)"])
def test_every_move_has_its_result_for_the_mover(player: str) -> None:
    game = make_game("tic_tac_toe-3x3")
    state = game.from_moves(MOVES)
    analysis = make_player(player, game).analyse(state, np.random.default_rng(0))
    exact = InstantJudge(game).complete(state, analysis).exact
    assert exact is not None
    legal = game.legal(state[None])[1][0, :6]
    texts = {game.action_to_text(state, int(action)): int(exact[action]) for action in legal}
    assert texts == {"b1": 0, "c1": -1, "a2": 0, "c2": 0, "a3": -1, "b3": 0}


def test_a_search_knows_which_of_its_moves_are_proven() -> None:
    game = make_game("tic_tac_toe-3x3")
    state = game.from_moves("a1 c1 a2 c3")  # a3 wins at once, and b2 is not yet proven by two simulations
    analysis = make_player("uct(simulations=3000)", game).analyse(state, np.random.default_rng(0))
    assert analysis.exact is not None and analysis.values is not None and analysis.priors is not None
    winning = game.text_to_action(state, "a3")
    assert analysis.exact[winning] == 1 and analysis.values[winning] == 1.0
    others = [a for a in range(9) if a != winning]
    assert (analysis.exact[others] != 1).all()
    assert np.isnan(analysis.values[0])  # not legal
    assert analysis.priors.sum() == pytest.approx(1.0)


def test_what_the_player_has_proven_itself_is_kept_and_nothing_is_solved_again() -> None:
    game = make_game("tic_tac_toe-3x3")
    state = game.from_moves(MOVES)
    judge = InstantJudge(game)
    whole = Analysis(1, exact=np.full(9, 1, dtype=np.int32))
    assert judge.complete(state, whole) is whole


def test_a_position_that_is_too_hard_has_no_result() -> None:
    game = make_game("gobang-6x6")
    assert (InstantJudge(game).results(game.initial(1)[0]) == UNPROVEN).all()


def test_a_move_that_ends_the_game_is_certain_even_where_the_rest_is_too_hard() -> None:
    game = make_game("gobang-15x15-5")
    state = game.from_moves("a1 o1 b1 o2 c1 o3 d1 o5")
    exact = InstantJudge(game).results(state)
    assert exact[game.text_to_action(state, "e1")] == 1


def test_opposition_is_solved_backwards() -> None:
    game = make_game("opposition-3x9")
    state = game.from_moves("@4")
    exact = InstantJudge(game).results(state)
    perfect = make_player("perfect", game).analyse(state, np.random.default_rng(0))
    legal = game.legal(state[None])[1][0, : int(game.legal(state[None])[0][0])]
    assert exact[legal].max() == np.sign(perfect.value)
    assert perfect.exact is not None and perfect.exact[perfect.action] == exact[perfect.action]


def test_one_player_has_scores() -> None:
    game = make_game("bin_packing-2d-2")
    state = game.from_moves("@0")
    exact = InstantJudge(game).results(state)
    assert exact.max() == game.largest_outcome  # the two halves of a square


def test_a_value_that_two_results_share_says_nothing() -> None:
    game = make_game("tic_tac_toe-3x3")
    values = np.array([1.0, 0.0, -1.0], dtype=np.float32)
    assert results_of_values(game, Primitive(), values, 1).tolist() == [1, 0, -1]
    assert results_of_values(game, make_reward("cdf", game), values[1:2], 0).tolist() == [UNPROVEN]


def test_moves_beyond_the_judge_are_none() -> None:
    game = make_game("tic_tac_toe-4x4")
    solver = Solver(game, 1)
    assert {outcome for _, outcome in solved_moves(game, solver.solve, game.initial(1)[0])} == {None}
