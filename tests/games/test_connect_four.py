from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import cast

import numpy as np
import pytest

from palaestra.base.errors import GameError, MoveError
from palaestra.games.connect_four import ConnectFour, build
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from tests.games.boards import (
    after,
    assert_same_games,
    assert_symmetries_commute,
    assert_text_round_trips,
    drawing_of,
    legal_set,
    outcome_of,
    position,
)
from tests.games.openspiel import assert_equal_random_games
from tests.games.perfect import perfect_outcome


def connect_four(size: str) -> ConnectFour:
    return cast(ConnectFour, make_game(f"connect_four-{size}"))


@pytest.mark.parametrize(
    ("size", "leaves"),
    [
        ("4x4", [4, 16, 64, 256, 1020, 4020, 15540, 57756, 207468]),
        ("5x5", [5, 25, 125, 625, 3125, 15620, 77980, 382332]),
        ("6x7", [7, 49, 343, 2401, 16807, 117649, 823536]),
    ],
)
def test_leaf_counts_are_those_of_the_sources(size: str, leaves: list[int]) -> None:
    game = connect_four(size)
    start = game.initial(1)[0]
    assert [game.count_leaves(start, depth) for depth in range(1, len(leaves) + 1)] == leaves


@pytest.mark.parametrize("size", [(4, 4), (6, 7), (5, 10), (9, 5), (1, 8), (8, 1), (7, 8), (3, 5)])
def test_bits_and_bytes_are_the_same_game(size: tuple[int, int]) -> None:
    assert_same_games(build(*size, as_bits=True), build(*size, as_bits=False), games=400, seed=3)


def test_boards_of_more_than_64_bits_are_kept_as_bytes() -> None:
    assert connect_four("7x8").state_size == 8 + 16
    assert connect_four("8x8").state_size == 8 + 64


@pytest.mark.parametrize("size", ["6x7", "4x4", "9x9"])
def test_symmetries_commute_with_play(size: str) -> None:
    assert_symmetries_commute(connect_four(size), count=300, seed=5)


@pytest.mark.parametrize("size", ["6x7", "10x12"])
def test_text_of_a_position_round_trips(size: str) -> None:
    assert_text_round_trips(connect_four(size), count=100, seed=6)


def test_ten_thousand_random_games_equal_open_spiel() -> None:
    """Actions are columns from the left in both; OpenSpiel counts rows from the bottom, which no action shows."""
    assert_equal_random_games(connect_four("6x7"), "connect_four", games=10_000, seed=1)


@pytest.mark.parametrize(
    ("size", "form"), [("4x4", "rows=4,columns=4"), ("9x9", "rows=9,columns=9"), ("5x8", "rows=5,columns=8")]
)
def test_random_games_of_other_sizes_equal_open_spiel(size: str, form: str) -> None:
    assert_equal_random_games(connect_four(size), f"connect_four({form})", games=500, seed=2)


def test_perfect_play_on_4x4_is_a_draw() -> None:
    assert perfect_outcome(connect_four("4x4")) == 0


# Each position is one move before a line of four: (drawing, player to move, column that makes it).
LINES = {
    "at the left edge": ("....... ....... ....... ....... OOO.... XXX....", 0, 4),
    "at the right edge": ("....... ....... ....... ....... ...OOO. ...XXX.", 0, 7),
    "upwards to the top": ("....... .....X. .....X. .....X. ..O..O. X.O..O.", 0, 6),
    "second player's row": ("....... ....... ....... X...... XX..... XX.OOO.", 1, 3),
    "diagonal to the top right corner": ("....... .....XO ....XOX ...XOOX ...OXOO ..OXXXO", 0, 7),
    "diagonal to the top left corner": ("....... OX..... XOX.... XOOX... OOXO... OXXXO..", 0, 1),
    "diagonal from the bottom left corner": ("....... ....... ....... ..XO... .XOO... XOXX...", 0, 4),
    "filled in the middle": ("....... ....... ....... ....... O..O.O. X.XX.OO", 0, 2),
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("as_bits", [True, False])
def test_a_line_of_four_wins(name: str, as_bits: bool) -> None:
    drawing, mover, column = LINES[name]
    game = build(6, 7, as_bits)
    state = after(game, position(game, drawing, mover), str(column))
    stones = sum(glyph != "." for glyph in drawing.replace(" ", ""))
    worth = 43 - (stones + 1)  # the sooner the better: 42 plies at most
    assert outcome_of(game, state) == (worth if mover == 0 else -worth)
    assert legal_set(game, state) == []


# Four stones whose bits or bytes are evenly spaced, but which go around an edge of the board.
WRAPS = {
    "a row that goes on in the next row": ("....... ....... ....... ....... .O..XXX .XOXOOO", 0, 1),
    "a column that goes on in the next column": ("X...... X...... O...... O...... X...... OX....O", 0, 2),
    "a diagonal over the left edge": ("....... ....... .X..... XO....X OX....O XO.O.OX", 0, 6),
    "a diagonal over the right edge": ("....... .....X. .....OX .....XO X....OX O..O.XO", 0, 2),
}


@pytest.mark.parametrize("name", WRAPS)
@pytest.mark.parametrize("as_bits", [True, False])
def test_a_line_does_not_go_around_an_edge(name: str, as_bits: bool) -> None:
    drawing, mover, column = WRAPS[name]
    game = build(6, 7, as_bits)
    assert outcome_of(game, after(game, position(game, drawing, mover), str(column))) == ONGOING


def test_stones_fall_and_full_columns_are_closed() -> None:
    game = connect_four("4x5")
    state = game.from_moves("3333 1")
    assert drawing_of(game, state) == "..O.. ..X.. ..O.. X.X.."
    assert legal_set(game, state) == [0, 1, 3, 4]
    with pytest.raises(MoveError, match="move 6: '3' is not a legal move here; legal: 1, 2, 4, 5"):
        game.from_moves("333313")


def test_a_full_board_without_a_line_is_a_draw() -> None:
    game = connect_four("4x4")
    state = game.from_moves("1212 2121 3434 4343")
    assert drawing_of(game, state) == "OXOX OXOX XOXO XOXO"
    assert outcome_of(game, state) == 0
    assert game.plies(state[None]).tolist() == [16]


def test_the_last_stone_may_win() -> None:
    game = connect_four("4x4")
    state = after(game, position(game, "XXX. XOXO OXOO OXXO", mover=1), "4")
    assert outcome_of(game, state) == -1


def test_observation_shows_the_movers_stones_first_with_the_highest_row_on_top() -> None:
    game = connect_four("4x4")
    planes = game.observe(game.from_moves("1 1 2")[None])[0]
    second, first = np.zeros((4, 4)), np.zeros((4, 4))
    second[2, 0] = 1
    first[3, 0] = first[3, 1] = 1
    np.testing.assert_array_equal(planes, np.stack([second, first]))


def test_moves_are_written_as_column_numbers() -> None:
    narrow, wide = connect_four("6x7"), connect_four("5x12")
    np.testing.assert_array_equal(narrow.from_moves("4453"), narrow.from_moves("4 4, 5 3"))
    assert wide.action_to_text(wide.initial(1)[0], 11) == "12"
    assert drawing_of(wide, wide.from_moves("12 1,12")).split()[-2:] == [".........." + ".X", "O.........." + "X"]
    with pytest.raises(MoveError, match="move 2: 'x' is not a legal move"):
        narrow.from_moves("4x")


@pytest.mark.parametrize("text", ["X.../..../..../.... 1 1", "..../..../..../X... 1 2"])
def test_text_of_an_impossible_position_is_refused(text: str) -> None:
    with pytest.raises(MoveError, match="stones rest on stones, and the ply counts them"):
        connect_four("4x4").state_from_text(text)


def test_drawings_carry_column_numbers() -> None:
    game = connect_four("4x5")
    assert game.render(game.from_moves("3 4")) == " 1 2 3 4 5\n . . . . .\n . . . . .\n . . . . .\n . . X O ."
    wide = connect_four("1x10")
    assert wide.render(wide.from_moves("10")) == "  1  2  3  4  5  6  7  8  9 10\n" + "  ." * 9 + "  X"
    picture = ElementTree.fromstring(game.svg(game.from_moves("3 4")))
    texts = [element.text for element in picture if element.tag.endswith("text")]
    assert texts[:5] == ["1", "2", "3", "4", "5"]
    assert sum(element.tag.endswith("circle") and element.get("stroke") != "none" for element in picture) == 2


@pytest.mark.parametrize("size", ["3x3", "0x7", "6x27", "27x6"])
def test_impossible_sizes_are_refused_in_one_line(size: str) -> None:
    with pytest.raises(GameError, match=f"connect_four-{size}.*for example connect_four-6x7"):
        make_game(f"connect_four-{size}")
