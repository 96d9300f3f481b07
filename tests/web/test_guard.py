"""Who may talk to the page: foreign names and pages get 403 on every method and on the web socket."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, ClassVar

import pytest

from palaestra.web.guard import COOKIE, MOST_BODY, Guard, Message, Receive, Scope, Send

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "NONSENSE")
FOREIGN_HOSTS = (
    "", "evil.example", "evil.example:8800", "127.0.0.1.evil.example:8800", "localhost:1", "127.0.0.1:8801",
    "127.0.0.2:8800", "user@127.0.0.1:8800", "127.0.0.1:8800@evil.example", "127.0.0.1:8800, evil.example",
    "127.0.0.1:88000", "[::1", "[::2]:8800", "127.0.0.1:8800/", "127.0.0.1:8800#", "LOCALHOST.evil:8800", "127.1:8800",
    "0.0.0.0:8800", "2130706433:8800", "127.0.0.1:-1", "127.0.0.1:x",
)  # fmt: skip
FOREIGN_ORIGINS = (
    "null", "http://evil.example", "http://127.0.0.1", "http://127.0.0.1:8801", "http://localhost:8800", "file://", "",
    "http://127.0.0.1:8800.evil.example", "http://127.0.0.1:8800, http://evil.example", "http://127.0.0.1:8800/",
    "ws://127.0.0.1:8800",
)  # fmt: skip


async def _app(scope: Scope, receive: Receive, send: Send) -> None:
    """Reads a whole body and answers its length; takes every web socket."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        return
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


def _ask(
    headers: Iterable[tuple[str, str]],
    *,
    method: str = "GET",
    kind: str = "http",
    path: str = "/",
    query: str = "",
    body: Iterable[bytes] = (b"",),
    **guard: Any,
) -> tuple[int, dict[str, str], str]:
    """Status (101 for an opened web socket, 403 for a refused one), headers and text of the answer."""
    parts = list(body)
    said: list[Message] = []

    async def receive() -> Message:
        if kind == "websocket":
            return {"type": "websocket.connect"}
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def send(message: Message) -> None:
        said.append(message)

    scope = {
        "type": kind,
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
    }
    asyncio.run(Guard(_app, 8800, **guard)(scope, receive, send))
    first = said[0]
    if kind == "websocket":
        return (101 if first["type"] == "websocket.accept" else 403), {}, first.get("reason", "")
    found = {name.decode(): value.decode() for name, value in first["headers"]}
    return int(first["status"]), found, said[1]["body"].decode()


@pytest.mark.parametrize("host", ["127.0.0.1:8800", "localhost:8800", "[::1]:8800", "127.0.0.1"])
def test_its_own_names_pass(host: str) -> None:
    assert _ask([("Host", host)])[0] == 200
    assert _ask([("Host", host), ("Origin", f"http://{host}")], method="POST")[0] == 200
    assert _ask([("Host", host), ("Origin", f"http://{host}")], kind="websocket")[0] == 101


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_a_foreign_name_is_refused_on_every_method_and_on_the_socket(host: str) -> None:
    assert {_ask([("Host", host)], method=method)[0] for method in METHODS} == {403}
    assert _ask([("Host", host)], kind="websocket")[0] == 403


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_a_foreign_page_is_refused_on_every_method_and_on_the_socket(origin: str) -> None:
    headers = [("Host", "127.0.0.1:8800"), ("Origin", origin)]
    assert {_ask(headers, method=method)[0] for method in METHODS} == {403}
    assert _ask(headers, kind="websocket")[0] == 403


def test_no_host_and_two_hosts_are_refused() -> None:
    assert _ask([])[0] == 403
    assert _ask([("Host", "127.0.0.1:8800"), ("Host", "127.0.0.1:8800")])[0] == 403


def test_no_other_page_may_show_this_one_in_a_frame() -> None:
    _, headers, _ = _ask([("Host", "127.0.0.1:8800")])
    assert headers["x-frame-options"] == "DENY" and "frame-ancestors 'none'" in headers["content-security-policy"]


def test_a_body_is_refused_before_it_comes_where_its_length_is_announced() -> None:
    headers = [("Host", "127.0.0.1:8800"), ("Content-Length", str(100 * 2**20))]
    assert _ask(headers, method="POST")[0] == 413
    assert _ask([("Host", "127.0.0.1:8800"), ("Content-Length", "-1")], method="POST")[0] == 413


def test_a_body_that_announces_nothing_is_counted() -> None:
    whole = [b"x" * (MOST_BODY // 2)] * 2
    assert _ask([("Host", "127.0.0.1:8800")], method="POST", body=whole)[2] == str(MOST_BODY)
    assert _ask([("Host", "127.0.0.1:8800")], method="POST", body=[*whole, b"y"])[0] == 413


class TestToken:
    """Beyond the own machine, who does not know the token sees nothing."""

    GUARD: ClassVar[dict[str, Any]] = {"names": ("127.0.0.1", "tower"), "token": "secret", "any_address": True}
    HOST = ("Host", "192.0.2.7:8800")

    def test_nobody_passes_without_it(self) -> None:
        for cookie in ("", f"{COOKIE}=wrong", f"{COOKIE}=", "nonsense;;;=", f"{COOKIE}=sécret"):
            assert _ask([self.HOST, ("Cookie", cookie)], **self.GUARD)[0] == 403
            assert _ask([self.HOST, ("Cookie", cookie)], kind="websocket", **self.GUARD)[0] == 403
        assert _ask([self.HOST], query="token=wrong", **self.GUARD)[0] == 403
        assert _ask([self.HOST], query="token=secret", kind="websocket", **self.GUARD)[0] == 403
        assert _ask([self.HOST], query="token=secret", method="POST", **self.GUARD)[0] == 403

    def test_the_printed_address_leaves_a_cookie_and_hides_the_token(self) -> None:
        status, headers, _ = _ask([self.HOST], path="/play", query="token=secret", **self.GUARD)
        assert (status, headers["location"]) == (303, "/play")
        assert "HttpOnly" in headers["set-cookie"] and "SameSite=Strict" in headers["set-cookie"]

    def test_no_path_leads_to_another_server(self) -> None:
        _, headers, _ = _ask([self.HOST], path="//evil.example/x", query="token=secret", **self.GUARD)
        assert headers["location"] == "/evil.example/x"

    def test_with_the_cookie_everything_passes(self) -> None:
        headers = [self.HOST, ("Cookie", f"{COOKIE}=secret")]
        assert _ask(headers, **self.GUARD)[0] == 200
        assert _ask(headers, kind="websocket", **self.GUARD)[0] == 101

    def test_a_name_that_nobody_gave_is_refused_even_with_it(self) -> None:
        assert _ask([("Host", "evil.example:8800"), ("Cookie", f"{COOKIE}=secret")], **self.GUARD)[0] == 403
