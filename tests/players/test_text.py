from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palaestra.errors import PlayerError
from palaestra.players.text import PlayerText, parse_player

names = st.from_regex(r"[a-z][a-z0-9_]{0,10}", fullmatch=True)
values = st.one_of(
    st.integers(-(10**17), 10**17),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.text(max_size=20),
)
subjects = st.none() | st.from_regex(r"[A-Za-z0-9_./@-]{1,20}", fullmatch=True)


@given(names, subjects, st.lists(values, max_size=3), st.dictionaries(names, values, max_size=4))
def test_what_is_written_is_read_back(
    name: str, subject: str | None, positional: list[object], keywords: dict[str, object]
) -> None:
    made = PlayerText(name, subject, tuple(positional), keywords)  # type: ignore[arg-type]
    read = parse_player(str(made))
    assert read == made
    kinds = [type(value) for value in (*made.positional, *made.keywords.values())]
    assert [type(value) for value in (*read.positional, *read.keywords.values())] == kinds


@given(st.text(max_size=60) | st.text(alphabet='ab1(),="\\: .', max_size=30))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        parse_player(text)
    except PlayerError as error:
        assert len(str(error).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "name", "subject", "positional", "keywords"),
    [
        ("random", "random", None, (), {}),
        ("rhea()", "rhea", None, (), {}),
        (" uct( simulations = 200 ) ", "uct", None, (), {"simulations": 200}),
        ("mcs(ms=5e1)", "mcs", None, (), {"ms": 50.0}),
        ("puct(dir/model 2.onnx, simulations=100)", "puct", None, ("dir/model 2.onnx",), {"simulations": 100}),
        ('puct("a,b(1)=.onnx", solver=false)', "puct", None, ("a,b(1)=.onnx",), {"solver": False}),
        ('puct("12")', "puct", None, ("12",), {}),
        ('x(a="say \\"hi\\", then go")', "x", None, (), {"a": 'say "hi", then go'}),
        ("run:runs/one@best(simulations=100)", "run", "runs/one@best", (), {"simulations": 100}),
        ("net:NAME@12", "net", "NAME@12", (), {}),
        ("qtable:table.bin", "qtable", "table.bin", (), {}),
    ],
)
def test_the_grammar(
    text: str, name: str, subject: str | None, positional: tuple[object, ...], keywords: dict[str, object]
) -> None:
    assert parse_player(text) == PlayerText(name, subject, positional, keywords)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "must begin with a name"),
        ("UCT", "must begin with a name"),
        ("(simulations=2)", "must begin with a name"),
        ("run:", "nothing stands after the colon"),
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
    with pytest.raises(PlayerError, match=complaint):
        parse_player(text)


def test_nesting_depth_costs_no_stack() -> None:
    with pytest.raises(PlayerError):
        parse_player("a(" * 100_000)
