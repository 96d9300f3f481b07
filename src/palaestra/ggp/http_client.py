"""One message to a player and its reply, within one deadline for everything: the manager's end of the match protocol.

Connecting, sending and the whole of the reply count together, so that a player which sends a byte a second runs out of
time like a silent one. Replies are cut at a length no move has; redirects, compression and cookies are not followed.
Whatever a player does comes back as a `Reply`, never as an exception. Knows nothing of matches.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import aiohttp

from palaestra.base.errors import ConfigError
from palaestra.ggp.protocol import CONTENT_TYPE, PORT
from palaestra.ggp.record import Code

CONNECT_SECONDS = 5.0
REPLY_BYTES = 65_536


@dataclass(frozen=True)
class Address:
    """Where a player listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Reply:
    """What a player answered, or why there is nothing: TO or CE, with a detail. `seconds` is how long it took."""

    text: str
    seconds: float
    code: Code | None = None
    detail: str = ""


def read_address(text: str) -> Address:
    """From host:port, [IPv6]:port or a host alone, whose port is the usual one."""
    host, colon, port = text.strip().rpartition(":")
    if not colon or port.endswith("]"):
        host, port = text.strip(), str(PORT)
    number = int(port) if port.isascii() and port.isdigit() and len(port) < 6 else 0
    bracketed = host.startswith("[") and host.endswith("]")
    host = host[1:-1] if bracketed else host
    if not host or (":" in host and not bracketed) or any(c in host for c in " /@?#[]\\") or not 0 < number < 2**16:
        raise ConfigError(f"{text!r} is not the address of a player; write host:port, for example 127.0.0.1:{PORT}")
    return Address(host, number)


class Client:
    """Sends messages; a context, because it holds sockets. Every message has a connection of its own."""

    async def __aenter__(self) -> Client:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(force_close=True, limit=0),
            version=aiohttp.HttpVersion10,  # what every player understands
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=("Accept-Encoding", "User-Agent"),
        )
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._session.close()

    async def ask(self, address: Address, message: str, seconds: float, receiver: str = "player") -> Reply:
        """The reply to a message if it is complete `seconds` from now."""
        began = time.monotonic()

        def reply(text: str = "", code: Code | None = None, detail: str = "") -> Reply:
            return Reply(text, time.monotonic() - began, code, detail)

        headers = {
            "Accept": "text/delim",
            "Sender": "GAMESERVER",
            "Receiver": receiver,
            "Content-Type": CONTENT_TYPE,
        }
        limit = aiohttp.ClientTimeout(total=None, sock_connect=min(CONNECT_SECONDS, seconds))
        try:
            async with asyncio.timeout(seconds):
                async with self._session.post(
                    f"http://{address}/", data=message.encode(), headers=headers, timeout=limit, allow_redirects=False
                ) as response:
                    body = bytearray()
                    async for chunk in response.content.iter_any():
                        body += chunk
                        if len(body) > REPLY_BYTES:
                            response.close()
                            return reply(code="CE", detail=f"a reply of more than {REPLY_BYTES:,} bytes")
            if response.status != 200:
                return reply(code="CE", detail=f"HTTP status {response.status}")
            return reply(body.decode("utf-8", "replace").strip())
        except aiohttp.ConnectionTimeoutError:
            return reply(code="CE", detail="no connection in time")
        except TimeoutError:
            return reply(code="TO", detail=f"no reply within {seconds:g} s")
        except Exception as error:  # nothing that a player sends may end a match
            return reply(code="CE", detail=" ".join(f"{type(error).__name__}: {error}".split())[:200])
