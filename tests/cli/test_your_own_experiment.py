"""The experiment of docs/extend/experiment.md, outside the package."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

PAGE = Path(__file__).parents[2] / "docs" / "extend" / "experiment.md"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None and found[1].count("\n") <= 60
    (tmp_path / "search_pays.py").write_text(found[1], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_s_experiment_runs_outside_the_package_and_gets_its_verdicts(cli: Cli, here: Path) -> None:
    given = ("reproduce", "search_pays:EXPERIMENT", "--scale", "smoke", "--jobs", "1", "--out", "results", "--json")
    done = cli(*given)
    assert done.code == 0, done.err
    (found,) = json.loads(done.out)
    assert [one["claim"] for one in found["verdicts"]] == [
        "four times the simulations win at hex-3x3",
        "four times the simulations win at hex-5x5",
    ]
    assert all(one["low"] <= one["figure"] <= one["high"] for one in found["verdicts"])
    folder = here / "results" / "search-pays"
    wanted = {"data.csv", "figure.svg", "figure.png", "table.md", "verdicts.json", "settings.toml", "versions.json"}
    assert wanted <= {path.name for path in folder.iterdir()}
    page = cli("reproduce", "search_pays:EXPERIMENT", "--page", "results")
    assert page.code == 0 and "four times the simulations win at hex-5x5" in (here / "results/atlas.html").read_text()
    unnamed = cli("reproduce", "--page", "results")
    assert unnamed.code == 2 and "name it: palaestra reproduce my:EXPERIMENT" in unnamed.err
