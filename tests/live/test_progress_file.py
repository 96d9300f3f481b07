"""How far a run is, told to other processes by a file that is no part of the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from palaestra.base.atomic import write_file
from palaestra.base.errors import RunError
from palaestra.learn import events
from palaestra.learn.loop import train
from palaestra.live import progress_file
from palaestra.live.progress_file import PROGRESS, ProgressFile, read_progress
from palaestra.live.run import Run
from palaestra.runs.folder import RunFolder
from palaestra.runs.overview import list_runs
from tests.learn.fakes import FAKES, tiny


def test_a_run_tells_where_it_is_and_leaves_no_file_when_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_file, "EVERY", 0.0)
    folder, seen = tmp_path / "run", []
    file = ProgressFile(folder)
    train(tiny(iterations=2), folder, [file, lambda event: seen.append(read_progress(folder))], stages=FAKES)
    told = [one for one in seen if one is not None]
    assert [one.share for one in told] == sorted(one.share for one in told)
    assert {one.stage for one in told} >= {"self-play", "training"} and told[-1].iterations == 2
    assert not (folder / PROGRESS).exists() and read_progress(folder) is None


def test_the_file_changes_nothing_that_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_file, "EVERY", 0.0)
    for name in ("with", "without"):
        train(
            tiny(iterations=2), tmp_path / name, [ProgressFile(tmp_path / name)] if name == "with" else [], stages=FAKES
        )
    one, other = (RunFolder(tmp_path / name).manifest() for name in ("with", "without"))
    assert one is not None and other is not None
    without_times = {name: data for name, data in one.files.items() if name != "metrics.jsonl"}
    assert without_times == {name: data for name, data in other.files.items() if name != "metrics.jsonl"}


def test_a_disk_that_refuses_the_file_ends_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, data: bytes, durable: bool = True) -> None:
        raise RunError("the disk is full")

    monkeypatch.setattr(progress_file, "write_file", refuse)
    summary = train(tiny(iterations=1), tmp_path / "run", [ProgressFile(tmp_path / "run")], stages=FAKES)
    assert summary.iterations == 1


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"share": "<b>"}', b'{"share": NaN}', b"[" * 100_000])
def test_a_file_that_is_none_says_nothing(tmp_path: Path, data: bytes) -> None:
    (tmp_path / PROGRESS).write_bytes(data)
    assert read_progress(tmp_path) is None


def test_warnings_are_told_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    file = ProgressFile(folder)
    train(tiny(iterations=1), folder, stages=FAKES)
    file(events.RunStarted(folder, tiny(iterations=1), 0, 0.0, ()))
    file(events.Warned("iteration 1 diverged"))
    found = read_progress(folder)
    assert found is not None and found.warnings == ["iteration 1 diverged"] and not found.ended
    assert json.loads((folder / PROGRESS).read_bytes())["iterations"] == 0


def test_a_run_gives_the_games_of_its_iterations(tmp_path: Path) -> None:
    train(tiny(iterations=2), tmp_path / "run", stages=FAKES)
    run = Run(tmp_path / "run")
    assert [len(run.games(number)) for number in (1, 2)] == [line.games for line in run.lines]
    with pytest.raises(RunError, match="not part of the run"):
        run.games(3)


def test_hidden_folders_are_not_listed_as_runs(tmp_path: Path) -> None:
    (tmp_path / ".commands").mkdir()
    (tmp_path / "other").mkdir()
    assert [row.name for row in list_runs(tmp_path)] == ["other"]


def test_what_is_written_without_waiting_is_whole(tmp_path: Path) -> None:
    for data in (b"one", b"two"):
        write_file(tmp_path / "file", data, durable=False)
        assert (tmp_path / "file").read_bytes() == data
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
