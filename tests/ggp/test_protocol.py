from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from palaestra.base.errors import ConfigError, GdlError
from palaestra.ggp.clock import UNKNOWN_ROUND_TRIP, Margin, round_trip
from palaestra.ggp.http_client import Address, read_address
from palaestra.ggp.protocol import (
    Abort,
    Info,
    Introduction,
    Message,
    Play,
    Preview,
    Start,
    Stop,
    info_text,
    message_text,
    read_info,
    read_message,
    read_term,
    rules_digest,
    rules_text,
)

words = st.text("abcxyz019._-", min_size=1, max_size=8)
terms = st.recursive(words, lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple), max_leaves=6)
moves = st.none() | st.lists(terms, min_size=1, max_size=3).map(tuple).filter(lambda given: given != ())
clocks = st.integers(0, 99_999).map(float) | st.sampled_from([0.25, 1.5, 12.125])
messages = st.one_of(
    st.just(Info()),
    st.builds(Preview, st.just("(role x) (init (a 1))"), clocks),
    st.builds(Start, words, words, st.just("(role x) (<= (legal x a) (true b))"), clocks, clocks),
    st.builds(Play, words, moves),
    st.builds(Stop, words, moves),
    st.builds(Abort, words),
)


@given(messages)
def test_what_is_written_is_read_back(message: Message) -> None:
    assert read_message(message_text(message)) == message


@pytest.mark.parametrize(
    "text, message",
    [
        ("(INFO)", Info()),
        (" ( info ) \r\n", Info()),
        ("(play Match.1 nil)", Play("Match.1", None)),
        ("(PLAY Match.1 ())", Play("Match.1", None)),
        ("(PLAY m (NOOP (Mark 1 2)))", Play("m", ("NOOP", ("Mark", "1", "2")))),
        ("(PLAY m\n ((mark 1 1)\tnoop) )", Play("m", (("mark", "1", "1"), "noop"))),
        ("(STOP m (noop))", Stop("m", ("noop",))),
        ("(START m XPlayer ((role xplayer)) 30 15)", Start("m", "XPlayer", "(role xplayer)", 30, 15)),
        ("(start m x ( (role x) ; a comment\n ) 1 0.5)", Start("m", "x", " (role x) ; a comment\n ", 1, 0.5)),
        ("(PREVIEW ((role x)) 10)", Preview("(role x)", 10)),
    ],
)
def test_messages_are_read_in_any_spelling(text: str, message: Message) -> None:
    assert read_message(text) == message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "INFO",
        "()",
        "(HELLO)",
        "(INFO now)",
        "(PLAY)",
        "(PLAY m)",
        "(PLAY m noop)",
        "(PLAY m (a) (b))",
        "(PLAY m (a)",
        "(PLAY m ((((((a)",
        "(START m x ((role x)) 30)",
        "(START m x ((role x)) -1 5)",
        "(START m x ((role x)) 1000000 5)",
        "(START m x ((role x)) soon later)",
        "(START m x rules 30 15)",
        "(ABORT)",
        "(ABORT a b)",
        "GET / HTTP/1.1",
        "\x00\xff",
        "(" * 1000,
    ],
)
def test_what_is_no_message_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(GdlError) as refusal:
        read_message(text)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("beginning", ["(START m x (", "(PREVIEW (", "(PLAY ", "(STOP ", "(ABORT ", "(INFO ", "("])
@pytest.mark.parametrize("filling", ["(", ")", ") 1 ", ") ", "1", " ", "(start a b (", "a) 1 1 "])
def test_a_megabyte_of_nonsense_is_refused_at_once(beginning: str, filling: str) -> None:
    text = beginning + filling * (1_000_000 // len(filling)) + "!"
    with pytest.raises(GdlError):
        read_message(text)


def test_the_digest_of_rules_knows_nothing_of_comments_spaces_and_case() -> None:
    digest = rules_digest("(role x) (init (a 1))")
    assert digest == rules_digest("; a game\n(ROLE X)\n\n( init\t(a   1))") and len(digest) == 12
    assert digest != rules_digest("(init (a 1)) (role x)")  # another order is another rulesheet
    assert digest != rules_digest("(role x) (init (a 2))")


def test_moves_of_a_megabyte_or_a_thousand_brackets_are_refused() -> None:
    with pytest.raises(GdlError):
        read_message("(PLAY m (" + "noop " * 200_000 + "))")
    with pytest.raises(GdlError):
        read_message("(PLAY m " + "(" * 1000 + ")" * 1000 + ")")


def test_rules_travel_on_one_line_without_their_comments() -> None:
    assert rules_text("(role X) ; who\n(<= (legal X\n a) (true b))") == "(role X) (<= (legal X a) (true b))"


@pytest.mark.parametrize("text", ["", "a b", "(a", "a)", '"a"'])
def test_a_reply_that_is_not_one_term_is_no_move(text: str) -> None:
    with pytest.raises(GdlError):
        read_term(text)


def test_info_says_who_and_whether_free() -> None:
    plain = Introduction("my player (2)")
    assert info_text(plain, busy=True) == "((name my_player_2) (status busy) (species computer))"
    whole = Introduction("granite", "decoupled_uct", "qtable")
    assert read_info(info_text(whole, busy=False)) == whole
    assert read_info("((NAME Granite) (Species human))").name.lower() == "granite"
    for reply in ("", "available", "((status busy))", "((name", "(name)", "((name))", "(((name)) x)"):
        assert read_info(reply) == Introduction()


def test_addresses_have_a_host_and_a_port() -> None:
    assert read_address("example.org:80") == Address("example.org", 80)
    assert read_address("localhost") == Address("localhost", 9147)
    assert str(read_address("[::1]:9148")) == "[::1]:9148"
    for text in ("", ":", "a:", ":1", "a:0", "a:65536", "a:b", "::1:9147", "http://a:1", "a b:1", "[::1", "a:٣"):
        with pytest.raises(ConfigError, match="host:port"):
            read_address(text)


def test_the_margin_grows_with_the_distance_and_with_lateness_and_forgets() -> None:
    margin = Margin()
    near, far = margin.keep(10, 0.001), margin.keep(10, 0.2)
    assert near < far < 1
    margin.observe(0.3)
    late = margin.keep(10, 0.001)
    assert late > near + 0.3
    for _ in range(100):
        margin.observe(-1.0)
    assert margin.keep(10, 0.001) == pytest.approx(near, abs=1e-3)


def test_the_margin_never_takes_more_than_half_a_clock_and_thinking_ends_before_it_does() -> None:
    margin = Margin()
    margin.observe(5.0)
    assert margin.keep(0.2, 3.0) == pytest.approx(0.1)
    assert 100.0 < Margin().end(100.0, 10.0, 0.02) < 110.0 - 0.02 * 2


def test_the_round_trip_is_that_of_the_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as one, server.accept()[0] as other:
            one.sendall(b"x")
            other.recv(1)
            assert 0 <= round_trip(one) < UNKNOWN_ROUND_TRIP
    with socket.socket() as unconnected:
        assert round_trip(unconnected) <= UNKNOWN_ROUND_TRIP
    assert round_trip(None) == UNKNOWN_ROUND_TRIP
