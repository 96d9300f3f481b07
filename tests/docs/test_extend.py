"""docs/extend: the examples are shown as they are, are short, and live a whole life: trained, judged, exported."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from palaestra.nets.graph import REWARD_KEY
from tests.cli.conftest import Cli

ROOT = Path(__file__).parents[2]
PAGES = {
    "reward": "own_rewards", "network": "own_nets", "loss": "own_losses", "player": "own_players",
    "game": "domineering_plain",
}  # fmt: skip
SETS = (
    "selfplay.games=8", "selfplay.search.simulations=2", "selfplay.opening_fraction=0", "selfplay.opening_plies=0",
    "evaluation.games=2", "evaluation.simulations=2", "gate.kind=threshold", "gate.games=2", "gate.simulations=2",
    "evaluation.anchors=[\"random\", \"own_players:Tight(wins=false)\"]",
)  # fmt: skip
GAME = "tic_tac_toe-3x3"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with the examples in it."""
    monkeypatch.chdir(tmp_path)
    for name in PAGES.values():
        shutil.copy(ROOT / "examples" / f"{name}.py", tmp_path)
    paths = list(sys.path)
    yield tmp_path
    sys.path[:] = paths
    forget()


def forget() -> None:
    """As in a new process: nothing of the user's own is imported."""
    for name in PAGES.values():
        sys.modules.pop(name, None)


def train(cli: Cli, name: str, *sets: str) -> None:
    words = [word for text in (*SETS, *sets) for word in ("--set", text)]
    done = cli("train", GAME, "--out", name, "--iterations", "1", "--threads", "1", *words)
    assert done.code == 0, done.err
    assert f"  palaestra resume {name} --iterations 2\n" in done.out, "which needs no --trust"
    forget()


@pytest.mark.parametrize(("page", "example"), PAGES.items())
def test_a_page_shows_its_example_as_it_is_in_at_most_60_lines(page: str, example: str) -> None:
    source = (ROOT / "examples" / f"{example}.py").read_text().strip()
    assert source in (ROOT / "docs" / "extend" / f"{page}.md").read_text()
    assert len(source.splitlines()) <= 60


@pytest.mark.slow
def test_a_run_of_ones_own_things_is_judged_resumed_reported_and_exported(cli: Cli, here: Path) -> None:
    train(cli, "own", "reward=own_rewards:Sooner", "net=own_nets:Attention(width=4)", "learn.loss=own_losses:squared")
    for words in (
        ("resume", "own", "--iterations", "2"),
        ("evaluate", "own", "--games", "2", "--simulations", "2", "--against", "own_players:TightKind"),
        ("report", "own"),
        ("match", GAME, "run:own(simulations=2)", "net:own", "--games", "2"),
    ):
        done = cli(*words)
        assert done.code == 0, (words, done.err)
        forget()
    assert "own_rewards:Sooner" in (here / "runs" / "own" / "report.html").read_text()
    shown = cli("export", "own", "--out", "own.onnx").out
    assert "'puct(own.onnx, simulations=100, reward=own_rewards:Sooner)'" in shown
    import onnx

    said = {entry.key: entry.value for entry in onnx.load("own.onnx").metadata_props}
    assert (said["palaestra.net"], said[REWARD_KEY]) == ("own_nets:Attention(width=4)", "own_rewards:Sooner")
    for name in PAGES.values():
        (here / f"{name}.py").unlink()
    played = cli("match", GAME, "puct(own.onnx, simulations=2)", "random", "--games", "2")
    assert played.code == 0, "the file needs none of the code"


def test_a_reward_that_learns_and_a_plan_go_on_where_they_were(cli: Cli, here: Path) -> None:
    train(
        cli,
        "own",
        "reward=own_rewards:Surpassing",
        "net=own_nets:Wide(channels=4)-outcome",
        "learn.loss=own_losses:Huber",
    )
    done = cli("resume", "own", "--iterations", "2", "--json")
    assert done.code == 0 and json.loads(done.out)["iterations"] == 2, done.err
    assert "stays in the run" in cli("export", "own", "--out", "own.onnx").out
    evaluated = cli("evaluate", "own", "--games", "2", "--simulations", "2", "--json")
    assert json.loads(evaluated.out)["reward"] == "own_rewards:Surpassing"


def test_a_file_that_was_edited_is_loaded_after_the_user_has_said_so_again(cli: Cli, here: Path) -> None:
    train(cli, "own", "net=b1c8", "reward=own_rewards:Sooner", "learn.loss=own_losses:squared")
    for name in ("own_rewards", "own_losses", "own_players"):
        with (here / f"{name}.py").open("a") as file:
            file.write("open('ran', 'w').close()\n")
    words = ["resume", "own", "--iterations", "2"]
    for name in ("own_rewards:Sooner", "own_players:Tight", "own_losses:squared"):
        done = cli(*words)
        assert done.code == 2 and done.err.endswith(f"add --trust {name} to this command\n")
        assert (here / "ran").exists() == ("--trust" in words)
        words += ["--trust", name]
        forget()
    done = cli(*words)
    assert done.code == 0, done.err


def test_a_player_stands_wherever_players_do(cli: Cli, here: Path) -> None:
    for words in (
        ("tournament", GAME, "random", "own_players:Tight", "--games", "2", "--pgn", "games.pgn"),
        ("analyse", GAME, "--player", "own_players:Tight"),
        ("play", GAME, "--against", "own_players:Tight"),
        ("review", "games.pgn", "--number", "1"),
        ("tournament", GAME, "random", "own_players:Tight", "--games", "4", "--pgn", "games.pgn", "--resume"),
    ):
        done = cli(*words, stdin="quit\n")
        assert done.code == 0, (words, done.err)
