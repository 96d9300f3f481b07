"""The pages Compare, Solve and Laboratory in a browser, as far as that is quick: one server for all of them."""

from __future__ import annotations

from typing import Any

from tests.web.conftest import Server, fits, read
from tests.web.test_compare import PATIENCE

SCRIPT = "<img src=x onerror=window.hit=1><script>window.hit=1</script>"
PGN = "".join(
    f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n\n{result}\n\n'
    for white, black, result in [
        (SCRIPT, "b", "1-0"),
        ("b", "c\x1b[2J", "1/2-1/2"),
        ("c\x1b[2J", SCRIPT, "0-1"),
        ("x", "y", "*"),
    ]
)
MORPION = "# palaestra\n# found by hand\ngame: morpion-5d\nscore: {score}\nmoves:\nn11e\nn20e\n"


def drop(page: Any, name: str, text: str) -> None:
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "text/plain", "buffer": text.encode()})


def test_a_pgn_that_is_dropped_is_rated_and_its_names_are_harmless(page: Any, server: Server) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server.url}/compare")
    drop(page, "games.pgn", PGN)
    page.get_by_text("games.pgn: 3 games of 3 players").wait_for()
    page.get_by_text("Games left out: no result: 1").wait_for()
    assert page.locator(".pc-ratings tbody tr").count() == 3 and page.locator(".pc-whisker u").count() == 3
    assert page.get_by_text("<img src=x onerror=window.hit=1>").count() > 0
    assert page.evaluate("window.hit") is None
    drop(page, "none.pgn", "nothing")
    page.get_by_text("none.pgn").last.wait_for()
    assert page.locator(".pc-ratings").count() == 0


def test_a_solution_that_is_dropped_is_verified_and_drawn(page: Any, server: Server) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server.url}/solve")
    drop(page, "two.txt", MORPION.format(score=2))
    page.get_by_text("verified independently of the engine").wait_for()
    page.get_by_text("2 of 2 moves, after n20e").wait_for()
    assert page.locator(".ps-drawing circle[r='9']").count() == 2
    page.locator("body").press("ArrowLeft")
    page.get_by_text("1 of 2 moves, after n11e").wait_for()
    page.get_by_label("moves made").fill("0")
    page.get_by_text("the beginning").wait_for()
    drop(page, "wrong.txt", MORPION.format(score=3))
    page.get_by_text("the file claims a score of 3, and its moves score 2").wait_for()
    drop(page, "code.txt", "game: os:system\nscore: 1\nmoves:\na\n")
    page.get_by_text("os:system").last.wait_for()


def test_the_laboratory_lists_all_results_at_once(page: Any, server: Server) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server.url}/laboratory?scale=smoke")
    page.get_by_role("link", name="Figure 4.2").wait_for()
    assert page.locator(".px-results tbody td:first-child a").count() >= 32
    assert read(f"{server.url}/laboratory/figure/smoke/fig-4.2")[0] == 404
    for path in ("/laboratory/figure/..%2f..%2fetc/passwd", "/laboratory/figure/..%2fx", "/compare/..%2f.."):
        assert read(server.url + path)[0] == 404


def test_wrong_wishes_are_answered_by_a_line(page: Any, server: Server) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{server.url}/compare")
    page.get_by_label("Games a pairing").fill("3")
    page.get_by_role("button", name="Start").click()
    page.get_by_text("an even number such as 4, not 3").wait_for()
    page.get_by_label("Games a pairing").fill("2")
    page.get_by_label("Name").fill("../../x")
    page.get_by_role("button", name="Start").click()
    page.get_by_text("cannot name a tournament").wait_for()
    assert not (server.runs / "tournaments").exists()
    for path, words in (
        ("/compare/none", "is not a tournament"),
        ("/solve/none", "is not a solved game"),
        ("/laboratory/os:system", "is not a result"),
        ("/laboratory/sweep/none", "is not a sweep"),
    ):
        page.goto(server.url + path)
        page.get_by_text(words).first.wait_for()


def test_nothing_is_scrolled_sideways_on_a_phone(phone: Any, server: Server) -> None:
    phone.set_default_timeout(PATIENCE)
    for path, words in (("/compare", "New tournament"), ("/solve", "New search"), ("/laboratory", "Published results")):
        phone.goto(server.url + path)
        phone.get_by_text(words).first.wait_for()
        assert fits(phone), path
