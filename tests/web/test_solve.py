"""Searches for one player on the page."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nicegui", reason="the page needs the extra web")

from palaestra.base.errors import PalaestraError
from palaestra.web import solvings
from palaestra.web.solve_view import histogram, over_time
from tests.web.conftest import Server
from tests.web.test_compare import PATIENCE, FewerThings


@pytest.fixture
def house(tmp_path: Path) -> Any:
    return FewerThings(tmp_path)


def test_a_search_becomes_the_command_that_a_person_types(house: Any) -> None:
    words = solvings.words(house, "morpion-5d", "nrpa( level=2 )", 1.5, 3, Path("runs/solved/a"))
    options = ["--player", "nrpa(level=2)", "--minutes", "1.5", "--seed", "3", "--out", "runs/solved/a"]
    assert words == ["solve", "morpion-5d", *options]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"game": "connect_four-6x7"}, "for two players"),
        ({"game": "os:system"}, "not a game of this page"),
        ({"player": "os:system"}, "a page cannot name"),
        ({"player": "nrpa(run=../../x)"}, "not a run"),
        ({"minutes": 0}, "above 0"),
        ({"minutes": float("nan")}, "above 0"),
        ({"minutes": float("inf")}, "at most"),
        ({"minutes": None}, "above 0"),
        ({"seed": "x"}, "the seed"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(house: Any, changed: dict[str, Any], words: str) -> None:
    given = {"game": "morpion-5d", "player": "nrpa(level=2)", "minutes": 1, "seed": 0, "folder": Path("x")}
    with pytest.raises(PalaestraError, match=words) as caught:
        solvings.words(house, **{**given, **changed})
    assert "\n" not in str(caught.value)


def test_a_folder_that_names_code_is_not_gone_on_with(house: Any, tmp_path: Path) -> None:
    folder = tmp_path / "solved" / "strange"
    folder.mkdir(parents=True)
    about = {
        "format": 1,
        "game": "os:system",
        "version": 1,
        "player": "nrpa(level=2)",
        "seed": 0,
        "opening": "",
        "at_once": 1,
    }
    (folder / "solve.json").write_text(json.dumps(about))
    with pytest.raises(PalaestraError, match="not a game of this page"):
        solvings.go_on(house, "strange", 1)
    row = solvings.rows(house)[0]
    assert row.name == "strange" and row.best is None and "journal" in row.problem


def test_a_histogram_counts_every_score_once() -> None:
    bars = histogram({3: 5, 5: 1})
    assert bars["xAxis"]["data"] == ["3", "4", "5"] and bars["series"][0]["data"] == [5, 0, 1]
    wide = histogram({score: 1 for score in range(0, 200)})
    assert len(wide["xAxis"]["data"]) <= 60 and sum(wide["series"][0]["data"]) == 200
    assert histogram({})["series"][0]["data"] == [0]


def test_a_curve_is_in_seconds_or_in_minutes() -> None:
    short = over_time([(1.0, 60), (9.0, 61)], [(1.0, 60), (9.0, 61)])
    assert short["xAxis"]["name"] == "seconds of solving" and short["series"][1]["data"][-1] == [9.0, 61.0]
    long = over_time([(60.0, 60), (600.0, 61)], [])
    assert long["xAxis"]["name"] == "minutes of solving" and long["series"][1]["data"][-1] == [10.0, 61.0]
    assert over_time([], [])["series"][1]["data"] == []


@pytest.mark.slow
def test_a_search_is_started_watched_stopped_and_goes_on(page: Any, server: Server) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server.url}/solve")
    page.get_by_label("Search: choose").click()
    page.get_by_role("option", name="nrpa(level=2)", exact=True).click()
    page.get_by_label("Name").fill("first-try")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/solve/first-try")
    page.locator(".ps-drawing svg").wait_for(timeout=2 * PATIENCE)
    assert page.locator(".px-chart svg").count() == 2

    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Go on").wait_for()
    words = page.locator(".ps-words")
    moves = int(words.inner_text().split()[2])
    discs = page.locator(".ps-drawing circle[r='9']")
    assert discs.count() == moves
    page.get_by_label("moves made").fill("12")
    page.get_by_text(f"12 of {moves} moves").wait_for()
    assert discs.count() == 12
    page.locator("body").press("ArrowRight")
    page.get_by_text(f"13 of {moves} moves").wait_for()
    assert discs.count() == 13

    journal = server.runs / "solved" / "first-try" / "journal.jsonl"
    before = journal.read_bytes()
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Stop").wait_for()
    for _ in range(600):
        if len(journal.read_bytes()) > len(before):
            break
        time.sleep(0.1)
    assert journal.read_bytes().startswith(before) and len(journal.read_bytes()) > len(before)
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Go on").wait_for()
