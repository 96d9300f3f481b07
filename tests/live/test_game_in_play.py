"""A game in play, without a terminal."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from palaestra.base.errors import ConfigError, MoveError, PlayerError, RecordError
from palaestra.games.registry import make_game
from palaestra.live.elsewhere import Elsewhere
from palaestra.live.game_in_play import GameInPlay
from palaestra.live.position import Position

WEAK = "uct(simulations=30)"


def test_players_answer_until_it_is_a_persons_turn() -> None:
    game = GameInPlay("connect_four-4x4", [WEAK, None])
    assert not game.is_persons_turn
    game.play_on()
    assert game.is_persons_turn and len(game.position.moves) == 1
    with pytest.raises(MoveError, match="a person's turn"):
        game.answer()


def test_the_same_seed_gives_the_same_answers() -> None:
    games = [GameInPlay("connect_four-5x5", [None, WEAK], seed=seed).play("3").answer() for seed in (4, 4)]
    assert games[0].position.moves == games[1].position.moves


def test_undo_goes_to_a_persons_turn_and_redo_back_again() -> None:
    game = GameInPlay("connect_four-5x5", [None, WEAK]).play("3").answer().play("2").answer()
    moves = game.position.moves
    assert game.undo().position.moves == moves[:2] and game.undo().position.moves == ()
    with pytest.raises(MoveError, match="no move of yours"):
        game.undo()
    assert game.redo().position.moves == moves[:2] and game.redo().position.moves == moves
    with pytest.raises(MoveError, match="nothing was taken back"):
        game.redo()


def test_a_new_move_drops_what_was_taken_back() -> None:
    game = GameInPlay("tic_tac_toe-3x3", [None, None]).play("a1").play("b2").undo()
    assert game.position.moves == ("a1",) and game.document()["can_redo"]
    assert not game.play("c3").document()["can_redo"]


def test_players_without_a_person_take_back_one_move_each_time() -> None:
    game = GameInPlay("tic_tac_toe-3x3", [WEAK, WEAK]).answer().answer()
    assert len(game.undo().position.moves) == 1


def test_resigning_gives_the_other_side_the_point() -> None:
    game = GameInPlay("tic_tac_toe-3x3", [None, WEAK]).play("a1")
    game.resign(0)
    assert (game.points, game.is_over) == (0.0, True)
    assert game.result == "the first player resigns: the second player wins"
    assert '[Result "0-1"]' in game.pgn()
    with pytest.raises(MoveError, match="the game is over"):
        game.play("b2")
    assert not game.undo().is_over, "a resignation can be taken back"


def test_swapping_sides_keeps_the_moves() -> None:
    game = GameInPlay("tic_tac_toe-3x3", [None, WEAK]).play("b2").swap_sides()
    assert game.names() == [WEAK, "human"] and game.is_persons_turn and game.position.moves == ("b2",)


@pytest.mark.parametrize("id", ["tic_tac_toe-3x3", "opposition-3x9", "morpion-4d", "gdl:tic_tac_toe-3x3"])
def test_pgn_goes_out_and_comes_in(id: str) -> None:
    players = [None, None][: 1 if id.startswith("morpion") else 2]
    game = GameInPlay(id, players, seed=3)
    for _ in range(4):
        game.play(game.position.legal_moves[-1])
    again = GameInPlay.from_pgn(game.pgn(), players)
    assert again.position.text == game.position.text and again.position.start == game.position.start
    assert (again.position.state == game.position.state).all()


def test_a_resigned_game_stays_resigned_in_pgn() -> None:
    game = GameInPlay("tic_tac_toe-3x3", [None, None]).play("a1").resign()
    assert GameInPlay.from_pgn(game.pgn(), [None, None]).resigned == 1


@pytest.mark.parametrize("text", ["", '[Variant "nonsense"]\n\n1. a1 *\n', '[Variant "tic_tac_toe-3x3"]\n\n1. z9 *\n'])
def test_a_bad_pgn_is_refused(text: str) -> None:
    with pytest.raises(RecordError):
        GameInPlay.from_pgn(text)


def test_code_that_a_pgn_names_is_not_imported() -> None:
    with pytest.raises(RecordError, match="not loaded because a file says so"):
        GameInPlay.from_pgn('[Variant "antigravity:GAME"]\n\n1. a1 *\n')


def test_the_number_of_players_must_fit() -> None:
    with pytest.raises(ConfigError, match="has 1 sides, and 2 players"):
        GameInPlay("morpion-4d", [None, None])


def test_documents_are_json_and_drawings_are_svg() -> None:
    game = GameInPlay("connect_four-4x4", [None, WEAK]).play("2").answer()
    document = json.loads(json.dumps(game.document()))
    assert document["position"]["moves"] == list(game.position.moves) and document["position"]["to_play"] == "first"
    assert document["players"] == ["human", WEAK] and document["can_undo"]
    assert ElementTree.fromstring(game._repr_svg_()).tag.endswith("svg")
    assert "connect_four-4x4 after 2 " in repr(game)


def test_an_illegal_move_or_action_says_what_is_legal() -> None:
    position = Position("tic_tac_toe-3x3", "a1")
    for move in ("a1", 0, 99):
        with pytest.raises(MoveError, match="legal: b1"):
            position.after(move)
    assert position.after(8).moves == ("a1", "c3")


def test_a_finished_position_says_its_result() -> None:
    position = Position("tic_tac_toe-3x3", "a1 b1 a2 b2 a3")
    assert position.result == "the first player wins at ply 5" and position.outcome == 5
    assert position.document()["to_play"] is None and position.legal_moves == []
    with pytest.raises(MoveError, match="5 moves to take back, not 6"):
        position.back(6)


def test_one_can_look_at_every_position_of_the_line_and_come_back() -> None:
    game = GameInPlay("tic_tac_toe-3x3", [None, None], moves="a1 b2 c3")
    assert (game.go(1).position.moves, game.ply, len(game.line)) == (("a1",), 1, 3)
    assert game.go(3).position.moves == ("a1", "b2", "c3")
    assert game.go(0).redo().position.moves == ("a1",)
    for ply in (-1, 4):
        with pytest.raises(MoveError, match="3 moves"):
            game.go(ply)


def test_another_move_in_the_middle_of_the_line_drops_the_rest() -> None:
    game = GameInPlay("tic_tac_toe-3x3", [None, None], moves="a1 b2 c3").go(1).play("c1")
    assert game.position.moves == ("a1", "c1") and len(game.line) == 2


def test_a_game_that_was_given_up_is_over_at_its_end_alone() -> None:
    game = GameInPlay("tic_tac_toe-3x3", [None, None], moves="a1 b2").resign()
    assert game.is_over and not game.go(1).is_over and game.go(2).resigned == 0
    assert not game.go(1).play("c1").is_over


def test_a_player_that_thinks_elsewhere_has_a_side_and_a_name_but_no_moves() -> None:
    rules = make_game("tic_tac_toe-3x3")
    game = GameInPlay(rules, [None, Elsewhere(rules, WEAK)]).play("b2")
    assert game.names() == ["human", WEAK] and not game.is_persons_turn
    with pytest.raises(PlayerError, match="another process"):
        game.answer()
