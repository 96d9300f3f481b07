"""The rulesheets in the package against the built-in games, and the eight-puzzle against a plain one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from palaestra.base.errors import GdlError
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.board import BoardGame
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from palaestra.ggp.machine import Machine, State, make_machine
from palaestra.ggp.propnet import PropNet
from palaestra.ggp.rules import Term, parse_rules, rulesheet, rulesheet_names

BUILT_IN = (
    "connect_four-4x4",
    "connect_four-6x7",
    "hex-3x3",
    "tic_tac_toe-3x3",
    "tic_tac_toe-4x4",
    "tic_tac_toe-5x5",
)
PLAYERS = ("x", "o")


def machine(name: str) -> Machine:
    return make_machine(parse_rules(rulesheet(name)))


def term_of(game: Game, action: int) -> Term:
    """A move of the built-in game as the rulesheet writes it."""
    assert isinstance(game, BoardGame)
    if game.num_actions == game.cols:
        return ("drop", str(action + 1))
    return ("mark", str(action // game.cols + 1), str(action % game.cols + 1))


def facts_of(game: Game, state: Int8s) -> set[Term]:
    """The facts that the rulesheet has for a position of the built-in game."""
    assert isinstance(game, BoardGame)
    cells = game.cells(state)
    stones: set[Term] = {
        ("cell", str(row + 1), str(col + 1), PLAYERS[int(cells[row, col] < 0)]) for row, col in np.argwhere(cells)
    }
    return stones | {("control", PLAYERS[int(game.to_play(state[None])[0])])}


def legal_of(game: Game, state: Int8s) -> list[int]:
    counts, actions = game.legal(state[None])
    return [int(action) for action in actions[0, : counts[0]]]


def assert_same_game(name: str, machine: Machine, rng: np.random.Generator) -> None:
    """One random game: the same facts, moves, turns, end and result in every state."""
    game = make_game(name)
    state, position = game.initial(1)[0], machine.initial()
    while True:
        assert machine.facts(position) == facts_of(game, state)
        outcome = int(game.outcome(state[None])[0])
        assert machine.terminal(position) == (outcome != ONGOING)
        if outcome != ONGOING:
            first = 50 + 50 * int(np.sign(outcome))
            assert machine.goals(position) == [first, 100 - first]
            return
        assert machine.goals(position) == [50, 50]
        mover, actions = int(game.to_play(state[None])[0]), legal_of(game, state)
        moves = machine.legal(position)
        assert moves[1 - mover] == ["noop"]
        assert sorted(map(str, moves[mover])) == sorted(str(term_of(game, action)) for action in actions)
        action = int(rng.choice(actions))
        joint: list[Term] = ["noop", "noop"]
        joint[mover] = term_of(game, action)
        position = machine.step(position, joint)
        state = game.advance(state[None], np.array([action], dtype=np.int32))[0]


def count_leaves(machine: Machine, depth: int) -> int:
    """Leaves below the initial state; every joint move counts one, and a game that ended earlier counts once."""
    ended, frontier = 0, [machine.initial()]
    for _ in range(depth):
        following: list[State] = []
        for state in frontier:
            if machine.terminal(state):
                ended += 1
            else:
                following.extend(machine.step(state, joint) for joint in product(*machine.legal(state)))
        frontier = following
    return ended + len(frontier)


def test_the_package_has_the_rulesheets_that_it_promises() -> None:
    assert rulesheet_names() == sorted([*BUILT_IN, "eight_puzzle"])
    with pytest.raises(GdlError, match="known: connect_four-4x4, "):
        rulesheet("../rulesheets/hex-3x3")


@pytest.mark.parametrize("name", BUILT_IN)
def test_rulesheets_name_two_players_and_keep_to_ascii(name: str) -> None:
    assert parse_rules(rulesheet(name)).roles == PLAYERS
    assert rulesheet(name).isascii()


@pytest.mark.parametrize("name", [*BUILT_IN, "eight_puzzle"])
def test_rulesheets_are_small_enough_for_a_network(name: str) -> None:
    assert isinstance(machine(name), PropNet) and machine(name).note == ""


@pytest.mark.parametrize("name", BUILT_IN)
def test_random_games_are_those_of_the_built_in_game(name: str) -> None:
    player, rng = machine(name), np.random.default_rng(6)
    for _ in range(10):
        assert_same_game(name, player, rng)


@pytest.mark.slow
@pytest.mark.parametrize("name", BUILT_IN)
def test_ten_thousand_random_games_are_those_of_the_built_in_game(name: str) -> None:
    player, rng = machine(name), np.random.default_rng(7)
    for _ in range(10_000):
        assert_same_game(name, player, rng)


@pytest.mark.parametrize(
    ("name", "depth"),
    [
        ("connect_four-4x4", 4),
        ("connect_four-6x7", 4),
        ("hex-3x3", 4),
        ("tic_tac_toe-3x3", 4),
        ("tic_tac_toe-4x4", 3),
        ("tic_tac_toe-5x5", 2),
        pytest.param("tic_tac_toe-4x4", 4, marks=pytest.mark.slow),
        pytest.param("tic_tac_toe-5x5", 4, marks=pytest.mark.slow),
        # Deep enough for games that have ended before.
        pytest.param("connect_four-4x4", 8, marks=pytest.mark.slow),
        pytest.param("hex-3x3", 6, marks=pytest.mark.slow),
        pytest.param("tic_tac_toe-3x3", 6, marks=pytest.mark.slow),
    ],
)
def test_leaf_counts_are_those_of_the_built_in_game(name: str, depth: int) -> None:
    game = make_game(name)
    assert count_leaves(machine(name), depth) == game.count_leaves(game.initial(1)[0], depth)


# The eight-puzzle: a position is the nine cells in reading order, 0 for the hole.

START, ORDER = (8, 7, 6, 5, 4, 3, 2, 1, 0), (1, 2, 3, 4, 5, 6, 7, 8, 0)


def slides(cells: tuple[int, ...]) -> dict[int, tuple[int, ...]]:
    """The positions one move away, by the cell whose tile slides."""
    hole = cells.index(0)
    found = {}
    for cell in range(9):
        if abs(cell // 3 - hole // 3) + abs(cell % 3 - hole % 3) == 1:
            after = list(cells)
            after[hole], after[cell] = after[cell], 0
            found[cell] = tuple(after)
    return found


def slide_term(cell: int) -> Term:
    return ("slide", str(cell // 3 + 1), str(cell % 3 + 1))


def puzzle_facts(cells: tuple[int, ...], moves: int) -> set[Term]:
    contents: set[Term] = {("cell", *slide_term(cell)[1:], str(tile or "hole")) for cell, tile in enumerate(cells)}
    return contents | {("moves", str(moves))}


def test_the_eight_puzzle_slides_tiles_and_stops_after_sixty_moves() -> None:
    puzzle, rng = machine("eight_puzzle"), np.random.default_rng(8)
    state, cells = puzzle.initial(), START
    for moves in range(60):
        assert puzzle.facts(state) == puzzle_facts(cells, moves)
        assert not puzzle.terminal(state) and puzzle.goals(state) == [0]
        after = slides(cells)
        assert sorted(map(str, puzzle.legal(state)[0])) == sorted(str(slide_term(cell)) for cell in after)
        cell = int(rng.choice(list(after)))
        state, cells = puzzle.step(state, [slide_term(cell)]), after[cell]
    assert puzzle.facts(state) == puzzle_facts(cells, 60)
    assert puzzle.terminal(state) and puzzle.goals(state) == [0]


def test_the_eight_puzzle_is_solved_in_thirty_moves_and_not_in_fewer() -> None:
    came_from: dict[tuple[int, ...], tuple[tuple[int, ...], int]] = {}
    frontier = [START]
    while ORDER not in came_from:
        following = []
        for cells in frontier:
            for cell, after in slides(cells).items():
                if after not in came_from and after != START:
                    came_from[after] = (cells, cell)
                    following.append(after)
        frontier = following
    line, cells = [], ORDER
    while cells != START:
        cells, cell = came_from[cells]
        line.append(cell)
    assert len(line) == 30
    puzzle = machine("eight_puzzle")
    state = puzzle.initial()
    for cell in reversed(line):
        assert not puzzle.terminal(state)
        state = puzzle.step(state, [slide_term(cell)])
    assert puzzle.terminal(state) and puzzle.goals(state) == [100]
