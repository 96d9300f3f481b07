"""The page under attack: foreign pages, odd paths, large and deep bodies, silent sockets; honest browsers play on."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from palaestra.base.errors import PalaestraError
from palaestra.games.registry import make_game
from palaestra.web.allowed import Allowed
from tests.web.conftest import Server, read
from tests.web.playing import click_move, moves, open_play

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD")
PATHS = ("/", "/play", "/watch", "/compare", "/solve", "/laboratory", "/_nicegui_ws/socket.io/?EIO=4&transport=polling")
TRAVERSALS = [
    f"{front}{dots * depth}{file}"
    for front in ("/", "/watch/", "/_nicegui/", "/play?game=", "/watch?runs=")
    for dots in ("../", "..%2f", "%2e%2e/", "..\\", "....//")
    for depth in (1, 3, 8)
    for file in ("etc/passwd", "secret.txt", "%00")
]


def _status(server: Server, method: str, path: str, headers: dict[str, str], body: bytes | None = None) -> int:
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        line.request(method, path, body, headers)
        return line.getresponse().status
    finally:
        line.close()


@pytest.fixture
def secret(server: Server) -> Iterator[str]:
    """A file beside the runs folder that nobody may read."""
    (server.folder / "secret.txt").write_text("the secret of the house")
    yield "the secret of the house"


def test_a_foreign_name_or_page_gets_403_on_every_method_and_path(server: Server) -> None:
    host = f"127.0.0.1:{server.port}"
    for path in PATHS:
        for method in METHODS:
            assert _status(server, method, path, {"Host": "evil.example"}) == 403
            assert _status(server, method, path, {"Host": host, "Origin": "http://evil.example"}) == 403


def test_a_foreign_page_cannot_open_the_web_socket(server: Server) -> None:
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    path, host = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket", f"127.0.0.1:{server.port}"
    assert _status(server, "GET", path, {**upgrade, "Host": host, "Origin": "http://evil.example"}) == 403
    assert _status(server, "GET", path, {**upgrade, "Host": "evil.example:80"}) == 403
    assert _status(server, "GET", path, {**upgrade, "Host": host, "Origin": f"http://{host}"}) == 101


def test_no_path_leads_out_of_the_runs_folder(server: Server, secret: str) -> None:
    assert len(TRAVERSALS) > 200
    for path in TRAVERSALS:
        line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        line.putrequest("GET", path, skip_host=True)  # as it is: a client would tidy it
        line.putheader("Host", f"127.0.0.1:{server.port}")
        line.endheaders()
        answer = line.getresponse()
        text = answer.read().decode(errors="replace")
        line.close()
        assert answer.status < 500 or (answer.status == 500 and "Traceback" not in text), path
        assert secret not in text and "root:x:" not in text, path


def test_large_and_deep_bodies_are_refused_and_the_page_lives(server: Server) -> None:
    host = {"Host": f"127.0.0.1:{server.port}"}
    for path in ("/", "/play", "/_nicegui/client/x/upload/1"):
        assert _status(server, "POST", path, {**host, "Content-Length": str(100 * 2**20)}) == 413
    deep = ("[" * 100_000 + "]" * 100_000).encode()
    assert 400 <= _status(server, "POST", "/_nicegui_ws/socket.io/?EIO=4&transport=polling", host, b"42" + deep) < 500
    assert _status(server, "POST", "/play", {**host, "Content-Type": "application/json"}, deep) in (404, 405)
    assert read(f"{server.url}/play")[0] == 200


def test_silent_sockets_keep_nobody_out(server: Server) -> None:
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
    try:
        for one in silent[:100]:
            one.sendall(b"GET /play HTTP/1.1\r\nHost: 127.0")
        assert read(f"{server.url}/play")[0] == 200
    finally:
        for one in silent:
            one.close()


def _odd_messages(client: str) -> list[Any]:
    """Events that no page sends."""
    return [
        {}, [], None, "x", {"client_id": client}, {"client_id": client, "id": 1, "listener_id": "x", "args": []},
        {"client_id": client, "id": "../..", "listener_id": None, "args": {"a": "b" * 1000}},
        {"client_id": ["a"], "id": 0, "listener_id": 0, "args": 0},
    ]  # fmt: skip


@pytest.mark.slow
def test_an_honest_browser_plays_on_while_others_do_their_worst(server: Server, page: Any) -> None:
    open_play(page, server, game="connect_four-4x4", second="random")
    silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
    try:
        _attack_socket(server)
        click_move(page, "1")
        assert len(moves(page)) == 2
    finally:
        for one in silent:
            one.close()


def _attack_socket(server: Server) -> None:
    """Talk nonsense on the web socket, as a page of the same server."""
    websocket = pytest.importorskip("websockets.sync.client", reason="needs websockets, which uvicorn brings")
    address = f"ws://127.0.0.1:{server.port}/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    for text in ("42" + "[" * 100_000, "4" * 1000, "40{", '42["event"]', "x", "\x00", "42" + "9" * 100_000):
        with websocket.connect(address) as line:
            line.recv()
            line.send("40")
            line.send(text)
            time.sleep(0.02)
    with websocket.connect(address) as line:
        line.recv()
        line.send("40")
        for message in _odd_messages("nobody"):
            for event in ("event", "handshake", "javascript_response", "ack", "log"):
                line.send("42" + json.dumps([event, message]))
        time.sleep(0.1)


# What a browser may name.

PLAYERS = (
    "qtable:/etc/passwd", "puct(/tmp/x.onnx)", "puct(model.onnx, simulations=10)", "rave(x.onnx, w=0.5)", "os:system",
    "os:system(1)", "uct(rule=os:system)", "run:../secret", "run:/etc", "run:..", "run:.", "run:a/b", "run:~",
    "net:../x@3", "nrpa(run=../x)", "nrpa(model=x.onnx)", "nrpa(avoid=x.txt)", "human", "gtp:touch x", "uci:touch x",
    "run:" + "a" * 300, "uct(" + "9" * 600 + ")", "", "gumbel(x.onnx)",
)  # fmt: skip
GAMES = (
    "gdl:/etc/passwd", "gdl:../x.kif", "gdl:x.kif", "os:system", "my_game:GAME", "openspiel:../x",
    "connect_four-999x999", "../x", "", "gdl:", "a" * 5000,
)  # fmt: skip


@pytest.mark.parametrize("text", PLAYERS)
def test_a_browser_names_no_file_no_code_and_no_program(text: str, tmp_path: Any) -> None:
    (tmp_path / "runs").mkdir()
    with pytest.raises(PalaestraError):
        Allowed(tmp_path / "runs").player(text)


@pytest.mark.parametrize("text", GAMES)
def test_a_browser_names_no_rules_that_the_command_did_not_name(text: str, tmp_path: Any) -> None:
    with pytest.raises(PalaestraError):
        Allowed(tmp_path).game(text)


def test_what_the_command_named_may_be_named(tmp_path: Any) -> None:
    allowed = Allowed(tmp_path, ("gdl:hex-3x3",))
    assert allowed.game("connect_four") is make_game("connect_four-6x7")
    assert allowed.game("gdl:hex-3x3").players == 2
    assert allowed.player("uct( simulations = 50 )") == "uct(simulations=50)"


def test_a_run_that_is_a_link_to_elsewhere_is_no_run(tmp_path: Any) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "manifest.json").write_text("{}")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "link").symlink_to(tmp_path / "other")
    with pytest.raises(PalaestraError, match="not a run of this page"):
        Allowed(tmp_path / "runs").run("link")
