"""Hex: connections, marks that follow from the position alone, known values, and OpenSpiel's games."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.base.errors import GameError, MoveError
from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.hex import HexGame
from palaestra.games.hex import make as make_hex
from palaestra.games.laws import check
from palaestra.games.registry import make_game
from palaestra.games.rows import HEADER, ONGOING
from tests.games.openspiel import assert_equal_random_games
from tests.games.perfect import perfect_outcome


def reached(stones: set[tuple[int, int]], sources: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The stones that are joined to some source stone: six neighbours (sources: Hex), one step at a time."""
    steps = [(0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1)]
    seen = stones & sources
    while True:
        wider = seen | {(r + a, c + b) for r, c in seen for a, b in steps} & stones
        if wider == seen:
            return seen
        seen = wider


def reference_marks(board: Int8s) -> Int8s:
    """The bytes that cells must hold, from the definition."""
    n = len(board)
    marks = np.zeros((n, n), dtype=np.int8)
    for sign, axis in ((1, 0), (-1, 1)):
        stones = {(int(r), int(c)) for r, c in np.argwhere(board == sign)}
        near = reached(stones, {cell for cell in stones if cell[axis] == 0})
        far = reached(stones, {cell for cell in stones if cell[axis] == n - 1})
        for cell in stones:
            marks[cell] = sign * (1 + (cell in near) + 2 * (cell in far))
    return marks


def test_the_first_player_wins_by_joining_top_and_bottom() -> None:
    game = make_game("hex-3x3")
    state = game.from_moves("b1 a1 b2 a2 a3")  # b1 touches b2, b2 touches a3 (below left)
    assert game.render(state).splitlines() == ["    a b c", "  1  O X .", "   2  O X .", "    3  X . ."]
    assert game.outcome(state[None])[0] == 9 + 1 - 5
    assert game.legal(state[None])[0][0] == 0


def test_the_second_player_wins_by_joining_left_and_right() -> None:
    game = make_game("hex-3x3")
    state = game.from_moves("a1 a3 c3 b2 a2 c1")  # a3, b2 and c1 climb the short diagonal
    assert game.outcome(state[None])[0] == -(9 + 1 - 6)


def test_cells_on_the_long_diagonal_do_not_touch() -> None:
    game = make_game("hex-3x3")
    state = game.from_moves("a1 a2 b2 b1 c3")  # X on a1, b2, c3: three groups
    assert game.outcome(state[None])[0] == ONGOING
    assert state[HEADER : HEADER + 9].tolist() == [2, -2, 0, -2, 1, 0, 0, 0, 3]


def test_the_short_diagonal_wins_through_corners_that_touch_two_edges() -> None:
    game = make_game("hex-2x2")
    state = game.from_moves("b1 a1 a2")
    assert game.outcome(state[None])[0] == 4 + 1 - 3


@pytest.mark.parametrize("n", [2, 4, 7, 19])
def test_marks_equal_their_definition_at_every_ply(n: int) -> None:
    game = make_hex((n, n))
    states = game.initial(4)
    streams = keyed_seeds(n, np.arange(4))
    while len(states):
        for state in states:
            board = game.cells(state)
            marks = reference_marks(board)
            assert np.array_equal(state[HEADER : HEADER + n * n].reshape(n, n), marks)
            joined = {int(np.sign(mark)) for mark in marks[np.abs(marks) == 4]}
            outcome = int(game.outcome(state[None])[0])
            assert joined == (set() if outcome == ONGOING else {int(np.sign(outcome))})
        states = states[game.outcome(states) == ONGOING]
        counts, actions = game.legal(states)
        picks = (streams[: len(states)] % counts.astype(np.uint64)).astype(np.int64)
        streams = streams * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
        states = game.advance(states, actions[np.arange(len(states)), picks])


def test_the_order_of_moves_leaves_no_trace() -> None:
    game = make_game("hex-5x5")
    one = game.from_moves("a1 b2 b1 c3 c1 d4")
    other = game.from_moves("c1 c3 a1 d4 b1 b2")
    assert np.array_equal(one, other)


def test_the_winning_openings_on_3x3_are_those_of_the_sources() -> None:
    game = make_game("hex-3x3")  # (sources: perfect values)
    openings = {}
    for row in range(3):
        for col in range(3):
            after = game.advance(game.initial(1), np.array([3 * row + col], dtype=np.int32))[0]
            openings[row, col] = perfect_outcome(game, after) > 0
    assert {cell for cell, wins in openings.items() if wins} == {(1, 1), (0, 2), (2, 0), (1, 0), (1, 2)}
    assert perfect_outcome(game) > 0


def test_the_plane_of_the_goal_tells_the_players_apart() -> None:
    game = make_game("hex-3x3")
    first, second = game.initial(1)[0], game.from_moves("b1")
    planes = game.observe(np.stack([first, second]))
    assert planes[0].sum() == 9 and (planes[0, 2] == 1).all()
    assert planes[1].sum() == 1 and planes[1, 1, 0, 1] == 1


def test_exchanging_the_players_transposes_the_board() -> None:
    game = make_game("hex-3x3")
    assert game.exchange is not None
    state = game.from_moves("b1 c2")
    image = game.permute(state[None], game.exchange, swap=True)[0]
    assert game.state_to_text(state) == ".X./..O/... 0 2"
    assert game.state_to_text(image) == ".../O../.X. 1 2"


@pytest.mark.parametrize("id", ["hex-2x2", "hex-3x3", "hex-5x5", "hex-11x11"])
def test_hex_obeys_the_laws(id: str) -> None:
    assert check(make_game(id), seed=3, games=8).violations == []


def test_the_compiled_rollout_is_plain_play() -> None:
    game = make_game("hex-5x5")
    fast = game.rollout(game.initial(50), keyed_seeds(2, np.arange(50)))
    plain = Game.rollout(game, game.initial(50), keyed_seeds(2, np.arange(50)))
    assert np.array_equal(fast.states, plain.states)


@pytest.mark.parametrize(("n", "games"), [(2, 200), (3, 10_000), (5, 10_000), (11, 200)])
def test_random_games_equal_open_spiel(n: int, games: int) -> None:
    assert_equal_random_games(make_hex((n, n)), f"hex(num_cols={n},num_rows={n})", games=games, seed=n)


@pytest.mark.parametrize("sizes", [(3, 4), (1, 1), (20, 20)])
def test_impossible_boards_are_refused(sizes: tuple[int, int]) -> None:
    with pytest.raises(GameError, match=r"2 to 19.*hex-11x11"):
        make_hex(sizes)


def test_a_text_that_is_no_position_is_refused_with_an_example() -> None:
    game = make_game("hex-2x2")
    assert isinstance(game, HexGame)
    for text in ("X./.", "X?/.. 0 0", "X./.. 2 1", ""):
        with pytest.raises(MoveError, match=r"\.\./\.\. 0 0"):
            game.state_from_text(text)


def test_the_drawing_has_a_hexagon_a_cell_and_both_players_edges() -> None:
    game = make_game("hex-3x3")
    drawing = game.svg(game.from_moves("b2 a1"))
    assert drawing.count("<polygon") == 9
    assert drawing.count("<polyline") == 12
