from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palaestra.base.errors import ConfigError
from palaestra.base.text import Grammar, Parts

GRAMMAR = Grammar("thing", "box(size=3)", ConfigError)

names = st.from_regex(r"[a-z][a-z0-9_]{0,10}", fullmatch=True)
values = st.one_of(
    st.integers(-(10**17), 10**17),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.text(max_size=20),
)
subjects = st.none() | st.from_regex(r"[A-Za-z0-9_./@-]{1,20}", fullmatch=True)
things = st.builds(
    Parts, names, subjects, st.lists(values, max_size=3).map(tuple), st.dictionaries(names, values, max_size=4)
)


@settings(deadline=None)
@given(things)
def test_what_is_written_is_read_back(made: Parts) -> None:
    read = GRAMMAR.parse(str(made))
    assert read == made
    kinds = [type(value) for value in (*made.positional, *made.keywords.values())]
    assert [type(value) for value in (*read.positional, *read.keywords.values())] == kinds


@settings(deadline=None)
@given(things, things)
def test_a_text_can_hold_other_texts(inner: Parts, innermost: Parts) -> None:
    middle = Parts("box", positional=(str(inner), str(innermost)))
    outer = GRAMMAR.parse(str(Parts("box", keywords={"within": str(middle)})))
    read = GRAMMAR.parse(str(outer.keywords["within"]))
    assert [GRAMMAR.parse(str(text)) for text in read.positional] == [inner, innermost]


@settings(deadline=None)
@given(st.text(max_size=60) | st.text(alphabet='ab1(),="\\: .', max_size=30))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        GRAMMAR.parse(text)
    except ConfigError as error:
        assert len(str(error).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("random", Parts("random")),
        ("rhea()", Parts("rhea")),
        (" uct( simulations = 200 ) ", Parts("uct", keywords={"simulations": 200})),
        ("mcs(ms=5e1)", Parts("mcs", keywords={"ms": 50.0})),
        (
            "puct(dir/model 2.onnx, simulations=100)",
            Parts("puct", positional=("dir/model 2.onnx",), keywords={"simulations": 100}),
        ),
        (
            'puct("a,b(1)=.onnx", solver=false)',
            Parts("puct", positional=("a,b(1)=.onnx",), keywords={"solver": False}),
        ),
        ('puct("12")', Parts("puct", positional=("12",))),
        ('x(a="say \\"hi\\", then go")', Parts("x", keywords={"a": 'say "hi", then go'})),
        (
            "run:runs/one@best(simulations=100)",
            Parts("run", "runs/one@best", keywords={"simulations": 100}),
        ),
        ("net:NAME@12", Parts("net", "NAME@12")),
        ("qtable:table.bin", Parts("qtable", "table.bin")),
        (
            'switch(primitive, "cdf(generations=5)", at=20)',
            Parts("switch", positional=("primitive", "cdf(generations=5)"), keywords={"at": 20}),
        ),
    ],
)
def test_the_grammar(text: str, parts: Parts) -> None:
    assert GRAMMAR.parse(text) == parts


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is not a thing: it must begin with a name .*; for example box"),
        ("UCT", "must begin with a name"),
        ("(simulations=2)", "must begin with a name"),
        ("run:", "nothing stands after the colon; for example box"),
        ("uct(simulations=200", "not closed"),
        ("uct(simulations=200) x", "not closed at the end"),
        ("uct(simulations=200,)", "an argument is empty"),
        ("uct(simulations=)", "an argument is empty"),
        ("uct(a=1, 2)", "follows a named argument"),
        ("uct(a=1, a=2)", "given twice"),
        ("uct(f(2))", "nested"),
        ('puct("model.onnx)', "not closed"),
        ('puct("a" b)', "not a text in double quotes"),
    ],
)
def test_an_unreadable_text_is_refused_with_the_reason(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        GRAMMAR.parse(text)


def test_nesting_depth_costs_no_stack() -> None:
    with pytest.raises(ConfigError):
        GRAMMAR.parse("a(" * 100_000)
