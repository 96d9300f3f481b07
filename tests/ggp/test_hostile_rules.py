"""Rules that would never end or fill the memory: refused in a line, or stopped by the budget, and the next is fine."""

from __future__ import annotations

from pathlib import Path

import pytest

from palaestra.base.errors import GdlError
from palaestra.ggp.budget import Budget, BudgetError
from palaestra.ggp.ground import ground
from palaestra.ggp.interpreter import Interpreter
from palaestra.ggp.machine import make_machine
from palaestra.ggp.propnet import PropNet
from palaestra.ggp.rules import load_rules, parse_rules
from palaestra.ggp.worker_process import WorkerSettings
from tests.ggp.fakes import HANDS, playing, post, run, start
from tests.ggp.plain import Plain
from tests.ggp.sheets import RING, agree

DIGITS = " ".join(f"(digit {number})" for number in range(20))
SEVEN = " ".join(f"(digit ?x{place})" for place in range(7))
WIDE = SEVEN.replace("(digit ", "").replace(")", "")
JOIN = f"{HANDS} {DIGITS} (<= (next (wide {WIDE})) {SEVEN})"
GROWING = HANDS + "(init (pile floor)) (<= (next (pile (on ?x))) (true (pile ?x)))"
LEFT = """
(edge a b) (edge b c) (edge c a) (edge c d)
(<= (track ?x ?y) (track ?x ?z) (edge ?z ?y)) (<= (track ?x ?y) (edge ?x ?y))
(<= (goal left 31) (track a d) (not (track d a)) (true (count 0)))
"""


def test_left_recursion_ends_in_the_network_and_in_the_interpreter() -> None:
    rules = parse_rules(RING.replace("(goal ?r 100)", "(goal ?r 0)") + LEFT)
    network = PropNet(rules)
    assert network.goals(network.initial())[0] == 31
    assert agree((Plain(rules), network, Interpreter(rules)), seed=1) == 4


def test_left_recursion_without_a_bound_is_refused() -> None:
    with pytest.raises(GdlError, match=r"path -> path: in this recursion \?z must be"):
        parse_rules(HANDS + "(edge a b) (<= (path ?x ?y) (path ?x ?z) (path ?z ?y)) (<= (path ?x ?y) (edge ?x ?y))")


def test_unstratified_negation_is_refused_with_its_cycle() -> None:
    with pytest.raises(GdlError, match="wins -> not loses -> wins: wins depends on its own absence"):
        parse_rules(HANDS + "(<= wins (not loses)) (<= loses (not wins))")


def test_a_file_nested_a_million_deep_is_refused_in_one_line(tmp_path: Path) -> None:
    sheet = tmp_path / "deep.kif"
    sheet.write_text("(" * 10**6)
    with pytest.raises(GdlError, match=r"deep.kif': line 1, column 257: brackets are nested deeper than 256"):
        load_rules(sheet)


def test_a_rule_of_more_conditions_than_can_be_ordered_is_refused() -> None:
    many = " ".join(f"(hand ?x{place})" for place in range(1001))
    with pytest.raises(GdlError, match="a rule has more than 1,000 conditions"):
        parse_rules(f"{HANDS} (<= p {many})")


def test_a_join_of_seven_variables_is_left_to_the_interpreter_which_stops_at_the_question() -> None:
    machine = make_machine(parse_rules(JOIN))
    assert isinstance(machine, Interpreter) and "are allowed" in machine.note
    state = machine.initial()
    assert not machine.terminal(state) and machine.legal(state) == [["stone", "paper"]] * 2
    impatient = Interpreter(parse_rules(JOIN), seconds=0.2)
    with pytest.raises(BudgetError, match=r"was not finished within 0.2 s"):
        impatient.step(impatient.initial(), ["stone", "stone"])


def test_answers_that_fit_nothing_count_as_work() -> None:
    """One condition of one rule has ten thousand facts to look through, and again for each of the next."""
    facts = " ".join(f"(q f{number} g{number})" for number in range(10_000))
    pairs = "(<= (both ?x ?y) (q ?x ?v) (q ?y ?w))"
    rules = parse_rules(f"{HANDS} {facts} {pairs} (<= odd (q ?x ?y) (q ?z ?w) (not (both ?x ?z)))")
    machine = Interpreter(rules, seconds=0.2)
    with pytest.raises(BudgetError, match="the answer to odd was not finished"):
        machine._ask("odd")


def test_terms_that_grow_for_ever_are_stopped_in_the_grounding_and_played_by_the_interpreter() -> None:
    rules = parse_rules(GROWING)
    with pytest.raises(BudgetError, match="terms with pile are nested deeper than 500"):
        ground(rules, Budget())
    machine = make_machine(rules)
    assert "nested deeper" in machine.note
    state = machine.initial()
    for _ in range(3):
        state = machine.step(state, ["stone", "paper"])
    assert ("pile", ("on", ("on", ("on", "floor")))) in machine.facts(state) and machine.terminal(state)


def test_terms_that_grow_beyond_comparing_are_an_error_of_the_rules() -> None:
    machine = make_machine(parse_rules(GROWING.replace("(<= terminal (true (round 3)))", "(<= terminal (true over))")))
    state = machine.initial()
    with pytest.raises(GdlError, match="terms that are too large: nested deeper than 500"):
        for _ in range(2000):
            state = machine.step(state, ["stone", "paper"])


def test_terms_that_double_are_stopped_before_they_fill_the_memory() -> None:
    doubling = GROWING.replace("(pile (on ?x))", "(pile (on ?x ?x))")
    endless = parse_rules(doubling.replace("(<= terminal (true (round 3)))", "(<= terminal (true over))"))
    with pytest.raises(BudgetError, match="terms with on have more than 10,000 words"):
        ground(endless, Budget())
    for machine in (make_machine(endless), Interpreter(endless)):
        state = machine.initial()
        with pytest.raises(GdlError, match="terms that are too large"):
            for _ in range(100):
                state = machine.step(state, ["stone", "paper"])
    chain = " ".join(f"(<= (p{n + 1} (f ?x ?x)) (p{n} ?x))" for n in range(60))
    rules = parse_rules(f"{HANDS} (p0 a) {chain} (<= (next odd) (p60 ?x))")
    machine = make_machine(rules)
    with pytest.raises(GdlError, match="terms that are too large"):
        machine.step(machine.initial(), ["stone", "paper"])


NAME = "x" * 400_000
HOSTILE = {  # and what the one line begins with; nothing where the rules are played
    "nested": (f"(p {'(f ' * 100_000}a{')' * 100_000})", "line 16, column 769: brackets are nested"),
    "a long role": (f"(role {NAME})", ""),
    "a long name": (f"(<= (p ?x) (not ({NAME} ?x)))", "line 16, column 1: ?x in the head is bound by no"),
    "a long name on a cycle": (f"(<= {NAME} (not {NAME}))", "line 16, column 1: xxx"),
    "negations": (" ".join(f"(<= (p a{n}) (not (p b{n})))" for n in range(20_000)), ""),
    "negations that may meet": (
        " ".join(f"(<= (p ?x b{n}) (hand ?x) (not (p a ?x)))" for n in range(5_000)),
        "",
    ),
    "facts": (" ".join(f"(f {n})" for n in range(50_000)), ""),
    "rules": (" ".join(f"(<= p{n} p{n + 1})" for n in range(40_000)), ""),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_rules_are_played_or_refused_in_one_short_line(name: str) -> None:
    addition, message = HOSTILE[name]
    try:
        rules = parse_rules(HANDS + addition)
        state = make_machine(rules, seconds=5.0).initial()
        assert state is not None and not message
    except GdlError as error:
        assert message and str(error).startswith(message) and len(str(error)) < 500
        assert len(str(error).splitlines()) == 1


def test_the_memory_of_all_tables_together_is_limited() -> None:
    """Every relation is small enough, and there are many of them."""
    pairs = " ".join(f"(<= (both{k} ?x ?y ?z) (digit ?x) (digit ?y) (digit ?z) (true (round ?r)))" for k in range(30))
    used = " ".join(f"(<= (next (made{k})) (both{k} ?x ?y ?x))" for k in range(30))
    rules = parse_rules(f"{HANDS} {DIGITS} {pairs} {used}")
    with pytest.raises(BudgetError, match="needs more than 4 MB"):
        ground(rules, Budget(megabytes=4.0))
    assert len(ground(rules, Budget()).facts) > 30


def test_terms_are_counted_in_the_middle_of_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    squares = " ".join(f"(<= (next ({name} ?x ?y)) (digit ?x) (digit ?y))" for name in ("red", "green", "blue"))
    rules = parse_rules(f"{HANDS} {DIGITS} {squares}")
    monkeypatch.setattr("palaestra.ggp.relations.CHECK_EVERY", 100)
    with pytest.raises(BudgetError, match=r"the list of terms has [\d,]+ instances; 1,000 are allowed"):
        ground(rules, Budget(rows=1000))


def test_a_player_survives_all_of_them_and_the_next_match_is_fine() -> None:
    async def work() -> None:
        async with playing(WorkerSettings("random")) as (_, port):
            for rules in (JOIN, GROWING, f"{HANDS} (<= p (not p))", "(" * 10**6, HANDS):
                one_line = " ".join(rules.split())
                expected = "ready" if rules in (JOIN, GROWING, HANDS) else "busy"
                assert await post(port, start("m", 20, 60, rules=one_line)) == expected
                if expected == "ready":
                    assert await post(port, "(PLAY m NIL)") in ("stone", "paper")
                    assert await post(port, "(STOP m NIL)") == "done"

    run(work())
