"""One message a connection over HTTP, whatever the client does: the listening end of the match protocol.

A message comes as the body of a POST or, URL-encoded, as the path of a GET, in HTTP/1.0 or 1.1. The time for it is
counted from the moment the connection is there, so that neither silence nor a byte a second holds anything for long; a
body that is announced too large is refused before it is read. Knows what a message is, not what it says.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_plus

from aiohttp import web

from palaestra.errors import ConfigError, PalaestraError
from palaestra.ggp.clock import round_trip
from palaestra.ggp.protocol import CONTENT_TYPE, MESSAGE_BYTES

MESSAGE_SECONDS = 5.0  # from the connection to the last byte of the message, and again for taking the answer
CONNECTIONS = 128  # open at once; one more ends the oldest of those whose message is not complete


@dataclass(frozen=True)
class Arrival:
    """When the connection of a message was there (time.monotonic), and how far away its other end is, in seconds."""

    opened: float
    round_trip: float


Answer = Callable[[str, Arrival], Awaitable[str]]


class _Server(web.Server):
    """aiohttp's low-level server that also knows since when each connection is there, and ends those that dally."""

    def __init__(self, handler: Any, seconds: float, **settings: Any) -> None:
        super().__init__(handler, **settings)
        self.seconds = seconds
        self.opened: dict[web.RequestHandler, float] = {}
        self.alarms: dict[web.RequestHandler, asyncio.TimerHandle] = {}  # oldest first

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        if len(self.opened) >= CONNECTIONS and self.alarms:
            self._end(next(iter(self.alarms)))
        self.opened[handler] = self._loop.time()
        self.expect(handler)

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        self.relax(handler)
        self.opened.pop(handler, None)
        super().connection_lost(handler, exc)

    def expect(self, handler: web.RequestHandler) -> None:
        """The client has its seconds for what comes next."""
        self.relax(handler)
        self.alarms[handler] = self._loop.call_later(self.seconds, self._end, handler)

    def relax(self, handler: web.RequestHandler) -> None:
        """The next step is ours."""
        if alarm := self.alarms.pop(handler, None):
            alarm.cancel()

    def _end(self, handler: web.RequestHandler) -> None:
        self.relax(handler)
        if handler.transport is not None:
            handler.transport.abort()


@asynccontextmanager
async def listen(host: str, port: int, answer: Answer, seconds: float = MESSAGE_SECONDS) -> AsyncIterator[int]:
    """Answer messages at this address for as long as the context lasts; gives the port, a free one for port 0."""

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        return await _reply(server, request, answer)

    loop = asyncio.get_running_loop()
    server = _Server(
        handle,
        seconds,
        access_log=None,
        logger=_silent_logger(),
        lingering_time=0.0,  # nobody waits for the rest of what was refused
        auto_decompress=False,  # nobody unpacks what was sent
        max_line_size=3 * MESSAGE_BYTES,  # of a GET, whose every character may take three
    )
    try:
        listening = await loop.create_server(server, host, port)
    except (OSError, OverflowError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise ConfigError(f"cannot listen on {host}, port {port}: {reason}; try --port 0 for any free one") from None
    try:
        yield int(listening.sockets[0].getsockname()[1])
    finally:
        listening.close()
        await server.shutdown(timeout=1.0)


async def _reply(server: _Server, request: web.BaseRequest, answer: Answer) -> web.Response:
    """The answer to one request, after which the connection is closed; complaints have a status of 400 and more."""
    protocol = request.protocol
    transport = request.transport
    arrival = Arrival(server.opened.get(protocol, server._loop.time()), round_trip(_socket(transport)))
    status = 200
    try:
        message = await _message(request)
        server.relax(protocol)
        text = await answer(message, arrival)
    except web.HTTPException as refusal:
        status, text = refusal.status, refusal.reason
    except PalaestraError as error:
        status, text = 400, str(error)
    if protocol in server.opened:
        server.expect(protocol)  # the answer must be taken, too
    response = web.Response(status=status, text=text, content_type=CONTENT_TYPE)
    response.force_close()
    return response


async def _message(request: web.BaseRequest) -> str:
    """The text that a request carries."""
    if request.method == "GET":
        return unquote_plus(request.raw_path.partition("/")[2], errors="replace")
    if request.method != "POST":
        raise web.HTTPMethodNotAllowed(request.method, ("GET", "POST"))
    if (request.content_length or 0) > MESSAGE_BYTES:
        raise web.HTTPRequestEntityTooLarge(MESSAGE_BYTES, request.content_length or 0)
    if request.headers.get("Expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # what aiohttp counts is the answer
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > MESSAGE_BYTES:
            raise web.HTTPRequestEntityTooLarge(MESSAGE_BYTES, len(body))
    return body.decode("utf-8", "replace")


def _silent_logger() -> logging.Logger:
    """Clients that break HTTP or hang up are everyday here, and worth no traceback."""
    logger = logging.Logger("palaestra.ggp.http")
    logger.addHandler(logging.NullHandler())
    return logger


def _socket(transport: asyncio.Transport | None) -> socket.socket | None:
    return None if transport is None else transport.get_extra_info("socket")
