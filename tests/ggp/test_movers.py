from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytest

from palaestra.base.errors import PlayerError
from palaestra.games.base import Game
from palaestra.ggp.game import GdlGame
from palaestra.ggp.interpreter import Interpreter
from palaestra.ggp.machine import Machine, State
from palaestra.ggp.monte_carlo import monte_carlo
from palaestra.ggp.movers import GameMover, TextMover, make_mover
from palaestra.ggp.propnet import PropNet
from palaestra.ggp.rules import parse_rules
from palaestra.ggp.terms import Term
from palaestra.ggp.worker_process import Playing, WorkerSettings
from palaestra.players.registry import read_player
from palaestra.players.tree import TreePlayer
from tests.ggp.fakes import HANDS, playing, post, run, start

# Who takes the last of five stones wins; one takes one or two.
RACE = """
(role first) (role second) (init (left 5)) (init (turn first))
(less 5 1 4) (less 4 1 3) (less 3 1 2) (less 2 1 1) (less 1 1 0) (less 5 2 3) (less 4 2 2) (less 3 2 1) (less 2 2 0)
(name take1 1) (name take2 2) (other first second) (other second first)
(<= (legal ?r ?m) (true (turn ?r)) (true (left ?n)) (name ?m ?k) (less ?n ?k ?rest))
(<= (legal ?r noop) (true (turn ?q)) (other ?r ?q))
(<= (next (left ?rest)) (true (turn ?r)) (does ?r ?m) (name ?m ?k) (true (left ?n)) (less ?n ?k ?rest))
(<= (next (turn ?q)) (true (turn ?r)) (other ?r ?q))
(<= terminal (true (left 0)))
(<= (goal ?r 100) (true (turn ?q)) (other ?r ?q)) (<= (goal ?r 0) (true (turn ?r)))
"""


def race() -> Game:
    rules = parse_rules(RACE)
    return GdlGame.of("race", rules, PropNet(rules))


def soon(seconds: float = 60.0) -> float:
    return time.monotonic() + seconds


def after(machine: Machine, *joints: Sequence[Term]) -> State:
    state = machine.initial()
    for joint in joints:
        state = machine.step(state, joint)
    return state


@pytest.mark.parametrize("kind", [Interpreter, PropNet])
def test_monte_carlo_finds_the_better_of_two_simultaneous_moves_for_either_role(kind: type[Machine]) -> None:
    machine = kind(parse_rules(HANDS))  # type: ignore[call-arg]
    state = after(machine, ("stone", "stone"), ("stone", "stone"))
    for seat in (0, 1):
        assert monte_carlo(machine, state, seat, soon(), np.random.default_rng(seat), playouts=200) == "paper"


def test_monte_carlo_answers_with_a_legal_move_when_its_time_is_over_before_it_began() -> None:
    machine = Interpreter(parse_rules(HANDS))
    chosen = {monte_carlo(machine, machine.initial(), 0, 0.0, np.random.default_rng(seed)) for seed in range(20)}
    assert chosen == {"stone", "paper"}


def test_monte_carlo_counts_unfinished_random_games_where_rules_never_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palaestra.ggp.monte_carlo.MOST_TURNS", 7)
    endless = parse_rules(
        "(role x) (init start) (legal x good) (legal x bad) (<= (next good) (does x good) (true start))"
        "(<= (next good) (true good)) (<= (goal x 90) (true good)) (<= (goal x 10) (not (true good)))"
        "(<= terminal (true never)) (<= (next never) (true never))"
    )
    machine = PropNet(endless)
    assert monte_carlo(machine, machine.initial(), 0, soon(), np.random.default_rng(0), playouts=40) == "good"


def quietly(move: Term) -> None:
    pass


@pytest.mark.parametrize("text", ["alphabeta(depth=5)", "uct(simulations=500)", "mcs(ms=20)"])
def test_a_player_of_the_game_is_asked_and_follows_the_match(text: str) -> None:
    mover = GameMover(read_player(text), race(), np.random.default_rng(0))
    assert mover.choose(soon(), quietly) == "take2"  # three are left, a lost number
    mover.played(("take1", "noop"))
    assert mover.choose(soon(), quietly) == "take1"
    mover.played(("noop", "take2"))
    assert race().plies(mover.row[None])[0] == 2


def test_the_clock_cuts_a_search_short_that_has_a_longer_limit_of_its_own() -> None:
    mover = GameMover(read_player("mcs(ms=3600000)"), race(), np.random.default_rng(0))
    assert mover.choose(time.monotonic() + 0.05, quietly) in ("take1", "take2")


@pytest.mark.parametrize(
    "text", ["uct(ms=3600000, solver=false)", "mcs(ms=3600000)", "uct(simulations=10000000, solver=false)"]
)
def test_a_search_tells_its_best_move_long_before_its_time_is_over(text: str) -> None:
    mover = GameMover(read_player(text), race(), np.random.default_rng(0))
    told: list[tuple[float, Term]] = []
    deadline = time.monotonic() + 2.0
    mover.choose(deadline, lambda move: told.append((time.monotonic(), move)))
    assert told and told[0][0] < deadline and told[-1][1] == "take2"


def test_slices_of_a_search_go_on_in_one_tree() -> None:
    mover = GameMover(read_player("uct(ms=3600000, solver=false)"), race(), np.random.default_rng(0))
    assert isinstance(mover.player, TreePlayer)
    told: list[Term] = []
    mover.choose(time.monotonic() + 1.0, told.append)
    forest = mover.player.search.forest
    assert len(told) > 1 and forest.nodes[0][0]["visits"] > forest.trees["done"][0]


def test_rules_that_are_a_game_get_the_player_of_the_text_and_others_decoupled_uct() -> None:
    mover = make_mover("alphabeta(depth=5)", seed=0)
    mover.begin(parse_rules(RACE), "first", soon(), 10.0)
    assert mover.playing == Playing("alphabeta")
    assert isinstance(mover, TextMover) and mover.inner is not None
    assert mover.choose(soon(), quietly) == "take2"
    mover.end()

    mover.begin(parse_rules(HANDS), "right", soon(), 10.0)
    assert (mover.playing.plays, mover.playing.instead_of) == ("decoupled_uct", "alphabeta")
    assert "both roles can choose" in mover.playing.note and "\n" not in mover.playing.note
    assert mover.inner is None
    for _ in range(2):
        mover.played(("stone", "stone"))
    assert mover.choose(time.monotonic() + 1.0, quietly) == "paper"


def test_a_limit_of_the_text_holds_for_its_substitute_too() -> None:
    mover = make_mover("uct(ms=20)", seed=0)
    mover.begin(parse_rules(HANDS), "right", soon(), 10.0)
    assert mover.choose(soon(3600.0), quietly) in ("stone", "paper")  # within the patience of whoever runs this


def test_random_and_flat_monte_carlo_play_every_game_themselves() -> None:
    for text, name in (("random", "random"), ("mcs(playouts=100)", "mcs")):
        mover = make_mover(text, seed=0)
        mover.begin(parse_rules(HANDS), "right", soon(), 10.0)
        assert mover.playing == Playing(name)
        assert mover.choose(soon(), quietly) in ("stone", "paper")


def test_decoupled_uct_takes_over_where_a_game_is_longer_than_a_game_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palaestra.ggp.turn_taking.CAP", 2)
    mover = make_mover("alphabeta(depth=5)", seed=0)
    mover.begin(parse_rules(RACE), "first", soon(), 10.0)
    assert isinstance(mover, TextMover) and mover.inner is not None and mover.inner.game.max_plies == 2
    for joint in (("take1", "noop"), ("noop", "take1")):
        assert mover.playing.instead_of == ""
        mover.played(joint)
    assert mover.choose(time.monotonic() + 0.5, quietly) in ("take1", "take2")
    assert mover.inner is None and mover.playing.instead_of == "alphabeta" and "longer" in mover.playing.note


def test_a_player_of_a_text_wins_a_match_over_the_network() -> None:
    async def work() -> None:
        log: list[str] = []
        async with playing(WorkerSettings("alphabeta(depth=5)"), log) as (server, port):
            assert await post(port, start("m", role="first", rules=" ".join(RACE.split()))) == "ready"
            assert await post(port, "(PLAY m NIL)") == "take2"
            assert await post(port, "(PLAY m (take2 noop))") == "noop"
            assert await post(port, "(PLAY m (noop take1))") == "take2"
            assert await post(port, "(STOP m (take2 noop))") == "done"
            await server.up()
        assert len(log) == 1 and "by alphabeta, done, goals 100 0" in log[0]

    run(work())


def test_a_person_cannot_play_over_the_network() -> None:
    with pytest.raises(PlayerError, match="terminal"):
        make_mover("human", seed=0)
