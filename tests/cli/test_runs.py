"""The verbs about a run that exists: evaluate and report; and Table 6.1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from palaestra.base.errors import ConfigError
from palaestra.cli.evaluate import read_budgets
from palaestra.games.registry import make_game
from palaestra.learn.oracles import ErrorRate
from palaestra.live.evaluation import overall_rate
from tests.learn.run_folders import make_run
from tests.players.run_folders import random_model, write_run

HEX = make_game("hex-3x3")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_run(tmp_path / "runs" / "small", HEX, {0: random_model(HEX, 0), 4: random_model(HEX, 4)})
    return tmp_path


def test_evaluate_gives_matches_and_error_rates(cli: Any, here: Path) -> None:
    arguments = ("evaluate", "small", "--games", "8", "--simulations", "2,30", "--against", "random")
    found = json.loads(cli(*arguments, "--json").out)
    assert (found["game"], found["network"]) == ("hex-3x3", 4)
    assert [(one["anchor"], one["simulations"], one["games"]) for one in found["against"]] == [
        ("random", 2, 8), ("random", 30, 8),
    ]  # fmt: skip
    assert all(one["distinct_games"] > 2 and len(one["elo"]) == 3 for one in found["against"])
    assert [rate["simulations"] for rate in found["error_rates"]] == [0, 2, 30]
    rates = [rate["error_rate"] for rate in found["error_rates"]]
    assert found["error_rate"] == rates[-1] < rates[0]
    assert {rate["positions"] for rate in found["error_rates"]} == {4520}
    again = json.loads(cli(*arguments, "--threads", "1", "--json").out)
    assert [one["wins"] for one in again["against"]] == [one["wins"] for one in found["against"]]
    shown = cli(*arguments).out
    assert "network 4, on hex-3x3" in shown and "random" in shown and "net alone" in shown


def test_evaluate_takes_other_networks_anchors_and_no_games(cli: Any, here: Path) -> None:
    found = json.loads(
        cli("evaluate", "runs/small", "--network", "0", "--games", "0", "--simulations", "1", "--json").out
    )
    assert (found["network"], found["against"], found["elo"]) == (0, [], None)
    default = json.loads(cli("evaluate", "small", "--games", "2", "--simulations", "1", "--json").out)
    assert [one["anchor"] for one in default["against"]] == ["random", "uct(simulations=200)"]
    assert default["elo"] == default["against"][0]["elo"]


def test_evaluate_uses_a_network_under_another_reward(cli: Any, here: Path) -> None:
    model = random_model(HEX, 3, "b1c8-outcome")
    write_run(here / "runs" / "heads", HEX, {0: model})
    arguments = ("evaluate", "heads", "--games", "0", "--simulations", "4", "--json")
    own = json.loads(cli(*arguments).out)
    other = json.loads(cli(*arguments, "--reward", "hand_tuned").out)
    assert (own["reward"], other["reward"]) == ("primitive", "hand_tuned")
    alone, searched = ([one["error_rates"][place]["mistakes"] for one in (own, other)] for place in (0, 1))
    assert alone[0] == alone[1] and searched[0] != searched[1]


def test_evaluate_reads_sets_of_positions(cli: Any, here: Path) -> None:
    sets = {
        "starts": [{"moves": "", "scores": [-1, -1, 1, 1, 1, 1, 1, -1, -1]}],
        "later": [{"moves": "b2", "scores": [-1, -1, -1, -1, None, -1, -1, -1, -1]}],
    }
    (here / "sets.json").write_text(json.dumps(sets))
    found = json.loads(cli("evaluate", "small", "--games", "0", "--positions", "sets.json", "--json").out)
    assert [rate["positions_of"] for rate in found["error_rates"]] == ["starts", "later"] * 2
    assert found["error_rates"][-1]["error_rate"] == 0.0 and found["error_rates"][-1]["telling"] == 0


def test_evaluate_draws_mistakes_over_minutes(cli: Any, here: Path) -> None:
    make_run(here / "runs" / "real", "tic_tac_toe-3x3", iterations=4, best=2)
    arguments = ("evaluate", "real", "--games", "0", "--simulations", "3", "--curve", "mistakes.svg", "--points", "3")
    found = json.loads(cli(*arguments, "--json").out)
    (point,) = found["curve"]  # there is one trained network
    assert (point["network"], point["minutes"]) == (2, 2.0)
    assert point["error_rates"] == found["error_rates"] and [rate["simulations"] for rate in found["error_rates"]] == [
        0,
        3,
    ]
    picture = (here / "mistakes.svg").read_text()
    assert "network alone" in picture and "3 simulations" in picture
    shown = cli(*arguments).out
    assert "| sims | mistakes in %, after minutes | 2.0 |" in shown and "| net alone | " in shown


def test_evaluate_draws_elo_over_minutes(cli: Any, here: Path) -> None:
    make_run(here / "runs" / "real", "tic_tac_toe-3x3", iterations=4, best=2)
    arguments = ("evaluate", "real", "--games", "4", "--simulations", "3", "--elo-curve", "elo.svg", "--points", "3")
    found = json.loads(cli(*arguments, "--against", "random", "--json").out)
    network, anchor = found["elo_curve"]
    assert (network["iteration"], network["minutes"], anchor["player"], anchor["elo"]) == (2, 2.0, "random", 0.0)
    assert network["low"] < network["elo"] < network["high"] and found["against"] == []
    assert "random" in (here / "elo.svg").read_text()
    assert "| 2.0 | network 2 | " in cli(*arguments).out


def test_a_game_without_an_oracle_has_no_error_rate(cli: Any, here: Path) -> None:
    game = make_game("othello-6x6")
    write_run(here / "runs" / "large", game, {1: random_model(game, 0, "b1c4")})
    found = json.loads(cli("evaluate", "large", "--games", "0", "--json").out)
    assert found["error_rate"] is None and found["error_rates"] == [] and "curve" not in found
    refused = cli("evaluate", "large", "--games", "0", "--curve", "mistakes.svg")
    assert refused.code == 2 and "no oracle knows othello-6x6" in refused.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("evaluate", "none"), "'none' is not a run; runs in ./runs: small"),
        (("evaluate", "small", "--network", "2"), "no network '2'; it has best, last, 0, 4"),
        (("evaluate", "small", "--simulations", "100,"), "for example 100,600"),
        (("evaluate", "small", "--simulations", "0"), "for example 100,600"),
        (("evaluate", "small", "--games", "3", "--against", "random"), "even number"),
        (("evaluate", "small", "--against", "nobody"), "unknown player"),
        (("evaluate", "small", "--reward", "elo"), "unknown reward 'elo'"),
        (("evaluate", "small", "--reward", "cdf"), "0001.pgn is not part of the run"),
        (("evaluate", "small", "--positions", "none.json"), "cannot read none.json"),
        (("evaluate", "small", "--curve", "mistakes.gif"), ".png"),
        (("evaluate", "small", "--curve", "no/mistakes.png"), "there is no folder no"),
        (("evaluate", "small", "--points", "4"), "give --curve FILE or --elo-curve FILE"),
        (("evaluate", "small", "--elo-curve", "elo.gif"), ".png"),
        (("evaluate", "small", "--elo-curve", "elo.png", "--games", "0"), "comes from games: --games 20"),
        (("report", "none"), "'none' is not a run"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(cli: Any, here: Path, arguments: tuple[str, ...], words: str) -> None:
    done = cli(*arguments)
    assert done.code == 2 and words in done.err and len(done.err.splitlines()) == 1 and done.out == ""


def test_report_writes_one_page(cli: Any, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", iterations=2)
    found = json.loads(cli("report", str(folder), "--json").out)
    assert Path(found["path"]) == folder / "report.html" and (folder / "report.html").stat().st_size == found["bytes"]
    elsewhere = tmp_path / "page.html"
    assert "open it in a browser" in cli("report", str(folder), "--out", str(elsewhere)).out
    assert elsewhere.read_text() == (folder / "report.html").read_text()
    refused = cli("report", str(folder), "--out", str(tmp_path / "no" / "page.html"))
    assert refused.code == 2 and "cannot write" in refused.err


def test_numbers_of_simulations_are_read_once_each_in_their_order() -> None:
    assert read_budgets("600, 100,600") == (600, 100)
    with pytest.raises(ConfigError):
        read_budgets("1e3")


def test_the_overall_error_rate_is_that_of_the_most_simulations() -> None:
    rates = [ErrorRate("a", 0, 9, 10, 5), ErrorRate("a", 50, 1, 10, 5), ErrorRate("b", 50, 2, 30, 5)]
    assert overall_rate(rates) == pytest.approx(3 / 40)
    assert overall_rate([]) is None
