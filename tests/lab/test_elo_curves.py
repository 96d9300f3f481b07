"""Elo over iterations: tournament ratings of checkpoints beside running Elo, and means over runs."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from palaestra.arena.ratings import Ratings, Results, rate
from palaestra.base.errors import PalaestraError
from palaestra.lab.elo_curves import Point, curves_of, mean_over_runs
from palaestra.learn.running_elo import running_elos
from palaestra.runs.folder import RunFolder
from tests.learn.run_folders import make_run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with runs `one` and `two` of networks 0 and 2 and gate matches in four iterations."""
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        make_run(tmp_path / "runs" / name)
    return tmp_path


def ratings_of(*players: str) -> Ratings:
    """Every player scores 7 of 10 against each that stands behind it."""
    games = [
        (first, second, points)
        for place, better in enumerate(players)
        for worse in players[place + 1 :]
        for first, second, points in (
            *4 * [(better, worse, 1.0)],
            *3 * [(worse, better, 0.0)],
            *3 * [(worse, better, 1.0)],
        )
    ]
    return rate(Results.count(games, players))


def test_a_curve_is_the_checkpoints_of_a_run_that_played_alike(here: Path) -> None:
    ratings = ratings_of("run:one@2", "net:one@2", "run:two@best", "run:one@0", "random", "net:one@0", "run:two@0")
    curves = {(curve.run, curve.played_as): curve for curve in curves_of(ratings)}
    assert set(curves) == {("one", "run"), ("one", "net"), ("two", "run")}
    curve = curves["two", "run"]
    assert list(curve.tournament) == [0, 2] and curve.last == 4
    assert curve.tournament[2] == (ratings.elo[2], ratings.plus[2], ratings.minus[2])


def test_a_single_checkpoint_is_no_curve_and_neither_is_a_player_of_another_kind(here: Path) -> None:
    strange = ratings_of("run:one@2", "random", "run:gone@1", "run:gone@2", "Deep Blue (1997)", "two@0")
    assert curves_of(strange) == []


def test_running_elo_is_the_whole_historys_and_agrees_with_the_tournament_at_the_first_checkpoint(here: Path) -> None:
    (curve,) = curves_of(ratings_of("run:one@2", "random", "run:one@0"))
    home = RunFolder(here / "runs" / "one")
    manifest = home.manifest()
    assert manifest is not None
    running = running_elos(home.metrics(manifest))
    assert set(running) == {0, 1, 2, 3, 4} and list(curve.training) == [0, 2]  # only what became a checkpoint
    assert curve.training[0].elo == pytest.approx(curve.tournament[0].elo)
    climbed = running[2].elo - running[0].elo
    assert climbed > 50
    assert curve.training[2].elo - curve.training[0].elo == pytest.approx(climbed)
    assert curve.training[2].plus == running[2].plus


def test_a_run_whose_history_was_changed_is_refused(here: Path) -> None:
    (here / "runs" / "one" / "metrics.jsonl").write_text("")
    with pytest.raises(PalaestraError, match=r"metrics\.jsonl is damaged"):
        curves_of(ratings_of("run:one@2", "run:one@0"))


def test_the_mean_is_over_runs_with_students_interval_and_a_network_plays_until_the_next() -> None:
    first = {0: Point(0, 5, 6), 4: Point(100, 5, 6), 8: Point(300, 5, 6)}
    second = {0: Point(20, 5, 6), 6: Point(80, 5, 6)}
    means = dict(mean_over_runs([first, second], [10, 10]))
    assert {at: point.elo for at, point in means.items()} == {0: 10, 4: 60, 6: 90, 8: 190}
    # Two values that differ by d have the standard error d / 2, and t(1) is 12.7062.
    assert means[8].plus == means[8].minus == pytest.approx(12.7062 * 220 / 2)
    three = dict(mean_over_runs([{0: Point(x, 0, 0)} for x in (1.0, 2.0, 6.0)], [0, 0, 0]))
    assert three[0].plus == pytest.approx(4.303 * math.sqrt(7) / math.sqrt(3), rel=0.01)


def test_a_run_that_ended_earlier_ends_the_mean() -> None:
    first = {0: Point(0, 1, 1), 5: Point(10, 1, 1), 9: Point(20, 1, 1)}
    second = {1: Point(4, 1, 1), 5: Point(6, 1, 1)}
    assert [at for at, _ in mean_over_runs([first, second], [9, 6])] == [1, 5]


def test_a_single_run_keeps_its_own_intervals() -> None:
    curve = {0: Point(0, 5, 6), 4: Point(100, 7, 8)}
    assert dict(mean_over_runs([curve], [9])) == curve
    assert list(mean_over_runs([{}], [9])) == []
