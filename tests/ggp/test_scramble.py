from __future__ import annotations

import pytest

from palaestra.base.errors import GdlError
from palaestra.ggp.interpreter import Interpreter
from palaestra.ggp.protocol import read_term, rules_text
from palaestra.ggp.rules import parse_rules
from palaestra.ggp.scramble import Scramble
from palaestra.ggp.terms import term_text
from tests.ggp.sheets import RING, agree


def test_texts_come_back_as_they_were_and_numbers_and_the_words_of_gdl_stay() -> None:
    rules = rules_text(RING)
    names = Scramble(rules, seed=3)
    there = names.there(rules)
    assert names.back(there) == rules and "shut" not in there and "?x" not in there
    assert names.there("(succ 2 3)").endswith(" 2 3)") and "(<= (next (" in there and "distinct" in there
    assert names.back(names.there("(go b)").upper()) == "(go b)"
    assert Scramble(rules, seed=3).there(rules) == there != Scramble(rules, seed=4).there(rules)


def test_scrambled_rules_are_the_same_game() -> None:
    names = Scramble(RING, seed=0)
    machine, other = Interpreter(parse_rules(RING)), Interpreter(parse_rules(names.there(rules_text(RING))))
    assert [names.back(role) for role in other.roles] == list(machine.roles)
    moves = {names.back(term_text(move)) for move in other.legal(other.initial())[1]}
    assert moves == {term_text(move) for move in machine.legal(machine.initial())[1]}
    assert agree([other], seed=0) > 1


def test_a_name_that_the_player_was_not_told_is_no_move() -> None:
    names = Scramble(RING, seed=0)
    assert "not_told" in names.back("stay") and "not_told" in names.back("(shut a b)")
    assert names.back("7") == "7" and names.back("nonsense") == "nonsense"
    with pytest.raises(GdlError):
        read_term(names.back("((("))
