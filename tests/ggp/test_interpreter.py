"""The interpreter against the plain prover, the published leaf counts, and rules with known answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from palaestra.base.errors import GdlError, MoveError
from palaestra.ggp.budget import BudgetError
from palaestra.ggp.interpreter import Interpreter
from palaestra.ggp.rules import load_rules, parse_rules
from tests.ggp.plain import Plain
from tests.ggp.sheets import LEAVES, RING, agree, leaves, sheets

QUICK = ("ticTacToe", "nim1", "maze", "roshambo2", "buttons", "blocksWorld", "connectFourSimultaneous")


@pytest.mark.parametrize("path", sheets(*QUICK))
def test_answers_are_those_of_the_plain_prover(path: Path) -> None:
    rules = load_rules(path)
    assert agree((Plain(rules), Interpreter(rules)), seed=1, most=4) > 1


@pytest.mark.slow
@pytest.mark.parametrize("path", sheets())
def test_answers_are_those_of_the_plain_prover_on_every_file(path: Path) -> None:
    rules = load_rules(path)
    assert agree((Plain(rules), Interpreter(rules)), seed=2, most=3 if path.stem == "chess" else 20) > 1


@pytest.mark.parametrize("seed", range(3))
def test_recursion_through_a_cycle_and_simultaneous_moves(seed: int) -> None:
    rules = parse_rules(RING)
    assert agree((Plain(rules), Interpreter(rules)), seed) == 4


@pytest.mark.parametrize("path", sheets(*LEAVES))
def test_leaf_counts_are_those_of_an_independent_prover(path: Path) -> None:
    machine = Interpreter(load_rules(path))
    assert [leaves(machine, depth) for depth in (1, 2)] == list(LEAVES[path.stem][:2])


def test_a_move_that_is_not_legal_is_refused_with_those_that_are() -> None:
    machine = Interpreter(parse_rules(RING))
    with pytest.raises(MoveError, match=r"\(go c\) is not a legal move of left here; legal: .*\(go b\)"):
        machine.step(machine.initial(), [("go", "c"), "stay"])
    with pytest.raises(MoveError, match="1 moves were given for 2 roles: left, right"):
        machine.step(machine.initial(), ["stay"])


def test_a_goal_that_is_no_number_up_to_100_is_refused() -> None:
    machine = Interpreter(parse_rules(RING + "(best thirty) (<= (goal left ?most) (best ?most))"))
    with pytest.raises(GdlError, match="thirty is not a goal; goals are whole numbers from 0 to 100"):
        machine.goals(machine.initial())


def test_a_join_of_seven_variables_is_stopped_by_the_clock() -> None:
    digits = " ".join(f"(digit {number})" for number in range(20))
    seven = " ".join(f"(digit ?x{place})" for place in range(7))
    every = seven.replace("(digit ", "").replace(")", "")
    rules = parse_rules(f"{RING} {digits} (<= (next (wide ?x0)) (wide {every})) (<= (wide {every}) {seven})")
    machine = Interpreter(rules, seconds=0.5)
    state = machine.initial()
    for _ in range(2):  # and the next question is none the worse for it
        with pytest.raises(BudgetError, match=r"the answer to \(next \?\) was not finished within 0.5 s"):
            machine.step(state, ["stay", "stay"])
        assert not machine.terminal(state)


def test_left_recursion_and_deep_recursion_end() -> None:
    many = 3000
    chain = " ".join(f"(step {number} {number + 1})" for number in range(many))
    text = f"{RING} {chain} (<= (before ?x ?y) (step ?x ?y)) (<= (before ?x ?z) (step ?x ?y) (before ?y ?z))"
    rules = parse_rules(f"{text} (<= (goal left 7) (before 0 {many}) (true (count 0)) (true open))")
    machine = Interpreter(rules)
    assert machine.goals(machine.initial()) == [100, 100]
    assert machine._ask(("before", "0", str(many))) == [()]


def test_facts_that_the_initial_state_has_nothing_like_are_guessed_to_be_fewer_where_something_is_known() -> None:
    prover = Interpreter(parse_rules(RING))._prover
    shut = ("true", ("shut", "?x", "?y"))
    assert prover.fan_out(shut, ["?x"]) < prover.fan_out(shut, [])
    assert prover.fan_out(("way", "?x", "?y"), ["?x"]) == 1.0 < prover.fan_out(("way", "?x", "?y"), []) == 4.0
