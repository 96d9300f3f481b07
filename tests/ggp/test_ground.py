"""Grounding: what is reachable and nothing else, within the budget."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.ggp.budget import Budget, BudgetError
from palaestra.ggp.ground import NEVER, Grounding, ground
from palaestra.ggp.machine import make_machine
from palaestra.ggp.propnet import PropNet
from palaestra.ggp.rules import parse_rules
from palaestra.ggp.terms import term_text
from tests.ggp.plain import Plain
from tests.ggp.sheets import RING, agree

COUNTER = """
(role one)
(init (count 0))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 7 8)
(<= (legal one up) (true (count ?n)) (succ ?n ?m))
(<= (legal one (jump ?n)) (true (count ?n)) (succ 7 ?n))
(<= (next (count ?m)) (does one up) (true (count ?n)) (succ ?n ?m))
(<= terminal (true (count 3)))
(<= (goal one 100) (true (count 3)))
"""


def grounded(text: str, **budget: float) -> Grounding:
    return ground(parse_rules(text), Budget(**budget))  # type: ignore[arg-type]


def test_only_reachable_facts_and_moves_are_kept() -> None:
    grounding = grounded(COUNTER)
    assert [term_text(fact) for fact in grounding.facts] == ["(count 0)", "(count 1)", "(count 2)", "(count 3)"]
    assert grounding.moves == (("up",),)
    assert grounding.initial.tolist() == [True, False, False, False]


def test_relations_that_no_state_changes_are_evaluated_away() -> None:
    grounding = grounded(COUNTER)
    derived = 4 + 1  # facts and moves come first
    assert set(grounding.heads.tolist()) == set(range(derived, grounding.atoms))
    assert (grounding.literals >> 1 < derived).all()  # no instance asks for succ


def test_a_fact_that_nothing_makes_true_again_has_no_successor() -> None:
    grounding = grounded(COUNTER)
    assert grounding.next[0] == NEVER
    assert (grounding.next[1:] != NEVER).all()


def test_negated_conditions_do_not_hide_what_is_reachable() -> None:
    facts = {term_text(fact) for fact in grounded(RING).facts}
    assert {"open", "(at left d)", "(shut c d)", "(count 3)"} <= facts
    assert "(count 4)" not in facts


def test_moves_stand_in_the_order_of_the_roles() -> None:
    left, right = grounded(RING).moves
    assert "open" in left and "open" not in right
    assert ("shut", "a", "b") in right and ("shut", "a", "b") not in left


def test_every_instance_is_there_once() -> None:
    grounding = grounded(RING)
    cuts = grounding.starts[1:-1]
    instances = [
        (int(head), *body.tolist())
        for head, body in zip(grounding.heads, np.split(grounding.literals, cuts), strict=True)
    ]
    assert len(set(instances)) == len(instances)


def test_a_join_of_seven_variables_is_stopped_before_it_is_made() -> None:
    digits = " ".join(f"(digit {number})" for number in range(20))
    seven = " ".join(f"(digit ?x{place})" for place in range(7))
    rules = parse_rules(f"{RING} {digits} (<= (next (wide {seven.replace('(digit ', '').replace(')', '')})) {seven})")
    with pytest.raises(BudgetError, match=r"the rule of line \d+ has [\d,]+ instances; 100,000 are allowed"):
        ground(rules, Budget(rows=100_000))


def test_the_clock_stops_the_grounding() -> None:
    with pytest.raises(BudgetError, match="was not finished within 0 s"):
        ground(parse_rules(RING), Budget(seconds=0.0))


def test_terms_that_grow_for_ever_are_stopped() -> None:
    growing = COUNTER + "(<= (next (pile (on ?x))) (true (pile ?x))) (init (pile floor))"
    with pytest.raises(BudgetError):
        ground(parse_rules(growing), Budget(seconds=2.0, rows=200))


def test_a_game_too_large_to_ground_is_interpreted_and_says_why() -> None:
    rules = parse_rules(RING)
    machine = make_machine(rules, nodes=10)
    assert not isinstance(machine, PropNet)
    assert "interpreted" in machine.note and "10 are allowed" in machine.note
    assert machine.facts(machine.initial()) == make_machine(rules).facts(make_machine(rules).initial())
    assert make_machine(rules).note == ""


def test_rules_without_next_keep_no_fact_and_end_where_they_say() -> None:
    text = "(role one) (init start) (legal one wait) (<= terminal (not (true start))) (goal one 100)"
    net = PropNet(parse_rules(text))
    assert agree([net, Plain(parse_rules(text))], seed=0) == 2
    assert net.facts(net.step(net.initial(), ["wait"])) == frozenset()
