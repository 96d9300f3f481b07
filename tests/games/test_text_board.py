"""Boards read off text."""

from __future__ import annotations

import pytest

from palaestra.games.svg import area_spot, grid_spot
from palaestra.games.text_board import cell_names, read_board

BREAKTHROUGH = "3bb.\n2...\n1.ww\n abc\n"
GO = "GoState(komi=7.5, to_play=B, history.size()=1)\n\n 3 +++\n 2 +X+\n 1 ++O\n   ABC\n"
HEX = ". x . \n o . . \n  . . x "
FEN = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"


def test_rows_and_columns_have_the_names_that_stand_beside_them() -> None:
    board = read_board(BREAKTHROUGH)
    assert board is not None and board.cells[0] == ("b", "b", "") and board.rows == ("3", "2", "1")
    assert board.find("c1") == (2, 2) and board.find("d1") is None
    go = read_board(GO)
    assert go is not None and go.cells == (("", "", ""), ("", "X", ""), ("", "", "O")) and go.find("B2") == (1, 1)


def test_lines_that_begin_further_right_are_hexagons() -> None:
    board = read_board(HEX)
    assert board is not None and board.leans and board.cells[1] == ("o", "", "") and "polygon" in board.svg()


def test_a_fen_is_a_board_with_chessmen() -> None:
    board = read_board(FEN)
    assert board is not None and board.cells[0][4] == "♚" and board.find("e2") == (6, 4) and "♙" in board.svg()


@pytest.mark.parametrize("text", ["", "hello", "Player 1 score = 2\n  8  3  9\n", "(0): 0 0 1 0", "ab\nabc\nabcd"])
def test_text_without_a_grid_is_no_board(text: str) -> None:
    assert read_board(text) is None


@pytest.mark.parametrize(
    ("move", "names"),
    [
        ("a2a3", ["a2", "a3"]),
        ("e7e8q", ["e7", "e8"]),
        ("b1-h1", ["b1", "h1"]),
        ("x(0,1)", ["0,1"]),
        ("S(6,0)-(5,0)", ["6,0", "5,0"]),
        ("9i9h", ["9i", "9h"]),
        ("P*5e", ["5e"]),
        ("a10a11", ["a10", "a11"]),
        ("pass", []),
    ],
)
def test_a_move_names_its_cells(move: str, names: list[str]) -> None:
    assert cell_names(move) == names


def test_a_move_between_two_cells_is_a_line_and_one_to_a_cell_an_area() -> None:
    board = read_board(BREAKTHROUGH)
    assert board is not None
    one, two = board.spot([(0, 0)]), board.spot([(0, 0), (1, 1)])
    assert one is not None and len(one.outline) == 4 and two is not None and len(two.outline) == 2
    assert board.spot([]) is None


def test_a_move_that_is_a_column_points_at_all_of_it() -> None:
    board = read_board(BREAKTHROUGH)
    assert board is not None and board.spot_of("b") == area_spot(26 + 40, 26, 40, 120)
    assert board.spot_of("c1") == grid_spot(2, 2) and board.spot_of("pass") is None


def test_lines_beside_a_board_stand_below_it_and_texts_are_harmless() -> None:
    board = read_board(". X\nO .\n<script> to move")
    assert board is not None and board.others == ("<script> to move",)
    drawn = board.svg()
    assert drawn.count("<circle") == 2 and "&lt;script&gt;" in drawn and "<script>" not in drawn
