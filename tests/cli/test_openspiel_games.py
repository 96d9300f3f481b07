"""The verbs on games of OpenSpiel, as a person would use them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from palaestra.games.registry import make_game
from palaestra.learn.loop import resume, train
from palaestra.runs.pgn_games import read_games
from tests.cli.conftest import Cli
from tests.learn.fakes import FAKES, tiny

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

GAME = "openspiel:breakthrough(columns=3,rows=5)"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def answer(cli: Cli, *arguments: str) -> dict[str, Any]:
    done = cli(*arguments, "--json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_a_match_is_played_and_its_record_can_be_replayed(cli: Cli) -> None:
    typed = "openspiel:breakthrough(rows=5, columns=3)"
    found = answer(cli, "match", typed, "uct(simulations=20)", "random", "--games", "4", "--pgn", "games.pgn")
    assert found["game"] == GAME and found["games"] == 4
    game = make_game(GAME)
    for record in read_games(Path("games.pgn").read_text()):
        assert record.tags["Variant"] == GAME
        assert str(game.outcome(record.states(game)[-1][None])[0]) == record.tags["Outcome"]


def test_moves_with_brackets_and_commas_are_kept_in_pgn(cli: Cli) -> None:
    game = make_game("openspiel:tic_tac_toe")
    answer(cli, "match", game.id, "random", "random", "--games", "2", "--pgn", "games.pgn")
    for record in read_games(Path("games.pgn").read_text()):
        assert len(record.states(game)) == len(record.moves) + 1 > 5


def test_a_position_is_analysed_and_drawn(cli: Cli) -> None:
    moves = ["--moves", "b5b4 a1a2 b4b3"]
    found = answer(cli, "analyse", GAME, *moves, "--player", "uct(simulations=50)", "--svg", "a.svg")
    assert found["action"] in found["policy"] and "circle" in Path("a.svg").read_text()
    assert answer(cli, "perft", "openspiel:tic_tac_toe", "3")["leaves"] == 504
    assert answer(cli, "check-game", "openspiel:tic_tac_toe")["violations"] == []


def test_a_game_is_played_at_the_prompt(cli: Cli) -> None:
    done = cli("play", GAME, "--against", "random", stdin="b5b4\nmoves\nresign\n")
    assert done.code == 0 and "random plays" in done.out and "legal:" in done.out


def test_a_tournament_is_played(cli: Cli) -> None:
    found = answer(cli, "tournament", GAME, "random", "greedy", "--games", "2", "--pgn", "t.pgn")
    assert found["game"] == GAME and cli("rate", "t.pgn").code == 0


def test_a_run_is_trained_and_gone_on_with(cli: Cli) -> None:
    train(tiny(game="openspiel:breakthrough(rows=5,columns=3)", iterations=1), "run", stages=FAKES)
    assert resume("run", iterations=2, stages=FAKES).iterations == 2
    assert cli("runs", ".").code == 0


def test_refusals_are_one_line_and_exit_code_2(cli: Cli) -> None:
    for id, words in (
        ("openspiel:backgammon", "chance"),
        ("openspiel:go(x=1)", "unknown parameter"),
        ("pgx:x", "known"),
    ):
        done = cli("match", id, "random", "random")
        assert done.code == 2 and words in done.err and len(done.err.strip().splitlines()) == 1


def test_the_list_of_games_and_completion_name_other_libraries(cli: Cli) -> None:
    from palaestra.cli.complete import games

    assert "openspiel:NAME" in cli("games").out.replace("\n", " ")
    assert "openspiel:chess" in games("openspiel:ch") and games("pgx:g") == [
        "pgx:gardner_chess",
        "pgx:go_9x9",
        "pgx:go_19x19",
    ]
