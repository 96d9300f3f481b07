"""`palaestra reproduce`: one command an experiment; and those about rewards, as small as they get."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from palaestra.cli.reproduce import FIGURES
from palaestra.cli.reproduce_rewards import EXPERIMENTS
from palaestra.lab import reward_experiments, schmidt

TINY = (
    "--set", "net=mlp8x1-outcome", "--set", "selfplay.games=2", "--set", "selfplay.search.simulations=2",
    "--set", "evaluation.simulations=2", "--seeds", "1", "--jobs", "1",
)  # fmt: skip


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_alone_it_lists_its_experiments(cli: Any) -> None:
    listed = cli("reproduce", "--help").out
    for name in ("table-5.1", "table-6.1", *FIGURES, *EXPERIMENTS):
        assert name in listed


@pytest.mark.parametrize("name", ["table-5.1", "figure-2.4", *EXPERIMENTS])
def test_every_experiment_has_help_with_an_example(cli: Any, name: str) -> None:
    done = cli("reproduce", name, "--help")
    assert done.code == 0 and f"Example: palaestra reproduce {name}" in done.out


def test_the_bonus_is_swept_in_resumable_runs(cli: Any, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reward_experiments, "ALPHAS", (0.5,))
    arguments = ("reproduce", "bonus", *TINY, "--generations", "2", "--plot", "alpha.png")
    found = json.loads(cli(*arguments, "--json").out)
    assert (found["experiment"], found["seeds"], found["plot"]) == ("bonus", 1, "alpha.png")
    assert len(found["agents"]["alpha-0.5"]["demerits"]) == 2
    assert (here / "runs" / "bonus" / "alpha-0.5-0" / "manifest.json").is_file()
    assert (here / "alpha.png").read_bytes().startswith(b"\x89PNG")
    table = cli(*arguments).out
    assert "| α = 0.5 |" in table and "none is trained twice" in table


@pytest.mark.slow
def test_figure_3_is_a_table_two_pictures_and_verdicts(cli: Any, here: Path) -> None:
    arguments = ("reproduce", "schmidt-fig3", *TINY[2:], "--generations", "1", "--seed", "4")
    table = cli(*arguments).out
    for agent in schmidt.AGENTS.values():
        assert f"| {agent.label} |" in table
    assert "| CDF reaches 0 | open |" in table
    assert (here / "schmidt-fig3.svg").is_file() and (here / "schmidt-fig3-rewards.svg").is_file()
    found = json.loads(cli(*arguments, "--json").out)
    assert set(found["agents"]) == set(schmidt.AGENTS) and len(found["claims"]) == 7


@pytest.mark.parametrize("name", ["margins", "speed"])
def test_agents_of_two_rewards_meet_each_other_and_the_anchors(
    cli: Any, here: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(reward_experiments, "EXPERIMENTS", {name: ("tic_tac_toe-3x3",)})
    monkeypatch.setattr(reward_experiments, "ANCHORS", ("random",))
    monkeypatch.setattr(reward_experiments, "SIMULATIONS", 2)
    arguments = ("reproduce", name, *TINY, "--minutes", "0.001", "--games", "4")
    found = json.loads(cli(*arguments, "--json").out)
    met = [(duel["agent"], duel["opponent"]) for duel in found["duels"]]
    assert met == [("CDF", "primitive"), ("CDF", "random"), ("primitive", "random")]
    column, heading = {"margins": ("margin", "mean margin, discs"), "speed": ("lost_plies", "plies of lost games")}[
        name
    ]
    assert all(len(duel["win_rate"]) == len(duel[column]) == 1 for duel in found["duels"])
    assert all(0 < duel["distinct_games"][0] <= 4 for duel in found["duels"])
    lines = cli(*arguments).out.splitlines()
    assert "| won, % |" in lines[0] and f"| {heading} |" in lines[0] and "| distinct games |" in lines[0]
    assert lines[2].startswith("| tic_tac_toe-3x3 | CDF | primitive |") and (here / f"{name}.svg").is_file()


@pytest.mark.parametrize(
    ("words", "piece"),
    [
        (("bonus", "--plot", "x.gif"), ".png or .svg"),
        (("bonus", "--plot", "no/x.svg"), "there is no folder no"),
        (("bonus", "--set", "learn.speed=3"), "unknown setting 'learn.speed'"),
        (("bonus", "--set", "reward=cdf"), "reward is what this experiment itself chooses"),
        (("schmidt-fig3", "--set", "evaluation.demerits=false"), "itself chooses"),
        (("margins", "--set", "minutes=3"), "itself chooses"),
        (("bonus", "--seeds", "0"), "greater than or equal to 1"),
        (("schmidt-fig3", "--game", "hex-3x3"), "solved beforehand (opposition), not hex-3x3"),
        (("schmidt-fig3", "--game", "chess"), "unknown game 'chess'"),
        (("margins", "--games", "3"), "even number"),
        (("speed", "--minutes", "0"), "greater than or equal to 0.001"),
        (("figure-9",), "No such command 'figure-9'"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(cli: Any, here: Path, words: tuple[str, ...], piece: str) -> None:
    done = cli("reproduce", *words)
    assert done.code == 2 and piece in done.err and len(done.err.splitlines()) == 1 and done.out == ""
    assert not list(here.iterdir())
