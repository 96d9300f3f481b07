from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palaestra.base.errors import GdlError
from palaestra.ggp.kif import Limits, Located, Term, read_kif, term_text
from palaestra.ggp.rules import parse_rules, rulesheet

ATOMS = st.from_regex(r"\??[a-z0-9_+<=>.*-]{1,6}", fullmatch=True)
TERMS = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=12)


def terms(text: str) -> list[Term]:
    return [form.term for form in read_kif(text)]


def refusal(text: str, limits: Limits | None = None) -> str:
    with pytest.raises(GdlError) as caught:
        read_kif(text, limits or Limits())
    message = str(caught.value)
    assert len(message.splitlines()) == 1 and len(message) < 400
    return message


@settings(deadline=None)
@given(st.lists(TERMS, max_size=5))
def test_what_is_printed_reads_back_the_same(forms: list[Term]) -> None:
    assert terms("\n".join(map(term_text, forms))) == forms


@settings(deadline=None)
@given(st.text() | st.text(alphabet='()?;,ab"| \n\r\t\x00\ufeff'))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        for form in read_kif(text):
            assert read_kif(term_text(form.term)) == [Located(form.term, 1, 1)]
    except GdlError as error:
        assert len(str(error).splitlines()) == 1


PIECES = (
    "(",
    ")",
    "(",
    ")",
    " ",
    "\n",
    "\r",
    ";",
    ",",
    "?",
    "?x",
    "<=",
    "role",
    "True",
    "É",
    "ẞ",
    "\x00",
    '"',
    "|",
    "\ufeff",
    "1",
)


@pytest.mark.parametrize("texts", [1_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_texts_at_random_are_read_or_refused_in_one_line(texts: int) -> None:
    """Pieces in any order, and a rulesheet with some of its characters changed: never another error than GdlError."""
    chance, refused = random.Random(texts), 0
    sheet = rulesheet("tic_tac_toe-3x3")
    for number in range(texts):
        if number % 4:
            text = "".join(chance.choices(PIECES, k=chance.randrange(40)))
        else:
            begin = chance.randrange(len(sheet) - 300)
            damaged = list(sheet[begin : begin + 300])
            for place in chance.choices(range(300), k=chance.randrange(5)):
                damaged[place] = chance.choice(PIECES)
            text = "".join(damaged)
        try:
            for form in read_kif(text):
                assert terms(term_text(form.term)) == [form.term]
            parse_rules(text)
        except GdlError as error:
            refused += 1
            assert len(str(error).splitlines()) == 1 and len(str(error)) < 700
    assert refused > texts // 2


def test_brackets_become_tuples_and_words_keep_their_case() -> None:
    assert terms("(ROLE XPlayer) terminal ()") == [("ROLE", "XPlayer"), "terminal", ()]
    assert terms("(<=(p ?X)(q(f ?X)))") == [("<=", ("p", "?X"), ("q", ("f", "?X")))]


def test_commas_before_and_between_terms_are_space() -> None:
    assert terms("(cell 1, 2,b) (cell ,1 ,2 , b),") == [("cell", "1", "2", "b")] * 2


def test_comments_end_with_the_line_whatever_ends_it() -> None:
    assert terms("a;(\nb ;)\r\nc;\rd;;") == ["a", "b", "c", "d"]


def test_a_byte_order_mark_is_skipped() -> None:
    assert read_kif("\ufeff(a)") == [Located(("a",), 1, 1)]


def test_forms_know_the_line_and_column_where_they_begin() -> None:
    found = read_kif("(a\n b)\r\n  (c) d\n\n;x\n(e)")
    assert [(form.line, form.column) for form in found] == [(1, 1), (3, 3), (3, 7), (6, 1)]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("(a)\n (b (c)", "line 2, column 2", "never closed"),
        ("(a)\n\n  )", "line 3, column 3", "closes no bracket"),
        ("(a\n b\x00c)", "line 2, column 2", "U+0000"),
        ("(a \ud800)", "line 1, column 4", "U+D800"),
        ('(say "a b")', "line 1, column 6", '"'),
        ("#| comment |#", "line 1, column 1", "|"),
        ("(p ?)", "line 1, column 4", "variable"),
    ],
)
def test_refusals_say_where_and_what(text: str, place: str, words: str) -> None:
    message = refusal(text)
    assert message.startswith(f"{place}: ") and words in message


def test_a_million_open_brackets_are_refused_at_the_limit_of_nesting() -> None:
    assert refusal("(" * 1_000_000) == "line 1, column 257: brackets are nested deeper than 256"
    assert refusal("(" * 3, Limits(nesting=2)) == "line 1, column 3: brackets are nested deeper than 2"
    assert "closes no bracket" in refusal(")" * 1_000_000)


def test_the_deepest_accepted_nesting_is_read_printed_and_compared() -> None:
    text = "(" * 500 + ")" * 500
    (form,) = read_kif(text, Limits(nesting=500))
    assert term_text(form.term) == text
    assert form == read_kif(text, Limits(nesting=500))[0]


def test_text_and_tokens_are_limited() -> None:
    assert "1,000,001 characters" in refusal(" " * 1_000_001)
    assert read_kif(" " * 1_000_000) == []
    assert "more than 500,000 words" in refusal("()" * 250_000 + "(")
    assert len(read_kif("a b", Limits(tokens=2))) == 2
    assert "more than 2 words" in refusal("a b c", Limits(tokens=2))


def test_a_megabyte_of_garbage_is_refused_in_one_line() -> None:
    assert "U+0000" in refusal("\x00" * 1_000_000)
    assert len(terms("x" * 1_000_000)) == 1


@pytest.mark.parametrize("field", ["characters", "nesting", "tokens", "expanded", "conditions"])
def test_limits_out_of_range_are_refused(field: str) -> None:
    with pytest.raises(GdlError, match=field):
        Limits(**{field: 0})
    with pytest.raises(GdlError, match="at most 500"):
        Limits(nesting=501)
