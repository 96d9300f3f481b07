"""Large relations restricted to what is asked of them: fewer instances, and the same game."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from palaestra.ggp.budget import Budget, BudgetError
from palaestra.ggp.demand import asked, on_demand
from palaestra.ggp.ground import ground
from palaestra.ggp.interpreter import Interpreter
from palaestra.ggp.machine import make_machine
from palaestra.ggp.propnet import PropNet
from palaestra.ggp.rules import parse_rules
from palaestra.ggp.terms import Literal, Rule, name_of
from tests.ggp.plain import Plain
from tests.ggp.sheets import RING, agree

PLACES = tuple("abcdefghijkl")
# Stones on twelve places, put and taken by one player. `row` is about any four places and asked of two rows only, once
# in a negation; `sum` adds up stones from place to place, from 0 on.
STONES = f"""
(role one) {" ".join(f"(place {place}) (init (cell {place} blank))" for place in PLACES)}
{" ".join(f"(after {p} {q})" for p, q in pairwise(PLACES))}
{" ".join(f"(succ {n} {n + 1})" for n in range(40))} {" ".join(f"(number {n})" for n in range(41))}
(init (step 0))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (legal one (flip ?p)) (place ?p))
(<= (next (cell ?p stone)) (does one (flip ?p)) (true (cell ?p blank)))
(<= (next (cell ?p blank)) (does one (flip ?p)) (true (cell ?p stone)))
(<= (next (cell ?p ?c)) (true (cell ?p ?c)) (does one (flip ?q)) (distinct ?p ?q))
(<= (row ?a ?b ?c ?d all) (stone ?a) (stone ?b) (stone ?c) (stone ?d))
(<= (row ?a ?b ?c ?d half) (stone ?a) (stone ?b) (place ?c) (place ?d))
(<= (row ?a ?b ?c ?d half) (place ?a) (place ?b) (stone ?c) (stone ?d))
(<= (stone ?p) (true (cell ?p stone)))
(<= (one ?p ?m ?n ?p) (stone ?p) (succ ?m ?n))
(<= (one ?p ?m ?m ?p) (true (cell ?p blank)) (number ?m))
(<= (sum l ?m ?n l) (one l ?m ?n l))
(<= (sum ?p ?m ?n ?p) (one ?p ?m ?k ?p) (after ?p ?q) (sum ?q ?k ?n ?q))
(<= (count ?n) (sum a 0 ?n a))
(<= terminal (true (step 8)))
(<= terminal (count 6))
(<= (goal one 100) (row a b c d all))
(<= (goal one 50) (row a b k l half) (not (row a b c d all)))
(<= (goal one ?n) (count ?n) (not (row a b k l half)) (not (row a b c d all)))
"""


def test_a_game_whose_relations_are_too_large_as_a_whole_becomes_a_network() -> None:
    rules = parse_rules(STONES)
    assert isinstance(make_machine(rules, nodes=5_000), PropNet)
    small, whole = ground(rules, Budget(rows=5_000)), ground(rules, Budget())
    assert len(small.heads) < 5_000 < 50_000 < len(whole.heads)
    assert set(small.facts) == set(whole.facts) and set(small.moves[0]) == set(whole.moves[0])


@pytest.mark.parametrize("seed", range(3))
def test_what_is_asked_for_is_answered_as_ever(seed: int) -> None:
    rules = parse_rules(STONES)
    agree((PropNet(rules, nodes=5_000), PropNet(rules), Interpreter(rules), Plain(rules)), seed, most=4)
    assert agree((PropNet(rules, nodes=5_000), Interpreter(rules)), seed) > 5


def test_a_game_that_is_too_large_even_so_is_interpreted_and_says_why() -> None:
    machine = make_machine(parse_rules(STONES), nodes=100)
    assert isinstance(machine, Interpreter) and "100 are allowed" in machine.note


def test_a_condition_asks_with_what_is_known_before_it() -> None:
    whole = [
        Rule(("big", "?a", "?b", "?c", "?d"), (Literal(("q", "?a", "?b")), Literal(("q", "?c", "?d")))),
        Rule(("p", "?x"), (Literal(("r", "?x")), Literal(("s", "?y")), Literal(("big", "?x", "k", "?z", "?z")))),
        Rule(("t", "?x"), (Literal(("r", "?x")), Literal(("big", "?x", "k", "?x", "?x"), positive=False))),
    ]
    restricted, requests = on_demand(whole, {"q"})
    wanted = Literal((asked("big"), "?a", "?b"))
    assert restricted == [Rule(whole[0].head, (wanted, *whole[0].body)), *whole[1:]]
    assert requests == [Rule((asked("big"), "?x", "k"), (Literal(("r", "?x")),))] * 2  # s says nothing about ?x


def test_relations_that_are_asked_for_as_a_whole_or_have_few_arguments_stay_as_they_are() -> None:
    rules = [rule for rule in parse_rules(RING).rules if rule.body]
    assert on_demand(rules, ()) == (rules, [])
    whole = [Rule(("big", *"abcd")), Rule("p", (Literal(("big", "?a", "?b", "?c", "?d")),))]
    assert on_demand(whole, ()) == (whole, [])


def test_keys_that_are_mixed_for_want_of_room_join_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = parse_rules(STONES)
    packed = ground(rules, Budget())
    monkeypatch.setattr("palaestra.ggp.joins.KEY_BITS", 8)
    monkeypatch.setattr("palaestra.ggp.joins.MIXER", np.int64(3))  # many rows get equal keys
    mixed = ground(rules, Budget())
    assert packed.facts == mixed.facts and packed.moves == mixed.moves
    assert len(packed.heads) == len(mixed.heads)
    assert {name_of(fact) for fact in packed.facts} == {"cell", "step"}


def test_half_of_the_time_is_left_for_the_second_way(monkeypatch: pytest.MonkeyPatch) -> None:
    budget = Budget(seconds=100.0, rows=7, megabytes=3.0)
    monkeypatch.setattr("palaestra.ggp.budget.time.monotonic", lambda: budget.began + 20.0)
    assert budget.part(0.5).seconds == pytest.approx(40.0)
    with pytest.raises(BudgetError, match="8 instances; 7 are allowed"):
        budget.part(0.5).check(8, "it")
