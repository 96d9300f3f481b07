"""Sweeps of the laboratory's page: what a browser may ask for, and one that is started, stopped and gone on with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nicegui", reason="the page needs the extra web")

from palaestra.base.errors import PalaestraError
from palaestra.runs.places import SWEEP
from palaestra.web import sweeps
from palaestra.web.lab_questions import SweepPage
from palaestra.web.sweep_view import figures_html, progress_html, sweeps_html
from palaestra.web.sweeps import Asked, Seen
from tests.web.conftest import Server
from tests.web.test_compare import HOSTILE, PATIENCE, FewerThings

USUAL = {"game": "connect_four-5x5", "space": "fast", "trials": 2, "minutes": 0.5, "games": 4, "seed": 0}


@pytest.fixture
def house(tmp_path: Path) -> Any:
    return FewerThings(tmp_path / "runs")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"game": "morpion-5d"}, "for one player"),
        ({"game": "os:system"}, "os:system"),
        ({"space": "../fast"}, "not a space"),
        ({"space": "my.toml"}, "not a space"),
        ({"trials": 0}, "number of trials is 0"),
        ({"trials": 2.5}, "whole number"),
        ({"minutes": -1}, "minutes is -1"),
        ({"minutes": float("nan")}, "minutes is nan"),
        ({"games": 3}, "an even number such as 4"),
        ({"seed": None}, "the seed is None"),
    ],
)
def test_what_a_form_asks_for_is_checked(house: Any, changed: dict[str, Any], words: str) -> None:
    with pytest.raises(PalaestraError, match=words):
        sweeps.checked(house, **(USUAL | changed))


def test_a_sweep_is_the_command_that_a_person_types(house: Any) -> None:
    asked = sweeps.checked(house, **USUAL)
    line = " ".join(asked.words(house, Path("runs/sweeps/x")))
    options = "--space fast --minutes 0.5 --games 4 --seed 0 --trials 2 --out runs/sweeps/x"
    assert line == f"sweep connect_four-5x5 {options}"


def test_only_what_a_page_began_is_gone_on_with(house: Any) -> None:
    folder = house.runs / "sweeps" / "mine"
    folder.mkdir(parents=True)
    (folder / SWEEP).touch()
    with pytest.raises(PalaestraError, match="mine was not begun by a page"):
        sweeps.go_on(house, "mine", 3)
    about = sweeps.folder_of_command(house, "mine")
    about.mkdir(parents=True)
    for broken in ("[]", "{", json.dumps(USUAL | {"game": 3})):
        (about / sweeps.ASKED).write_text(broken)
        assert sweeps.read_asked(house, "mine") is None
    (about / sweeps.ASKED).write_text(json.dumps(USUAL | {"space": "/etc/space.toml"}))
    with pytest.raises(PalaestraError, match="not a space"):
        sweeps.go_on(house, "mine", 3)


def test_a_list_says_how_far_each_sweep_is(house: Any) -> None:
    folder = house.runs / "sweeps" / "mine"
    (folder / "trials" / "0001").mkdir(parents=True)
    (folder / "trials" / "0000.json").touch()
    (folder / SWEEP).touch()
    about = sweeps.folder_of_command(house, "mine")
    about.mkdir(parents=True)
    (about / sweeps.ASKED).write_text(json.dumps(USUAL))
    (seen,) = sweeps.all_seen(house)
    assert (seen.done, seen.total, seen.state, seen.under_way) == (1, 2, "stopped", ())
    assert "1 of 2 trials" in sweeps_html([seen]) and "No sweep is here" in sweeps_html([])


def test_names_and_figures_of_sweeps_are_harmless() -> None:
    seen = Seen(HOSTILE, 1, True, (), Asked(HOSTILE, "fast", 2, 1.0, 2, 0), None)
    page = SweepPage(HOSTILE, {}, (), (), ())
    shown = sweeps_html([seen]) + progress_html(seen) + figures_html(page)
    assert "<script>" not in shown and "\x1b" not in shown


@pytest.mark.slow
def test_a_sweep_is_started_watched_stopped_and_gone_on_with(page: Any, server: Server) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server.url}/laboratory")
    page.get_by_text("New sweep").click()
    for label, value in (("Trials", "3"), ("Minutes of each run", "0.05"), ("Games against", "2"), ("Name", "first")):
        page.get_by_label(label).last.fill(value)
    page.get_by_role("button", name="Start the sweep").click()
    page.get_by_text("0 of 3 trials done").wait_for(timeout=2 * PATIENCE)
    page.get_by_text("1 of 3 trials done").wait_for(timeout=4 * PATIENCE)
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Go on").wait_for()
    page.get_by_label("Trials in all").fill("2")
    page.get_by_role("button", name="Go on").click()
    page.get_by_text("2 of 2 trials done").wait_for(timeout=4 * PATIENCE)
    page.locator(".px-figure").first.wait_for(timeout=PATIENCE)
    assert page.locator(".px-front").count() >= 1
    assert (server.runs / "sweeps" / "first" / SWEEP).is_file()
