"""The server behind `palaestra serve`: pages, their guard, and the processes that think for them."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import importlib
import os
import secrets
import socket
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from palaestra.base.errors import ConfigError
from palaestra.base.text import clip
from palaestra.web.guard import LOOPBACK, Guard
from palaestra.web.house import House

RECONNECT = 10.0  # seconds that a connection may be silent or away: a busy machine needs more than the usual three
PAGES = ("play", "watch", "compare", "solve", "laboratory")  # modules of `web.pages`


def serve(
    host: str,
    port: int,
    runs: Path,
    *,
    own_games: Sequence[str] = (),
    searches: int | None = None,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until interrupted. `ready` is told the address once the server can be reached."""
    _check_free(host, port)
    os.environ.setdefault("NICEGUI_STORAGE_PATH", str(Path(tempfile.gettempdir()) / "palaestra-page"))
    from nicegui import app, background_tasks, ui

    house = House(runs, own_games) if searches is None else House(runs, own_games, searches)
    for name in PAGES:
        importlib.import_module(f"palaestra.web.pages.{name}").register(house)
    near = host in LOOPBACK
    token = None if near else secrets.token_urlsafe(24)
    names = LOOPBACK if near else (*LOOPBACK, host, socket.gethostname())
    app.add_middleware(Guard, port=port, names=names, token=token, any_address=not near)
    app.on_shutdown(house.close)
    shown = f"[{host}]" if ":" in host else {"0.0.0.0": socket.gethostname()}.get(host, host)
    address = f"http://{shown}:{port}/" + (f"?token={token}" if token else "")
    if ready is not None:
        app.on_startup(lambda: background_tasks.create(_announce(host, port, address, ready), name="announce"))
    ui.run(
        host=host,
        port=port,
        title="Palaestra",
        favicon=FAVICON,
        language="en-US",
        show=False,
        reload=False,
        show_welcome_message=False,
        uvicorn_logging_level="error",
        reconnect_timeout=RECONNECT,
        tailwind=False,  # the pages have a style of their own, and it would take a browser a quarter of a second
        ws_max_size=2**20,
        h11_max_incomplete_event_size=2**16,
        timeout_keep_alive=20,
        server_header=False,
    )


FAVICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="6" cy="8" r="5" fill="#1e5fb3"/>'
    '<circle cx="10" cy="8" r="5" fill="#d9480f" fill-opacity=".85"/></svg>'
)


async def _announce(host: str, port: int, address: str, ready: Callable[[str], None]) -> None:
    """Start-up ends before anybody listens; the address is told when somebody does."""
    while True:
        with contextlib.suppress(OSError):
            _, line = await asyncio.open_connection(host, port)
            line.close()
            break
        await asyncio.sleep(0.01)
    ready(address)


def _check_free(host: str, port: int) -> None:
    """ConfigError where nothing can listen there."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((host, port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(f"port {port} is in use; try another: palaestra serve --port {port + 1}") from None
        reason = (error.strerror or str(error)).lower()
        raise ConfigError(f"cannot listen on {clip(host)} port {port} ({reason}); try --host 127.0.0.1") from None
