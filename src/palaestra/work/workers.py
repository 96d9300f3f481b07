"""Who does jobs: `here` one after the other, `threads:N` of this process, `processes:N` beside it, or a cluster.

    with make_workers("processes:4") as workers:
        for job, result in workers.run(Job(f"square {n}", pow, (n, 2)) for n in range(100)):
            ...

All kinds give the same results. Knows nothing of what the jobs are.
"""

from __future__ import annotations

import re
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from palaestra.base.cores import usable_cores
from palaestra.base.errors import ConfigError
from palaestra.base.stopping import stop_if_asked
from palaestra.base.text import clip
from palaestra.work.jobs import Job, do

JobListener = Callable[[Job, float, str], None]  # (job, share done, words); called by the thread that asks for results
Result = tuple[Job, Any]

MOST = 1000  # that a text may ask for; a cluster that is not told how many has as many as cores
MOST_PLACES = 100_000
ACCEPTED = "here, threads:N, processes:N, ray, ray:N, ray:HOST:PORT or ray://HOST:PORT"
GLANCE = 0.1  # seconds between two looks at what threads have reported
_TEXT = re.compile(
    r"here|(?P<kind>threads|processes|ray):(?P<count>[0-9]{1,9})"
    r"|ray(?P<address>:auto|:(//)?(\[[0-9a-fA-F:.]+\]|[\w.-]+):[0-9]{1,5})?(\?workers=(?P<most>[0-9]{1,9}))?",
    re.ASCII,
)


@dataclass(frozen=True)
class Kind:
    """What a text says of workers."""

    name: Literal["here", "threads", "processes", "ray"]
    count: int | None = None  # None: as many as the cluster has cores
    address: str | None = None  # of a cluster: HOST:PORT, auto, or ray://HOST:PORT; None: one that is started here

    @staticmethod
    def parse(text: str) -> Kind:
        """ConfigError in one line if the text names no workers."""
        match = _TEXT.fullmatch(text)
        given = None if match is None else match["count"] or match["most"]
        if match is None or (given is not None and not 1 <= int(given) <= MOST):
            raise ConfigError(
                f"workers are {ACCEPTED} with N from 1 to {MOST}, not {clip(text)}; for example processes:4"
            )
        if text == "here":
            return Kind("here", 1)
        count = None if given is None else int(given)
        if match["kind"] in ("threads", "processes"):
            return Kind("threads" if match["kind"] == "threads" else "processes", count)
        address = match["address"]
        if address is None:
            return Kind("ray", count)
        return Kind("ray", count, f"ray{address}" if address.startswith("://") else address[1:])


class Workers(ABC):
    """Those who do jobs. They may be used again and again, by one thread, and are closed after use."""

    count: int  # jobs that are done at the same time; of a cluster it may change between two calls of `run`

    def __init__(self) -> None:
        self.warn: Callable[[str], None] = _unsaid  # hears of what a person should know, one line
        self._stopped = threading.Event()
        self._places: dict[str, str] = {}

    @abstractmethod
    def run(self, jobs: Iterable[Job], listen: JobListener | None = None) -> Iterator[Result]:
        """Every job with its result, in the order in which they end; of jobs with one key only the first.

        Jobs are drawn as workers come free. An error of a job is raised here. It ends the other jobs, as does an
        interrupt, or closing the iterator before its end. `listen` hears what jobs report, though not every report.
        """

    def place(self, job: Job) -> str:
        """Who did a job of the last `run`, for people."""
        return self._places.get(job.key, "here")

    def stop(self) -> None:
        """For another thread: `run` raises Stopped soon, and the jobs that it does are ended, for good."""
        self._stopped.set()

    def close(self) -> None:
        """End whatever waits for more work."""

    def _place(self, job: Job, name: str) -> None:
        if len(self._places) > MOST_PLACES:  # of jobs without end
            self._places.clear()
        self._places[job.key] = name

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Here(Workers):
    """Does one job after the other, in the thread that asks for results."""

    count = 1

    def run(self, jobs: Iterable[Job], listen: JobListener | None = None) -> Iterator[Result]:
        def heard(job: Job, share: float, words: str) -> None:
            stop_if_asked(self._stopped)
            if listen is not None:
                listen(job, share, words)

        for job in once(jobs):
            stop_if_asked(self._stopped)
            yield job, do(job, partial(heard, job))


class Threads(Workers):
    """Does jobs on threads. A job that is to be ended goes on until its next report."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def run(self, jobs: Iterable[Job], listen: JobListener | None = None) -> Iterator[Result]:
        waiting, doing, ended = once(jobs), dict[Future[Any], Job](), list[Result]()
        stopped, latest = threading.Event(), dict[Job, tuple[float, str]]()

        def heard(job: Job, share: float, words: str) -> None:
            stop_if_asked(stopped)
            latest[job] = share, words

        def work(job: Job) -> Any:
            self._place(job, threading.current_thread().name.replace("work_", "thread "))
            return do(job, partial(heard, job))

        with ThreadPoolExecutor(self.count, thread_name_prefix="work") as pool:
            try:
                while True:
                    stop_if_asked(self._stopped)
                    for job in islice(waiting, self.count - len(doing)):
                        doing[pool.submit(work, job)] = job
                    yield from ended
                    if not doing:
                        return
                    done, _ = wait(doing, GLANCE, FIRST_COMPLETED)
                    for job in list(latest):
                        told = latest.pop(job)
                        if listen is not None:
                            listen(job, *told)
                    ended = [(doing.pop(future), future.result()) for future in done]
            finally:
                stopped.set()


def make_workers(
    text: str | Kind, *, one_thread: bool = False, seconds: float | None = None, folder: Path | None = None
) -> Workers:
    """Workers from a text: here, threads:N, processes:N, ray, ray:N, ray:HOST:PORT or ray://HOST:PORT.

    `one_thread`: libraries for linear algebra compute on one thread in each process, as suits as many processes as
    cores; on a cluster they always do. `seconds`: a job that takes longer is taken to hang and is done again; only a
    process can be ended so. `folder`: where jobs leave files, so that all machines of a cluster must have it in common.
    """
    kind = Kind.parse(text) if isinstance(text, str) else text
    if seconds is not None and kind.name in ("here", "threads"):
        raise ConfigError(
            f"only processes can be ended after a time, not {kind.name}; for example processes:{kind.count}"
        )
    if kind.name == "here":
        return Here()
    if kind.name == "threads":
        assert kind.count is not None
        return Threads(kind.count)
    if kind.name == "processes":
        from palaestra.work.processes import Processes  # which knows this module

        assert kind.count is not None
        return Processes(kind.count, one_thread=one_thread, seconds=seconds)
    from palaestra.work.ray_workers import RayWorkers

    return RayWorkers(kind.address, kind.count, seconds=seconds, folder=folder)


def chosen_workers(workers: str | None, count: int | None, kind: Literal["threads", "processes"], option: str) -> Kind:
    """What two options say together: --workers, or `option`, which is short for so many threads or processes.

    Without either it is as many as there are cores.
    """
    if workers is not None and count is not None:
        raise ConfigError(f"--workers {workers} and {option} {count} exclude each other; give one of them")
    if workers is not None:
        return Kind.parse(workers)
    count = usable_cores() if count is None else count
    return Kind("here", 1) if kind == "processes" and count == 1 else Kind(kind, count)


def once(jobs: Iterable[Job]) -> Iterator[Job]:
    """The jobs without those whose key has come before."""
    seen: set[str] = set()
    for job in jobs:
        if job.key not in seen:
            seen.add(job.key)
            yield job


def _unsaid(line: str) -> None:
    """Nobody listens."""
