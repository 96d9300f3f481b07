"""`palaestra reproduce`: the list, three cheap experiments, wrong input; and in the slow tests all of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from palaestra.lab.catalogue import RESULTS, declared
from tests.cli.conftest import Cli


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_alone_it_lists_every_result_declared_or_not(cli: Cli, here: Path) -> None:
    rows = {row["id"]: row for row in json.loads(cli("reproduce", "--json").out)}
    assert set(rows) >= {one.id for one in RESULTS} | set(declared())
    assert rows["table-6.1"]["state"] == "none" and rows["table-6.1"]["calls"] == 300
    assert all((rows[id]["state"] == "undeclared") == (id not in declared()) for id in rows)
    shown = cli("reproduce").out
    assert all(id in shown for id in rows) and max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize("id", ["fig-2.3", "table-6.1", pytest.param("bonus", marks=pytest.mark.slow)])
def test_a_cheap_experiment_runs_at_the_smallest_scale_and_is_listed_as_done(cli: Cli, here: Path, id: str) -> None:
    given = ("reproduce", id, "--scale", "smoke", "--jobs", "1")
    (found,) = json.loads(cli(*given, "--json").out)
    assert found["experiment"] == id and found["verdicts"] and found["rows"] > 1
    assert all(one["verdict"] == "open" for one in found["verdicts"]), "so small a scale decides nothing"
    folder = here / "runs" / "reproduce-smoke" / id
    assert (folder / "figure.png").read_bytes().startswith(b"\x89PNG") and "<svg" in (folder / "figure.svg").read_text()
    again = cli(*given)
    assert again.code == 0 and "| claim | verdict | figure (95 %) |" in again.out
    rows = {row["id"]: row for row in json.loads(cli("reproduce", "--scale", "smoke", "--json").out)}
    assert rows[id]["state"] == "done" and rows[id]["verdicts"] == {"open": len(found["verdicts"])}
    other = cli("reproduce", id, "--scale", "laptop", "--out", "runs/reproduce-smoke")
    assert other.code == 2 and "with scale smoke, not laptop" in other.err


@pytest.mark.slow
def test_all_experiments_run_at_the_smallest_scale_and_make_a_page(cli: Cli, here: Path) -> None:
    done = cli("reproduce", "all", "--scale", "smoke", "--jobs", "2", "--json")
    assert done.code == 0, done.err
    assert [one["experiment"] for one in json.loads(done.out)] == list(declared())
    assert cli("reproduce", "--page", "runs/reproduce-smoke").code == 0
    page = (here / "runs" / "reproduce-smoke" / "atlas.html").read_text(encoding="utf-8")
    assert all(f'id="{id}"' in page for id in declared()) and "http://" not in page.replace("http://www.w3.org", "")


@pytest.mark.parametrize(
    ("words", "piece"),
    [
        (("margin",), "did you mean margins?"),
        (("table-6.1", "--plot", "x.svg"), "--plot is gone: the figure is FOLDER/ID/figure.svg"),
        (("solo", "--game", "morpion-4d"), "--game is gone"),
        (("fig-2.2", "--scale", "0.01"), "there are smoke, laptop, paper"),
        (("fig-2.2", "--seeds", "0"), "from 1 to 1000"),
        (("fig-2.2", "--games", "10"), "fig-2.2 has no value 'games'"),
        (("margins", "--games", "3"), "an even number"),
        (("bonus", "--set", "reward=cdf"), "reward is what bonus itself chooses"),
        (("bonus", "--set", "learn.speed=3"), "unknown setting 'learn.speed'"),
        (("table-6.1", "--games", "30"), "--set games=400 --seeds 20"),
        (("--page", "nowhere"), "nowhere is no folder of results"),
        (("none_such:EXPERIMENT",), "cannot import 'none_such'"),
        (("json:dumps",), "is no Experiment"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(cli: Cli, here: Path, words: tuple[str, ...], piece: str) -> None:
    done = cli("reproduce", *words)
    assert done.code == 2 and piece in done.err and len(done.err.splitlines()) == 1 and done.out == "", done.err
    assert not list(here.iterdir())


def test_what_would_be_done_is_told_and_nothing_is_written(cli: Cli, here: Path) -> None:
    told = cli("reproduce", "solo", "--scale", "smoke", "--dry-run", "--jobs", "2")
    assert told.code == 0 and "1 runs and 5 other jobs, 0 of them done" in told.out and "about 4 s" in told.out
    assert not list(here.iterdir())
