"""`palaestra qlearn`."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli

TIC = "tic_tac_toe-3x3"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def result(cli: Cli, *arguments: str) -> Any:
    done = cli(*arguments, "--json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_the_curve_and_its_end_are_json(cli: Cli) -> None:
    found = result(cli, "qlearn", TIC, "--games", "600", "--seeds", "3")
    assert (found["game"], found["learner"], found["opponent"], found["repeats"]) == (TIC, "q", "random", 3)
    assert [point["matches"] for point in found["curve"]] == list(range(40, 601, 40))
    last = found["curve"][-1]
    assert found["final_win_rate"] == last["win_rate"] and 0.4 < last["win_rate"] < 0.9
    assert found["overall_win_rate"] == last["so_far"] and last["plus_minus"] > 0
    assert found["ceiling"] == pytest.approx(0.980, abs=5e-4)
    assert found["seconds"] > 0 and len(found["states"]) == 3
    assert result(cli, "qlearn", TIC, "--games", "600", "--seeds", "3")["curve"] == found["curve"]


def test_people_get_the_curve_with_intervals_and_the_ceiling(cli: Cli) -> None:
    done = cli("qlearn", TIC, "--games", "300", "--seeds", "2", "--learner", "qm", "--playouts", "5")
    assert done.code == 0 and "QM-learning against random on tic_tac_toe-3x3" in done.out
    assert "best possible against random: 97.99 %" in done.out and "±" in done.out
    assert "300 " in done.out


def test_a_single_repeat_has_no_interval_and_another_opponent_no_ceiling(cli: Cli) -> None:
    found = result(cli, "qlearn", TIC, "--games", "40", "--seeds", "1", "--against", "greedy", "--learner", "td")
    assert found["curve"][-1]["plus_minus"] is None and found["ceiling"] is None
    assert (found["alpha"], found["gamma"], found["lambda_"], found["epsilon"]) == (0.3, 1.0, 0.7, 0.01)


def test_a_saved_table_plays_and_the_plot_is_a_picture(cli: Cli) -> None:
    words = ("qlearn", TIC, "--games", "9000", "--seeds", "1", "--save", "tic.table", "--plot", "curve.svg")
    assert "qtable:tic.table" in cli(*words).out
    assert "matches" in "".join(ElementTree.parse("curve.svg").getroot().itertext())
    match = result(cli, "match", TIC, "qtable:tic.table", "random", "--games", "100", "--opening-plies", "0")
    assert match["score"] > 0.6 and match["a"] == "qtable:tic.table"


@pytest.mark.parametrize(
    ("words", "pieces"),
    [
        (("--alpha", "2"), ["alpha is 2.0", "at most 1"]),
        (("--epsilon", "0.1", "--decay", "10"), ["either epsilon"]),
        (("--playouts", "5"), ["belong to the learners qm and qn"]),
        (("--learner", "sarsa"), ["sarsa"]),
        (("--plot", "curve.pdf"), [".png or .svg"]),
        (("--save", "no/such/folder/a.table"), ["no folder no/such/folder"]),
        (("--against", "nobody"), ["unknown player 'nobody'"]),
        (("--against", "qtable:none.table"), ["cannot read the table none.table"]),
        (("--games", "0"), ["--games"]),
        (("--seeds", "0"), ["--seeds"]),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(cli: Cli, words: tuple[str, ...], pieces: list[str]) -> None:
    done = cli("qlearn", TIC, *(() if "--games" in words else ("--games", "50")), *words)
    assert done.code == 2 and done.out == "" and len(done.err.splitlines()) == 1
    assert all(piece in done.err for piece in pieces)
    assert not list(Path().iterdir())


def test_a_game_for_one_is_refused(cli: Cli) -> None:
    done = cli("qlearn", "morpion-4d", "--games", "2")
    assert done.code == 2 and "has one player" in done.err
