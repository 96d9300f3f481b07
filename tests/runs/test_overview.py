from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from palaestra.base.errors import RunError
from palaestra.learn.config import RunConfig
from palaestra.runs.folder import RunFolder
from palaestra.runs.manifest import Manifest
from palaestra.runs.metrics import AgentScore, MetricsLine
from palaestra.runs.overview import Strength, describe, list_runs
from tests.learn.run_folders import metrics_line


def stored(path: Path, lines: list[MetricsLine], finished: bool = False, **changes: Any) -> RunFolder:
    """A run of these lines, without networks: a list needs none."""
    home = RunFolder(path)
    home.create()
    config = RunConfig(game="connect_four-4x4", iterations=9)
    state = Manifest(
        iteration=0, best=0, trainer=0, game=config.game, game_version=1, net="b1c8", seconds=0.0, games=0,
        positions=0, finished=finished, metrics_bytes=0, config=config.model_dump(mode="json"), about={},
    )  # fmt: skip
    home.save(state, {})
    for number, line in enumerate(lines, start=1):
        at = {**state.__dict__, "iteration": number, "seconds": 90.0 * number, **changes}
        state = home.save(Manifest(**at), {}, line)
    return home


def test_a_row_says_how_far_a_run_came_and_how_strong_it_is(tmp_path: Path) -> None:
    stored(tmp_path / "one", [metrics_line(1), metrics_line(2), metrics_line(3)], finished=True)
    (row,) = list_runs(tmp_path)
    assert (row.name, row.game, row.minutes, row.iterations) == ("one", "connect_four-4x4", 4.5, 3)
    assert row.state == "finished" and row.problem is None
    assert row.strength == Strength(2, "random", None, 320.0, None)  # of the last iteration that was evaluated


def test_with_one_player_the_strength_is_the_mean_score(tmp_path: Path) -> None:
    score = AgentScore("agent", 61.5, 60.0, 63.0, 66, 10, 9)
    stored(tmp_path / "solo", [replace(metrics_line(1), elo=None, score=score)])
    assert describe(tmp_path / "solo").strength == Strength(1, None, 61.5, 60.0, 63.0)


def test_a_run_is_running_while_its_lock_is_held(tmp_path: Path) -> None:
    home = stored(tmp_path / "one", [metrics_line(1)])
    with home.locked():
        assert describe(home.path).state == "running"
    assert describe(home.path).state == "stopped"


def test_looking_leaves_every_folder_as_it_was(tmp_path: Path) -> None:
    stored(tmp_path / "one", [metrics_line(1)])
    (tmp_path / "foreign").mkdir()
    before = sorted(tmp_path.rglob("*"))
    list_runs(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_run_that_was_killed_before_its_first_checkpoint_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('game = "connect_four-4x4"\n')
    row = describe(tmp_path)
    assert (row.state, row.iterations) == ("stopped", 0)


@pytest.mark.parametrize("file", ["manifest.json", "metrics.jsonl"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[1]", b'{"iteration": []}\n' * 400, b"null\n"])
def test_a_damaged_run_is_a_row_that_names_the_file(tmp_path: Path, file: str, content: bytes) -> None:
    stored(tmp_path / "good", [metrics_line(1)])
    stored(tmp_path / "bad", [metrics_line(1)])
    (tmp_path / "bad" / file).write_bytes(content)
    rows = {row.name: row for row in list_runs(tmp_path)}
    assert rows["good"].state == "stopped"
    assert rows["bad"].state == "damaged" and rows["bad"].problem and file in rows["bad"].problem


@pytest.mark.parametrize("changes", [{"seconds": "long"}, {"seconds": float("nan")}, {"iteration": 7}])
def test_a_manifest_of_a_stranger_that_only_looks_right_is_damaged(tmp_path: Path, changes: dict[str, Any]) -> None:
    stored(tmp_path / "odd", [metrics_line(1)], **changes)
    assert describe(tmp_path / "odd").state == "damaged"


def test_strength_that_is_no_number_is_damage(tmp_path: Path) -> None:
    stored(
        tmp_path / "odd",
        [replace(metrics_line(1), elo={"random": ("\x1b[2J", 0, 0)})],  # type: ignore[dict-item]
    )
    row = describe(tmp_path / "odd")
    assert row.state == "damaged"
    json.dumps(row.to_json(), allow_nan=False)


def test_a_folder_that_is_no_run_says_so_and_an_experiment_where_its_runs_are(tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "tried").mkdir()
    (tmp_path / "tried" / "sweep.toml").touch()
    stored(tmp_path / "margins" / "agent-0", [metrics_line(1)])
    rows = {row.name: row for row in list_runs(tmp_path)}
    assert rows["pictures"].state == rows["margins"].state == "not a run"
    assert rows["tried"].problem == f"it holds a sweep: palaestra sweep --report {tmp_path / 'tried'}"
    assert "1 run" in (rows["margins"].problem or "")


def test_what_a_page_keeps_beside_runs_is_not_listed_but_a_run_of_that_name_is(tmp_path: Path) -> None:
    (tmp_path / "tournaments" / "first").mkdir(parents=True)
    (tmp_path / "solved").mkdir()
    stored(tmp_path / "sweeps", [metrics_line(1)])
    assert [row.name for row in list_runs(tmp_path)] == ["sweeps"]


def test_the_newest_run_is_first(tmp_path: Path) -> None:
    for name, when in (("old", 1000), ("new", 3000), ("middle", 2000)):
        for path in stored(tmp_path / name, [metrics_line(1)]).path.iterdir():
            os.utime(path, (when, when))
    assert [row.name for row in list_runs(tmp_path)] == ["new", "middle", "old"]


def test_a_folder_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot read"):
        list_runs(tmp_path / "nowhere")
