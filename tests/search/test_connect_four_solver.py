"""The solver of Connect Four says what the general one says, and what is known of the whole board."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.games.connect_four import BitConnectFour
from palaestra.games.registry import make_game
from palaestra.search.connect_four_solver import ConnectFourSolver
from palaestra.search.solver import Solver
from tests.search.minimax import random_positions


def board(id: str) -> BitConnectFour:
    game = make_game(id)
    assert isinstance(game, BitConnectFour)
    return game


@pytest.mark.parametrize("id", ["connect_four-4x4", "connect_four-4x5", "connect_four-5x4", "connect_four-7x3"])
def test_it_agrees_with_the_general_solver(id: str) -> None:
    game = board(id)
    fast, slow = ConnectFourSolver(game), Solver(game)
    for state in random_positions(game, 60, seed=1):
        ours, theirs = fast.solve(state), slow.solve(state)
        assert ours is not None and theirs is not None
        assert (ours.outcome, ours.actions) == (theirs.outcome, theirs.actions), game.render(state)
        line, other = fast.line(state, ours), slow.line(state, theirs)
        assert line is not None and other is not None and len(line) == len(other)
        if ours.outcome:
            assert len(line) == ours.depth
        sign = fast.solve(state, exact=False)
        assert sign is not None and sign.outcome == np.sign(ours.outcome) and set(sign.actions) >= set(ours.actions)


def test_what_it_remembers_changes_no_answer() -> None:
    game = board("connect_four-4x5")
    states = random_positions(game, 40, seed=2)
    one, other = ConnectFourSolver(game), ConnectFourSolver(game)
    forth = [one.solve(state) for state in states]
    back = [other.solve(state) for state in states[::-1]][::-1]
    told = [[(found.outcome, found.actions) for found in some if found is not None] for some in (forth, back)]
    assert told[0] == told[1] and len(told[0]) == len(states)


def test_a_hard_position_of_the_usual_board() -> None:
    game = board("connect_four-6x7")
    solution = ConnectFourSolver(game).solve(game.from_moves("44444421"))
    assert solution is not None
    assert (solution.outcome, solution.actions, solution.depth) == (
        2,
        [1, 2, 4, 6],
        33,
    )  # at ply 41, as from the empty board


@pytest.mark.parametrize(("nodes", "seconds"), [(1000, 60.0), (10**12, 0.2)])
def test_a_budget_that_does_not_suffice_gives_no_proof(nodes: int, seconds: float) -> None:
    game = board("connect_four-6x7")
    solution = ConnectFourSolver(game, nodes).attempt(game.initial(1)[0], seconds=seconds)
    assert not solution.proven and solution.actions and solution.effort > 6
