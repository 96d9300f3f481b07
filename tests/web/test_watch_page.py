"""The page Watch in a real browser: runs in a table, one run, several over each other, training started and stopped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from palaestra.learn.loop import resume, train
from palaestra.runs.folder import MANIFEST, RunFolder
from palaestra.web import training
from tests.learn.fakes import FAKES, tiny
from tests.learn.run_folders import metrics_line
from tests.runs.test_overview import stored
from tests.web.conftest import Server, fits, start_server, stop_server

HOSTILE = "<img src=x onerror=window.pwned=1>"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over runs of every kind: whole, damaged, foreign and hostile."""
    folder = tmp_path_factory.mktemp("watch")
    for name in ("one", "two"):
        train(tiny(iterations=4), folder / "runs" / name, stages=FAKES)
    elo = {HOSTILE: (10.0, -5.0, 25.0), "random": (None, 100.0, None)}
    stored(folder / "runs" / "hostile", [replace(metrics_line(1), elo=elo), replace(metrics_line(2), elo=elo)])
    (folder / "runs" / "broken").mkdir()
    (folder / "runs" / "broken" / MANIFEST).write_text("{")
    (folder / "runs" / f"{HOSTILE}\x1b[31m\n").mkdir()
    found = start_server(folder)
    yield found
    stop_server(found)


def chart(page: Any, key: str) -> Any:
    return page.locator(f'[data-chart="{key}"] svg')


def test_runs_stand_in_a_table_and_open_one_by_one(server: Server, page: Any) -> None:
    page.goto(f"{server.url}/watch")
    page.get_by_role("link", name="one", exact=True).wait_for()
    row = page.locator("tr", has_text="broken")
    assert "damaged" in row.inner_text() and "manifest" in row.inner_text()
    assert page.evaluate("window.pwned") is None and page.get_by_text(HOSTILE).count() == 1
    page.locator("th", has_text="run").first.click()
    names = page.locator("tbody .w-link").all_inner_texts()
    assert names == sorted(names) or names == sorted(names, reverse=True)
    page.locator("tr", has_text="two").locator("td", has_text="tic_tac_toe").last.click()
    page.wait_for_url("**/watch/two")


def test_one_run_shows_its_charts_games_and_settings(server: Server, page: Any) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{server.url}/watch/one")
    chart(page, "strength").wait_for()
    assert {"losses", "speed", "time"} <= {
        one.get_attribute("data-chart") for one in page.locator("[data-chart]").all()
    }
    page.get_by_role("button", name="iterations").click()
    chart(page, "losses").locator("text", has_text="iterations").wait_for()
    games = page.locator('[data-part="games"]')
    games.locator(".ps-drawing svg").wait_for()
    last = games.locator(".ps-words").inner_text()
    assert re.match(r"(\d+) of \1 moves", last)
    games.get_by_role("button", name="to the beginning").click()
    games.get_by_text("the beginning").wait_for()
    page.keyboard.press("ArrowRight")
    games.get_by_text("1 of").wait_for()
    games.get_by_label("iteration").fill("2")
    games.get_by_role("button", name="Latest").wait_for()
    assert "Nearest preset" in page.locator("section", has_text="Settings").last.inner_text()
    page.get_by_label("search settings").fill("learn.lr")
    page.locator(".w-settings td", has_text="learn.lr_end").wait_for()
    assert errors == []


@pytest.mark.slow
def test_a_hostile_run_is_shown_as_text(server: Server, page: Any) -> None:
    page.goto(f"{server.url}/watch/hostile")
    chart(page, "strength").locator("text", has_text="onerror").first.wait_for()
    box = chart(page, "strength").bounding_box()
    for share in (0.3, 0.6, 0.9):  # what a mouse brings up is text, too
        page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        page.wait_for_timeout(100)
    assert page.evaluate("window.pwned") is None and page.locator("img[src=x]").count() == 0
    for name in ("nowhere", "..%2F..%2Fetc", "broken", "%3Cimg%20src%3Dx%3E"):
        page.goto(f"{server.url}/watch/{name}")
        page.get_by_text(re.compile("There is no run|damaged|Not Found|not found")).first.wait_for()


@pytest.mark.slow
def test_several_runs_are_seen_over_each_other(server: Server, page: Any) -> None:
    page.goto(f"{server.url}/watch?runs=one,../x,nowhere")
    chart(page, "loss-minutes").wait_for()
    page.locator("tr", has_text="two").get_by_role("checkbox").click()
    chart(page, "loss-iterations").locator("text", has_text="two").wait_for()
    page.wait_for_url("**/watch?runs=one,two")
    assert chart(page, "elo-minutes").locator("text", has_text="one").count() == 1


def test_a_run_is_followed_while_another_process_goes_on(server: Server, page: Any) -> None:
    folder = server.runs / "grows"
    train(tiny(iterations=1), folder, stages=FAKES)
    page.goto(f"{server.url}/watch/grows")
    facts = page.locator(".w-fact", has_text="iterations")
    facts.get_by_text("1", exact=True).wait_for()
    with RunFolder(folder).locked():
        (folder / "progress.json").write_text(
            '{"iterations": 1, "share": 0.25, "seconds": 5, "seconds_left": 15, "stage": "training", "done": 30,'
            ' "total": 40, "unit": "batches", "warnings": ["it was <b>hot</b>"], "ended": false, "written": 1}'
        )
        page.get_by_text("training: 30 of 40 batches").wait_for()
        page.get_by_text("it was <b>hot</b>").wait_for()
        assert page.get_by_role("button", name="Stop").is_visible()
    page.locator(".px-chip", has_text="finished").wait_for()
    resume(folder, iterations=3, stages=FAKES)
    facts.get_by_text("3", exact=True).wait_for()


@pytest.mark.slow
def test_the_form_says_what_is_wrong_and_shows_the_command(server: Server, page: Any) -> None:
    page.goto(f"{server.url}/train?game=tic_tac_toe-3x3")
    line = page.get_by_label("the command")
    line.get_by_text("palaestra train tic_tac_toe-3x3 --preset fast").wait_for()
    page.get_by_label("add a setting").fill("learn.loss")
    page.get_by_role("option", name=re.compile("^learn.loss:")).click()
    page.get_by_label("learn.loss", exact=True).fill("my:loss")
    page.get_by_text("a page cannot set learn.loss").wait_for()
    assert page.get_by_role("button", name="Start").is_disabled()
    page.get_by_label("learn.loss", exact=True).fill("product")
    line.get_by_text("--set learn.loss=product").wait_for()
    page.get_by_label("name (made for you if empty)").fill("../x")
    page.get_by_text("cannot name a run").wait_for()
    assert not (server.runs / training.COMMANDS).exists()


def test_the_form_takes_the_usual_preset_of_the_time_until_one_is_chosen(server: Server, page: Any) -> None:
    page.goto(f"{server.url}/train?game=tic_tac_toe-3x3")
    line = page.get_by_label("the command")
    line.get_by_text("--preset fast").wait_for()
    page.get_by_label("how many").fill("45")
    line.get_by_text("--preset strong").wait_for()
    page.get_by_role("radio", name=re.compile("^thesis:")).click()
    line.get_by_text("--preset thesis ").wait_for()
    page.get_by_label("how many").fill("2")
    line.get_by_text("--minutes 2").wait_for()
    assert "--preset thesis " in line.inner_text()


def test_nothing_is_scrolled_sideways_on_a_phone(server: Server, phone: Any) -> None:
    for address, there in (
        ("/watch?runs=one,two,hostile", '[data-chart="loss-iterations"] svg'),
        ("/watch/one", ".ps-drawing svg"),
        ("/watch/hostile", '[data-chart="strength"] svg'),
        ("/train", ".w-presets"),
    ):
        phone.goto(server.url + address)
        phone.locator(there).first.wait_for()
        assert fits(phone), address


@pytest.mark.slow
def test_a_training_is_started_watched_stopped_and_resumed(server: Server, page: Any, tmp_path: Path) -> None:
    page.set_default_timeout(120_000)
    page.goto(f"{server.url}/train?game=tic_tac_toe-3x3")
    page.get_by_role("button", name="iterations").click()
    page.get_by_label("how many").fill("500")
    page.get_by_label("threads").fill("1")
    page.get_by_label("name (made for you if empty)").fill("from-page")
    page.get_by_label("the command").get_by_text("--out from-page --iterations 500 --threads 1").wait_for()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/watch/from-page")
    page.locator(".px-chip", has_text="running").wait_for()
    page.get_by_text(re.compile("% of the run")).wait_for()
    chart(page, "losses").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.locator(".px-chip", has_text="stopped").wait_for()
    manifest = RunFolder(server.runs / "from-page").manifest()
    assert manifest is not None and 1 <= manifest.iteration < 500
    page.get_by_role("button", name="Extend").click()
    page.get_by_label("minutes in all").fill("")
    page.get_by_label("iterations in all").fill("1")
    page.get_by_role("dialog").get_by_role("button", name="Extend").click()
    page.get_by_role("alert").get_by_text("to extend it, give more in all").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Go on").click()
    page.locator(".px-chip", has_text="running").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.locator(".px-chip", has_text="stopped").wait_for()


@pytest.mark.slow
def test_mistakes_are_counted_where_every_move_is_known(server: Server, page: Any) -> None:
    page.set_default_timeout(120_000)
    (server.runs / training.COMMANDS).mkdir(exist_ok=True)
    page.goto(f"{server.url}/train?game=tic_tac_toe-3x3")
    page.get_by_role("button", name="iterations").click()
    page.get_by_label("how many").fill("2")
    page.get_by_label("threads").fill("1")
    page.get_by_label("name (made for you if empty)").fill("errs")
    page.get_by_label("the command").get_by_text("--out errs").wait_for()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/watch/errs")
    page.locator(".px-chip", has_text="finished").wait_for()
    page.get_by_role("button", name="Count mistakes").click()
    chart(page, "mistakes").locator("text", has_text="network alone").wait_for()
