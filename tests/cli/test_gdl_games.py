"""The verbs on rules in GDL, as a person would use them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from palaestra.base.errors import RunError
from palaestra.games.registry import make_game
from palaestra.ggp.rules import rulesheet
from palaestra.learn.loop import resume, train
from palaestra.runs.pgn_games import read_games
from tests.cli.conftest import Cli
from tests.learn.fakes import FAKES, tiny

GAME = "gdl:tic_tac_toe-3x3"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def answer(cli: Cli, *arguments: str) -> dict[str, Any]:
    done = cli(*arguments, "--json")
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_a_match_is_played_and_its_record_can_be_replayed(cli: Cli) -> None:
    found = answer(cli, "match", GAME, "alphabeta(depth=4)", "random", "--games", "4", "--pgn", "games.pgn")
    assert found["game"] == GAME and found["games"] == 4 and found["score"] >= 0.5
    game = make_game(GAME)
    for record in read_games(Path("games.pgn").read_text()):
        end = record.states(game)[-1]
        assert str(game.outcome(end[None])[0]) == record.tags["Outcome"]


def test_the_winning_move_is_found_and_named_as_the_rules_name_it(cli: Cli) -> None:
    moves = "(mark 1 1) (mark 2 2) (mark 1 2) (mark 3 3)"
    found = answer(cli, "analyse", GAME, "--moves", moves, "--player", "uct(simulations=200)")
    assert found["action"] == "(mark 1 3)" and found["value"] > 0.9


def test_laws_and_leaves_are_those_of_any_game(cli: Cli) -> None:
    assert answer(cli, "check-game", GAME)["violations"] == []
    assert answer(cli, "perft", GAME, "4")["leaves"] == 3024


def test_the_list_of_games_says_how_rules_are_named(cli: Cli) -> None:
    done = cli("games")
    assert done.code == 0 and "gdl:FILE.kif" in done.out and "gdl:eight_puzzle" in done.out


def test_what_cannot_be_played_so_is_one_line_and_exit_code_2(cli: Cli) -> None:
    Path("broken.kif").write_text("(role x")
    for id, words in (("gdl:broken.kif", "never closed"), ("gdl:none.kif", "no file 'none.kif'"), ("gdl:", "no file")):
        done = cli("match", id, "random", "random")
        assert done.code == 2 and words in done.err and len(done.err.strip().splitlines()) == 1


def test_rules_in_a_file_are_trained_and_a_run_of_other_rules_does_not_go_on() -> None:
    file = Path("game.kif")
    file.write_text(rulesheet("tic_tac_toe-3x3"))
    sets = (
        "selfplay.search.simulations=8",
        "gate.games=2",
        "gate.simulations=4",
        "evaluation.simulations=4",
        'evaluation.anchors=["random"]',
    )
    summary = train(tiny(*sets, game="gdl:game.kif", iterations=1), "real")
    assert summary.iterations == 1 and summary.config.game == "gdl:game.kif"
    train(tiny(game="gdl:game.kif", iterations=1), "run", stages=FAKES)
    file.write_text(rulesheet("tic_tac_toe-3x3") + "; a remark\n")
    assert resume("run", iterations=2, stages=FAKES).iterations == 2
    file.write_text(rulesheet("tic_tac_toe-4x4"))
    with pytest.raises(RunError, match="start a new run"):
        resume("run", iterations=3, stages=FAKES)
