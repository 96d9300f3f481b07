"""Playing in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from palaestra.live.targets import targets
from tests.live.test_role_play import BOTH, GRAB
from tests.live.test_targets import walk
from tests.web.conftest import Server, fits, start_server, stop_server
from tests.web.playing import (
    PATIENCE,
    changed,
    click_move,
    is_over,
    moves,
    open_play,
    play_to_the_end,
    played,
    press,
    settle,
    version,
)

RACE = """
from palaestra.games.python_game import PlainRules, PythonGame

class Race(PlainRules[tuple[int, ...]]):
    def start(self, choice): return (0, 0)
    def mover(self, state): return state[1]
    def moves(self, state): return [a for a in (0, 1) if state[0] + a < 6]
    def play(self, state, action): return (state[0] + action + 1, 1 - state[1])
    def result(self, state): return None if state[0] < 6 else (1 if state[1] == 1 else -1)

GAME = PythonGame.of(Race(), id="race", num_actions=2, max_plies=6, tiebreak="plies")
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that knows a game of one's own and rules in GDL."""
    folder = tmp_path_factory.mktemp("play")
    (folder / "race.py").write_text(RACE)
    (folder / "both.kif").write_text(BOTH)
    (folder / "grab.kif").write_text(GRAB)
    shutil.copy(Path(__file__).parents[2] / "examples" / "domineering_plain.py", folder)
    own = ("race:GAME", "domineering_plain:GAME", "gdl:both.kif", "gdl:grab.kif")
    found = start_server(folder, *(word for game in own for word in ("--game", game)))
    yield found
    stop_server(found)


def test_a_first_visit_shows_a_game_and_a_button_that_trains(server: Server, page: Any) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(server.url)
    page.wait_for_selector(".pb-move", state="attached")
    assert page.locator(".pb-move").count() == 7
    assert page.get_by_role("button", name="Train Connect Four 5×5 for two minutes").is_visible()
    assert page.title() == "Palaestra"


def test_a_game_is_played_by_clicks_with_hint_undo_and_a_link(server: Server, page: Any) -> None:
    open_play(page, server, game="connect_four-4x4", second="random")
    click_move(page, "3")
    played(page, 2)
    press(page, "Hint")
    page.wait_for_selector(".pb-hint", state="attached")
    before = version(page)
    press(page, "Undo")
    changed(page, before)
    page.wait_for_function("location.search.includes('at=0')")
    assert moves(page)[:1] == ["3"]
    press(page, "Redo")
    changed(page, before + 1)
    address, shown = page.url, page.inner_html(".pb-drawing")
    page.goto(address)
    page.wait_for_selector(".pb-move", state="attached")
    assert page.inner_html(".pb-drawing") == shown
    said = play_to_the_end(page)
    assert is_over(said) and page.locator(".pb-move").count() == 0


def test_wrong_addresses_are_answered_with_a_line(server: Server, page: Any) -> None:
    for query in ("gmae=x", "game=chess", "game=hex-5x5&moves=z9", "second=qtable:x", "game=../../etc", "at=x"):
        page.goto(f"{server.url}/play?{query}")
        page.wait_for_selector(".pb-move", state="attached")
        assert page.get_by_role("alert").is_visible(), query
    assert "Traceback" not in (server.folder / "server.log").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    "game",
    ["tic_tac_toe-3x3", "gobang-5x5", "connect_four-5x5", "othello-4x4", "hex-3x3", "opposition-3x9", "gdl:hex-3x3"],
)
def test_a_whole_game_of_each_family_is_played_by_clicks(server: Server, page: Any, game: str) -> None:
    open_play(page, server, game=game, second="random")
    assert is_over(play_to_the_end(page))
    open_play(page, server, game=game, first="random", second="human")
    assert is_over(play_to_the_end(page))


@pytest.mark.slow
@pytest.mark.parametrize("game", ["morpion-4d", "bin_packing-2d"])
def test_a_whole_game_for_one_player_is_played_by_clicks(server: Server, page: Any, game: str) -> None:
    open_play(page, server, game=game)
    assert "score" in play_to_the_end(page)


@pytest.mark.slow
def test_a_king_is_picked_and_then_its_square_or_the_square_at_once(server: Server, page: Any) -> None:
    open_play(page, server, game="opposition-3x9", first="human", second="human", moves="@0")
    page.locator(".pb-piece").click()
    page.wait_for_selector(".pb-picked", state="attached")
    click_move(page, "b2")
    played(page, 2)
    assert moves(page) == ["@0", "b2"]


@pytest.mark.slow
def test_where_several_lines_are_near_one_is_asked_which(server: Server, page: Any) -> None:
    some = (position for seed in range(50) for position in walk("morpion-5t", 12, seed))
    several = next(one for one in some if any(len(target.actions) > 1 for target in targets(one)))
    open_play(page, server, game="morpion-5t", moves=several.text)
    page.locator('.pb-move[aria-label*="moves:"]').first.click(force=True)
    page.wait_for_selector(".pb-chooser button")
    assert page.locator(".pb-chooser button").count() > 1 and page.locator(".pb-line").count() > 1
    before = version(page)
    page.locator(".pb-chooser button").nth(1).click()
    changed(page, before)
    played(page, len(several.moves) + 1)


@pytest.mark.slow
def test_a_game_goes_out_as_pgn_and_comes_in_again(server: Server, page: Any, tmp_path: Path) -> None:
    open_play(page, server, game="othello-6x6", second="random")
    for _ in range(3):
        before = version(page)
        page.locator(".pb-move").first.click()
        changed(page, before)
    played(page, 6)
    before_saving, shown = moves(page), page.inner_html(".pb-drawing")
    page.get_by_text("Save and load").click()
    with page.expect_download() as download:
        press(page, "Save as PGN")
    download.value.save_as(tmp_path / "game.pgn")
    assert '[Variant "othello-6x6"]' in (tmp_path / "game.pgn").read_text()
    open_play(page, server, game="connect_four-4x4")
    page.get_by_text("Save and load").click()
    page.set_input_files('input[type="file"]', tmp_path / "game.pgn")
    page.wait_for_url("**othello-6x6**")
    page.wait_for_selector(".pb-drawing svg")
    assert moves(page) == before_saving and page.inner_html(".pb-drawing") == shown
    (tmp_path / "bad.pgn").write_text('[Variant "gdl:/etc/passwd"]\n\n1. a1 *\n')
    page.get_by_text("Save and load").click()
    page.set_input_files('input[type="file"]', tmp_path / "bad.pgn")
    page.wait_for_selector(".q-notification")
    assert "not a game of this page" in page.inner_text(".q-notification")


@pytest.mark.slow
def test_sides_are_swapped_and_given_up_and_two_players_play_alone(server: Server, page: Any) -> None:
    open_play(page, server, game="hex-3x3", second="random")
    press(page, "Swap sides")
    page.wait_for_function("location.search.includes('first=random')")
    assert "you are the second player" in settle(page)
    press(page, "Resign")
    page.wait_for_function("document.querySelector('.pl-status').innerText.includes('You lose')")
    open_play(page, server, game="tic_tac_toe-3x3", first="random", second="random")
    page.wait_for_function("/wins|draw/.test(document.querySelector('.pl-status').innerText.toLowerCase())")


@pytest.mark.slow
def test_a_new_opening_begins_after_random_moves(server: Server, page: Any) -> None:
    open_play(page, server, game="othello-6x6", first="human", second="human")
    press(page, "Opening")
    page.wait_for_function("location.search.includes('moves=')")
    assert len(moves(page)) >= 2


@pytest.mark.slow
def test_the_keyboard_alone_plays_steps_and_asks(server: Server, page: Any) -> None:
    open_play(page, server, game="tic_tac_toe-3x3", second="random")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement?.classList.contains('pb-move')"):
            break
    before = version(page)
    page.keyboard.press("Enter")
    changed(page, before)
    played(page, 2)
    page.wait_for_function("document.activeElement?.classList.contains('pb-move')")
    for key, ply in (("Home", "at=0"), ("ArrowRight", "at=1"), ("ArrowLeft", "at=0")):
        page.keyboard.press(key)
        page.wait_for_function(f"location.search.includes('{ply}')")
    page.keyboard.press("End")
    page.wait_for_function("!location.search.includes('at=')")
    page.keyboard.press("h")
    page.wait_for_selector(".pb-hint", state="attached")
    page.keyboard.press("u")
    page.wait_for_function("location.search.includes('at=0')")


@pytest.mark.slow
def test_a_game_of_ones_own_is_played_from_its_list_of_moves(server: Server, page: Any) -> None:
    open_play(page, server, game="race:GAME", second="random")
    assert is_over(play_to_the_end(page))


@pytest.mark.slow
def test_a_game_of_ones_own_that_draws_a_board_in_letters_is_played_on_squares(server: Server, page: Any) -> None:
    open_play(page, server, game="domineering_plain:GAME", second="random")
    assert page.locator(".pb-move").count() == 30
    click_move(page, "b2")
    assert moves(page)[0] == "b2" and page.locator(".pb-drawing circle").count() == 4
    assert is_over(play_to_the_end(page))


@pytest.mark.slow
def test_the_button_of_a_first_visit_trains_while_one_watches(server: Server, page: Any) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(server.url)
    page.get_by_role("button", name="Train Connect Four 5×5 for two minutes").click()
    page.wait_for_url("**/watch/*")
    page.locator(".px-chip", has_text="running").wait_for()
    page.locator("[data-chart=losses]").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.locator(".px-chip", has_text="stopped").wait_for()
    (config,) = server.runs.glob("*/config.toml")
    assert 'game = "connect_four-5x5"' in config.read_text()


@pytest.mark.slow
def test_one_of_two_roles_that_move_at_once_is_played(server: Server, page: Any) -> None:
    open_play(page, server, game="gdl:both.kif", role="right", second="random")
    for turn in (1, 2):
        page.get_by_role("button", name="(say 2)").click()
        page.wait_for_function(f"document.querySelectorAll('.pt-table tbody tr').length === {turn}")
        said = settle(page)
    assert "goals" in said and "right" in said
    press(page, "Undo")
    page.get_by_text("after 1 of 2 turns").wait_for()
    assert "role=right" in page.url and page.locator(".pt-table tbody tr.pl-later").count() == 1
    page.keyboard.press("Home")
    page.get_by_text("after 0 of 2 turns").wait_for()
    page.wait_for_function("location.search.includes('at=0')")
    page.reload()
    page.get_by_text("after 0 of 2 turns").wait_for()
    press(page, "one turn on")
    page.get_by_text("after 1 of 2 turns").wait_for()
    press(page, "after turn 2")
    page.get_by_text("after 2 of 2 turns").wait_for()
    page.keyboard.press("ArrowLeft")
    page.get_by_text("after 1 of 2 turns").wait_for()
    page.get_by_role("button", name="(say 1)").click()
    page.get_by_text("after 2 of 2 turns").wait_for()


@pytest.mark.slow
def test_roles_that_move_at_once_point_at_the_squares_of_a_board(server: Server, page: Any) -> None:
    open_play(page, server, game="gdl:grab.kif", role="white", second="random")
    assert page.locator(".pb-move").count() == 4
    page.locator('.pb-move[aria-label="(grab 1 2)"]').click()
    page.get_by_text("after 1 of 1 turns").wait_for()
    assert page.locator(".pb-drawing circle").count() >= 1


@pytest.mark.slow
@pytest.mark.parametrize("game", ["connect_four-6x7", "morpion-5d", "opposition-3x9", "gdl:both.kif", "bin_packing-2d"])
def test_a_phone_needs_no_scrolling_sideways(server: Server, phone: Any, game: str) -> None:
    open_play(phone, server, game=game)
    assert fits(phone)
    if game == "connect_four-6x7":
        before = version(phone)
        phone.locator('.pb-move[aria-label="4"]').tap()
        changed(phone, before)
        played(phone, 2)
