"""Jobs in processes beside this one, each of which does one job at a time and is then given the next.

A process that dies takes only its own job with it, which is done again in a new one. Knows nothing of what jobs are.
"""

from __future__ import annotations

import contextlib
import pickle
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from multiprocessing.util import Finalize
from typing import Any

from palaestra.base.errors import WorkError
from palaestra.work.jobs import Job, do
from palaestra.work.spawned import Surroundings, start, to_be_raised
from palaestra.work.workers import GLANCE, JobListener, Result, Workers, once

AGAIN = 3  # how often a job is done again whose process died or hung
LOOK = 1.0  # seconds of waiting at a time: not every system lets an interrupt end a longer wait


@dataclass(frozen=True)
class Given:
    """A job, and what it finds around it."""

    job: bytes  # pickled: to be unpickled where the rest is in force
    around: Surroundings

    @staticmethod
    def of(job: Job) -> Given:
        return Given(pickle.dumps(job), Surroundings.here())

    def take(self) -> Job:
        self.around.enter()
        job: Job = pickle.loads(self.job)
        return job


@dataclass(frozen=True)
class Told:
    """What a process says while it works."""

    share: float
    words: str


@dataclass(frozen=True)
class Done:
    """What a process says at a job's end."""

    result: Any


@dataclass(frozen=True)
class Failed:
    """What a process says of a job that raised an error."""

    error: BaseException


class Processes(Workers):
    """Does jobs in `count` processes; `one_thread` and `seconds` as in `make_workers`."""

    def __init__(self, count: int, *, one_thread: bool = False, seconds: float | None = None) -> None:
        self.count, self.one_thread, self.seconds = count, one_thread, seconds
        self._living, self._idle = list[_Process](), list[_Process]()
        Finalize(self, _end_all, (self._living,), exitpriority=1)  # where nobody calls close

    def close(self) -> None:
        self._idle.clear()
        _end_all(self._living)

    def run(self, jobs: Iterable[Job], listen: JobListener | None = None) -> Iterator[Result]:
        fresh, again, ended = once(jobs), list[Job](), list[Result]()
        busy: dict[Connection, _Process] = {}
        deaths: dict[str, int] = {}
        try:
            while True:
                while len(busy) < self.count and (job := again.pop() if again else next(fresh, None)) is not None:
                    process = self._give(job, pickle.dumps(Given.of(job)))
                    busy[process.connection] = process
                yield from ended
                if not busy:
                    return
                ended = []
                for process in self._heard(busy):
                    match process.hear(self.seconds):
                        case Told(share, words):
                            if listen is not None:
                                listen(process.job, share, words)
                        case Done(result):
                            ended.append((process.job, result))
                            self._idle.append(busy.pop(process.connection))
                        case Failed(error):
                            self._idle.append(busy.pop(process.connection))
                            raise error
                        case None:
                            self._end(busy.pop(process.connection))
                            again.append(_counted(process, deaths))
        finally:
            for process in busy.values():
                self._end(process)

    def _give(self, job: Job, pickled: bytes) -> _Process:
        """A process that now does this job: one that waits, or a new one."""
        while self._idle:
            process = self._idle.pop()
            try:
                process.give(job, pickled)
                return process
            except OSError:  # it died while it waited
                self._end(process)
        process = _Process(self.one_thread)
        self._living.append(process)
        with contextlib.suppress(OSError):  # dead at once, as `hear` will find
            process.give(job, pickled)
        return process

    def _end(self, process: _Process) -> None:
        process.end()
        self._living.remove(process)

    def _heard(self, busy: dict[Connection, _Process]) -> list[_Process]:
        """The processes that have something to say, or have had their time."""
        said = wait_for(list(busy), LOOK if self.seconds is None else min(LOOK, self.seconds))
        return [process for at, process in busy.items() if at in said or process.overdue(self.seconds)]


def _counted(process: _Process, deaths: dict[str, int]) -> Job:
    """The job of a process that died or hung, to be done again; WorkError if that has happened too often."""
    job = process.job
    deaths[job.key] = deaths.get(job.key, 0) + 1
    if deaths[job.key] > AGAIN:
        raise WorkError(
            f"{job.key}: given up after {deaths[job.key]} processes, the last of which {process.end_words}; where"
            " memory is short, fewer workers at a time need less"
        )
    return job


class _Process:
    """One process and the line to it."""

    job: Job  # the one that it does, or did last

    def __init__(self, one_thread: bool) -> None:
        self._process, self.connection = start(_serve, "palaestra-work", one_thread=one_thread)

    def give(self, job: Job, pickled: bytes) -> None:
        self.job, self.began, self.hung = job, time.monotonic(), False
        self.connection.send_bytes(pickled)

    def overdue(self, seconds: float | None) -> bool:
        return seconds is not None and time.monotonic() - self.began > seconds

    def hear(self, seconds: float | None) -> Told | Done | Failed | None:
        """The next thing that it says; None if it is dead or hangs."""
        try:
            if self.overdue(seconds) and not self.connection.poll():
                self.hung = True
                return None
            said = self.connection.recv_bytes()
        except (EOFError, OSError):
            return None
        heard: Told | Done | Failed = pickle.loads(said)
        return heard

    @property
    def end_words(self) -> str:
        """How it came to its end, once it has."""
        if self.hung:
            return "took longer than was allowed"
        code = self._process.exitcode
        return f"was ended by signal {-code}" if code is not None and code < 0 else f"ended with code {code}"

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.connection.close()


def _end_all(processes: list[_Process]) -> None:
    while processes:
        processes[-1].end()
        processes.pop()


def _serve(connection: Connection) -> None:
    """In the other process: do what is given until nothing is given any more."""
    while True:
        connection.send_bytes(_said(connection.recv_bytes(), connection))


def _said(given: bytes, connection: Connection) -> bytes:
    """What is to be said of a job after doing it: Done or Failed, pickled."""
    last = -GLANCE

    def heard(share: float, words: str) -> None:
        nonlocal last
        if (now := time.monotonic()) - last >= GLANCE:  # a line that nobody reads would fill up
            last = now
            connection.send_bytes(pickle.dumps(Told(share, words)))

    try:
        return pickle.dumps(Done(do(pickle.loads(given).take(), heard)))
    except BaseException as error:
        return pickle.dumps(Failed(to_be_raised(error)))
