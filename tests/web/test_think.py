"""What players think of the position, in a real browser."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.learn.run_folders import make_run
from tests.web.conftest import Server, start_server, stop_server
from tests.web.playing import changed, click_move, moves, open_play, played, press, settle, version

LONG = "uct(simulations=2000)"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a run of two networks."""
    folder = tmp_path_factory.mktemp("think")
    (folder / "runs").mkdir()
    make_run(folder / "runs" / "tiny", "connect_four-4x4", iterations=4, best=2)
    found = start_server(folder)
    yield found
    stop_server(found)


def table(page: Any) -> str:
    """The first adviser's table, once there is one."""
    page.wait_for_selector(".pt-table td")
    return str(page.locator(".pt-table").first.inner_text())


@pytest.mark.slow
def test_thinking_shows_moves_values_and_the_line_and_grows(server: Server, page: Any) -> None:
    open_play(page, server, game="connect_four-6x7", first="human", second="human", moves="4 4", think=LONG)
    shown = table(page)
    assert all(word in shown for word in ("move", "value", "policy", "visits"))
    page.wait_for_function(f"document.querySelector('.pt-table').innerText !== {json.dumps(shown)}")
    assert "for the player to move" in page.inner_text(".pt-value")
    assert page.inner_text(".pt-line").startswith("Expected:")


@pytest.mark.slow
def test_what_lies_over_the_board_can_be_switched(server: Server, page: Any) -> None:
    open_play(page, server, game="hex-5x5", first="human", second="human", think=LONG)
    table(page)
    plain = None
    for name, sign in (("Visits", "k"), ("Value", "."), ("None", None)):
        press(page, name)
        drawing = page.locator(".pb-drawing")
        if sign is None:
            page.wait_for_function("!document.querySelector('.pb-drawing').innerHTML.includes('paint-order')")
            plain = drawing.inner_html()
        else:
            page.wait_for_function(
                "(sign) => [...document.querySelectorAll('.pb-drawing text[paint-order]')]"
                ".some((one) => one.textContent.includes(sign))",
                arg=sign,
            )
    assert plain


@pytest.mark.slow
def test_the_slider_goes_through_the_networks_of_a_run(server: Server, page: Any) -> None:
    open_play(page, server, game="connect_four-4x4", first="human", second="human", think="run:tiny")
    first = table(page)
    assert "iteration 2, minute 2.0" in page.inner_text(".pt-adviser")
    page.locator('[role=slider][aria-label=iteration] [tabindex="0"]').focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("location.search.includes('run:tiny@0')")
    page.wait_for_function("document.querySelector('.pt-adviser').innerText.includes('untrained')")
    page.wait_for_function(f"document.querySelector('.pt-table')?.innerText !== {json.dumps(first)}")
    assert moves(page) == []  # the arrows were the slider's


@pytest.mark.slow
def test_two_advisers_stand_side_by_side(server: Server, page: Any) -> None:
    open_play(page, server, game="connect_four-4x4", first="human", second="human", think="run:tiny@0")
    table(page)
    press(page, "Second adviser")
    page.wait_for_function("document.querySelectorAll('.pt-table').length === 2")
    page.wait_for_function("document.querySelectorAll('.pt-small svg').length === 2")


@pytest.mark.slow
def test_mistakes_are_marked_and_the_space_bar_stops(server: Server, page: Any) -> None:
    lost = "a1 b2 c3 a2 b1"  # the second player could have won with c2
    open_play(page, server, game="tic_tac_toe-3x3", first="human", second="human", moves=lost, think=LONG)
    page.wait_for_selector(".pl-mark")
    table(page)
    page.locator("h1").click()
    page.keyboard.press(" ")
    page.wait_for_selector('[aria-label="start thinking"]')
    page.keyboard.press(" ")
    page.wait_for_selector('[aria-label="stop thinking"], [aria-label="start thinking"]')


def busy(server: Server) -> float:
    """Seconds of computing of the processes that the server has started, so far."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[1]) == server.process.pid:
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="counts the work of processes as Linux tells it")
def test_a_closed_tab_ends_its_search(server: Server, page: Any) -> None:
    open_play(page, server, game="connect_four-6x7", first="human", second="human", think=LONG)
    table(page)
    page.get_by_label("how long").click()
    page.get_by_role("option", name="until stopped").click()
    before = busy(server)
    while busy(server) < before + 0.5:
        page.wait_for_timeout(100)
    page.close()
    for _ in range(30):  # the search would go on for ten minutes
        before = busy(server)
        time.sleep(1.0)
        if busy(server) - before < 0.05:
            return
    raise AssertionError("the processes go on computing")


@pytest.mark.slow
def test_an_agent_of_a_run_is_an_opponent(server: Server, page: Any) -> None:
    open_play(page, server, game="connect_four-4x4", second="run:tiny@2(simulations=8)")
    click_move(page, "2")
    played(page, 2)
    assert "Your turn" in settle(page)


@pytest.mark.slow
def test_a_move_made_while_somebody_thinks_is_thought_about_next(server: Server, page: Any) -> None:
    open_play(page, server, game="connect_four-6x7", first="human", second="human", think=LONG)
    table(page)
    before = version(page)
    page.locator('.pb-move[aria-label="4"]').click()
    changed(page, before)
    page.wait_for_function("document.querySelectorAll('.pl-moves button').length === 1")
    table(page)
