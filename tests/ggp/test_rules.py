from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palaestra.base.errors import GdlError
from palaestra.ggp.kif import Limits
from palaestra.ggp.rules import Literal, Rule, load_rules, parse_rules, term_text
from palaestra.ggp.terms import Term, name_of

SHARED = Path(__file__).parents[3] / "shared" / "gdl"

GAME = """
(role white) (role black)
(init (turn white))
(<= (legal ?role noop) (role ?role))
(<= (next (turn black)) (true (turn white)))
(<= terminal (true (turn black)))
(<= (goal ?role 50) (role ?role))
"""
FIRST = GAME.count("\n") + 1  # the line of what a test adds


def rules_for(relation: str, text: str) -> list[Rule]:
    """The rules with this head in a small game to which the text is added."""
    return [rule for rule in parse_rules(GAME + text).rules if name_of(rule.head) == relation]


def bodies(text: str) -> list[list[tuple[Term, bool]]]:
    """Of the rules for p: atoms of the body with their signs, and pairs that must differ under the name 'distinct'."""
    return [
        [(literal.atom, literal.positive) for literal in rule.body]
        + [(("distinct", *pair), True) for pair in rule.distinct]
        for rule in rules_for("p", text)
    ]


def refusal(text: str, limits: Limits | None = None) -> str:
    with pytest.raises(GdlError) as caught:
        parse_rules(text, limits or Limits())
    message = str(caught.value)
    assert len(message.splitlines()) == 1 and len(message) < 700
    return message


def refused_addition(text: str) -> str:
    """Why the small game is refused with this text added; the complaint is about the added line."""
    message = refusal(GAME + text)
    place = f"line {FIRST}, column 1: "
    assert message.startswith(place)
    return message.removeprefix(place)


# Reading.


def test_rules_keep_roles_in_order_facts_without_bodies_and_the_text() -> None:
    rules = parse_rules(GAME)
    assert rules.roles == ("white", "black") and rules.source == GAME
    assert rules.rules[0] == Rule(("role", "white"), (), (), 2, 1)
    assert rules.rules[-2] == Rule("terminal", (Literal(("true", ("turn", "black"))),), (), 6, 1)


@pytest.mark.parametrize(
    "spelling", ["(role red)", "(ROLE red)", "( role (red) )", "(<= (role red))", "Role(red)", "role (red)"]
)
def test_every_spelling_of_a_role_is_read(spelling: str) -> None:
    assert parse_rules(GAME + spelling).roles == ("white", "black", "red")
    assert parse_rules(spelling + GAME.replace("?role noop) (role ?role)", "?r noop) (role ?r)")).roles[0] == "red"


def test_a_role_given_twice_is_one_role() -> None:
    assert parse_rules(GAME + "(role white)").roles == ("white", "black")


def test_brackets_around_a_single_name_and_empty_bodies_change_nothing() -> None:
    plain, odd = "(<= p q (true a))", "(<= (p) ((q)) (true (a)))"
    assert bodies(plain) == bodies(odd) == [[("q", True), (("true", "a"), True)]]
    assert bodies("(<= p)") == bodies("(p)") == bodies("p") == [[]]


def test_alternatives_become_rules_in_the_order_of_the_text() -> None:
    a, b, c, d = "abcd"
    assert bodies("(<= p (or a b) c)") == [[(a, True), (c, True)], [(b, True), (c, True)]]
    assert bodies("(<= p (or a (and b (or c d))))") == [
        [(a, True)],
        [(b, True), (c, True)],
        [(b, True), (d, True)],
    ]


def test_negation_is_pushed_inwards() -> None:
    a, b, c = "abc"
    assert bodies("(<= p c (not (or a b)))") == [[(c, True), (a, False), (b, False)]]
    assert bodies("(<= p (not (and a b)))") == [[(a, False)], [(b, False)]]
    assert bodies("(<= p (not (not a)))") == [[(a, True)]]
    assert bodies("(<= p (not (or a (not b))))") == [[(a, False), (b, True)]]


def test_distinct_stands_beside_the_body() -> None:
    assert bodies("(<= p (distinct ?x b) (q ?x))") == [[(("q", "?x"), True), (("distinct", "?x", "b"), True)]]


def test_terms_that_must_not_differ_are_put_in_place() -> None:
    assert rules_for("p", "(<= (p ?x) (q ?x ?y) (not (distinct ?x ?y)))")[0].body == (Literal(("q", "?y", "?y")),)
    (rule,) = rules_for(
        "p", "(<= (p ?x (f ?z)) (q ?x ?y ?z) (not (or (distinct ?x ?y) (distinct ?y a) (distinct ?z a))))"
    )
    assert (rule.head, rule.body) == (("p", "a", ("f", "a")), (Literal(("q", "a", "a", "a")),))
    assert rules_for("p", "(<= (p ?x) (q ?x) (not (distinct ?x a)) (not (distinct ?x b)))") == []
    assert "compares a function" in refused_addition("(<= (p ?x) (q ?x) (not (distinct ?x (f a))))")


BOOLEAN = st.recursive(
    st.sampled_from("abc"),
    lambda inner: st.one_of(
        inner.map(lambda one: ("not", one)),
        st.tuples(st.sampled_from(["or", "and"]), inner),
        st.tuples(st.sampled_from(["or", "and"]), inner, inner),
    ),
    max_leaves=8,
)


def holds(condition: Term, world: dict[str, bool]) -> bool:
    """What a nested condition means, by recursion."""
    if isinstance(condition, str):
        return world[condition]
    values = [holds(part, world) for part in condition[1:]]
    return not values[0] if condition[0] == "not" else any(values) if condition[0] == "or" else all(values)


@settings(deadline=None)
@given(BOOLEAN)
def test_multiplied_out_conditions_mean_the_same(condition: Term) -> None:
    found = bodies(f"(<= p {term_text(condition)})")
    for values in product([False, True], repeat=3):
        world = dict(zip("abc", values, strict=True))
        meant = any(all(world[str(atom)] == positive for atom, positive in body) for body in found)
        assert meant == holds(condition, world)


def test_alternatives_that_multiply_without_end_are_refused() -> None:
    assert "multiplied out" in refusal(GAME + f"(<= p {'(or a b) ' * 40})", Limits(expanded=100_000))
    assert "multiplied out" in refused_addition(f"(<= p {'(or a b) ' * 13} (true (f {'a ' * 100_000})))")
    assert len(parse_rules(GAME + "(<= p (or a b) (or a b))", Limits(expanded=100)).rules) == 11
    assert "multiplied out" in refusal(GAME + "(<= p (or a b) (or a b))", Limits(expanded=50))


# The laws.


@pytest.mark.parametrize(
    ("fact", "words"),
    [
        ("(role white) (role black)", "no rule for 'role'"),
        ("(<= (legal ?role noop) (role ?role))", "no rule for 'legal'"),
        ("(<= terminal (true (turn black)))", "no rule for 'terminal'"),
        ("(<= (goal ?role 50) (role ?role))", "no rule for 'goal'"),
    ],
)
def test_a_game_without_its_necessary_rules_is_refused(fact: str, words: str) -> None:
    assert words in refusal(GAME.replace(fact, ""))


def test_nothing_at_all_is_refused() -> None:
    assert "nobody plays" in refusal("") and "nobody plays" in refusal("; only a comment")


def test_every_role_needs_moves() -> None:
    only_white = GAME.replace("(<= (legal ?role noop) (role ?role))", "(legal white noop)")
    assert refusal(only_white) == "no rule for 'legal' is about the role black"


# Words of the language, and names.


def test_words_of_gdl_are_read_in_either_case_and_names_keep_theirs() -> None:
    rules = parse_rules(GAME + "(<= (Next (Turn ?X)) (TRUE (Turn ?X)) (Not (True (mark OR Blue))) (DISTINCT ?X Blue))")
    rule = rules.rules[-1]
    assert rule.head == ("next", ("Turn", "?X"))
    assert rule.body == (Literal(("true", ("Turn", "?X"))), Literal(("true", ("mark", "OR", "Blue")), positive=False))
    assert rule.distinct == (("?X", "Blue"),)


def test_names_that_differ_in_case_differ_where_the_rules_can_be_played_so() -> None:
    assert [rule.head for rule in parse_rules(GAME + "(Q a) (q A) (<= (p ?x) (Q ?x))").rules[-3:]] == [
        ("Q", "a"),
        ("q", "A"),
        ("p", "?x"),
    ]


def test_names_in_two_cases_are_one_name_where_the_rules_are_refused_otherwise() -> None:
    rules = parse_rules(GAME + "(role Red) (init (Turn RED)) (<= (p ?X) (true (turn ?x)) (q ?x))")
    assert rules.roles == ("white", "black", "Red")
    assert rules.rules[-1].head == ("p", "?X") and rules.rules[-1].body[0].atom == ("true", ("turn", "?X"))
    assert rules.rules[-2].head == ("init", ("turn", "Red"))
    assert "?Y in the head" in refused_addition("(<= (p ?Y) (Q ?x))")  # in the spelling of the text


def test_a_role_is_found_in_either_case() -> None:
    rules = parse_rules(GAME.replace("white", "White"))
    assert rules.role("white") == rules.role("WHITE") == "White"
    with pytest.raises(GdlError, match="red is no role of these rules; they are White, black"):
        rules.role("red")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(p ?x)", "?x in (p ?x): a fact has no variables"),
        ("(<= (p ?x) (q ?y))", "?x in the head"),
        ("(<= (p ?x) (not (q ?x)))", "?x in the head"),
        ("(<= p (not (q ?x)))", "?x in (not ...)"),
        ("(<= p (q ?x) (distinct ?x ?y))", "?y in (distinct ...)"),
        ("(<= (p ?x) (distinct ?x a))", "?x in the head"),
        ("(<= (p ?x) (or (q ?x) r))", "?x in the head"),
        ("(<= (p (f (g ?x))) (q a))", "?x in the head"),
    ],
)
def test_variables_that_nothing_binds_are_refused(text: str, words: str) -> None:
    assert words in refused_addition(text)


def test_variables_inside_functions_are_bound_by_them() -> None:
    assert rules_for("p", "(<= (p ?x) (q (f ?x)) (not (r ?x)) (distinct ?x a))")


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("(<= p (not p))", "p -> not p: "),
        ("(<= p (not q)) (<= q p)", "p -> not q -> p: "),
        ("(<= p (not q)) r (<= q r s) (<= s t) (<= t p)", "p -> not q -> s -> t -> p: "),
    ],
)
def test_negation_on_a_cycle_is_refused_with_the_cycle(text: str, way: str) -> None:
    message = refused_addition(text)
    assert message.startswith(way) and "stratified" in message


@pytest.mark.parametrize(
    "text",
    [
        "(<= (goal ?r 0) (role ?r) (not (goal ?r 100)))",
        "(<= (goal ?r 0) (role ?r) (goal ?other 100) (distinct ?r ?other) (not (goal ?r 100)))",
        "(<= (q f a ?x) (role ?x)) (<= (q f b ?x) (role ?x) (not (q f a ?x)))",
        "(after 0 1) (after 1 2) (<= (odd ?n) (after ?m ?n) (not (odd ?m)))",
        "(<= p (not q)) (<= q (true never) p)",  # no state has it
    ],
)
def test_negation_on_a_cycle_of_relations_but_of_no_atoms_is_read(text: str) -> None:
    assert parse_rules(GAME + text)


def test_negation_on_a_cycle_of_atoms_is_refused_however_long_it_is() -> None:
    ring = "(<= (odd ?n) (after ?m ?n) (not (odd ?m))) (after 0 1) (after 1 2) (after 2 0)"
    assert refused_addition(ring).startswith("odd -> not odd: odd depends on its own absence")


def test_negation_between_strata_is_read() -> None:
    assert bodies("(<= p (not q)) (<= q r) (<= r q)") == [[("q", False)]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(<= (p (f ?x)) (p ?x) (q ?x))", None),  # ?x is bound by q
        ("(<= (p ?x ?y) (p ?x ?z) (q ?z ?y))", None),
        ("(<= (p ?x) (p ?x))", None),
        ("(<= (p ?x) (p ?y) (true (near ?x ?y)))", None),  # ?y is bound inside a function
        ("(<= (p (f ?x)) (p (f ?x)) (true ?x))", None),
        ("(<= (p (f ?x)) (p ?x))", "p -> p: in this recursion ?x must be constant"),
        ("(<= (p (f ?x)) (r ?x)) (<= (r ?x) (p ?x))", "p -> r -> p: in this recursion ?x must"),
        ("(<= (p ?x) (p ?y) (p ?x))", "p -> p: in this recursion ?y must"),
        ("(<= (p ?x) (p (f ?x ?z)) (q ?x))", "p -> p: in this recursion (f ?x ?z) must"),
    ],
)
def test_recursion_must_hand_down_what_is_bound_elsewhere(text: str, words: str | None) -> None:
    if words is None:
        assert rules_for("p", text)
    else:
        assert words in refused_addition(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(<= (init a) p) (<= p q) (<= q (true a))", "init -> p -> q -> true: init depends on true"),
        ("(<= (init a) (does white noop))", "init -> does"),
        ("(<= (legal white x) (does white noop))", "legal -> does"),
        ("(<= (goal white 0) (not p)) (<= p (does white noop))", "goal -> p -> does"),
        ("(<= terminal (does white noop))", "terminal -> does"),
    ],
)
def test_states_do_not_depend_on_the_moves_made_in_them(text: str, words: str) -> None:
    assert words in refused_addition(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(<= (q a b) (q a))", "the relation 'q' has 1 arguments here and 2"),
        ("(<= (q a) q)", "the relation 'q' has 0 arguments"),
        ("(q (f a) (f a b))", "the function 'f' has 2 arguments"),
        ("(<= p (q ?x) (distinct ?x (f a)) (distinct ?x (f a a)))", "the function 'f'"),
        ("(terminal now)", "write terminal"),
        ("(legal white)", "write (legal ROLE MOVE)"),
        ("(<= p (true a b))", "write (true FACT)"),
        ("(<= p true)", "write (true FACT)"),
        ("(goal white 50 60)", "write (goal ROLE NUMBER)"),
    ],
)
def test_different_numbers_of_arguments_are_refused(text: str, words: str) -> None:
    assert words in refused_addition(text)


def test_a_name_may_be_a_constant_a_function_and_a_relation() -> None:
    assert rules_for("p", "(p p) (<= r (true (p a b)))")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(true a)", "'true' is no head"),
        ("(<= (does white a) p)", "'does' is no head"),
        ("(<= (role red) p)", "a role is a plain fact"),
        ("(role (player 1))", "a role is a plain fact"),
        ("(<= p (init a))", "'init' is no condition"),
        ("(<= p (next a))", "'next' is no condition"),
        ("(not a)", "stands where a fact or the head"),
        ("(<= (distinct a b) p)", "stands where a fact or the head"),
        ("(<= (or a b) p)", "stands where a fact or the head"),
        ("(<= ?x p)", "the head of a rule is a relation"),
        ("(<= p ?x)", "?x stands where a condition is wanted"),
        ("(<= p (not))", "'not' takes one condition"),
        ("(<= p (not a b))", "'not' takes one condition"),
        ("(<= p (or))", "'or' combines conditions"),
        ("(<= p (q ?x) (distinct ?x))", "'distinct' compares two terms"),
        ("(<= p (<= q r))", "a rule stands inside another"),
        ("(<=)", "a rule has a head"),
        ("()", "nothing in the brackets"),
        ("((f a) b)", "a bracket begins with a name"),
        ("(?x a)", "a bracket begins with a name"),
        ("(q (true a))", "'true' is a word of GDL"),
        ("(q (not a))", "'not' is a word of GDL"),
        ("(goal white 101)", "from 0 to 100"),
        ("(goal white many)", "from 0 to 100"),
        ("(goal white -1)", "from 0 to 100"),
        ("(<= (sees white ?x) (does black ?x))", "GDL-II"),
        ("(<= p (sees white a))", "GDL-II"),
    ],
)
def test_words_of_the_language_in_wrong_places_are_refused(text: str, words: str) -> None:
    assert words in refused_addition(text)


# Whatever is given.

PIECES = st.sampled_from(
    [
        *"( ) ( ) (<= (not (or (and (distinct (p (role (init (true (next (legal (does (goal".split(),
        *"terminal sees random ?x ?y a p q 50 white <= ; , (p ?x) (true ?y)".split(" "),
        "\n",
    ]
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=30).map(" ".join) | st.text())
def test_any_text_gives_rules_or_one_line(text: str) -> None:
    for whole in (text, GAME + text, GAME + f"(<= p {text})"):
        try:
            assert parse_rules(whole).roles
        except GdlError as error:
            assert len(str(error).splitlines()) == 1


def test_long_chains_of_rules_and_very_long_names_do_no_harm() -> None:
    count = 5_000
    chain = " ".join(f"(<= (p{i}) (p{i + 1}))" for i in range(count))
    assert len(parse_rules(GAME + chain).rules) == count + 7
    assert "stratified" in refusal(GAME + f"{chain} (<= p{count} (not p0))")
    assert "fact has no variables" in refused_addition(f"({'p' * 100_000} ?x)")


def test_many_equalities_in_one_rule_are_put_in_place_quickly() -> None:
    count = 5_000
    links = " ".join(f"(not (distinct ?x{i} ?x{i + 1}))" for i in range(count))
    (rule,) = rules_for("p", f"(<= (p ?x0) (q ?x{count}) {links})")
    assert rule.head[1] == rule.body[0].atom[1]


# Files.


def test_files_are_read_and_their_flaws_named_with_file_and_place(tmp_path: Path) -> None:
    sheet = tmp_path / "game.kif"
    sheet.write_bytes(b"\xef\xbb\xbf" + GAME.replace("\n", "\r\n").encode())
    assert load_rules(sheet).roles == ("white", "black")
    sheet.write_text(GAME + "(p ?x)")
    with pytest.raises(GdlError, match=rf"game.kif': line {FIRST}, column 1: "):
        load_rules(sheet)


@pytest.mark.parametrize("content", [None, b"\xff\xfe\x00", b"\x00" * 1000, b"(" * 5_000_000])
def test_files_that_are_no_text_are_refused_in_one_line(tmp_path: Path, content: bytes | None) -> None:
    sheet = tmp_path / "game.kif"
    if content is not None:
        sheet.write_bytes(content)
    with pytest.raises(GdlError) as caught:
        load_rules(sheet)
    assert "game.kif" in str(caught.value) and len(str(caught.value).splitlines()) == 1


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path: Path) -> None:
    sheet = tmp_path / "game.kif"
    sheet.write_text("é" * 1000)
    with pytest.raises(GdlError, match="more than 400 characters"):
        load_rules(sheet, Limits(characters=400))
    with pytest.raises(GdlError, match="has 1,000 characters; at most 600"):
        load_rules(sheet, Limits(characters=600))


@pytest.mark.parametrize("path", ["", "a\0b", "/"])
def test_paths_that_are_no_files_are_refused(path: str) -> None:
    with pytest.raises(GdlError, match="cannot read"):
        load_rules(path)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the folder with rulesheets from game servers is not here")
def test_rulesheets_as_played_on_servers_are_read() -> None:
    roles = {path.stem: load_rules(path).roles for path in SHARED.glob("*.kif")}
    assert len(roles) >= 25
    assert roles["ticTacToe"] == ("xplayer", "oplayer") and len(roles["3pConnectFour"]) == 3
    assert roles["eightPuzzle"] == ("player",)
