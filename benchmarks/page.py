"""How fast the page is, in a real Chromium: python -m benchmarks.page

Ready: from the request of the address until the board can be clicked. Answer: from the click until the opponent's
stone is drawn; what the opponent thinks by itself stands beside it. Many people at once are `benchmarks.page_clients`:
twenty pages of one browser keep two cores so busy with drawing that connections are lost. Run nothing else meanwhile.
"""

from __future__ import annotations

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
GAME, OPPONENT = "connect_four-6x7", "uct(simulations=200)"


def address() -> str:
    """Where a game is played that all figures are about."""
    return f"/play?game={GAME}&second={OPPONENT}"


@contextmanager
def served(port: int) -> Iterator[subprocess.Popen[bytes]]:
    """`palaestra serve` in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "palaestra", "serve", "--port", str(port)]
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"}
        )
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(20)


def megabytes(process: int) -> float:
    """Resident memory of a process and all that it started."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20 + sum(megabytes(int(child)) for child in children)


# In the page: point at a move, and wait until a person can move again or the game is over.
PLAY = """
async (choice) => {
  const board = () => document.querySelector(".pb-targets");
  const said = () => document.querySelector(".pl-status")?.innerText || "";
  const moves = [...document.querySelectorAll(".pb-move")];
  if (!moves.length) return null;
  const chosen = moves[choice % moves.length], box = chosen.getBoundingClientRect();
  const before = Number(board().dataset.version), began = performance.now();
  const at = {bubbles: true, clientX: box.x + box.width / 2, clientY: box.y + box.height / 2};
  chosen.dispatchEvent(new MouseEvent("click", at));
  while (performance.now() - began < 30000) {
    await new Promise((next) => setTimeout(next, 2));
    const open = document.querySelectorAll(".pb-move").length > 0, over = /win|draw|lose/.test(said());
    if (Number(board().dataset.version) > before && (open || over)) return performance.now() - began;
  }
  return -1;
}
"""


async def open_board(page: Any, url: str) -> float:
    """Seconds until a new game can be played."""
    began = time.perf_counter()
    await page.goto(url)
    await page.wait_for_selector(".pb-move", state="attached", timeout=60_000)
    return time.perf_counter() - began


async def play_game(page: Any, number: int) -> list[float]:
    """Milliseconds from each click to the drawn answer, until the game is over; then a new game is begun."""
    answers: list[float] = []
    while (taken := await page.evaluate(PLAY, number + 3 * len(answers))) is not None:
        if taken < 0:
            raise AssertionError("the page did not answer within 30 s")
        answers.append(taken)
    await page.get_by_role("button", name="New game", exact=True).click(timeout=60_000)
    await page.wait_for_selector(".pb-move", state="attached", timeout=60_000)
    return answers


def thinking(moves: int = 20) -> float:
    """Milliseconds that the opponent thinks about a move when it is asked directly."""
    import numpy as np

    import palaestra

    game = palaestra.make_game(GAME)
    player, states = palaestra.make_player(OPPONENT, game), game.initial(1)
    player.act(states, np.random.default_rng(0))
    began = time.perf_counter()
    for seed in range(moves):
        player.act(states, np.random.default_rng(seed))
    return 1000 * (time.perf_counter() - began) / moves


async def measure(url: str, chromium: str) -> AsyncIterator[str]:
    """The figures, a line each."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        page = await browser.new_page()
        await open_board(page, url)
        await play_game(page, 0)  # the first search loads compiled code
        ready = []
        for _ in range(5):
            other = await browser.new_page()
            ready.append(await open_board(other, url))
            await other.close()
        yield f"page ready in {statistics.median(ready):.2f} s (median of {len(ready)}, worst {max(ready):.2f})"
        answers = [one for number in range(5) for one in await play_game(page, number)]
        yield (
            f"click to drawn answer {statistics.median(answers):.0f} ms (median of {len(answers)}),"
            f" of which {thinking():.1f} ms are thinking"
        )
        await browser.close()


async def print_lines(lines: AsyncIterator[str]) -> None:
    async for line in lines:
        print(line, flush=True)


def main(
    port: Annotated[int, typer.Option(help="Of the server.")] = 8899,
    chromium: Annotated[str, typer.Option(help="The browser.")] = "/usr/bin/chromium",
) -> None:
    """Figures of the page, in a real browser."""
    url = f"http://127.0.0.1:{port}{address()}"
    with served(port):
        asyncio.run(print_lines(measure(url, chromium)))


if __name__ == "__main__":
    typer.run(main)
