"""Openings from files: lines of moves, games of a PGN, and what is said about files that hold neither."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from palaestra.arena.match import play_match
from palaestra.arena.opening_files import read_openings
from palaestra.arena.openings import Opening, make_book, play_opening
from palaestra.base.errors import RecordError
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.players.registry import make_player
from palaestra.runs.pgn_games import write_game

TIC = make_game("tic_tac_toe-3x3")
FOUR = make_game("connect_four-4x4")
OPPOSITION = make_game("opposition-3x9")


def file_of(folder: Path, text: str | bytes, name: str = "openings.txt") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_line_is_an_opening_in_the_games_notation(tmp_path: Path) -> None:
    path = file_of(tmp_path, "# our favourites\n\na1 b2  # the centre\r\nb2,a1,c3\n")
    assert read_openings(path, TIC) == [Opening(0, (0, 4)), Opening(0, (4, 0, 8))]


def test_a_byte_order_mark_and_moves_without_spaces_are_read(tmp_path: Path) -> None:
    assert read_openings(file_of(tmp_path, "\ufeff12 3\n"), FOUR) == [Opening(0, (0, 1, 2))]


def test_an_initial_position_can_be_chosen(tmp_path: Path) -> None:
    _, actions = OPPOSITION.legal(OPPOSITION.start(np.array([2])))
    move = OPPOSITION.action_to_text(OPPOSITION.start(np.array([2]))[0], int(actions[0, 0]))
    found = read_openings(file_of(tmp_path, f"@2 {move}\n@5\n"), OPPOSITION)
    assert found == [Opening(2, (int(actions[0, 0]),)), Opening(5, ())]


def test_openings_that_lead_to_one_position_are_used_once(tmp_path: Path) -> None:
    path = file_of(tmp_path, "a1 b2 c3\nc3 b2 a1\na1 b2 c3\na1 b2 a3\n")
    assert len(read_openings(path, TIC)) == 2


def test_only_the_first_plies_are_used_when_so_many_are_asked_for(tmp_path: Path) -> None:
    path = file_of(tmp_path, "a1 b2 c3\nb2 a1 c3\n")
    assert read_openings(path, TIC, plies=1) == [Opening(0, (0,)), Opening(0, (4,))]


def pgn_of(game: Game, games: int, seed: int = 3) -> tuple[str, list[Opening]]:
    """A match as PGN, and the openings that its pairs had."""
    players = make_player("random", game), make_player("mcs(playouts=3)", game)
    match = play_match(game, *players, games, opening_plies=2, seed=seed)
    return "".join(write_game(record, game) for record in match.records), make_book(game, games // 2, 2, seed)


@pytest.mark.parametrize("game", [FOUR, OPPOSITION], ids=lambda game: game.id)
def test_the_openings_of_a_match_are_read_from_its_games(tmp_path: Path, game: Game) -> None:
    text, book = pgn_of(game, 8)
    for name in ("games.pgn", "games.txt"):
        assert read_openings(file_of(tmp_path, text, name), game) == book
    longer = read_openings(file_of(tmp_path, text), game, plies=3)
    assert {opening.moves[:2] for opening in longer} == {opening.moves for opening in book}
    states = np.stack([play_opening(game, opening) for opening in longer])
    assert (game.plies(states) == 3).all() and len(set(map(bytes, states))) == len(longer)


PGN = '[White "x"]\n[Variant "{}"]\n{}\n1. 1 1 2. 2 1-0\n'


@pytest.mark.parametrize(
    ("text", "plies", "complaint"),
    [
        ("1 2\n\n# so\n1 9\n", None, r"line 4: move 2: '9' is not a legal move here"),
        ("1 2\n1 2 1 2 1 2 1\n", None, r"line 2: the game is over after these moves"),
        ("1 2 3\n1 2\n", 3, r"line 2: there are 2 plies and 3 were asked for"),
        ("@7 1\n", None, r"line 1: '@7' is not an initial position"),
        ("# nothing\n", None, r"holds no opening"),
        ("", None, r"holds no opening"),
        (b"\xff\xfe\x00", None, r"is not text"),
        (PGN.format("hex-3x3", ""), 2, r"game 1: it is one of 'hex-3x3', not of 'connect_four-4x4'"),
        (PGN.format("connect_four-4x4", ""), None, r"game 1: it has no tag Opening; .*games\.pgn:4"),
        (PGN.format("connect_four-4x4", '[Opening "x"]'), None, r"game 1: the tag Opening is 'x'"),
        (PGN.format("connect_four-4x4", ""), 7, r"game 1: there are 3 plies and 7 were asked for"),
        ("[White", None, r"line 1"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    tmp_path: Path, text: str | bytes, plies: int | None, complaint: str
) -> None:
    with pytest.raises(RecordError, match=complaint) as said:
        read_openings(file_of(tmp_path, text), FOUR, plies)
    assert "openings.txt" in str(said.value) and "\n" not in str(said.value)


def test_a_folder_is_no_file_of_openings(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="it is a folder"):
        read_openings(tmp_path, FOUR)
