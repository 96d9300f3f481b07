"""The solver finds the known values (sources: perfect values) and every best move."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.search.solver import Solver
from tests.games.perfect import perfect_outcome
from tests.search.minimax import random_positions
from tests.search.toy_games import uncompiled


def solved(solver: Solver, state: Int8s, exact: bool = True) -> tuple[int, list[int]]:
    solution = solver.solve(state, exact)
    assert solution is not None and solution.exact == exact
    return solution.outcome, solution.actions


def after(game: Game, state: Int8s, action: int) -> Int8s:
    return game.advance(state[None], np.array([action], dtype=np.int32))[0]


def ended_line(game: Game, solver: Solver, state: Int8s) -> tuple[int, int]:
    """(plies, outcome) at the end of best play."""
    solution = solver.solve(state)
    assert solution is not None
    line = solver.line(state, solution)
    assert line is not None and line[0] == solution.actions[0]
    for action in line:
        state = after(game, state, action)
    assert int(game.outcome(state[None])[0]) == solution.outcome
    return len(line), solution.outcome


@pytest.mark.parametrize(
    ("id", "plies", "outcome"),
    [
        ("tic_tac_toe-3x3", 9, 0),
        ("tic_tac_toe-4x4", 5, 12),
        ("tic_tac_toe-5x5", 5, 21),
        ("connect_four-4x4", 16, 0),
        ("hex-3x3", 5, 5),
        ("hex-4x4", 9, 8),
    ],
)
def test_values_and_distances_of_small_boards(id: str, plies: int, outcome: int) -> None:
    game = make_game(id)
    solver = Solver(game)
    assert ended_line(game, solver, game.initial(1)[0]) == (plies, outcome)
    assert solved(solver, game.initial(1)[0], exact=False)[0] == np.sign(outcome)


def test_othello_4x4_is_won_by_the_second_player_by_eight() -> None:
    game = make_game("othello-4x4")
    assert ended_line(game, Solver(game), game.initial(1)[0])[1] == -8


@pytest.mark.slow
def test_othello_5x5_openings() -> None:
    game = make_game("othello-5x5")
    solver, state = Solver(game), game.initial(1)[0]
    values = {opening: solved(solver, after(game, state, opening))[0] for opening in (13, 17, 1, 5)}
    assert values == {13: 13, 17: 13, 1: -25, 5: -25}  # (2,3), (3,2), (0,1), (1,0)
    assert solved(solver, state, exact=False)[0] == 1


def test_hex_3x3_openings() -> None:
    game = make_game("hex-3x3")
    solver, state = Solver(game), game.initial(1)[0]
    winning = {cell for cell in range(9) if solved(solver, after(game, state, cell), exact=False)[0] == 1}
    assert winning == {4, 2, 6, 3, 5}  # centre, (0,2), (2,0), (1,0), (1,2)


@pytest.mark.slow
def test_connect_four_5x5_is_a_draw() -> None:
    game = make_game("connect_four-5x5")
    assert solved(Solver(game), game.initial(1)[0], exact=False) == (0, [0, 1, 2, 3, 4])


@pytest.mark.slow
def test_othello_5x5_is_won_by_thirteen() -> None:
    game = make_game("othello-5x5")
    assert ended_line(game, Solver(game), game.initial(1)[0]) == (21, 13)
    assert solved(Solver(game), game.initial(1)[0]) == (13, [13, 17])


@pytest.mark.slow
def test_gobang_6x6_is_won_by_the_first_player_on_ply_eleven() -> None:
    game = make_game("gobang-6x6")
    solver = Solver(game, nodes=300_000_000)
    assert solved(solver, game.initial(1)[0]) == (26, [14, 15, 20, 21])
    assert ended_line(game, solver, game.initial(1)[0]) == (11, 26)


@pytest.mark.parametrize("id", ["tic_tac_toe-3x3", "connect_four-4x4", "othello-4x4", "hex-3x3"])
def test_best_moves_are_those_that_plain_minimax_calls_best(id: str) -> None:
    game = make_game(id)
    solver = Solver(game, nodes=1_000_000)
    for state in random_positions(game, 12, seed=7, last=9):
        counts, actions = game.legal(state[None])
        values = {int(a): perfect_outcome(game, after(game, state, int(a))) for a in actions[0, : counts[0]]}
        best = max(values.values()) if state[0] == 0 else min(values.values())
        assert solved(solver, state) == (best, [a for a, value in values.items() if value == best])
        sign, kept = solved(solver, state, exact=False)
        assert sign == np.sign(best) and kept and all(np.sign(values[a]) == sign for a in kept)


def test_a_game_without_compiled_rules_is_solved_too() -> None:
    game = uncompiled(make_game("tic_tac_toe-3x3"))
    assert ended_line(game, Solver(game), make_game("tic_tac_toe-3x3").from_moves("b2")) == (8, 0)


def test_too_few_nodes_leave_a_position_unsolved() -> None:
    game = make_game("connect_four-6x7")
    solver, state = Solver(game, nodes=10_000), game.initial(1)[0]
    assert solver.solve(state) is None and solver.solve(state, exact=False) is None  # what oracles ask
    attempt = solver.attempt(state)
    assert not attempt.proven and attempt.depth > 1 and attempt.effort > 4 and attempt.actions == list(range(7))


def test_no_time_leaves_a_position_unsolved_after_one_ply() -> None:
    game = make_game("connect_four-6x7")
    attempt = Solver(game).attempt(game.initial(1)[0], seconds=0.0)
    assert not attempt.proven and attempt.depth == 1
    assert Solver(game).attempt(game.from_moves("4 5 4 5 4 5"), seconds=0.0).proven  # a win in one ply
