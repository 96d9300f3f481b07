"""Splitting rules: fewer variables at once, and the same facts."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palaestra.ggp.budget import Budget, BudgetError
from palaestra.ggp.joins import Database, saturate
from palaestra.ggp.split import split
from palaestra.ggp.strata import Strata
from palaestra.ggp.terms import Literal, Rule, Term, arguments, name_of, substitute, variables

CONSTANTS = ("a", "b", "c")
NAMES = st.sampled_from(["?v", "?w", "?x", "?y", "?z"])
PAIRS = st.tuples(NAMES, NAMES)


@st.composite
def safe_rules(draw: st.DrawFn) -> Rule:
    """A rule for p whose variables are all bound by positive conditions on q and r."""
    positive = [Literal((draw(st.sampled_from("qr")), *pair)) for pair in draw(st.lists(PAIRS, min_size=1, max_size=4))]
    bound = st.sampled_from(sorted(variables(*(literal.atom for literal in positive))))
    negated = [Literal(("s", name), positive=False) for name in draw(st.lists(bound, max_size=2))]
    distinct = tuple(draw(st.lists(st.tuples(bound, bound | st.sampled_from(CONSTANTS)), max_size=2)))
    head = ("p", *draw(st.lists(bound, min_size=1, max_size=2)))
    return Rule(head, (*positive, *negated), distinct)


def meant(rule: Rule, facts: set[Term]) -> set[Term]:
    """What the rule derives, by trying all bindings of all its variables."""
    names = list(variables(rule.head, *(literal.atom for literal in rule.body)))
    found = set()
    for values in product(CONSTANTS, repeat=len(names)):
        world = dict(zip(names, values, strict=True))
        holds = all((substitute(literal.atom, world) in facts) == literal.positive for literal in rule.body)
        if holds and all(substitute(left, world) != substitute(right, world) for left, right in rule.distinct):
            found.add(substitute(rule.head, world))
    return found


FACT_SETS = st.sets(
    st.tuples(st.sampled_from("qr"), st.sampled_from(CONSTANTS), st.sampled_from(CONSTANTS))
    | st.tuples(st.just("s"), st.sampled_from(CONSTANTS))
)


@settings(deadline=None)
@given(safe_rules(), FACT_SETS)
def test_split_rules_derive_what_the_whole_rule_does(rule: Rule, facts: set[Term]) -> None:
    rules = split([*map(Rule, facts), rule], Budget())
    database, strata = Database(Budget()), Strata(rules)
    for layer in strata.layers(strata.needed(["p"])):
        saturate(database, layer)
    found = {("p", *row) for row in database.facts(("p", len(arguments(rule.head))))}
    assert found == meant(rule, facts)


def test_a_variable_of_one_condition_gets_a_rule_of_its_own() -> None:
    whole = Rule(
        ("next", ("at", "?x")),
        (Literal(("true", ("at", "?x"))), Literal(("does", "?r", ("to", "?y")))),
        (("?x", "?y"),),
    )
    part, rest = split([whole], Budget())
    assert part.head == ("part 0", "?y") and part.body == (Literal(("does", "?r", ("to", "?y"))),)
    assert rest.head == whole.head and rest.distinct == whole.distinct
    assert rest.body == (Literal(("true", ("at", "?x"))), Literal(("part 0", "?y")))


def test_a_rule_whose_variables_hang_together_stays_whole() -> None:
    whole = Rule(("p", "?x"), (Literal(("q", "?x", "?y")), Literal(("r", "?y"), positive=False)))
    assert split([whole], Budget()) == [whole]


def test_every_part_has_a_name_of_its_own_that_no_text_can_have() -> None:
    chain = tuple(Literal(("q", f"?x{place}", f"?x{place + 1}")) for place in range(5))
    names = [name_of(rule.head) for rule in split([Rule("p", chain), Rule("s", chain)], Budget())]
    parts = [name for name in names if name not in "ps"]
    assert len(parts) == len(set(parts)) > 2 and all(" " in name for name in parts)


def test_splitting_stops_with_the_clock() -> None:
    chain = tuple(Literal(("q", f"?x{place}", f"?x{place + 1}")) for place in range(100))
    with pytest.raises(BudgetError, match="line 7 was not finished within 0 s"):
        split([Rule("p", chain, line=7)], Budget(seconds=0.0))
