"""A real server and a real Chromium for the tests of the page."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = os.environ.get("PALAESTRA_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip


@dataclass
class Server:
    """A running `palaestra serve`, and the folder that it was started in."""

    port: int
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def runs(self) -> Path:
        return self.folder / "runs"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def start_server(folder: Path, *options: str) -> Server:
    """`palaestra serve` in a folder, once it answers."""
    pytest.importorskip("nicegui", reason="the page needs the extra web")
    port = free_port()
    command = [sys.executable, "-m", "palaestra", "serve", "--port", str(port), *options]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}  # NiceGUI reads them
    environment = {**kept, "OMP_NUM_THREADS": "1"}
    log = (folder / "server.log").open("wb")
    process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=environment)
    for _ in range(600):
        if process.poll() is not None:
            raise AssertionError((folder / "server.log").read_text())
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=1):
                return Server(port, folder, process)
        except OSError:
            time.sleep(0.1)
    process.kill()
    raise AssertionError("the server did not answer within a minute")


def stop_server(server: Server) -> None:
    server.process.send_signal(signal.SIGINT)
    try:
        server.process.wait(10)
    except subprocess.TimeoutExpired:
        server.process.kill()
        server.process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of its own for each file of tests, in an empty folder."""
    found = start_server(tmp_path_factory.mktemp("page"))
    yield found
    stop_server(found)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One a file: as long as it lives, an event loop runs in this thread, and tests of other files begin their own."""
    api = pytest.importorskip("playwright.sync_api", reason="the page is tried with Playwright")
    if CHROMIUM is None:
        pytest.skip("the page is tried in Chromium, which is not installed")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield found
        found.close()


def _page(browser: Any, width: int, height: int, **options: Any) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    page = context.new_page()
    page.set_default_timeout(20_000)
    yield page
    context.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A browser's page as on a desk."""
    yield from _page(browser, 1280, 800)


@pytest.fixture
def phone(browser: Any) -> Iterator[Any]:
    """A browser's page as in a hand."""
    yield from _page(browser, 390, 844, has_touch=True, is_mobile=True)


def fits(page: Any) -> bool:
    """Whether nothing has to be scrolled sideways."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))


def read(url: str, **headers: str) -> tuple[int, str]:
    """Status and text of a GET with some headers."""
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
