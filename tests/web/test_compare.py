"""Tournaments of the page: what a browser may ask for, tables, and one that is played, stopped and resumed."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("nicegui", reason="the page needs the extra web")

from palaestra.arena.ratings import Results, rate
from palaestra.base.errors import ConfigError, PalaestraError, RunError
from palaestra.live.tournament_file import crosstable_of
from palaestra.web import tournaments
from palaestra.web.allowed import Allowed
from palaestra.web.places import Place
from palaestra.web.standings import Scale, crosstable_html, ratings_html
from tests.web.conftest import Server, start_server, stop_server

PATIENCE = 60_000  # milliseconds: a machine may have much else to do
HOSTILE = '<script>alert(1)</script>"\x1b[2J\u202e&'


class FewerThings:
    """The parts of a `House` that no process is needed for."""

    def __init__(self, runs: Path) -> None:
        self.runs, self.allowed = runs, Allowed(runs)


@pytest.fixture
def house(tmp_path: Path) -> Any:
    return FewerThings(tmp_path)


# What a browser may ask for.


def test_a_plan_becomes_the_command_that_a_person_types(house: Any) -> None:
    plan = tournaments.checked(
        house, "connect_four-5x5", ["random", "greedy", "uct( simulations=20 )"], 4, "round-robin", 7
    )
    assert plan.total == 12 and plan.names == ("random", "greedy", "uct(simulations=20)")
    words = plan.words(house, Path("runs/tournaments/a"))
    assert words[:5] == ["tournament", "connect_four-5x5", "random", "greedy", "uct(simulations=20)"]
    assert words[-3:] == ["--pgn", "runs/tournaments/a/games.pgn", "--resume"]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"game": "os:system"}, "not a game of this page"),
        ({"game": "morpion-5d"}, "for one player"),
        ({"game": "../../etc/passwd"}, "not a game"),
        ({"players": ["random"]}, "2 to 32"),
        ({"players": ["random", "random"]}, "different"),
        ({"players": ["random", "puct(/etc/passwd)"]}, "only the command line"),
        ({"players": ["random", "os:system"]}, "a page cannot name"),
        ({"players": ["random", "--help"]}, "--help"),
        ({"players": ["random", "run:../x"]}, "not a run"),
        ({"players": ["random", "human"]}, "a page cannot name"),
        ({"games": 3}, "even"),
        ({"games": 1e9}, "from 2 to"),
        ({"games": None}, "whole number"),
        ({"games": float("nan")}, "whole number"),
        ({"games": "4"}, "whole number"),
        ({"format": "knockout"}, "round-robin"),
        ({"seed": -1}, "seed"),
        ({"seed": 0.5}, "seed"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(house: Any, changed: dict[str, Any], words: str) -> None:
    given = {"game": "connect_four-5x5", "players": ["random", "greedy"], "games": 4, "format": "gauntlet", "seed": 0}
    with pytest.raises(PalaestraError, match=words) as caught:
        tournaments.checked(house, **{**given, **changed})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["..", ".", "", "a/b", "/etc", "a\0b", "-x", "_x", "a" * 81, "a\nb", "\u202ea", "x y", "$(x)"]
)
def test_a_name_is_never_a_path(tmp_path: Path, name: str) -> None:
    place = Place(tmp_path / "tournaments", "tournament")
    (tmp_path / "tournaments").mkdir()
    with pytest.raises(RunError, match="not a tournament"):
        place.named(name)
    if name:
        with pytest.raises(ConfigError, match="cannot name"):
            place.new(name, "otherwise")


def test_names_are_made_up_and_not_given_twice(tmp_path: Path) -> None:
    place = Place(tmp_path, "tournament")
    first = place.new("", "connect_four-5x5")
    first.mkdir()
    assert place.new(" ", "connect_four-5x5").name == "connect_four-5x5-2"
    with pytest.raises(ConfigError, match="already"):
        place.new(first.name, "x")
    (tmp_path / "link").symlink_to(tmp_path.parent)
    with pytest.raises(RunError):
        place.named("link")
    assert place.all() == [first]


@pytest.mark.parametrize("kept", ["", "[]", "{}", '{"game": 5}', "\xff", "[" * 100_000])
def test_a_plan_that_cannot_be_read_is_none(tmp_path: Path, kept: str) -> None:
    (tmp_path / tournaments.ABOUT).write_bytes(kept.encode("latin-1"))
    assert tournaments.read_plan(tmp_path) is None


def test_a_folder_that_names_code_is_not_gone_on_with(house: Any, tmp_path: Path) -> None:
    plan = {"game": "os:system", "players": ["random", "os:system"], "names": ["a", "b"], "games": 2, "seed": 0}
    (tmp_path / tournaments.ABOUT).write_text(json.dumps({**plan, "format": "round-robin"}))
    with pytest.raises(PalaestraError, match="not a game of this page"):
        tournaments.go_on(house, tmp_path)


# Tables.


def results(*games: tuple[str, str, float]) -> Results:
    return Results.count(games)


def test_tables_hold_the_numbers_and_names_are_harmless() -> None:
    found = results((HOSTILE, "b", 1.0), ("b", HOSTILE, 0.5), (HOSTILE, "b", 1.0))
    cross, rated = crosstable_html(crosstable_of(found)), ratings_html(rate(found))
    for shown in (cross, rated):
        assert "<script>" not in shown and "\x1b" not in shown and "\u202e" not in shown
        assert "&lt;script&gt;" in shown
    assert "<b>83</b><small>2–1–0</small>" in cross and "<b>17</b><small>0–1–2</small>" in cross
    assert "83.3 %" in rated


def test_a_scale_has_round_ends_and_holds_all_values() -> None:
    scale = Scale.over([-301.0, 426.0])
    assert (scale.low, scale.high, scale.step) == (-400.0, 600.0, 200.0)
    assert scale.place(-400) == 0 and scale.place(600) == 100
    alone = Scale.over([0.0, 0.0])
    assert alone.high > alone.low and np.isfinite(alone.place(0.0))


def test_a_table_without_games_says_so() -> None:
    assert "No game has ended yet" in ratings_html(rate(Results.count([], ["a", "b"])))


# A tournament in the browser.


def count(page: Any) -> int:
    """Games that the page says were played."""
    return int(page.locator(".p-soft", has_text=" of ").first.inner_text().split(";")[1].split()[0].replace(",", ""))


def grows(page: Any, before: int) -> bool:
    until = time.monotonic() + PATIENCE / 1000
    while count(page) <= before and time.monotonic() < until:
        time.sleep(0.1)
    return count(page) > before


@pytest.mark.slow
def test_a_tournament_is_started_watched_stopped_and_resumed(page: Any, server: Server) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server.url}/compare")
    page.get_by_label("Games a pairing").fill("4000")
    page.get_by_label("Name").fill("first-try")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/compare/first-try")
    page.locator(".pc-cross td b").first.wait_for(timeout=2 * PATIENCE)
    before = count(page)
    assert grows(page, before), "the cross table does not grow"
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Resume").wait_for()
    stopped = count(page)
    assert stopped < 24_000
    file = server.runs / "tournaments" / "first-try" / "games.pgn"
    written = file.read_bytes()
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Stop").wait_for()
    assert grows(page, stopped)
    assert file.read_bytes().startswith(written), "games were played twice"
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Resume").wait_for()

    page.get_by_label("show game 3", exact=True).click()
    page.get_by_text("Game 3:").wait_for()
    words = page.locator(".ps-words")
    moves = int(words.inner_text().split()[2])
    page.locator("body").press("ArrowLeft")
    page.get_by_text(f"{moves - 1} of {moves} moves").wait_for()
    page.locator("body").press("Home")
    page.get_by_text("the beginning").wait_for()
    page.get_by_role("button", name="one move on").click()
    page.get_by_text(f"1 of {moves} moves").wait_for()
    page.get_by_label("moves made").fill("2")
    page.get_by_text(f"2 of {moves} moves").wait_for()


@pytest.mark.slow
def test_a_tournament_goes_on_without_the_server(page: Any, tmp_path: Path) -> None:
    page.set_default_timeout(PATIENCE)
    first = start_server(tmp_path)
    try:
        page.goto(f"{first.url}/compare")
        page.get_by_label("Games a pairing").fill("2000")
        page.get_by_label("Name").fill("long")
        page.get_by_role("button", name="Start").click()
        page.wait_for_url("**/compare/long")
        page.locator(".pc-cross td b").first.wait_for(timeout=2 * PATIENCE)
    finally:
        stop_server(first)
    file = tmp_path / "runs" / "tournaments" / "long" / "games.pgn"
    size = file.stat().st_size
    second = start_server(tmp_path)
    try:
        page.goto(f"{second.url}/compare/long")
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("button", name="Resume").wait_for()
        assert file.stat().st_size > size
    finally:
        stop_server(second)
