"""A run, watched from its folder and from its events."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from palaestra.base.errors import ConfigError, PlayerError
from palaestra.learn import run_clock
from palaestra.learn.loop import resume, train
from palaestra.live.run import Run, RunProgress, list_runs, load_run, named_folder
from palaestra.live.training import TrainedRun
from tests.learn.fakes import FAKES, tiny


def test_a_run_is_followed_while_it_grows(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    train(tiny(iterations=2), folder, stages=FAKES)
    watched = Run(folder)
    assert (watched.iterations, watched.state, len(watched.lines)) == (2, "finished", 2)
    resume(folder, iterations=4, stages=FAKES)
    assert watched.iterations == 2, "it looks again when it is told to"
    assert watched.refresh().iterations == 4
    assert [at for at, _ in watched.curve("losses", "policy")] == [1, 2, 3, 4]
    assert [at for at, _ in watched.curve("elo", "random")] == [2, 4] and watched.curve("score", "mean") == []
    assert json.loads(json.dumps(watched.document()))["iterations"] == 4


def test_events_say_how_far_a_run_is(tmp_path: Path) -> None:
    progress, shares = RunProgress(), []
    train(
        tiny(iterations=2),
        tmp_path / "run",
        [progress, lambda event: shares.append(progress.share())],
        stages=FAKES,
    )
    assert shares == sorted(shares) and shares[0] == 0.0 and shares[-1] == 1.0
    document = json.loads(json.dumps(progress.document()))
    assert document["ended"] and document["iterations"] == 2 and document["line"]["iteration"] == 2
    assert document["title"].startswith("tic_tac_toe-3x3, b1c8, seed 0, in ") and document["stage"] == "saving"


def test_how_long_a_run_will_take_is_told_by_its_own_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    computed, progress = iter(range(0, 10_000, 10)), RunProgress()
    monkeypatch.setattr(run_clock, "processor_clock", lambda: float(next(computed)))
    config = tiny(iterations=None, minutes=2.0, clock="processor")
    left: list[float | None] = []
    train(config, tmp_path / "run", [progress, lambda event: left.append(progress.seconds_left())], stages=FAKES)
    steps = {round(one - other, 3) for one, other in pairwise(left) if one is not None and other}
    assert left[-1] == 0.0 and steps and all(step % 5 == 0 for step in steps)  # two threads


def test_a_run_that_is_over_has_a_document(tmp_path: Path) -> None:
    summary = train(tiny(iterations=2), tmp_path / "run", stages=FAKES)
    document = json.loads(json.dumps(TrainedRun(summary).document()))
    assert document["run"] == str(tmp_path / "run") and document["iterations"] == 2 and document["error_rate"] is None
    assert "score" not in document and set(document["elo"]) == set(summary.elo)


def test_a_list_of_runs_shows_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert list_runs() == [] and list_runs().document() == []
    train(tiny(iterations=1), tmp_path / "runs" / "one", stages=FAKES)
    assert [row[0] for row in list_runs().rows()] == ["one"] and ">one<" in list_runs()._repr_html_()
    assert load_run("one").name == "one"


def test_what_names_no_run_is_refused() -> None:
    with pytest.raises(PlayerError, match="nowhere"):
        load_run("nowhere")
    with pytest.raises(ConfigError, match="cannot name a run"):
        named_folder("a b")
