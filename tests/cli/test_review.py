"""`palaestra review`: whatever a file holds, an answer in words or one line that says what is wrong."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from palaestra.games.registry import make_game

GAME = '[Variant "tic_tac_toe-3x3"]\n[White "me"]\n[Black "you"]\n[Result "0-1"]\n\n1. c2 b1 2. a3 b3 3. c3 b2 0-1\n\n'
QUICK = ("--player", "uct(simulations=50)")


@pytest.fixture
def pgn(tmp_path: Path) -> Path:
    path = tmp_path / "game.pgn"
    path.write_text(GAME, encoding="utf-8")
    return path


def test_mistakes_better_moves_and_the_curve_are_shown(cli: Any, pgn: Path) -> None:
    done = cli("review", str(pgn), *QUICK)
    assert done.code == 0
    assert "tic_tac_toe-3x3, me against you, 0-1" in done.out
    assert "first player: 1 mistake, 1 blunder" in done.out and "second player: 2 mistakes" in done.out
    assert "▅▅█▅█▁▁" in done.out
    assert all(len(line) <= 80 for line in done.out.splitlines())


def test_json_has_every_move_with_its_verdict(cli: Any, pgn: Path) -> None:
    found = json.loads(cli("review", str(pgn), *QUICK, "--json").out)
    assert found["game"] == "tic_tac_toe-3x3" and found["verdicts"]["first"] == {
        "inaccuracy": 0,
        "mistake": 1,
        "blunder": 1,
    }
    assert [move["verdict"] for move in found["moves"]] == [None, "mistake", "mistake", "mistake", "blunder", None]
    assert found["moves"][4]["best"] == "b2" and found["moves"][4]["exact"] is True
    assert len(found["first_values"]) == 7


def test_the_page_is_written_whole(cli: Any, pgn: Path, tmp_path: Path) -> None:
    page = tmp_path / "review.html"
    assert cli("review", str(pgn), *QUICK, "--out", str(page)).code == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    done = cli("review", str(pgn), *QUICK, "--out", str(tmp_path / "no" / "review.html"))
    assert done.code == 2 and "no folder" in done.err


def test_a_file_with_several_games_needs_a_number(cli: Any, pgn: Path) -> None:
    pgn.write_text(GAME + GAME.replace("c3 b2 0-1", "b2 c3 1-0"), encoding="utf-8")
    done = cli("review", str(pgn), *QUICK)
    assert done.code == 2 and "holds several games" in done.err and "--number 2" in done.err
    assert json.loads(cli("review", str(pgn), *QUICK, "--number", "2", "--json").out)["number"] == 2
    done = cli("review", str(pgn), *QUICK, "--number", "3")
    assert done.code == 2 and "holds 2 games; --number 3 is none of them" in done.err


def test_a_file_loads_no_code(cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("payload.py").write_text("open('ran', 'w').close()\n")
    path = Path("game.pgn")
    path.write_text('[Variant "payload:GAME"]\n\n1. a1 *\n')
    done = cli("review", str(path), *QUICK)
    assert done.code == 2 and "--game" in done.err and not Path("ran").exists()
    done = cli("review", str(path), *QUICK, "--game", "hex-3x3")
    assert done.code == 0 and not Path("ran").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no game"),
        ("1. a1 *", "does not say which game"),
        ('[Variant "Chess960"]\n\n1. e4 *', "unknown game"),
        ('[Variant "hex-3x3"]\n\n*', "no move"),
        ('[Variant "hex-3x3"]\n\n1. z9 *', "move 1 of the game"),
        ('[Variant "hex-3x3"]\n[Start "7"]\n\n1. a1 *', "start 7"),
        ('[Variant "hex-3x3"]\n[Opening "x"]\n\n1. a1 *', "tag Opening"),
        ('[Variant "hex-3x3"]\n\n1. a1 (b2 *', "never closed"),
        ("{ a comment that is never closed", "cannot be read|never closed|no game|comment"),
        ('[Variant "gdl:/no/such/file"]\n\n1. a1 *', "no file"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(cli: Any, tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "game.pgn"
    path.write_text(text, encoding="utf-8")
    done = cli("review", str(path), *QUICK)
    assert done.code == 2 and re.search(words, done.err) and done.err.count("\n") == 1


@pytest.mark.parametrize("name", ["none.pgn", "."])
def test_a_file_that_cannot_be_read_is_one_line(cli: Any, tmp_path: Path, name: str) -> None:
    done = cli("review", str(tmp_path / name), *QUICK)
    assert done.code == 2 and "cannot read" in done.err and "Traceback" not in done.err


def test_no_control_character_of_a_file_reaches_the_terminal(cli: Any, pgn: Path, tmp_path: Path) -> None:
    pgn.write_text(GAME.replace("me", "m\x1b[2Je\x07"), encoding="utf-8")
    page = tmp_path / "review.html"
    done = cli("review", str(pgn), *QUICK, "--out", str(page))
    assert done.code == 0 and "m?[2Je?" in done.out
    assert not {"\x1b", "\x07"} & set(done.out + page.read_text(encoding="utf-8"))


def test_one_player_sees_scores(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "solo.pgn"
    game = make_game("morpion-4d")
    first = game.legal(game.initial(1))[1][0, 0]
    path.write_text(f'[Variant "morpion-4d"]\n[White "me"]\n\n1. #{first} *\n')
    done = cli("review", str(path), *QUICK)
    assert done.code == 0 and "you: " in done.out and "side" not in done.out
    assert "second" not in json.loads(cli("review", str(path), *QUICK, "--json").out)["verdicts"]


def test_damaged_files_are_answered_or_refused(cli: Any, pgn: Path) -> None:
    rng = random.Random(5)
    whole = bytearray(GAME.encode())
    for _ in range(40):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(damaged))
            kind = rng.random()
            if kind < 0.5:
                damaged[at] = rng.randrange(256)
            elif kind < 0.75:
                del damaged[at]
            else:
                damaged[at:at] = bytes(rng.choices(b'[](){};%"#*\n0123456789ab', k=rng.randint(1, 4)))
        pgn.write_bytes(bytes(damaged))
        done = cli("review", str(pgn), "--player", "uct(simulations=5)", "--json")
        assert done.code in (0, 2) and "unexpected" not in done.err, bytes(damaged)
