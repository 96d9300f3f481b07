"""Restarts of a search for one player, and finished games looked at again."""

from __future__ import annotations

import json
from pathlib import Path

from palaestra.live.game_in_play import GameInPlay
from palaestra.live.game_list import list_games
from palaestra.live.review import review
from palaestra.live.solving import solve


def test_a_session_ends_with_its_clock_and_goes_on_again(tmp_path: Path) -> None:
    session = solve("morpion-4d", "random", restarts=1, threads=1, out=tmp_path / "solved")
    document = json.loads(json.dumps(session.document()))
    assert document["stopped_by"] == "restarts" and document["best"] == session.best
    assert document == session.document(), "the clock stands still"
    assert "all restarts were made" in repr(session) and "image/svg+xml" in session._repr_html_()
    again = solve("morpion-4d", "random", restarts=1, threads=1, out=tmp_path / "solved")
    assert again.document()["restarts"] == 2 * document["restarts"]


def test_a_review_names_the_mistake(tmp_path: Path) -> None:
    game = GameInPlay("tic_tac_toe-3x3", [None, None], moves="b2 a2 a1 b1 c3")
    file = tmp_path / "game.pgn"
    file.write_text(game.pgn())
    heard: list[tuple[int, int]] = []
    found = review(file, "perfect", listen=lambda done, total: heard.append((done, total)))
    assert heard[-1] == (6, 6)
    document = json.loads(json.dumps(found.document()))
    assert document["moves"][1]["verdict"] == "blunder" or document["moves"][1]["verdict"] == "mistake"
    assert document["first"] == "human" and document["result"] == "1-0"
    assert "second player: " in repr(found) and "<table" in found._repr_html_()
    assert "<html" in found.page()


def test_every_listed_game_has_an_entry() -> None:
    assert {"connect_four-6x7", "morpion-5d"} <= {game["id"] for game in list_games()}
