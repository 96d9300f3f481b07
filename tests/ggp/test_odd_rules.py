"""Rules that depart from the letter of GDL and are played on public servers all the same: the three machines agree."""

from __future__ import annotations

import pytest

from palaestra.base.errors import GdlError, MoveError
from palaestra.ggp.game import GdlGame
from palaestra.ggp.interpreter import Interpreter
from palaestra.ggp.machine import Machine, legal_move
from palaestra.ggp.propnet import PropNet
from palaestra.ggp.rules import parse_rules
from palaestra.ggp.terms import Literal, Rule, Rules
from tests.ggp.plain import Plain
from tests.ggp.sheets import RING, agree

LOSES = "(<= (goal ?r 30) (role ?r) (not (reaches ?r)))"
COUNTED = "(<= (goal ?r 40) (role ?r) (true (count ?n)) (odd ?n) (not (reaches ?r)))"
NEGATED = {
    "another goal": RING.replace(LOSES, "(<= (goal ?r 30) (role ?r) (not (goal ?r 100)))"),
    "goals of others": RING.replace(
        LOSES, "(<= (goal ?r 30) (role ?r) (role ?o) (distinct ?r ?o) (goal ?o 100) (not (goal ?r 100)))"
    ),
    "fixed atoms": RING + "(<= (odd ?n) (succ ?m ?n) (not (odd ?m)))" + COUNTED,
    "atoms of a state": RING + "(<= (odd ?n) (succ ?m ?n) (not (odd ?m)) (not (true open)))" + COUNTED,
    "atoms both ways": RING
    + "(<= (odd ?n) (succ ?m ?n) (even ?m)) (<= (even ?n) (true (count ?m)) (succ ?k ?n) (not (odd ?n)))"
    + COUNTED,
}
# One clears a table of three stones, the other says how many it takes; nothing holds at the start.
EMPTY = """
(role random) (role taker)
(stone a) (stone b) (stone c)
(<= (legal random wait) (role random))
(<= (legal taker (take ?s)) (stone ?s) (not (true (gone ?s))))
(legal nobody sleep)
(<= (next (gone ?s)) (true (gone ?s)))
(<= (next (gone ?s)) (does taker (take ?s)))
(<= (next dreamt) (does nobody sleep))
(<= terminal (true (gone a)) (true (gone b)) (true (gone c)))
(<= (goal taker 100) terminal)
(<= (goal nobody 50) terminal)
"""
# Names with capitals, two of which differ in nothing else.
CAPITALS = """
(role Red) (role BLUE)
(init (Turn Red))
(<= (legal ?r (moveLeft ?x)) (true (Turn ?r)) (Place ?x))
(<= (legal ?r noOp) (role ?r) (not (true (Turn ?r))))
(Place A) (Place a) (Place B)
(<= (next (Turn BLUE)) (true (Turn Red)))
(<= (next (at ?x)) (does ?r (moveLeft ?x)))
(<= (next (at ?x)) (true (at ?x)))
(<= (next over) (true (Turn BLUE)))
(<= terminal (true over))
(<= (goal Red 100) (true (at A)))
(<= (goal BLUE 100) (true (at a)))
"""


def machines(rules: Rules) -> list[Machine | Plain]:
    return [PropNet(rules), Interpreter(rules), Plain(rules)]


@pytest.mark.parametrize("text", NEGATED.values(), ids=NEGATED)
def test_a_negation_that_no_atom_leads_back_to_is_played(text: str) -> None:
    rules = parse_rules(text)
    assert [agree(machines(rules), seed) for seed in range(4)] == [4] * 4


def test_a_negation_that_an_atom_leads_back_to_is_refused() -> None:
    for text in ("(<= (goal ?r 0) (role ?r) (not (goal ?r 0)))", "(<= (wins ?x) (way ?x ?y) (not (wins ?y)))"):
        with pytest.raises(GdlError, match="depends on its own absence; negation must be stratified"):
            parse_rules(RING + text)


def test_the_interpreter_notices_an_atom_that_depends_on_its_own_absence() -> None:
    rules = parse_rules(RING)
    wins = Rule(("wins", "?x"), (Literal(("way", "?x", "?y")), Literal(("wins", "?y"), positive=False)))
    machine = Interpreter(Rules(rules.roles, (*rules.rules, wins), ""))
    with pytest.raises(GdlError, match="depends on its own absence in this state"):
        machine._ask(("wins", "a"))


def test_a_game_may_begin_with_no_fact_and_give_moves_and_goals_to_nobody() -> None:
    rules = parse_rules(EMPTY)
    assert agree(machines(rules), seed=0) == 4
    network = PropNet(rules)
    assert network.facts(network.initial()) == frozenset()
    assert network.goals(network.initial()) == [0, 0]
    game = GdlGame.of("gdl:empty", rules, network)
    assert game.state_from_text(game.state_to_text(game.initial(1)[0])).tolist() == game.initial(1)[0].tolist()


def test_names_keep_the_spelling_of_the_rules() -> None:
    rules = parse_rules(CAPITALS)
    assert agree(machines(rules), seed=0) == 3
    for machine in (PropNet(rules), Interpreter(rules)):
        assert machine.roles == ("Red", "BLUE")
        red, blue = machine.legal(machine.initial())
        assert blue == ["noOp"] and set(red) == {("moveLeft", "A"), ("moveLeft", "a"), ("moveLeft", "B")}
        state = machine.step(machine.initial(), [("MOVELEFT", "b"), ("noop",)])  # either case, either brackets
        assert machine.facts(state) == {("Turn", "BLUE"), ("at", "B")}
        assert machine.joint(machine.initial(), [("moveLeft", "a"), "NOOP"]) == [("moveLeft", "a"), "noOp"]
        with pytest.raises(MoveError, match=r"\(MOVELEFT A\) is not a legal move of Red"):
            machine.step(machine.initial(), [("MOVELEFT", "A"), "noop"])  # it may be two


def test_a_move_is_found_in_either_case_and_shown_in_the_case_of_the_rules() -> None:
    assert legal_move("NOOP", ["noOp", "pass"], "x") == "noOp"
    assert legal_move(("mark", "A"), [("Mark", "a"), ("mark", "A")], "x") == ("mark", "A")
    with pytest.raises(MoveError, match="fold is not a legal move of x here; legal: noOp"):
        legal_move("fold", ["noOp"], "x")


def test_a_game_writes_moves_and_positions_in_the_case_of_the_rules_and_reads_either() -> None:
    rules = parse_rules(CAPITALS.replace("(Place a)", "").replace("(true (at a))", "(true (at B))"))
    game = GdlGame.of("gdl:capitals", rules, PropNet(rules))
    state = game.initial(1)[0]
    assert game.action_to_text(state, game.text_to_action(state, "MOVEleft b")) == "(moveLeft B)"
    text = game.state_to_text(state)
    assert text == "0 0 - (Turn Red)"
    assert game.state_from_text(text.lower()).tolist() == state.tolist()
    lower = parse_rules(CAPITALS.replace("(Place a)", "").replace("(true (at a))", "(true (at B))").lower())
    assert GdlGame.of("gdl:capitals", lower, PropNet(lower)).version == game.version
    folded = parse_rules(CAPITALS.lower())
    other = parse_rules(CAPITALS)
    versions = {GdlGame.of("gdl:x", one, PropNet(one)).version for one in (folded, other)}
    assert len(versions) == 2  # where case tells something, it is part of the version


def test_two_moves_that_differ_in_case_only_are_two_actions() -> None:
    rules = parse_rules(CAPITALS)
    game = GdlGame.of("gdl:capitals", rules, PropNet(rules))
    state = game.initial(1)[0]
    assert game.text_to_action(state, "(moveLeft A)") != game.text_to_action(state, "(moveLeft a)")
