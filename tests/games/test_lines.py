from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from palaestra.base.errors import GameError, MoveError
from palaestra.games.board import BoardGame
from palaestra.games.lines import build
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from tests.games.boards import (
    after,
    assert_same_games,
    assert_symmetries_commute,
    assert_text_round_trips,
    legal_set,
    outcome_of,
    position,
)
from tests.games.openspiel import assert_equal_random_games
from tests.games.perfect import perfect_outcome


def lines(id: str) -> BoardGame:
    return cast(BoardGame, make_game(id))


def test_leaf_counts_of_tic_tac_toe_are_those_of_the_sources() -> None:
    game = lines("tic_tac_toe-3x3")
    start = game.initial(1)[0]
    # Games that end at ply 5, 6, 7, 8, 9: 1440, 5328, 47952, 72576, 127872. Those that ended earlier count once.
    counts = [game.count_leaves(start, depth) for depth in range(1, 10)]
    assert counts == [9, 72, 504, 3024, 15120, 56160, 154944, 255168, 255168]


@pytest.mark.parametrize(
    ("rows", "cols", "k"),
    [(3, 3, 3), (6, 6, 4), (8, 8, 5), (3, 9, 4), (9, 3, 4), (2, 26, 26), (26, 2, 3), (7, 7, 2), (2, 2, 2), (5, 12, 5)],
)
def test_bits_and_bytes_are_the_same_game(rows: int, cols: int, k: int) -> None:
    one, other = (build(f"gobang-{rows}x{cols}-{k}", rows, cols, k, as_bits) for as_bits in (True, False))
    assert_same_games(one, other, games=300, seed=3)


def test_boards_of_more_than_64_cells_are_kept_as_bytes() -> None:
    assert lines("gobang-8x8-5").state_size == 8 + 16
    assert lines("gobang-9x9-5").state_size == 8 + 88


@pytest.mark.parametrize("id", ["tic_tac_toe-3x3", "tic_tac_toe-4x5", "gobang-6x6", "gobang-9x9-5", "gobang-8x10-5"])
def test_symmetries_commute_with_play(id: str) -> None:
    assert_symmetries_commute(lines(id), count=300, seed=5)


@pytest.mark.parametrize("id", ["tic_tac_toe-3x3", "gobang-5x7", "gobang-15x15-5"])
def test_text_of_a_position_round_trips(id: str) -> None:
    assert_text_round_trips(lines(id), count=100, seed=6)


def test_ten_thousand_random_tic_tac_toe_games_equal_open_spiel() -> None:
    assert_equal_random_games(lines("tic_tac_toe-3x3"), "tic_tac_toe", games=10_000, seed=1)


@pytest.mark.parametrize(
    ("id", "form", "games"),
    [
        ("gobang-6x6", "m=6,n=6,k=4", 10_000),
        ("tic_tac_toe-4x4", "m=4,n=4,k=3", 1000),
        ("gobang-5x8", "m=8,n=5,k=4", 1000),  # m counts columns, n rows
        ("gobang-15x15-5", "m=15,n=15,k=5", 200),
    ],
)
def test_random_games_equal_open_spiel_mnk(id: str, form: str, games: int) -> None:
    """Actions are row · columns + column in both."""
    assert_equal_random_games(lines(id), f"mnk({form})", games=games, seed=2)


@pytest.mark.parametrize("size", ["4x4", "5x5"])
def test_three_in_a_row_on_larger_boards_is_won_by_the_first_player_at_ply_five(size: str) -> None:
    game = lines(f"tic_tac_toe-{size}")
    assert perfect_outcome(game, horizon=5) == game.max_plies + 1 - 5
    assert perfect_outcome(game, horizon=4) == 0, "no win is forced sooner"


def test_tic_tac_toe_is_a_draw() -> None:
    assert perfect_outcome(lines("tic_tac_toe-3x3")) == 0


# One move before three in a row on 4×4: (drawing, player to move, cell).
LINES = {
    "row at the right edge": ("..XX .... OO.. ....", 0, "b1"),
    "row at the lower left corner": ("OO.. .... .... X.X.", 0, "b4"),
    "column at the left edge": (".... O... O..X ...X", 1, "a1"),
    "column at the lower right corner": ("X... .... O..X O..X", 0, "d2"),
    "falling diagonal to the lower right corner": ("O... .X.. ..X. O...", 0, "d4"),
    "falling diagonal from the left edge": ("O... X... .X.. O...", 0, "c4"),
    "rising diagonal to the upper right corner": ("..O. ..X. .X.. O...", 0, "d1"),
    "rising diagonal from the bottom": ("O... .... ..X. OX..", 0, "d2"),
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("as_bits", [True, False])
def test_a_line_wins(name: str, as_bits: bool) -> None:
    drawing, mover, cell = LINES[name]
    game = build("tic_tac_toe-4x4", 4, 4, 3, as_bits)
    state = after(game, position(game, drawing, mover), cell)
    worth = 17 - sum(glyph in "XO" for glyph in drawing) - 1
    assert outcome_of(game, state) == (worth if mover == 0 else -worth)
    assert legal_set(game, state) == []


# Three evenly spaced cells that go around an edge.
WRAPS = {
    "a row into the next row": ("..XX .... OO.. ....", 0, "a2"),
    "a falling diagonal over the right edge": ("..X. ...X OO.. ....", 0, "a4"),
    "a rising diagonal over the left edge": (".X.. X... OO.. ....", 0, "d2"),
    "a row back into the row before": (".... .... XX.. OO..", 0, "d2"),
}


@pytest.mark.parametrize("name", WRAPS)
@pytest.mark.parametrize("as_bits", [True, False])
def test_a_line_does_not_go_around_an_edge(name: str, as_bits: bool) -> None:
    drawing, mover, cell = WRAPS[name]
    game = build("tic_tac_toe-4x4", 4, 4, 3, as_bits)
    assert outcome_of(game, after(game, position(game, drawing, mover), cell)) == ONGOING


@pytest.mark.parametrize("as_bits", [True, False])
def test_a_line_longer_than_needed_wins_too(as_bits: bool) -> None:
    game = build("gobang-7x7", 7, 7, 4, as_bits)
    state = position(game, "XXX.XXX ....... OO.OO.O O...... ....... ....... .......", 0)
    assert outcome_of(game, after(game, state, "d1")) == 50 - 13


def test_a_full_board_without_a_line_is_a_draw() -> None:
    game = lines("tic_tac_toe-3x3")
    state = game.from_moves("a1 b1 c1 b2 a2 c2 b3 a3 c3")
    assert game.render(state) == "    a b c\n  1 X O X\n  2 X O O\n  3 O X X"
    assert outcome_of(game, state) == 0


def test_a_line_with_the_last_stone_is_a_win_and_no_draw() -> None:
    game = lines("tic_tac_toe-3x3")
    assert outcome_of(game, after(game, position(game, ".OX XXO XOO", mover=0), "a1")) == 1


def test_observation_shows_the_movers_stones_first() -> None:
    for id in ("tic_tac_toe-3x3", "gobang-9x9-5"):
        game = lines(id)
        planes = game.observe(game.from_moves("a1 b1 c2")[None])[0]
        assert np.argwhere(planes).tolist() == [[0, 0, 1], [1, 0, 0], [1, 1, 2]]


def test_an_illegal_move_says_what_is_legal() -> None:
    with pytest.raises(MoveError, match=r"move 2: 'a1' is not a legal move here; legal: b1, c1, a2"):
        lines("tic_tac_toe-3x3").from_moves("a1 a1")


@pytest.mark.parametrize("id", ["tic_tac_toe-1x3", "tic_tac_toe-2x2", "gobang-27x27", "gobang-6x6-7", "gobang-6x6-1"])
def test_impossible_sizes_are_refused_in_one_line(id: str) -> None:
    with pytest.raises(GameError, match=f"{id}.*gobang-15x15-5"):
        make_game(id)
