"""Jobs of a module, for other processes find them by name."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from palaestra.base.errors import GameError
from palaestra.games.base import Game
from palaestra.work.jobs import Job, report
from palaestra.work.workers import make_workers


def square(number: int) -> int:
    return number * number


def squares(numbers: range) -> list[Job]:
    return [Job(f"square {number}", square, (number,)) for number in numbers]


def with_pid(number: int) -> tuple[int, int]:
    return number, os.getpid()


def die_at_first(folder: Path, deaths: int) -> int:
    """Its process dies as often as that; then how often it did."""
    before = len(list(folder.iterdir()))
    if before < deaths:
        (folder / str(before)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return before


def hang_at_first(folder: Path) -> str:
    if not list(folder.iterdir()):
        (folder / "tried").touch()
        time.sleep(600)
    return "done"


def hang_after_a_word(folder: Path) -> str:
    if not list(folder.iterdir()):
        (folder / "tried").touch()
        report(0.1)
        time.sleep(600)
    return "done"


def most_plies(game: Game) -> int:
    return game.max_plies


def refuse(text: str) -> None:
    raise GameError(f"{text} is no game")


class TwoWords(Exception):
    """Cannot be unpickled: made of two words, and its arguments hold one."""

    def __init__(self, one: str, other: str) -> None:
        super().__init__(one + other)


def fail(kind: str) -> None:
    if kind == "exit":
        sys.exit(3)
    if kind == "unpicklable":
        raise TwoWords("a", "b")
    raise ValueError("a mistake in the program")


def unpicklable_result() -> Any:
    return lambda: 0


def wait_until(file: Path) -> str:
    """Report until a file is there."""
    ended = time.monotonic() + 60
    while not file.exists() and time.monotonic() < ended:
        report(0.5, "waiting")
        time.sleep(0.01)
    return file.name


def tell_and_wait(folder: Path) -> None:
    """Leave word of the process that does this, then take very long."""
    (folder / str(os.getpid())).touch()
    time.sleep(600)


def steps(count: int) -> int:
    for step in range(count):
        report((step + 1) / count, f"step {step + 1}")
    return count


def environment(name: str) -> str | None:
    return os.environ.get(name)


def nested(number: int) -> int:
    """A job that has workers of its own."""
    with make_workers("processes:1") as workers:
        ((_, result),) = workers.run(squares(range(number, number + 1)))
    return int(result)


if __name__ == "__main__":  # jobs that take very long, in two processes
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts tests behind it has it ignored
    with make_workers("processes:2") as workers:
        list(workers.run(Job(str(number), tell_and_wait, (Path(sys.argv[1]),)) for number in range(4)))
