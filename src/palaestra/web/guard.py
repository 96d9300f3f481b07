"""Who may talk to the page: the one door that every request and every web socket goes through.

A web page that the user looks at elsewhere can make the browser send requests here. So the names by which this server
is reached are known (against a foreign name that leads here), a request that comes from a page says which page that
is, and it has to be this one. Beyond the own machine, a secret token is needed, too. Bodies are counted. Knows nothing
of what is served.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY = 8 * 2**20  # bytes of an upload
LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "palaestra-token"
HEADERS = {
    "x-frame-options": "DENY",  # no other page may show this one under its own buttons
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "frame-ancestors 'none'; object-src 'none'; base-uri 'self'; connect-src 'self'; "
    "font-src 'self' data:; img-src 'self' data: blob:; default-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:",
}


class _TooLarge(Exception):
    """A body longer than any that is taken."""


@dataclass(frozen=True)
class Guard:
    """An ASGI application around another: lets through what may pass, and answers the rest."""

    app: App
    port: int
    names: tuple[str, ...] = LOOPBACK  # of this server, without port
    token: str | None = None  # needed by everybody where one is set
    any_address: bool = False  # whether an IP address is a name of this server: of no use to a foreign name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = _headers(scope)
        if (problem := self._problem(headers)) is not None:
            await _refuse(scope, receive, send, HTTPStatus.FORBIDDEN, problem)
        elif self.token is not None and not self._has_token(headers):
            await self._ask_for_token(scope, receive, send)
        elif scope["type"] == "websocket":
            await self.app(scope, receive, send)
        else:
            await self._serve(scope, headers, receive, send)

    # Who asks.

    def _problem(self, headers: Mapping[str, str]) -> str | None:
        """Why a request is none of this page's own; None if it is."""
        host = headers.get("host", "")
        if not self._is_ours(host):
            return "this name is not one of this server"
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return "the request comes from another page"
        return None

    def _is_ours(self, host: str) -> bool:
        try:
            found = urlsplit(f"//{host}")
            name, port = found.hostname or "", found.port
        except ValueError:
            return False
        if found.netloc != host or found.username is not None or port not in (self.port, None):
            return False
        return name in self.names or (self.any_address and _is_address(name))

    # The token.

    def _has_token(self, headers: Mapping[str, str]) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and self._fits(cookie.value)

    def _fits(self, given: str) -> bool:
        assert self.token is not None
        return hmac.compare_digest(given.encode(), self.token.encode())

    async def _ask_for_token(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The address that was printed has the token; it is kept as a cookie, and the address is shown without it."""
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"), max_num_fields=20)
        given = query.get("token", [""])[0]
        if scope["type"] == "http" and scope["method"] == "GET" and self._fits(given):
            cookie = f"{COOKIE}={self.token}; HttpOnly; SameSite=Strict; Path=/"
            place = quote(scope["path"].encode(), safe="/")
            moved = [(b"location", f"/{place.lstrip('/')}".encode()), (b"set-cookie", cookie.encode())]
            await send({"type": "http.response.start", "status": HTTPStatus.SEE_OTHER, "headers": moved})
            await send({"type": "http.response.body", "body": b""})
            return
        words = "open the address that palaestra serve printed: it holds the token that this server asks for"
        await _refuse(scope, receive, send, HTTPStatus.FORBIDDEN, words)

    # Requests that may pass.

    async def _serve(self, scope: Scope, headers: Mapping[str, str], receive: Receive, send: Send) -> None:
        announced = headers.get("content-length", "0")
        if not announced.isdigit() or int(announced[:20]) > MOST_BODY:
            await _refuse(scope, receive, send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE)
            return
        taken, begun = 0, False

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > MOST_BODY:
                raise _TooLarge
            return message

        async def with_headers(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", ()), *more]
            await send(message)

        try:
            await self.app(scope, counted, with_headers)
        except _TooLarge:
            if not begun:
                await _refuse(scope, receive, send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE)


_TOO_LARGE = f"a file may have {MOST_BODY // 2**20} MB at most"


def _headers(scope: Scope) -> dict[str, str]:
    """Headers by name; one that is given twice is both of them, which no check accepts."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        found[key] = f"{found[key]}, {value.decode('latin-1')}" if key in found else value.decode("latin-1")
    return found


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


async def _refuse(scope: Scope, receive: Receive, send: Send, status: HTTPStatus, words: str) -> None:
    """Answer with a status and a line; a web socket is closed before it is opened, which is a 403."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": words})
        return
    head = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": int(status), "headers": head})
    await send({"type": "http.response.body", "body": f"{status.phrase}: {words}\n".encode()})
