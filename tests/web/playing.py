"""Hands for the tests of the page Play."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from tests.web.conftest import Server

READY = """() => {
  const status = document.querySelector(".pl-status")?.innerText || "";
  const said = /^(Your|You |The (first|second) player|A draw|Over|Given up|.* is to move|Stopped|The game is over)/i;
  return said.test(status.trim());
}"""

MOVES = "new URLSearchParams(location.search).get('moves') || ''"
PATIENCE = 90_000  # milliseconds: the machine may be busy with other tests
CHANGED_OR_ASKED = """
  Number(document.querySelector(".pb-targets").dataset.version) > %d || document.querySelector(".pb-chooser button")
"""


def open_play(page: Any, server: Server, **query: str) -> None:
    """The page with a game, once a person can move or the game is over."""
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server.url}/play?{urlencode(query)}")
    page.wait_for_selector(".pb-targets, .pl-facts", state="attached")
    settle(page)


def settle(page: Any) -> str:
    """Wait until nobody thinks; what is said then."""
    page.wait_for_function(READY)
    return str(page.inner_text(".pl-status")).strip()


def version(page: Any) -> int:
    return int(page.get_attribute(".pb-targets", "data-version") or 0)


def changed(page: Any, before: int) -> None:
    """Wait until the board shows another position, and nobody thinks."""
    page.wait_for_function(f"Number(document.querySelector('.pb-targets').dataset.version) > {before}")
    settle(page)


def click_move(page: Any, name: str) -> None:
    """Point at a move by its name, and wait for the answer to it."""
    before = version(page)
    page.locator(f'.pb-move[aria-label="{name}"]').click()
    changed(page, before)


def press(page: Any, name: str) -> None:
    """A button by its name."""
    page.get_by_role("button", name=name, exact=True).first.click()


def moves(page: Any) -> list[str]:
    """The moves that the address holds."""
    return str(page.evaluate(MOVES)).split()


def played(page: Any, count: int) -> None:
    """Wait until the address holds so many moves."""
    page.wait_for_function(f"({MOVES}).split(' ').filter(Boolean).length === {count}")


def is_over(said: str) -> bool:
    return any(word in said for word in ("win", "lose", "draw", "score", "resigns", "over"))


def play_to_the_end(page: Any, most: int = 120) -> str:
    """Point at the first move there is until the game is over; what is said then."""
    said = settle(page)
    for _ in range(most):
        if is_over(said):
            return said
        before = version(page)
        target = page.locator(".pb-move").first
        if target.count():
            target.click(force=True)
            page.wait_for_function(CHANGED_OR_ASKED % before)
            if version(page) == before:
                page.locator(".pb-chooser button").first.click()
        else:
            page.locator(".pb-list button").first.click()
        changed(page, before)
        said = settle(page)
    raise AssertionError(f"no end after {most} moves: {said}")
