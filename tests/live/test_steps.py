"""Games and solutions, drawn move by move."""

from __future__ import annotations

import pytest

from palaestra.base.errors import RecordError
from palaestra.games.registry import make_game
from palaestra.live.steps import game_steps, solution_steps
from palaestra.runs.pgn_games import read_games
from palaestra.runs.solutions import parse_solution

PGN = '[White "a"] [Black "b"] [Variant "tic_tac_toe-3x3"] 1. b2 a1 2. a3 c1 3. c3 b3 4. a2 1/2-1/2\n\n'
MORPION = "game: morpion-5d\nscore: 2\nmoves:\nn11e\nn20e\n"


def test_a_game_has_a_picture_before_each_move_and_one_after_the_last() -> None:
    steps = game_steps(read_games(PGN)[0], make_game("tic_tac_toe-3x3"))
    assert steps.moves == ("b2", "a1", "a3", "c1", "c3", "b3", "a2")
    assert len(steps.pictures) == 8 and len(set(steps.pictures)) == 8
    assert "not played to its end" in steps.words


def test_a_game_that_the_rules_forbid_is_refused() -> None:
    with pytest.raises(RecordError, match="move 2"):
        game_steps(read_games("1. b2 b2 1-0\n\n")[0], make_game("tic_tac_toe-3x3"))


def test_morpion_is_drawn_by_its_referee_with_numbers_and_room_for_all_lines() -> None:
    steps = solution_steps(parse_solution(MORPION, "the file"))
    assert len(steps.moves) == 2 and len(steps.pictures) == 3
    sizes = {picture.split("viewBox=")[1][:24] for picture in steps.pictures}
    assert len(sizes) == 1
    assert ">2</text>" in steps.pictures[2] and ">2</text>" not in steps.pictures[1]


def test_bin_packing_is_drawn_by_its_own_rules() -> None:
    from palaestra.live.position import Position

    game = make_game("bin_packing")
    position = Position(game, "@0")
    while not position.is_over:
        position = position.after(position.legal_moves[0])
    text = f"game: {game.id}\nscore: {position.outcome}\nmoves:\n@0 {' '.join(position.moves)}\n"
    steps = solution_steps(parse_solution(text, "the file"), game)
    assert steps.moves == position.moves and "score" in steps.words


def test_a_very_long_game_is_not_drawn() -> None:
    with pytest.raises(RecordError, match="up to 1,000"):
        game_steps(read_games("a " * 2000 + "1-0\n\n")[0], make_game("tic_tac_toe-3x3"))
