"""How long INFO waits while hostile clients do their worst to a player: `python -m benchmarks.hostile_clients`.

The player is a process of its own on loopback, the attackers another one that has finished making its bytes before it
begins, so that what is measured is the player. Every attack lasts a few seconds and ends by itself.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

SECONDS, BETWEEN = 4.0, 0.02
INFO = b"POST / HTTP/1.0\r\nContent-Length: 6\r\n\r\n(INFO)"


def post(body: bytes) -> bytes:
    return b"POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(body) + body


ATTACKS: dict[str, tuple[int, bytes]] = {  # clients at once, and what each of them sends again and again
    "nobody": (0, b""),
    "GET of 1,000,000 %28": (10, b"GET /" + b"%28" * 1_000_000 + b" HTTP/1.0\r\n\r\n"),
    "GET of 8 KB %28": (50, b"GET /" + b"%28" * 2_700 + b" HTTP/1.0\r\n\r\n"),
    "one header of 3 MB": (10, b"GET / HTTP/1.0\r\nA: " + b"b" * 3_000_000 + b"\r\n\r\n"),
    "100,000 headers": (10, b"GET / HTTP/1.0\r\n" + b"A: b\r\n" * 100_000 + b"\r\n"),
    "START of 1 MB of brackets": (20, post(b"(START m x (" + b"(" * 1_000_000 + b") 1 1)")),
    "START of 1 MB of clocks": (20, post(b"(START m x (" + b") 1 " * 250_000)),
    "PLAY of 1 MB": (20, post(b"(PLAY m (" + b"noop " * 200_000 + b"))")),
    "PLAY of 60 KB": (20, post(b"(PLAY m (" + b"(a b) " * 10_000 + b"))")),
    "chunks of one byte": (20, b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 300_000),
    "silent sockets": (300, b""),
    "slow senders": (300, b"POST / HTTP/1.0\r\nContent-Length: 9\r\n\r\n("),
}


async def _attack(port: int, name: str) -> None:
    clients, data = ATTACKS[name]
    ends = time.monotonic() + SECONDS

    async def client() -> None:
        while time.monotonic() < ends:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(data)
                async with asyncio.timeout_at(ends):
                    while await reader.read(65536):
                        pass
            except (OSError, TimeoutError):
                await asyncio.sleep(0.01)
            finally:
                writer.close()

    await asyncio.gather(*(client() for _ in range(clients)))


async def _ask(port: int) -> list[float]:
    """Seconds that INFO took, from connecting to the last byte, again and again while the attack lasts."""
    waits, ends = [], time.monotonic() + SECONDS
    while time.monotonic() < ends:
        began = time.monotonic()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(INFO)
        answer = await reader.read()
        writer.close()
        if b"species" not in answer:
            raise RuntimeError(f"INFO was answered {answer[:80]!r}")
        waits.append(time.monotonic() - began)
        await asyncio.sleep(BETWEEN)
    return waits


async def _player(ports: Any) -> None:
    from palaestra.ggp.http_server import listen
    from palaestra.ggp.player_server import PlayerServer
    from palaestra.ggp.worker_process import WorkerSettings

    async with PlayerServer(WorkerSettings("random")) as server, listen("127.0.0.1", 0, server.answer) as port:
        await server.up()
        ports.put(port)
        await asyncio.Event().wait()


def _in_process(work: Callable[..., Any], *given: Any) -> None:
    asyncio.run(work(*given))


def main(names: list[str]) -> None:
    ports: Any = multiprocessing.Queue()
    player = multiprocessing.Process(target=_in_process, args=(_player, ports))
    player.start()
    try:
        port = ports.get(timeout=120)
        print(f"{'INFO while there is':28} {'asked':>6} {'median ms':>10} {'worst ms':>9}")
        for name in names or ATTACKS:
            attacker = multiprocessing.Process(target=_in_process, args=(_attack, port, name))
            attacker.start()
            time.sleep(0.5)
            waits = [1000 * wait for wait in asyncio.run(_ask(port))]
            attacker.join()
            print(f"{name:28} {len(waits):6} {statistics.median(waits):10.1f} {max(waits):9.1f}", flush=True)
    finally:
        player.kill()
        player.join()


if __name__ == "__main__":
    main(sys.argv[1:])
