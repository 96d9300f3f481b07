"""Many people at the page at once: python -m benchmarks.page_clients

Each client does what a browser does, without drawing: it loads the page, connects the web socket, clicks a move, keeps
what the server sends, and waits until a person can move again or the game is over. Then it clicks at once: a person
would look at the board first, so this is more than as many people ask for. Clients and server share the cores.
"""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import time
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

import aiohttp
import socketio
import typer

from benchmarks.page import address, megabytes, print_lines, served

_ELEMENTS = re.compile(r"parseElements\(String\.raw`(.*?)`\)", re.DOTALL)
_QUERY = re.compile(r"query: \{(.*?)\}")
_ENTITIES = {"&#36;": "$", "&#96;": "`", "&gt;": ">", "&lt;": "<", "&amp;": "&"}  # as nicegui.js reads them back
_MOVES = re.compile(r'class="pb-move[^>]*data-target="(\d+)"')
_VERSION = re.compile(r'data-version="(\d+)"')
_OVER = re.compile(r"win|draw|lose")
LONGEST = 120.0  # seconds that an answer may take


class Client:
    """A person at the page, without eyes: `elements` is what the browser would show."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.session = session
        self.socket = socketio.AsyncClient(http_session=session, reconnection=False)
        self.elements: dict[str, Any] = {}
        self.news = asyncio.Event()
        self.next_message = 0
        self.lost = ""  # why the connection is gone

    async def open(self, server: str) -> None:
        """Load the page, and connect its web socket."""
        # The web socket has a connection of its own, as in browsers.
        async with self.session.get(server + address(), headers={"Connection": "close"}) as response:
            text = await response.text()
        elements, query = _ELEMENTS.search(text), _QUERY.search(text)
        assert elements is not None and query is not None
        body = elements[1]
        for entity, letter in _ENTITIES.items():
            body = body.replace(entity, letter)
        self.elements = json.loads(body)
        given = dict(re.findall(r"'(\w+)': '?([\w-]+)'?", query[1]))
        self.client_id = given["client_id"]
        given |= {"tab_id": str(uuid.uuid4()), "document_id": str(uuid.uuid4()), "implicit_handshake": "true"}
        self.socket.on("update", self._update)
        self.socket.on("*", self._hear)
        words = "&".join(f"{key}={value}" for key, value in given.items())
        self.socket.on("disconnect", self._lose)
        await self.socket.connect(
            f"{server}?{words}", transports=["websocket"], socketio_path="/_nicegui_ws/socket.io", wait_timeout=LONGEST
        )
        self._acknowledging = asyncio.create_task(self._acknowledge())
        await self._until(lambda: bool(self.moves()))

    async def close(self) -> None:
        self._acknowledging.cancel()
        await self.socket.disconnect()

    # What comes.

    def _lose(self, reason: str) -> None:
        self.lost = reason
        self.news.set()

    def _update(self, message: dict[str, Any]) -> None:
        self._count(message)
        for name, element in message.items():
            if element is None:
                self.elements.pop(name, None)
            else:
                self.elements[name] = element
        self.news.set()

    async def _hear(self, event: str, message: dict[str, Any]) -> None:
        self._count(message)
        if event == "run_javascript" and message.get("request_id"):
            answer = {"request_id": message["request_id"], "client_id": self.client_id, "result": False}
            await self.socket.emit("javascript_response", answer)

    def _count(self, message: dict[str, Any]) -> None:
        self.next_message = message.pop("_id", -1) + 1

    async def _acknowledge(self) -> None:
        """As browsers do, so that the server need not keep what has arrived."""
        while not self.lost:
            await asyncio.sleep(3)
            await self.socket.emit("ack", {"client_id": self.client_id, "next_message_id": self.next_message})

    # What is seen.

    def _find(self, fits: Callable[[dict[str, Any]], bool]) -> tuple[str, dict[str, Any]]:
        """The first element that fits, and its name."""
        return next(((name, one) for name, one in self.elements.items() if fits(one)), ("", {}))

    def _of_class(self, name: str) -> tuple[str, dict[str, Any]]:
        return self._find(lambda one: name in one.get("class", ()))

    def _targets(self) -> str:
        return str(self._of_class("pb-layer")[1].get("props", {}).get("innerHTML", ""))

    def moves(self) -> list[int]:
        """Targets that can be clicked."""
        return [int(number) for number in _MOVES.findall(self._targets())]

    def version(self) -> int:
        found = _VERSION.search(self._targets())
        return int(found[1]) if found else -1

    def _is_answered(self, version: int) -> bool:
        return self.version() > version and (bool(self.moves()) or self.is_over())

    def is_over(self) -> bool:
        children = self._of_class("pl-status")[1].get("children", [])
        return any(_OVER.search(self.elements.get(str(child), {}).get("text") or "") for child in children)

    async def _until(self, reached: Callable[[], bool]) -> None:
        async with asyncio.timeout(LONGEST):
            while not reached():
                if self.lost:
                    raise ConnectionError(f"the connection is lost: {self.lost}")
                self.news.clear()
                await self.news.wait()

    # What is done.

    async def _click(self, name: str, element: dict[str, Any], argument: dict[str, int]) -> None:
        (listener,) = (one["listener_id"] for one in element["events"] if one["type"] == "click")
        told = {"id": int(name), "client_id": self.client_id, "listener_id": listener, "args": [json.dumps(argument)]}
        await self.socket.emit("event", told)

    async def play_game(self, chosen: int) -> list[float]:
        """Milliseconds from each click to the answer, until the game is over."""
        answers: list[float] = []
        while moves := self.moves():
            version, began = self.version(), time.perf_counter()
            target = moves[(chosen + 3 * len(answers)) % len(moves)]
            await self._click(*self._of_class("pb-layer"), {"version": version, "target": target})
            await self._until(lambda: self._is_answered(version))  # noqa: B023  # waited for in this round
            answers.append(1000 * (time.perf_counter() - began))
        return answers

    async def begin_again(self) -> None:
        await self._click(*self._find(lambda one: one.get("props", {}).get("aria-label") == "New game"), {})
        await self._until(lambda: bool(self.moves()))


async def measure(server: str, process: int, clients: int, games: int, fresh: bool) -> AsyncIterator[str]:
    """The figures, a line each; memory while games are played."""
    answers: list[float] = []
    left = iter(range(games))
    told: asyncio.Queue[str] = asyncio.Queue()

    async def play_on(session: aiohttp.ClientSession) -> None:
        one = Client(session)
        await one.open(server)
        for number in left:
            answers.extend(await one.play_game(number))
            if fresh:
                await one.close()
                one = Client(session)
                await one.open(server)
            else:
                await one.begin_again()
            if number % max(games // 10, 1) == 0:
                told.put_nowait(f"memory of the server {megabytes(process):.0f} MB after {number} games")
        await one.close()

    began = time.perf_counter()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        playing = asyncio.gather(*(play_on(session) for _ in range(clients)))
        playing.add_done_callback(lambda _: told.put_nowait(""))
        while line := await told.get():
            yield line
        await playing
    rate = len(answers) / (time.perf_counter() - began)
    answers.sort()
    yield (
        f"{clients} clients at once: median {statistics.median(answers):.0f} ms, 95 % below"
        f" {answers[int(0.95 * len(answers))]:.0f} ms, worst {answers[-1]:.0f} ms;"
        f" {len(answers)} moves of {games} games, {rate:.0f} answers a second"
    )


def main(
    port: Annotated[int, typer.Option(help="Of the server.")] = 8898,
    clients: Annotated[int, typer.Option(help="That play at once.")] = 20,
    games: Annotated[int, typer.Option(help="Of all of them together.")] = 1000,
    fresh: Annotated[bool, typer.Option("--fresh", help="Every game in a new tab; the old one is closed.")] = False,
) -> None:
    """Answers and memory of the page while many people play."""
    with served(port) as process:
        asyncio.run(print_lines(measure(f"http://127.0.0.1:{port}", process.pid, clients, games, fresh)))


if __name__ == "__main__":
    typer.run(main)
