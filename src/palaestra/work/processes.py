"""Jobs in processes beside this one, each of which does one job at a time and is then given the next.

A process that dies takes only its own job with it, which is done again in a new one. Knows nothing of what jobs are.
"""

from __future__ import annotations

import contextlib
import pickle
import time
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from multiprocessing.util import Finalize

from palaestra.base.stopping import stop_if_asked
from palaestra.work.deaths import Deaths
from palaestra.work.jobs import Job, do
from palaestra.work.messages import Done, Failed, Given, Told
from palaestra.work.spawned import start, to_be_raised
from palaestra.work.workers import GLANCE, JobListener, Result, Workers, once

LOOK = 1.0  # seconds of waiting at a time: not every system lets an interrupt end a longer wait


class Processes(Workers):
    """Does jobs in `count` processes; `one_thread` and `seconds` as in `make_workers`."""

    def __init__(self, count: int, *, one_thread: bool = False, seconds: float | None = None) -> None:
        self.count, self.one_thread, self.seconds = count, one_thread, seconds
        super().__init__()
        self._living, self._idle = list[_Process](), list[_Process]()
        Finalize(self, _end_all, (self._living,), exitpriority=1)  # where nobody calls close

    def close(self) -> None:
        self._idle.clear()
        _end_all(self._living)

    def run(self, jobs: Iterable[Job], listen: JobListener | None = None) -> Iterator[Result]:
        fresh, again, ended = once(jobs), list[Job](), list[Result]()
        busy: dict[Connection, _Process] = {}
        deaths = Deaths()
        try:
            while True:
                stop_if_asked(self._stopped)
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
                            self._place(process.job, process.name)
                            self._idle.append(busy.pop(process.connection))
                        case Failed(error):
                            self._idle.append(busy.pop(process.connection))
                            raise error
                        case None:
                            self._end(busy.pop(process.connection))
                            again.append(deaths.again(process.job, process.end_words))
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


class _Process:
    """One process and the line to it."""

    job: Job  # the one that it does, or did last

    def __init__(self, one_thread: bool) -> None:
        self._process, self.connection = start(_serve, "palaestra-work", one_thread=one_thread)

    @property
    def name(self) -> str:
        return f"process {self._process.pid}"

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
