"""train, resume, evaluate, report and reproduce where there is one player. Runs are as small as they can be."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from palaestra.cli.training_view import LiveView, PlainView
from palaestra.learn.loop import train
from tests.learn.fakes import FAKES, SOLO, tiny

GAME = "bin_packing-2d-3"
TINY = (
    "--set", "net=mlp8x1", "--set", "selfplay.games=8", "--set", "learn.batch=16", "--set", "evaluation.games=4",
    "--set", "evaluation.simulations=4", "--set", 'evaluation.anchors=["random"]', "--set", "solo.simulations=16",
    "--set", "solo.every=2",
)  # fmt: skip


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_for_one_player_from_training_to_its_solution(cli: Any) -> None:
    done = cli("train", GAME, "--iterations", "2", "--out", "t", *TINY)
    assert done.code == 0, done.err
    assert "ranked(tau=" in done.err and "deep search" in done.err and "to beat" in done.err
    assert "agent(simulations=4)" in done.out and "Best score of the whole run" in done.out
    commands = [line.split("palaestra ")[1] for line in done.out.splitlines() if line.startswith("  ")]
    verbs = [words.split()[0] for words in commands]
    assert verbs == ["check-solution", "solve", "solve", "analyse", "evaluate", "report", "resume", "export"]
    assert cli(*commands[0].split()).code == 0, "the solution is valid"

    resumed = json.loads(cli("resume", "t", "--iterations", "3", "--json").out)
    assert resumed["elo"] is None and resumed["error_rate"] is None and resumed["iterations"] == 3
    score = resumed["score"]
    assert score["low"] <= score["mean"] <= score["high"] and score["best"] <= resumed["record"]
    assert [anchor["player"] for anchor in resumed["anchors"]] == ["random"]
    assert Path(resumed["solution"]).name.startswith(f"{resumed['record']:03d}-")

    found = json.loads(
        cli("evaluate", "t", "--games", "3", "--simulations", "2,4", "--against", "random", "--json").out
    )
    assert [one["player"] for one in found["scores"]] == ["agent(simulations=2)", "agent(simulations=4)"]
    assert found["score"] == found["scores"][1] and found["anchors"][0]["player"] == "random" and found["elo"] is None
    assert "All play from the same beginnings" in cli("evaluate", "t", "--games", "2", "--against", "random").out
    assert cli("report", "t").code == 0
    page = Path("runs/t/report.html").read_text()
    assert "Scores" in page and "Results of self-play" not in page and "best score" in page
    solved = cli("solve", GAME, "--player", "run:t(simulations=4)", "--restarts", "1", "--json")
    assert json.loads(solved.out)["best"] > 0


@pytest.mark.parametrize(
    ("arguments", "pieces"),
    [
        (("train", GAME, "--preset", "thesis-small"), ["gate.kind is threshold", "one player", "gate.kind=off"]),
        (("train", GAME, "--set", "reward=primitive"), ["primitive is for games of two players"]),
        (
            ("train", GAME, "--preset", "record", "--set", "selfplay.value_target=td"),
            ["selfplay.sampling searches nothing"],
        ),
        (("train", GAME, "--set", 'evaluation.anchors=["nobody"]'), ["unknown player 'nobody'"]),
        (("evaluate", "old", "--positions", "x.json"), ["--positions is for two players"]),
        (("evaluate", "old", "--games", "0"), ["evaluated by scores"]),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing_behind(
    cli: Any, own_folder: Path, arguments: tuple[str, ...], pieces: list[str]
) -> None:
    train(tiny(*SOLO, game=GAME, iterations=1), Path("runs/old"), stages=FAKES)
    before = sorted(own_folder.rglob("*"))
    done = cli(*arguments)
    assert done.code == 2 and done.out == "" and len(done.err.strip().splitlines()) == 1, done.err
    for piece in pieces:
        assert piece in done.err
    assert sorted(own_folder.rglob("*")) == before


def test_both_views_show_scores_and_what_is_to_beat() -> None:
    with open(os.devnull, "w") as nowhere:
        view = LiveView(Console(file=nowhere, force_terminal=True, width=100))
        plain = PlainView(Console(file=(paper := io.StringIO()), width=100))
        summary = train(tiny(*SOLO, game="morpion-4d", iterations=4), Path("runs/t"), [view, plain], FAKES)
        drawn = Console(record=True, width=100, file=nowhere)
        drawn.print(view.draw())
    scores = summary.metrics[-1].scores
    assert scores is not None
    text, best = drawn.export_text(), scores.best
    for piece in ("mean", "highest", "deep", "to beat", "explore", "with search", str(best)):
        assert piece in text
    assert len(text.splitlines()) == 9, "a line an iteration, none broken"
    assert f"best so far {best}" in paper.getvalue() and "random" in paper.getvalue()
