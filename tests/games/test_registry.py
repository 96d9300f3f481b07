"""Games by name: every listed id works, sizes are free, and a bad name gets one clear line."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import palaestra
from palaestra.base.errors import GameError
from palaestra.games.registry import FAMILIES, example_ids, full_id, make_game

TINY = """
from palaestra.games import PlainRules, PythonGame

class Once(PlainRules):
    def start(self, choice): return (0,)
    def mover(self, state): return state[0]
    def moves(self, state): return [0]
    def play(self, state, action): return (1,)
    def result(self, state): return 1 if state[0] else None

GAME = PythonGame.of(Once(), id="once", num_actions=1, max_plies=1)
NUMBER = 3
"""


@pytest.mark.parametrize("id", example_ids())
def test_every_listed_id_makes_a_game_of_that_id(id: str) -> None:
    game = make_game(id)
    assert game.id == id
    assert game.players == (1 if id.startswith(("morpion", "bin_packing", "tsp")) else 2)


def test_the_tiebreaks_are_those_of_the_design() -> None:
    breaks = {id.partition("-")[0]: make_game(id).tiebreak for id in example_ids()}
    assert breaks == {
        "tic_tac_toe": "plies", "gobang": "plies", "connect_four": "plies", "hex": "plies", "opposition": "plies",
        "othello": "margin", "morpion": "score", "bin_packing": "score", "tsp": "score",
    }  # fmt: skip


def test_one_object_serves_all() -> None:
    assert make_game("gobang-6x6") is make_game("gobang-6x6")


@pytest.mark.parametrize(
    ("id", "message"),
    [
        ("chess-8x8", "unknown game 'chess-8x8'; known: tic_tac_toe, gobang, "),
        ("", "unknown game ''"),
        ("gobang-", "'gobang-' is not a size of gobang: write gobang-ROWSxCOLS"),
        ("gobang-6", "write gobang-ROWSxCOLS"),
        ("gobang-6x6-", "write gobang-ROWSxCOLS"),
        ("gobang-6x6\n", "is not a size of gobang"),
        ("gobang--6x6", "is not a size of gobang"),
        ("gobang-٦x٦", "is not a size of gobang"),
        ("gobang-6x6-9", "the line fits on it"),
        ("tic_tac_toe-1x1", "tic_tac_toe-1x1"),
        ("tic_tac_toe-99x99", "2 to 26 rows and columns"),
        ("connect_four-0x7", "connect_four-0x7"),
        ("connect_four-999x999", "connect_four-999x999"),
        ("othello-3x3", "othello-3x3"),
        ("othello-6x8", "othello-6x8"),
        ("othello-12x12", "othello-12x12"),
        ("hex-1x1", "hex-1x1"),
        ("hex-3x4", "hex-3x4"),
        ("opposition-1x9", "opposition-1x9"),
        ("opposition-3x1", "opposition-3x1"),
        ("morpion-6d", "write morpion-5d, 5t, 4d or 4t"),
        ("bin_packing-4d", "write bin_packing-2d, 3d, or either with -ITEMS"),
        ("bin_packing-2d-51", "2 to 50 items"),
        ("no_such_module:GAME", "cannot import 'no_such_module' (ModuleNotFoundError"),
        (":GAME", "code of your own is module:attribute"),
        ("json:", "code of your own is module:attribute"),
        ("json:dumps", "is not a palaestra Game; a user's game is module:attribute, for example my_game:GAME"),
    ],
)
def test_a_bad_id_is_one_clear_line(id: str, message: str) -> None:
    with pytest.raises(GameError) as caught:
        palaestra.make_game(id)
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    return tmp_path


def test_a_game_of_the_current_folder_is_found(own_folder: Path) -> None:
    (own_folder / "tiny_found.py").write_text(TINY)
    assert palaestra.make_game("tiny_found:GAME").id == "once"


def test_an_attribute_that_is_no_game_is_refused(own_folder: Path) -> None:
    (own_folder / "tiny_number.py").write_text(TINY)
    for attribute, words in (("NUMBER", "is not a palaestra Game"), ("MISSING", "tiny_number has no MISSING")):
        with pytest.raises(GameError, match=words):
            palaestra.make_game(f"tiny_number:{attribute}")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def broken(:\n", "SyntaxError"),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("raise ValueError('two\\nlines')\n", "ValueError: two lines"),
        ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
    ],
)
def test_a_file_that_cannot_be_imported_is_one_clear_line(own_folder: Path, source: str, message: str) -> None:
    name = f"tiny_broken_{abs(hash(source))}"
    (own_folder / f"{name}.py").write_text(source)
    with pytest.raises(GameError) as caught:
        palaestra.make_game(f"{name}:GAME")
    assert message in str(caught.value) and len(str(caught.value).splitlines()) == 1


def test_every_example_belongs_to_its_family() -> None:
    assert all(id.startswith(f"{name}-") for name, entry in FAMILIES.items() for id in entry.examples)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_familys_name_alone_is_its_usual_size(family: str) -> None:
    usual = FAMILIES[family].usual
    assert usual.startswith(f"{family}-") and usual in FAMILIES[family].examples
    assert full_id(family) == make_game(family).id == usual
    assert make_game(family) is make_game(usual)
    page = Path(__file__).resolve().parents[2] / "docs" / "games" / f"{family}.md"
    assert f"`{family}` alone is `{usual}`" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("connect4", "connect_four-6x7"),
        ("connect-four", "connect_four-6x7"),
        ("connect_fuor-6x7", "connect_four-6x7"),
        ("connect4-5x5", "connect_four-5x5"),
        ("tictactoe", "tic_tac_toe-3x3"),
        ("ttt", "tic_tac_toe-3x3"),
        ("reversi", "othello-8x8"),
        ("Othello-6x6", "othello-6x6"),
        ("gomoku", "gobang-15x15-5"),
        ("five-in-a-row", "gobang-15x15-5"),
        ("morpion_solitaire", "morpion-5d"),
        ("hexx", "hex-11x11"),
    ],
)
def test_another_name_or_a_slip_is_answered_by_the_id_that_was_meant(typed: str, meant: str) -> None:
    with pytest.raises(GameError, match=re.escape(f"unknown game '{typed}' (did you mean {meant}?)")):
        make_game(typed)


@pytest.mark.parametrize("typed", ["chess", "go-9x9", "a" * 4_000, "-" * 4_000, "shogi" + "-1" * 2_000])
def test_what_is_near_to_no_game_is_answered_shortly_by_those_that_there_are(typed: str) -> None:
    with pytest.raises(GameError, match="unknown game") as caught:
        make_game(typed)
    assert "did you mean" not in str(caught.value) and len(str(caught.value)) < 400
