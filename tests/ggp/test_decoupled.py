from __future__ import annotations

import time
import zlib

import numpy as np
import pytest

from palaestra.ggp import decoupled
from palaestra.ggp.decoupled import Decoupled
from palaestra.ggp.decoupled_tree import NODES
from palaestra.ggp.interpreter import Interpreter
from palaestra.ggp.machine import Machine, State
from palaestra.ggp.propnet import PropNet
from palaestra.ggp.rules import parse_rules
from palaestra.ggp.terms import term_text
from tests.ggp.fakes import HANDS
from tests.ggp.sheets import RING
from tests.ggp.textbook_decoupled import Textbook

# Three roles name a number at once, in two rounds; who named one alone in both has 100, in one of them 60.
THREE = """
(role a) (role b) (role c) (init (round 1)) (next_round 1 2) (next_round 2 3)
(number one) (number two) (number three)
(<= (legal ?r ?n) (role ?r) (number ?n))
(<= (shared ?r) (does ?r ?n) (does ?s ?n) (distinct ?r ?s))
(<= (next (alone ?r ?k)) (true (round ?k)) (role ?r) (not (shared ?r)))
(<= (next (alone ?r ?k)) (true (alone ?r ?k)))
(<= (next (round ?k)) (true (round ?j)) (next_round ?j ?k))
(<= terminal (true (round 3)))
(<= (some ?r) (true (alone ?r ?k)))
(<= (both ?r) (true (alone ?r 1)) (true (alone ?r 2)))
(<= (goal ?r 100) (role ?r) (both ?r))
(<= (goal ?r 60) (role ?r) (some ?r) (not (both ?r)))
(<= (goal ?r 0) (role ?r) (not (some ?r)))
"""


def soon() -> float:
    return time.monotonic() + 120.0


def scripted(machine: Machine, state: State) -> list[float]:
    """A result for every role that follows from the facts, in sixteenths, whose sums are exact."""
    facts = " ".join(sorted(map(term_text, machine.facts(state))))
    return [zlib.crc32(f"{role} {facts}".encode()) % 17 / 16 for role in machine.roles]


def searched(machine: Machine, seed: int, simulations: int, batch: int) -> Decoupled:
    search = Decoupled(machine, np.random.default_rng(seed), exploration=0.5)
    world = search.world
    world.batches = batch, batch

    def judge(nodes: np.ndarray, deadline: float) -> np.ndarray:
        states = [world.states[node] for node in nodes]  # type: ignore[attr-defined]
        return np.array([scripted(machine, s.tobytes() if isinstance(s, np.ndarray) else s) for s in states])

    world.judge = judge  # type: ignore[method-assign]
    search.streams[:] = seed
    search.search(machine.initial(), 0, soon(), simulations)
    return search


@pytest.mark.parametrize("rules", [HANDS, RING, THREE], ids=["hands", "ring", "three"])
@pytest.mark.parametrize("kind, batch", [(PropNet, 1), (PropNet, 8), (Interpreter, 1)])
def test_every_visit_is_that_of_the_textbook(rules: str, kind: type[Machine], batch: int) -> None:
    machine = kind(parse_rules(rules))  # type: ignore[call-arg]
    book = Textbook(machine, machine.initial(), 7, lambda state: scripted(machine, state))
    book.search(400, batch, 0.5)
    ours = searched(machine, 7, 400, batch)
    assert ours.tree.sizes[NODES] == len(book.nodes)
    for number, node in enumerate(book.nodes):
        assert node.arms is not None
        for role, arms in enumerate(node.arms):
            assert ours.visits(role, number) == {arm.move: arm.done for arm in arms}
    assert sum(ours.visits(0).values()) == 400


@pytest.mark.parametrize("kind", [PropNet, Interpreter])
def test_the_better_of_two_simultaneous_moves_is_found_for_either_role(kind: type[Machine]) -> None:
    machine = kind(parse_rules(HANDS))  # type: ignore[call-arg]
    state = machine.initial()
    for _ in range(2):
        state = machine.step(state, ("stone", "stone"))
    for seat in (0, 1):
        assert Decoupled(machine, np.random.default_rng(seat)).search(state, seat, soon(), 300) == "paper"


def test_the_tree_is_kept_from_one_move_to_the_next() -> None:
    machine = PropNet(parse_rules(RING))
    search = Decoupled(machine, np.random.default_rng(0))
    search.search(machine.initial(), 0, soon(), 500)
    state = machine.step(machine.initial(), ("stay", "stay"))
    kept = sum(search.visits(0, search.world.find(state)[0]).values())
    search.search(state, 0, soon(), 100)
    assert kept > 0 and sum(search.visits(0).values()) == kept + 100


def test_a_full_tree_is_searched_on_without_growing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoupled, "MOST_NODES", 10)
    machine = PropNet(parse_rules(RING))
    search = Decoupled(machine, np.random.default_rng(0))
    search.search(machine.initial(), 0, soon(), 1000)
    assert search.tree.sizes[NODES] == 10 and sum(search.visits(0).values()) > 5


def test_a_legal_move_is_there_when_the_time_was_over_before_it_began() -> None:
    machine = Interpreter(parse_rules(HANDS))
    found = {Decoupled(machine, np.random.default_rng(seed)).search(machine.initial(), 0, 0.0) for seed in range(20)}
    assert found == {"stone", "paper"}


def test_rules_that_never_end_and_rules_that_get_stuck_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoupled, "MOST_TURNS", 7)
    monkeypatch.setattr("palaestra.ggp.monte_carlo.MOST_TURNS", 7)
    endless = (
        "(role x) (init start) (legal x good) (legal x bad) (<= (next good) (does x good) (true start))"
        "(<= (next good) (true good)) (<= (goal x 90) (true good)) (<= (goal x 10) (not (true good)))"
        "(<= terminal (true never)) (<= (next never) (true never))"
    )
    stuck = endless.replace("(legal x good) (legal x bad)", "(<= (legal x ?m) (m ?m) (true start)) (m good) (m bad)")
    for rules in (endless, stuck):
        machine = PropNet(parse_rules(rules))
        assert Decoupled(machine, np.random.default_rng(0)).search(machine.initial(), 0, soon(), 64) == "good"
