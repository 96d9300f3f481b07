from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from palaestra.live.words import ago, strength_in_words
from palaestra.runs.overview import Strength
from tests.learn.run_folders import metrics_line
from tests.runs.test_overview import stored


def test_runs_lists_the_runs_of_a_folder_the_damaged_one_too(cli: Any, tmp_path: Path) -> None:
    elo = {"random": [636.0, 332.0, 941.0]}
    stored(tmp_path / "first-try", [metrics_line(1), metrics_line(2, elo=elo)], finished=True)
    stored(tmp_path / "broken", [metrics_line(1)])
    (tmp_path / "broken" / "manifest.json").write_text("{}")
    done = cli("runs", str(tmp_path))
    assert done.code == 0 and done.err == ""
    (row,) = [line for line in done.out.splitlines() if line.startswith("first-try")]
    assert row.split()[1:6] == ["connect_four-4x4", "3.0", "2", "+636", "±305"] and "finished" in row
    assert "broken" in done.out and "damaged" in done.out and "manifest.json" in done.out
    listed = {entry["name"]: entry for entry in json.loads(cli("runs", str(tmp_path), "--json").out)}
    assert listed["broken"]["state"] == "damaged" and listed["broken"]["game"] is None
    assert listed["first-try"]["strength"] == {
        "iteration": 2, "against": "random", "value": 636.0, "low": 332.0, "high": 941.0,
    }  # fmt: skip


def test_no_runs_yet_is_no_error_and_says_how_to_make_one(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = cli("runs")
    assert done.code == 0 and "palaestra train" in done.out
    assert cli("runs", "--json").out.strip() == "[]"
    assert cli("runs", "nowhere").code == 2


@pytest.mark.parametrize(
    ("strength", "words"),
    [
        (None, "–"),
        (Strength(1, "random", 300.4, 200.0, 350.0), "+300 ±100"),
        (Strength(1, "random", None, 412.0, None), ">+412"),
        (Strength(1, "random", None, None, -12.0), "<-12"),
        (Strength(1, "greedy", 10.0, 0.0, 20.0), "+10 ±10 on greedy"),
        (Strength(1, None, 61.34, 60.0, 62.0), "61.3 ±1.3"),
        (Strength(1, None, 61.34, None, None), "61.3"),
    ],
)
def test_strength_in_words(strength: Strength | None, words: str) -> None:
    assert strength_in_words(strength) == words


def test_times_in_words() -> None:
    assert [ago(seconds) for seconds in (-5, 30, 60, 7199, 7200, 3 * 86400)] == [
        "now", "now", "1 min", "119 min", "2 h", "3 days",
    ]  # fmt: skip
