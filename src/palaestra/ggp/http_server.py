"""One message a connection over HTTP, whatever the client does: the listening end of the match protocol.

A message comes as the body of a POST or, URL-encoded, as the path of a GET, in HTTP/1.0 or 1.1. Whatever a stranger
sends costs little: a head is cut off at a few kilobytes before anything in it is read, a body has its length announced
(nothing comes in chunks), one that is too long is refused before it comes, and what follows a message is not read. The
time for a message is counted from the moment the connection is there, so that neither silence nor a byte a second
holds anything for long. Knows what a message is, not what it says.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import unquote_to_bytes

from palaestra.base.errors import ConfigError, PalaestraError
from palaestra.ggp.clock import round_trip
from palaestra.ggp.protocol import CONTENT_TYPE, MESSAGE_BYTES

MESSAGE_SECONDS = 5.0  # from the connection to the last byte of the message, and again for taking the answer
CONNECTIONS = 400  # open at once at most; one more ends the oldest of those whose message is not complete
ACCEPTED = 16  # connections at a time, so that those who are there already get their turn in between
WAITING = 1024  # connections that the system holds until then
LINE_BYTES, HEAD_BYTES = 8_192, 16_384  # of the request line, and of everything before the body
SMALL_BYTES = 1_024  # a message that is answered before all larger ones
READ_BYTES = 65_536  # at a time
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_REQUEST = re.compile(rb"([A-Z]{1,16}) +([^\s\x00-\x1f\x7f]+) +HTTP/1\.[0-9]", re.IGNORECASE)


@dataclass(frozen=True)
class Arrival:
    """When the connection of a message was there (time.monotonic), and how far away its other end is, in seconds."""

    opened: float
    round_trip: float


Answer = Callable[[str, Arrival], Awaitable[str]]


class Refused(Exception):
    """A request that is not answered by whoever plays: a status, and perhaps more than its usual words."""

    def __init__(self, status: HTTPStatus, reason: str = "") -> None:
        super().__init__(reason or status.phrase)
        self.status = status


class _Connection(asyncio.Protocol):
    """One request and its answer."""

    transport: asyncio.Transport

    def __init__(self, house: _House) -> None:
        self.house = house
        self.data = bytearray()
        self.searched = 0  # bytes in which the end of the head is not
        self.request: tuple[bytes, bytes] | None = None  # method and path, once the head is there: `data` is the body
        self.length = 0  # of the body
        self.is_whole = False  # nothing more is read
        self.task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if hasattr(transport, "max_size"):
            transport.max_size = READ_BYTES
        self.opened = self.house.loop.time()
        self.house.enter(self)

    def connection_lost(self, exc: BaseException | None) -> None:
        self.house.leave(self)

    def eof_received(self) -> bool:
        return self.is_whole  # who hung up half-way through a message gets no answer

    def data_received(self, data: bytes) -> None:
        if self.is_whole or self.transport.is_closing():
            return
        self.data += data
        try:
            if self.request is None:
                self.request = self._read_head()
        except Refused as refusal:
            self._answer(refusal.status, str(refusal))
            return
        if self.request is not None and len(self.data) >= self.length:
            self.is_whole = True
            self.transport.pause_reading()
            self.house.relax(self)
            self.house.queue(self, max(self.length, len(self.request[1])))

    def begin(self) -> None:
        """Decode the message and have it answered."""
        if not self.transport.is_closing():
            self.task = self.house.loop.create_task(self._reply(self._message()))

    def _message(self) -> str:
        assert self.request is not None
        method, path = self.request
        if method == b"GET":
            return unquote_to_bytes(path.partition(b"/")[2].replace(b"+", b" ")).decode("utf-8", "replace")
        return self.data[: self.length].decode("utf-8", "replace")

    def _read_head(self) -> tuple[bytes, bytes] | None:
        """Method and path if the head is whole, which is then taken from the data."""
        line = self.data.find(b"\n", 0, LINE_BYTES)
        if line < 0 and len(self.data) >= LINE_BYTES:
            raise Refused(HTTPStatus.REQUEST_URI_TOO_LONG)
        found = _END_OF_HEAD.search(self.data, self.searched, HEAD_BYTES)
        if found is None:
            if len(self.data) >= HEAD_BYTES:
                raise Refused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            self.searched = max(0, len(self.data) - 3)
            return None
        first, _, rest = bytes(self.data[: found.start()]).partition(b"\n")
        del self.data[: found.end()]
        request = _REQUEST.fullmatch(first.strip())
        if request is None:
            raise Refused(HTTPStatus.BAD_REQUEST, "this is no HTTP/1.0 or 1.1")
        method, fields = request[1].upper(), _fields(rest)
        if method == b"POST":
            self._expect_body(fields)
        elif method != b"GET":
            raise Refused(HTTPStatus.METHOD_NOT_ALLOWED)
        return method, request[2]

    def _expect_body(self, fields: dict[bytes, bytes]) -> None:
        """Its length; who waits to be asked for it is asked."""
        length = fields.get(b"content-length")
        if length is None:
            raise Refused(HTTPStatus.LENGTH_REQUIRED)
        if not length.isdigit() or b"transfer-encoding" in fields:
            raise Refused(HTTPStatus.BAD_REQUEST, "Content-Length is a number of bytes, and nothing comes in chunks")
        if len(length) > 12 or int(length) > MESSAGE_BYTES:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        self.length = int(length)
        if fields.get(b"expect", b"").lower() == b"100-continue":
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    async def _reply(self, message: str) -> None:
        where = self.transport.get_extra_info("socket")
        try:
            text = await self.house.answer(message, Arrival(self.opened, round_trip(where)))
        except PalaestraError as error:
            self._answer(HTTPStatus.BAD_REQUEST, str(error))
        else:
            self._answer(HTTPStatus.OK, text)

    def _answer(self, status: HTTPStatus, text: str) -> None:
        """Say it and close; the client has its seconds to take it."""
        if self.transport.is_closing():
            return
        body = text.encode("utf-8", "replace")
        head = f"HTTP/1.0 {status.value} {status.phrase}\r\nContent-Type: {CONTENT_TYPE}; charset=utf-8\r\n"
        self.transport.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
        self.house.expect(self)
        self.transport.close()


def _fields(lines: bytes) -> dict[bytes, bytes]:
    fields = [line.partition(b":") for line in lines.splitlines() if line.strip()]
    if not all(colon for _, colon, _ in fields):
        raise Refused(HTTPStatus.BAD_REQUEST, "a line of the head has no colon")
    return {name.strip().lower(): value.strip() for name, _, value in fields}


class _House:
    """All connections: since when each is there, and when those that dally are ended."""

    def __init__(self, answer: Answer, seconds: float) -> None:
        self.loop = asyncio.get_running_loop()
        self.answer, self.seconds, self.room = answer, seconds, min(CONNECTIONS, _files_allowed() // 2)
        self.inside: set[_Connection] = set()
        self.alarms: dict[_Connection, asyncio.TimerHandle] = {}  # oldest first
        self.large: deque[_Connection] = deque()  # whole messages that wait for their turn

    def enter(self, connection: _Connection) -> None:
        if len(self.inside) >= self.room and self.alarms:
            self._end(next(iter(self.alarms)))
        self.inside.add(connection)
        self.expect(connection)

    def leave(self, connection: _Connection) -> None:
        self.relax(connection)
        self.inside.discard(connection)

    def expect(self, connection: _Connection) -> None:
        """The client has its seconds for what comes next."""
        self.relax(connection)
        self.alarms[connection] = self.loop.call_later(self.seconds, self._end, connection)

    def relax(self, connection: _Connection) -> None:
        """The next step is ours."""
        if alarm := self.alarms.pop(connection, None):
            alarm.cancel()

    def _end(self, connection: _Connection) -> None:
        self.relax(connection)
        connection.transport.abort()

    def queue(self, connection: _Connection, size: int) -> None:
        """Small messages are answered at once; of large ones one a turn of the loop, so that no number of them makes
        the small ones wait."""
        if size <= SMALL_BYTES:
            connection.begin()
            return
        self.large.append(connection)
        if len(self.large) == 1:
            self.loop.call_soon(self._next)

    def _next(self) -> None:
        self.large[0].begin()
        self.large.popleft()
        if self.large:
            self.loop.call_soon(self._next)

    async def close(self) -> None:
        """End everything that goes on."""
        tasks = [connection.task for connection in self.inside if connection.task is not None]
        for connection in tuple(self.inside):
            self._end(connection)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _files_allowed() -> int:
    """How many files and connections this process may have open."""
    try:
        import resource
    except ImportError:  # a system that does not say
        return 2 * CONNECTIONS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2 * CONNECTIONS if soft == resource.RLIM_INFINITY else soft


@asynccontextmanager
async def listen(host: str, port: int, answer: Answer, seconds: float = MESSAGE_SECONDS) -> AsyncIterator[int]:
    """Answer messages at this address for as long as the context lasts; gives the port, a free one for port 0."""
    loop = asyncio.get_running_loop()
    house = _House(answer, seconds)
    try:
        listening = await loop.create_server(lambda: _Connection(house), host, port, backlog=ACCEPTED)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise ConfigError(f"cannot listen on {host}, port {port}: {reason}; try --port 0 for any free one") from None
    for bound in listening.sockets:
        with bound.dup() as same:
            same.listen(WAITING)
    try:
        yield int(listening.sockets[0].getsockname()[1])
    finally:
        listening.close()
        await house.close()
