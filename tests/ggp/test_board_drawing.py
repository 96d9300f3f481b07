"""Boards of rules in GDL as drawings."""

from __future__ import annotations

import pytest

from palaestra.games.registry import make_game
from palaestra.games.svg import area_spot, grid_spot
from palaestra.ggp.board_drawing import draw_board
from palaestra.ggp.board_layout import Board
from palaestra.ggp.kif import read_kif
from palaestra.ggp.terms import Term

DROP = Board(("1", "2", "3", "4"), ("1", "2"), {("cell", 3): (0, 1)})
CHESS = Board(("a", "b", "c"), ("1", "2", "3"), {("cell", 3): (0, 1)})


def term(text: str) -> Term:
    return read_kif(text)[0].term


def test_a_move_of_one_square_stands_there_and_one_of_two_where_it_goes_to() -> None:
    drawing = draw_board(CHESS, ("white", "black"), [])
    assert drawing is not None and drawing.across
    assert drawing.spot(term("(mark a 1)")) == grid_spot(2, 0)
    assert drawing.spot(term("(move wp a 1 b 3)")) == grid_spot(0, 1)
    for elsewhere in ("noop", "(say x)", "(bid 3 9)"):
        assert drawing.spot(term(elsewhere)) is None


def test_a_move_of_one_axis_is_a_column() -> None:
    drops = [term(f"(drop {number})") for number in (1, 2, 3, 4)]
    drawing = draw_board(DROP, ("x", "o"), drops)
    assert drawing is not None and drawing.across
    assert drawing.spot(drops[2]) == area_spot(26 + 2 * 40, 26, 40, 80)
    turned = draw_board(Board(DROP.columns, DROP.rows, {}), ("x", "o"), drops)
    assert turned is not None and not turned.across
    assert turned.spot(drops[2]) == area_spot(26 + 2 * 40, 26, 40, 80)


def test_pieces_have_the_colour_of_the_role_whose_name_they_begin_like() -> None:
    facts = [
        term(text) for text in ("(cell a 1 wp)", "(cell b 1 bk)", "(cell c 1 blank)", "(cell c 2 q)", "(control white)")
    ]
    drawing = draw_board(CHESS, ("white", "black"), [])
    assert drawing is not None
    shown = drawing.svg(facts)
    assert shown.count('fill="#fdfdfb"') == shown.count('fill="#20242c"') == 1
    assert ">wp<" in shown and ">q<" in shown and "blank" not in shown and "(control white)" in shown


@pytest.mark.parametrize("id", ["gdl:tic_tac_toe-3x3", "gdl:connect_four-4x4", "gdl:hex-3x3", "gdl:eight_puzzle"])
def test_every_first_move_of_a_sheet_with_a_board_has_a_place_of_its_own(id: str) -> None:
    game = make_game(id)
    state = game.initial(1)[0]
    counts, actions = game.legal(state[None])
    spots = [game.spot(state, int(action), state) for action in actions[0, : counts[0]]]
    assert None not in spots and len({spot.outline for spot in spots if spot}) == len(spots)
