"""Games of several roles, without a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from palaestra.base.errors import GdlError, MoveError
from palaestra.live.role_play import RoleMover, RolePlay

# Two roles choose at once, twice; who said the larger number more often has won.
BOTH = """
(role left) (role right)
(init (round 1))
(succ 1 2) (succ 2 3)
(<= (legal ?r (say 1)) (role ?r))
(<= (legal ?r (say 2)) (role ?r))
(<= (next (round ?n)) (true (round ?m)) (succ ?m ?n))
(<= (next (won left)) (does left (say 2)) (does right (say 1)))
(<= (next (won right)) (does right (say 2)) (does left (say 1)))
(<= (next (won ?r)) (true (won ?r)))
(<= terminal (true (round 3)))
(<= (goal ?r 100) (true (won ?r)))
(<= (goal ?r 0) (role ?r) (not (true (won ?r))))
"""


GRAB = """
(role white) (role black)
(index 1) (index 2)
(init (cell 1 1 b)) (init (cell 1 2 b)) (init (cell 2 1 b)) (init (cell 2 2 b))
(<= (legal ?r (grab ?x ?y)) (role ?r) (true (cell ?x ?y b)))
(<= (next (cell ?x ?y ?r)) (does ?r (grab ?x ?y)))
(<= (next (cell ?x ?y b)) (true (cell ?x ?y b)) (not (grabbed ?x ?y)))
(<= (next (cell ?x ?y ?r)) (true (cell ?x ?y ?r)) (role ?r))
(<= (grabbed ?x ?y) (does ?r (grab ?x ?y)))
(<= free (true (cell ?x ?y b)))
(<= terminal (not free))
(<= (goal ?r 50) (role ?r))
"""


@pytest.fixture
def both(tmp_path: Path) -> str:
    (tmp_path / "both.kif").write_text(BOTH)
    return f"gdl:{tmp_path / 'both.kif'}"


def test_all_roles_move_at_once(both: str) -> None:
    game = RolePlay(both).play({"left": "(say 2)", "right": "(say 1)"})
    assert game.turns == [("(say 2)", "(say 1)")] and game.goals is None
    game.play({"left": "(say 1)", "right": "(say 1)"})
    assert game.is_over and game.goals == {"left": 100, "right": 0}
    assert game.choices("left") == []
    with pytest.raises(MoveError, match="over"):
        game.play({"left": "(say 1)", "right": "(say 1)"})


def test_a_board_is_drawn_with_places_for_the_moves_of_each_role(tmp_path: Path, both: str) -> None:
    (tmp_path / "grab.kif").write_text(GRAB)
    document = RolePlay(f"gdl:{tmp_path / 'grab.kif'}", [["(grab 1 1)", "(grab 1 2)"]]).document()
    assert document["svg"].count("<circle") == 2
    for role in ("white", "black"):
        assert [one["name"] for one in document["targets"][role]] == document["legal"][role]
    plain = RolePlay(both).document()
    assert plain["svg"] == "" and plain["targets"] == {"left": [], "right": []}


def test_a_role_without_a_choice_need_not_be_named() -> None:
    game = RolePlay("gdl:tic_tac_toe-3x3").play({"x": "(mark 2 2)"})
    assert game.turns == [("(mark 2 2)", "noop")]


def test_a_missing_or_illegal_move_is_refused_and_changes_nothing(both: str) -> None:
    game = RolePlay(both)
    with pytest.raises(MoveError, match="right has to move"):
        game.play({"left": "(say 1)"})
    with pytest.raises(MoveError, match="not a legal move"):
        game.play({"left": "(say 3)", "right": "(say 1)"})
    for text in ("(say 1", "(say 1) (say 2)", ""):
        with pytest.raises(MoveError):
            game.play({"left": text, "right": "(say 1)"})
    assert game.turns == []


def test_going_to_other_turns_equals_playing_them(both: str) -> None:
    game = RolePlay(both, [["(say 1)", "(say 2)"], ["(say 1)", "(say 1)"]])
    game.go([["(say 2)", "(say 1)"]])
    assert game.document() == RolePlay(both).play({"left": "(say 2)", "right": "(say 1)"}).document()
    assert game.undo().turns == []
    with pytest.raises(MoveError, match="no turn"):
        game.undo()
    with pytest.raises(MoveError, match="1 moves"):
        game.go([["(say 1)"]])


def test_the_document_is_json(both: str) -> None:
    document = json.loads(json.dumps(RolePlay(both).document()))
    assert document["roles"] == ["left", "right"] and document["legal"]["left"] == ["(say 1)", "(say 2)"]


def test_a_mover_follows_the_turns_also_when_they_change(both: str) -> None:
    mover = RoleMover(both, "left", "random")
    assert mover.choose([]) in ("(say 1)", "(say 2)")
    assert mover.choose([["(say 1)", "(say 2)"]]) in ("(say 1)", "(say 2)")
    assert mover.choose([["(say 2)", "(say 2)"]]) in ("(say 1)", "(say 2)")


def test_what_is_no_game_in_gdl_is_refused(tmp_path: Path) -> None:
    for text in ("connect_four-6x7", f"gdl:{tmp_path / 'none.kif'}"):
        with pytest.raises(GdlError):
            RolePlay(text)
