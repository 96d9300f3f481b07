"""A player among clients that do everything wrong: each is answered or closed, and nothing is left of any of them."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest

from tests.ggp.fakes import ONE_LINE, playing, post, raw, run, start, worker

HANDS = ("stone", "paper")
BUSY = "((name palaestra) (status busy) (species computer)"
GARBAGE = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
    b"stone\r\n\r\n",
    b"POST / HTTP/9.9\r\n\r\n",
    b"POST / HTTP/1.0\r\nContent-Length: many\r\n\r\n",
    b"POST / HTTP/1.0\r\nContent-Length: 2147483648\r\n\r\n(INFO)",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST / HTTP/1.0\r\nContent-Length: 4\r\n\r\n\xff\xfe\x00(",
    b"GET /%28%28%28 HTTP/1.0\r\n\r\n",
    b"\r\n" * 1000,
    b"\x00" * 100_000,
)
NOT_READ = ("'(ABORT)' cannot be read; write (ABORT match)",)
HALF = (
    b"",
    b"POST",
    b"POST / HTTP/1.0\r\nContent-Length: 9\r\n",
    b"POST / HTTP/1.0\r\nContent-Length: 9\r\n\r\n(INFO",
)


def held() -> tuple[int, int, int]:
    """Open files, threads and processes that are ours."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return len(os.listdir("/proc/self/fd")), threading.active_count(), len(children)


async def assert_no_more_than(before: tuple[int, int, int]) -> None:
    """Nothing more is held than before, if only after some time."""
    for _ in range(100):
        if all(now <= then for now, then in zip(held(), before, strict=True)):
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"{held()} files, threads and processes, {before} before")


async def whole_match(port: int, match: str) -> None:
    assert await post(port, start(match)) == "ready"
    assert await post(port, f"(PLAY {match} NIL)") in HANDS
    assert await post(port, f"(STOP {match} (stone stone))") == "done"


async def dribble(port: int, data: bytes) -> None:
    """A byte now and then, until nobody listens."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for byte in data:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0.2)
            if reader.at_eof():
                return
    except ConnectionError:
        return
    finally:
        writer.close()
    raise AssertionError("the dribble was taken to its end")


def test_bad_clients_cost_no_move_and_leave_no_socket_thread_or_process() -> None:
    async def work() -> None:
        async with playing(worker("plain"), seconds=1.0) as (server, port):
            await whole_match(port, "first")
            await server.up()
            before = held()
            assert await post(port, start("m")) == "ready"
            dribbling = asyncio.create_task(dribble(port, b"POST / HTTP/1.0\r\nContent-Length: 500\r\n\r\n" * 20))
            hanging = [asyncio.create_task(raw(port, data)) for data in HALF for _ in range(10)]
            for number, data in enumerate(GARBAGE):
                await raw(port, data)
                others = (
                    start("m"),
                    start("n"),
                    f"(PREVIEW ({ONE_LINE}) 5)",
                    "(PLAY n NIL)",
                    "(STOP n NIL)",
                    "(ABORT)",
                )
                assert await post(port, others[number % len(others)]) in ("busy", *NOT_READ)
                assert (await post(port, "(INFO)")).startswith(BUSY)
            assert await post(port, "(PLAY m NIL)") in HANDS
            assert await post(port, "(PLAY m (stone rock))") == "nil"  # an illegal move is not followed
            assert set(await asyncio.gather(*hanging)) == {b""}
            await dribbling
            assert await post(port, "(STOP m (stone stone))") == "done"
            await server.up()
            await assert_no_more_than(before)
            await whole_match(port, "last")

    run(work())


def test_a_flood_of_connections_during_a_search_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine the match would lapse meanwhile.
    monkeypatch.setattr("palaestra.ggp.player_server.SILENCE", 600.0)

    async def work() -> None:
        async with playing(worker("endless"), seconds=30.0) as (server, port):  # a busy machine takes long to read 50
            assert await post(port, start("m", 60, 3)) == "ready"
            before = held()
            thinking = asyncio.create_task(post(port, "(PLAY m NIL)"))
            while not thinking.done():
                answers = await asyncio.gather(*(post(port, "(INFO)") for _ in range(50)))
                assert all(answer.startswith(BUSY) for answer in answers)
                idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(150)]
                for _, writer in idle:
                    writer.close()
            assert await thinking in HANDS
            await assert_no_more_than(before)
            assert await post(port, "(ABORT m)") == "aborted"
            await server.up()
            assert await post(port, start("m")) == "ready"

    run(work())
