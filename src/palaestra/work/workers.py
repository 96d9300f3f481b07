"""Who does jobs: `here` one after the other, `threads:N` of this process, `processes:N` beside it.

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
from functools import partial
from itertools import islice
from types import TracebackType
from typing import Any

from palaestra.base.errors import ConfigError
from palaestra.base.stopping import stop_if_asked
from palaestra.base.text import clip
from palaestra.work.jobs import Job, do

JobListener = Callable[[Job, float, str], None]  # (job, share done, words); called by the thread that asks for results
Result = tuple[Job, Any]

MOST = 1000  # threads or processes
GLANCE = 0.1  # seconds between two looks at what threads have reported
_TEXT = re.compile(r"(threads|processes):([0-9]{1,9})", re.ASCII)


class Workers(ABC):
    """Those who do jobs. They may be used again and again, by one thread, and are closed after use."""

    count: int  # jobs that are done at the same time

    @abstractmethod
    def run(self, jobs: Iterable[Job], listen: JobListener | None = None) -> Iterator[Result]:
        """Every job with its result, in the order in which they end; of jobs with one key only the first.

        Jobs are drawn as workers come free. An error of a job is raised here. It ends the other jobs, as does an
        interrupt, or closing the iterator before its end. `listen` hears what jobs report, though not every report.
        """

    def close(self) -> None:
        """End whatever waits for more work."""

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Here(Workers):
    """Does one job after the other, in the thread that asks for results."""

    count = 1

    def run(self, jobs: Iterable[Job], listen: JobListener | None = None) -> Iterator[Result]:
        for job in once(jobs):
            yield job, do(job, partial(listen, job) if listen is not None else _unheard)


class Threads(Workers):
    """Does jobs on threads. A job that is to be ended goes on until its next report."""

    def __init__(self, count: int) -> None:
        self.count = count

    def run(self, jobs: Iterable[Job], listen: JobListener | None = None) -> Iterator[Result]:
        waiting, doing, ended = once(jobs), dict[Future[Any], Job](), list[Result]()
        stopped, latest = threading.Event(), dict[Job, tuple[float, str]]()

        def heard(job: Job, share: float, words: str) -> None:
            stop_if_asked(stopped)
            latest[job] = share, words

        with ThreadPoolExecutor(self.count, thread_name_prefix="work") as pool:
            try:
                while True:
                    for job in islice(waiting, self.count - len(doing)):
                        doing[pool.submit(do, job, partial(heard, job))] = job
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


def make_workers(text: str, *, one_thread: bool = False, seconds: float | None = None) -> Workers:
    """Workers from a text: here, threads:N or processes:N.

    `one_thread`: libraries for linear algebra compute on one thread in each process, as suits as many processes as
    cores. `seconds`: a job that takes longer is taken to hang and is done again; only a process can be ended so.
    """
    if text == "here":
        workers: Workers = Here()
    elif (match := _TEXT.fullmatch(text)) is None or not 1 <= int(match[2]) <= MOST:
        raise ConfigError(
            f"workers are here, threads:N or processes:N with N from 1 to {MOST}, not {clip(text)!r}; for example"
            " processes:4"
        )
    elif match[1] == "threads":
        workers = Threads(int(match[2]))
    else:
        from palaestra.work.processes import Processes  # which knows this module

        return Processes(int(match[2]), one_thread=one_thread, seconds=seconds)
    if seconds is not None:
        raise ConfigError(
            f"only processes can be ended after a time, not {text}; for example processes:{workers.count}"
        )
    return workers


def once(jobs: Iterable[Job]) -> Iterator[Job]:
    """The jobs without those whose key has come before."""
    seen: set[str] = set()
    for job in jobs:
        if job.key not in seen:
            seen.add(job.key)
            yield job


def _unheard(share: float, words: str) -> None:
    """Nobody listens."""
