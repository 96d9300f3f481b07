"""A small game, movers that misbehave, and sockets that speak HTTP by hand."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

from palaestra.ggp.http_client import Address
from palaestra.ggp.interpreter import Interpreter
from palaestra.ggp.manager import Manager, MatchSettings
from palaestra.ggp.movers import Publish
from palaestra.ggp.player_server import PlayerServer
from palaestra.ggp.rules import Rules, parse_rules
from palaestra.ggp.terms import Term
from palaestra.ggp.worker_process import Playing, WorkerSettings

# Two players choose a hand at the same time, three times; who plays paper against stone most often wins.
HANDS = """
(role left) (role right)
(init (round 0))
(next_round 0 1) (next_round 1 2) (next_round 2 3)
(hand stone) (hand paper)
(<= (legal ?role ?hand) (role ?role) (hand ?hand))
(<= (next (round ?n)) (true (round ?m)) (next_round ?m ?n))
(<= (next (last ?role ?hand)) (does ?role ?hand))
(<= terminal (true (round 3)))
(<= (goal left 100) (true (last left paper)) (true (last right stone)))
(<= (goal left 0) (true (last right paper)) (true (last left stone)))
(<= (goal left 50) (true (last left ?hand)) (true (last right ?hand)))
(<= (goal right 100) (true (last right paper)) (true (last left stone)))
(<= (goal right 0) (true (last left paper)) (true (last right stone)))
(<= (goal right 50) (true (last left ?hand)) (true (last right ?hand)))
"""
ONE_LINE = " ".join(HANDS.split())


class PlainMover:
    """Reads the rules at once and plays the first legal move; subclasses break one thing each."""

    def __init__(self) -> None:
        self.machine: Interpreter
        self.seat = 0
        self.playing = Playing("plain")
        self.shared = None

    def prepare(self) -> None:
        pass

    def begin(self, rules: Rules, role: str, deadline: float, play_clock: float) -> None:
        self.machine = Interpreter(rules)
        self.state = self.machine.initial()
        self.seat = rules.roles.index(role)

    def played(self, joint: Sequence[Term]) -> None:
        self.state = self.machine.step(self.state, joint)

    def choose(self, deadline: float, publish: Publish) -> Term:
        return self.machine.legal(self.state)[self.seat][0]

    def end(self) -> None:
        del self.machine


class Endless(PlainMover):
    """A search that never looks at the clock."""

    def choose(self, deadline: float, publish: Publish) -> Term:
        while True:
            time.sleep(0.01)


class Late(PlainMover):
    """A search that has long known its move when it overstays its time."""

    def choose(self, deadline: float, publish: Publish) -> Term:
        publish("stone")
        time.sleep(0.2)
        publish("paper")
        while True:
            time.sleep(0.01)


class SlowReader(PlainMover):
    """Still reads the rules when the start clock is over, and is done soon after."""

    def begin(self, rules: Rules, role: str, deadline: float, play_clock: float) -> None:
        time.sleep(max(0.0, deadline - time.monotonic()) + 0.3)
        super().begin(rules, role, deadline, play_clock)


class SlowStarter(PlainMover):
    """Comes up a second after the process did."""

    def __init__(self) -> None:
        time.sleep(1.0)
        super().__init__()


class EndlessReader(PlainMover):
    """Rules that never end."""

    def begin(self, rules: Rules, role: str, deadline: float, play_clock: float) -> None:
        while True:
            time.sleep(0.01)


class Glutton(PlainMover):
    """Rules that take all the memory there is."""

    def begin(self, rules: Rules, role: str, deadline: float, play_clock: float) -> None:
        hoard = []
        while True:
            hoard.append(bytearray(64 * 2**20))


class Mortal(PlainMover):
    """Takes its process down in the second turn of the first process, and of no other."""

    turns = 0

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed = seed

    def choose(self, deadline: float, publish: Publish) -> Term:
        self.turns += 1
        if self.turns == 2 and self.seed == 0:
            os._exit(9)
        return super().choose(deadline, publish)


class Faulty(PlainMover):
    """A search that raises."""

    def choose(self, deadline: float, publish: Publish) -> Term:
        raise RuntimeError("out of\nideas")


class Counting(PlainMover):
    """Says how many seconds it was given, in place of a move."""

    def choose(self, deadline: float, publish: Publish) -> Term:
        return f"given_{deadline - time.monotonic():.3f}"


def make(text: str, seed: int) -> PlainMover:
    """For the worker: `maker="tests.ggp.fakes:make"`."""
    kinds: dict[str, Callable[[], PlainMover]] = {
        "plain": PlainMover,
        "endless": Endless,
        "late": Late,
        "slow_reader": SlowReader,
        "slow_starter": SlowStarter,
        "endless_reader": EndlessReader,
        "glutton": Glutton,
        "mortal": lambda: Mortal(seed),
        "faulty": Faulty,
        "counting": Counting,
    }
    return kinds[text]()


def worker(text: str, **settings: Any) -> WorkerSettings:
    return WorkerSettings(text, maker="tests.ggp.fakes:make", **settings)


def run(work: Coroutine[Any, Any, None], seconds: float = 240.0) -> None:
    """A test's coroutine, which must end and leave no other task behind."""

    async def watched() -> None:
        async with asyncio.timeout(seconds):
            await work
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        if left:
            _, pending = await asyncio.wait(left, timeout=20.0)
            assert not pending

    asyncio.run(watched())


@asynccontextmanager
async def playing(
    settings: WorkerSettings, log: list[str] | None = None, seconds: float = 5.0, wait: bool = True
) -> Any:
    """A player that listens: (server, port); its worker is up unless nobody waits for it."""
    from palaestra.ggp.http_server import listen

    server = PlayerServer(settings, log=None if log is None else log.append)
    async with server, listen("127.0.0.1", 0, server.answer, seconds) as port:
        if wait:
            await server.up()
        yield server, port


async def raw(port: int, data: bytes) -> bytes:
    """Everything that comes back for some bytes, until the other side closes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(data)
        await writer.drain()
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def post(port: int, message: str) -> str:
    """The body of the answer to a message in HTTP/1.0."""
    head = f"POST / HTTP/1.0\r\nContent-Type: text/acl\r\nContent-Length: {len(message.encode())}\r\n\r\n"
    answer = await raw(port, head.encode() + message.encode())
    return answer.partition(b"\r\n\r\n")[2].decode()


def start(
    match: str, start_clock: float = 60, play_clock: float = 60, role: str = "left", rules: str = ONE_LINE
) -> str:
    return f"(START {match} {role} ({rules}) {start_clock:g} {play_clock:g})"


Behaviour = Callable[[str, asyncio.StreamReader, asyncio.StreamWriter], Coroutine[Any, Any, None]]


@asynccontextmanager
async def stranger(behave: Behaviour) -> Any:
    """A player by hand: its address. `behave` gets the message that was sent."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = dict(line.lower().split(b":", 1) for line in head.split(b"\r\n")[1:] if b":" in line)
            message = await reader.readexactly(int(lines[b"content-length"]))
            await behave(message.decode(), reader, writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield Address("127.0.0.1", server.sockets[0].getsockname()[1])


def answer(text: str, status: str = "200 OK", extra: str = "") -> bytes:
    return f"HTTP/1.0 {status}\r\nContent-Type: text/acl\r\nContent-Length: {len(text)}\r\n{extra}\r\n{text}".encode()


async def polite(message: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A whole player in a line a message: always stone."""
    replies = {"INFO": "((name granite) (status available))", "STAR": "ready", "STOP": "done", "ABOR": "aborted"}
    writer.write(answer(replies.get(message[1:5].upper(), "STONE")))


def manage(players: Sequence[Address], start_clock: float = 60.0, play_clock: float = 60.0, **more: Any) -> Manager:
    """A manager of HANDS."""
    rules = parse_rules(more.pop("rules", HANDS))
    settings = MatchSettings(start_clock, play_clock, more.pop("most_turns", 1000), more.pop("scramble", False))
    return Manager(Interpreter(rules), rules.source, players, settings, "hands", **more)
