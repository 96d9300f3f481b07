"""Processes that answer questions one at a time, tell what they have so far, and stop when nobody wants to know.

A question is a function of a module, its arguments, and `tell`, which the function calls with what it has so far.
Where the question was taken back, `tell` raises `Stopped`. The asking side is asyncio's: many may ask at once, those
for whom no process is free wait in line, and cancelling the task that asks takes the question back. A process that
does not stop within a second is ended and replaced. Knows nothing of what is asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import pickle
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Literal

from palaestra.base.errors import WorkError
from palaestra.base.stopping import Stopped
from palaestra.work.spawned import Surroundings, start, to_be_raised

GRACE = 1.0  # seconds to stop in
STARTING = 20.0  # the same for a process that has never said anything: it may still be loading
Tell = Callable[[Any], None]
Said = Literal["told", "done", "failed", "stopped", "died"]


@dataclass(frozen=True)
class Question:
    """What is asked: the function is called as `function(*arguments, tell)`."""

    number: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    around: Surroundings


class _Asked:
    """One process, and the thread that listens to it."""

    def __init__(self, name: str) -> None:
        self.process, self.line = start(_answer, name, one_thread=True)
        self.number = 0
        self.has_spoken = False
        self.inbox: asyncio.Queue[tuple[Said, Any]] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._listen, name=f"{name}-line", daemon=True).start()

    def give(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self.number += 1
        with contextlib.suppress(OSError):  # dead already, as the listening thread will say
            self.line.send_bytes(pickle.dumps(Question(self.number, function, arguments, Surroundings.here())))

    def stop(self) -> None:
        """The question is taken back."""
        with contextlib.suppress(OSError):
            self.line.send_bytes(pickle.dumps(self.number))

    def _listen(self) -> None:
        said: tuple[int, Said, Any]
        try:
            while True:
                said = pickle.loads(self.line.recv_bytes())
                self.has_spoken = True
                self._hear(said)
        except (EOFError, OSError):
            self._hear((self.number, "died", None))

    def _hear(self, said: tuple[int, Said, Any]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(self.inbox.put_nowait, said[1:])

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.line.close()


class Asked:
    """So many processes, started when they are first needed. Used within one event loop, and closed after use."""

    def __init__(self, count: int, name: str = "palaestra-asked") -> None:
        self.count, self._name = count, name
        self._free: asyncio.LifoQueue[_Asked | None] = asyncio.LifoQueue()
        for _ in range(count):
            self._free.put_nowait(None)  # a place for a process
        self._living: set[_Asked] = set()
        self._stopping: set[asyncio.Task[None]] = set()
        self.waiting = 0  # questions in line

    async def ask(self, function: Callable[..., Any], *arguments: Any, hear: Tell | None = None) -> Any:
        """What `function(*arguments, tell)` returns; `hear` hears what it tells. An error of it is raised here."""
        self.waiting += 1
        try:
            asked = await self._free.get()
        finally:
            self.waiting -= 1
        if asked is None:
            asked = _Asked(self._name)
            self._living.add(asked)
        asked.give(function, arguments)
        said: Said = "told"
        try:
            while said == "told":
                said, value = await asked.inbox.get()
                if said == "told" and hear is not None:
                    hear(value)
        finally:
            self._give_back(asked, said)
        if said == "failed":
            raise value
        if said != "done":
            raise WorkError("the process that was asked has died; memory may be short: ask for less, or again")
        return value

    def _give_back(self, asked: _Asked, said: Said) -> None:
        """The place is free again, once the process has stopped."""
        if said == "told":  # the task that asked was cancelled, or what it heard raised an error
            task = asyncio.get_running_loop().create_task(self._stop(asked))
            self._stopping.add(task)
            task.add_done_callback(self._stopping.discard)
        elif said == "died":
            self._replace(asked)
        else:
            self._free.put_nowait(asked)

    async def _stop(self, asked: _Asked) -> None:
        asked.stop()
        said: Said = "told"
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE if asked.has_spoken else STARTING):
                while said == "told":
                    said, _ = await asked.inbox.get()
        if said in ("told", "died"):
            self._replace(asked)
        else:
            self._free.put_nowait(asked)

    def _replace(self, asked: _Asked) -> None:
        asked.end()
        self._living.discard(asked)
        self._free.put_nowait(None)

    def close(self) -> None:
        for asked in self._living:
            asked.end()
        self._living.clear()


def _answer(line: Connection) -> None:
    """In the other process: answer what is asked until nothing is asked any more."""
    while True:
        given = pickle.loads(line.recv_bytes())
        if isinstance(given, Question):  # otherwise it takes back a question that has just been answered
            line.send_bytes(_said(given, line))


def _said(question: Question, line: Connection) -> bytes:
    number = question.number

    def tell(value: Any) -> None:
        while line.poll():
            if pickle.loads(line.recv_bytes()) == number:
                raise Stopped
        line.send_bytes(pickle.dumps((number, "told", value)))

    question.around.enter()
    try:
        return pickle.dumps((number, "done", question.function(*question.arguments, tell)))
    except Stopped:
        return pickle.dumps((number, "stopped", None))
    except BaseException as error:
        return pickle.dumps((number, "failed", to_be_raised(error)))
