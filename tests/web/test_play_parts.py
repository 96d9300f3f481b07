"""What the page Play is made of, without a browser."""

from __future__ import annotations

import asyncio
import gc
import weakref
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from palaestra.base.errors import ConfigError, MoveError
from palaestra.games.registry import make_game
from palaestra.live.elsewhere import Elsewhere
from palaestra.live.game_in_play import GameInPlay
from tests.learn.run_folders import make_run
from tests.players.run_folders import random_model, write_run

pytest.importorskip("nicegui", reason="the page needs the extra web")

from palaestra.web.address import Address
from palaestra.web.adviser import limited
from palaestra.web.frame import held_weakly
from palaestra.web.game_names import title
from palaestra.web.opponents import Network, find_agents, options, run_of, words_of
from palaestra.web.play_words import status_words
from palaestra.web.role_view import read_turns

ADDRESSES = (
    Address(),
    Address("hex-5x5", ("human", "uct(simulations=200)"), "a1 b2", 1, 7),
    Address("gdl:tic_tac_toe-3x3", ("run:a-b@12(simulations=3)", "human"), "(mark 1 1) (mark 2 2)", None, 3),
    Address("gdl:x.kif", (None, "random"), "(drop 1) noop", role="nobody: only watch", seed=5),
    Address("opposition-3x9", moves="@3 a2 & b8?=%", think='rave(reward="hand_tuned")'),
)


@pytest.mark.parametrize("address", ADDRESSES, ids=lambda address: address.game)
def test_an_address_is_read_as_it_was_written(address: Address) -> None:
    query = dict(parse_qsl(urlsplit(str(address)).query, keep_blank_values=True))
    assert Address.read(query) == address


@pytest.mark.parametrize("given", [{"gmae": "hex-5x5"}, {"at": "-1"}, {"seed": "x"}, {"game": "a" * 1000}])
def test_what_is_wrong_in_an_address_is_said(given: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        Address.read(given)


def test_players_are_offered_with_plain_words_and_every_network_of_every_run_of_the_game(tmp_path: Path) -> None:
    make_run(tmp_path / "four", "connect_four-4x4", iterations=4, best=2)
    game = make_game("tic_tac_toe-3x3")
    write_run(tmp_path / "three", game, {0: random_model(game), 5: random_model(game, 1)})
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "manifest.json").write_text("{")
    offered = options(make_game("connect_four-4x4"), find_agents(tmp_path, make_game("connect_four-4x4")), person=True)
    agents = [text for text in offered if text.startswith("run:")]
    assert agents == ["run:four", "run:four@2", "run:four@0"]
    assert offered["human"] == "You" and "minute 2.0" in offered["run:four@2"]
    assert [run.name for run in find_agents(tmp_path, game)] == ["three"]


def test_a_run_is_recognised_in_a_players_text() -> None:
    assert run_of("run:first@12(simulations=30)") == ("first", "12")
    assert run_of("run:first") == ("first", "best")
    assert run_of("uct(simulations=3)") is None and run_of("no player(") is None
    assert words_of(Network(12, 3.54)) == "iteration 12, minute 3.5" and words_of(Network(0, None)) == "untrained"


def test_a_limit_of_time_takes_the_place_of_a_players_own() -> None:
    assert limited("uct(simulations=2000, c=1.5)", 10) == "uct(c=1.5, ms=10000)"
    assert limited("run:a@3", 3) == "run:a@3(ms=3000)"
    assert limited("uct(simulations=2000)", 0) == "uct(simulations=2000)"
    assert limited("nrpa(level=2)", 10) == "nrpa(level=2)"


def test_names_of_games_are_for_people() -> None:
    names = ["connect_four-6x7", "gobang-15x15-5", "morpion-5d", "opposition-3x9-absolute", "gdl:a/b.kif", "my:GAME"]
    assert [title(name) for name in names] == [
        "Connect Four 6×7", "Gobang 15×15 5", "Morpion 5D", "Opposition 3×9 absolute", "b (GDL)", "my:GAME",
    ]  # fmt: skip


def test_it_is_said_whose_turn_it_is_and_how_a_game_ended() -> None:
    rules = make_game("tic_tac_toe-3x3")
    other = Elsewhere(rules, "random")
    game = GameInPlay(rules, [None, other])
    assert status_words(game, False, False)[0] == "Your turn: you are the first player"
    assert status_words(game.play("a1"), True, False)[0] == "random is thinking …"
    game = GameInPlay(rules, [None, other], moves="a1 b1 a2 b2 a3")
    assert status_words(game, False, False) == ("You win: the first player wins at ply 5", "pl-won")
    assert status_words(game.swap_sides(), False, False)[0].startswith("You lose")
    game = GameInPlay(rules, [None, None], moves="a1")
    assert status_words(game, False, False)[0] == "The second player's turn"


def test_turns_of_several_roles_are_read_from_one_line() -> None:
    assert read_turns("(drop 1) noop noop (drop 2)", 2) == [["(drop 1)", "noop"], ["noop", "(drop 2)"]]
    assert read_turns("", 3) == []
    for text in ("a b c", "(a"):
        with pytest.raises(MoveError):
            read_turns(text, 2)


def test_the_handler_of_an_upload_does_not_keep_its_view() -> None:
    heard = []

    class View:
        async def take(self, event: Any) -> None:
            heard.append(event)

    view = View()
    call = held_weakly(view.take)
    asyncio.run(call("first"))
    gone = weakref.ref(view)
    del view
    gc.collect()
    asyncio.run(call("second"))
    assert gone() is None and heard == ["first"]
