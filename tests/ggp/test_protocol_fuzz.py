"""Texts and bytes from strangers, a thousand or a hundred thousand of them: read, or refused by a declared error."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest

from palaestra.base.errors import PalaestraError
from palaestra.ggp.http_client import read_address
from palaestra.ggp.http_server import Arrival, listen
from palaestra.ggp.protocol import message_text, read_info, read_message, read_term, rules_text
from palaestra.ggp.scramble import Scramble
from tests.ggp.fakes import ONE_LINE, raw, run

SEEDS = (
    "(INFO)",
    "(PREVIEW ((role x) (init (a 1))) 10)",
    "(START match.1 left ((role left) (<= (legal ?r a) (role ?r))) 30 15.5)",
    "(PLAY match.1 NIL)",
    "(PLAY match.1 ((mark 1 1) noop))",
    "(STOP match.1 ((mark 1 1) noop))",
    "(ABORT match.1)",
    "((name granite) (status busy) (species computer) (plays uct) (instead_of qtable))",
    "[::1]:9147",
)
PIECES = ("(", ")", " ", "\n", ";", ",", '"', "|", "?", "\x00", "\x1b[2J", "\u202e", "İ", "ß", "٣", "\ud800", "9" * 400,
          "NIL", "PLAY", "(" * 300, ")" * 300, "<=", "%28", "\ufeff", "e9", "-1", "0.5")  # fmt: skip
READERS: tuple[Callable[[str], Any], ...] = (
    read_message,
    read_term,
    read_info,
    read_address,
    rules_text,
    Scramble(ONE_LINE, 0).back,
)


def mutant(chance: random.Random) -> str:
    """A message with some of it cut, doubled, exchanged or replaced."""
    text = chance.choice(SEEDS)
    for _ in range(chance.randint(1, 6)):
        at, to = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        new = chance.choice((chance.choice(PIECES), "", text[at:to] * 2, chance.choice(SEEDS)[: chance.randint(0, 40)]))
        text = (text[:at] + new + text[chance.choice((at, to)) :])[:5000]
    return text


def attempt(count: int, seed: int) -> int:
    """How many texts were read by none."""
    chance, refused = random.Random(seed), 0
    for _ in range(count):
        text = mutant(chance)
        for reader in READERS:
            try:
                found = reader(text)
            except PalaestraError as error:
                refused += 1
                assert "\n" not in str(error) and str(error).isprintable(), repr(text)
                continue
            if reader is read_message:
                assert read_message(message_text(found)) == found, repr(text)
    return refused


def test_a_thousand_texts_are_read_or_refused_in_one_printable_line() -> None:
    assert attempt(1_000, seed=0) > 1_000


@pytest.mark.slow
def test_a_hundred_thousand_texts_are_read_or_refused_in_one_printable_line() -> None:
    assert attempt(100_000, seed=1) > 100_000


def request(chance: random.Random) -> bytes:
    body = mutant(chance).encode("utf-8", "replace")
    head = chance.choice((
        b"POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % chance.choice((len(body), 0, 10**9, len(body) // 2)),
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET /" + body.replace(b" ", b"+") + b" HTTP/1.1\r\n\r\n",
        b"get /%zz%2 HTTP/1.0\n\n",
    ))  # fmt: skip
    data = bytearray(head + body)
    for _ in range(chance.randint(0, 3)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


async def bombard(count: int) -> None:
    """Every request is answered or closed, and the next one is served."""
    unexpected: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: unexpected.append(context))

    async def echo(text: str, arrival: Arrival) -> str:
        return str(read_message(text))

    chance = random.Random(0)
    async with listen("127.0.0.1", 0, echo, seconds=0.5) as port:
        for _ in range(count // 50):
            await asyncio.gather(*(raw(port, request(chance)) for _ in range(50)))
            assert b"Info()" in await raw(port, b"GET /(INFO) HTTP/1.0\r\n\r\n")
    assert unexpected == []


def test_two_hundred_requests_are_answered_or_closed() -> None:
    run(bombard(200))


@pytest.mark.slow
def test_ten_thousand_requests_are_answered_or_closed() -> None:
    run(bombard(10_000))
