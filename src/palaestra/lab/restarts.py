"""Restarts of a search for one player, one after the other on each of several threads or workers, until a limit.

A restart is a whole game (`palaestra.players.solo`) that depends on its number alone. Whatever ends is recorded in a
`SolveFolder` at once. Ctrl-C, a limit or an error stops the restarts under way, which leave no trace.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from palaestra.base.stopping import Stopped
from palaestra.base.types import Int8s
from palaestra.lab.solve_folder import Entry, SolveFolder
from palaestra.players.base import Player
from palaestra.players.solo import WholeGames, play_whole
from palaestra.work.jobs import Job, Shared
from palaestra.work.workers import Workers

GLANCE = 0.1  # seconds between looks at the clock


@dataclass(frozen=True)
class Limits:
    """When to stop; what is None does not stop anything. Seconds and restarts are those of this session."""

    seconds: float | None = None
    restarts: int | None = None  # reached by whole pieces of work
    target: int | None = None


@dataclass(frozen=True, eq=False)
class RestartOrder:
    """What restarts are made of, but for their numbers."""

    player: Player
    state: Int8s
    seed: int


def play_restarts(order: RestartOrder, numbers: range) -> tuple[WholeGames, float]:
    """Restarts as a job, and the seconds that they took."""
    began = time.perf_counter()
    games = play_whole(order.player, order.state, order.seed, numbers)
    return games, time.perf_counter() - began


class Restarts:
    """One session of a search. While it runs, the folder's journal and `under_way` may be read by another thread."""

    def __init__(
        self,
        folder: SolveFolder,
        players: Sequence[Player],
        limits: Limits,
        began: float | None = None,
        workers: Workers | None = None,
    ) -> None:
        """One player for each thread, or the one that `workers` are given.

        `began` is when the session's clock (perf_counter) started, if players took time to make; now, if None.
        """
        self.folder, self.players, self.limits, self.workers = folder, players, limits, workers
        self.under_way: dict[int, tuple[int, float]] = {}  # thread -> first restart, when it began
        self.stopped_by = ""
        self._state = folder.game.from_moves(folder.journal.about.opening)
        self._earlier, self._began = folder.journal.seconds, time.perf_counter() if began is None else began
        self._ended: float | None = None
        self._stop, self._lock = threading.Event(), threading.Lock()
        self._waiting = self._numbers()

    @property
    def seconds(self) -> float:
        """Of solving, in all sessions."""
        return self._earlier + (time.perf_counter() if self._ended is None else self._ended) - self._began

    @property
    def seconds_left(self) -> float | None:
        """Until the time is up; None if there is no such limit."""
        if self.limits.seconds is None:
            return None
        return max(0.0, self.limits.seconds + self._earlier - self.seconds)

    def run(self, listen: Callable[[Entry], None]) -> None:
        """Go on until a limit or Ctrl-C, which `stopped_by` tells; `listen` hears of all that ends, on its thread."""
        if self._reached_target():
            self.stopped_by = "target"
            return
        if self.workers is not None:
            self._spread(self.workers, listen)
            return
        with ThreadPoolExecutor(len(self.players)) as pool:
            working: list[Future[None]] = []
            try:
                working += (pool.submit(self._work, index, listen) for index in range(len(self.players)))
                self._watch(working)
            except KeyboardInterrupt:
                self.stopped_by = "interrupt"
            finally:
                self._stop.set()
        self._ended = time.perf_counter()
        for future in working:
            future.result()

    @property
    def at_once(self) -> int:
        """How many restarts are made at the same time."""
        return len(self.players) if self.workers is None else self.workers.count

    def _spread(self, workers: Workers, listen: Callable[[Entry], None]) -> None:
        """The same by workers."""
        about, firsts = self.folder.journal.about, dict[Job, int]()
        order = Shared(RestartOrder(self.players[0], self._state, about.seed))

        def jobs() -> Iterator[Job]:
            for first in self._waiting:
                job = Job(f"restart {first}", play_restarts, (order, range(first, first + about.at_once)))
                firsts[job], self.under_way[first] = first, (first, time.perf_counter())
                yield job

        clock = None if self.seconds_left is None else threading.Timer(self.seconds_left, workers.stop)
        if clock is not None:
            clock.daemon = True
            clock.start()
        try:
            for job, (games, took) in workers.run(jobs()):
                first = firsts.pop(job)
                self.under_way.pop(first)
                self._record(first, games, took, listen)
                if self.stopped_by:
                    break
            self.stopped_by = self.stopped_by or "restarts"
        except Stopped:
            self.stopped_by = "time"
        except KeyboardInterrupt:
            self.stopped_by = "interrupt"
        finally:
            if clock is not None:
                clock.cancel()
            self.under_way.clear()
            self._ended = time.perf_counter()

    def _record(self, first: int, games: WholeGames, took: float, listen: Callable[[Entry], None]) -> None:
        """Keep what has ended; the target may be reached then."""
        scores = Counter(games.outcomes.tolist())
        entry = Entry(first, len(games.outcomes), dict(sorted(scores.items())), self.seconds, took)
        self.folder.record(entry, games.outcomes, games.lines)
        listen(entry)
        if self._reached_target():
            self.stopped_by = "target"

    def _watch(self, working: Sequence[Future[None]]) -> None:
        """Until no thread works any more, one fails, or the time is up."""
        waiting = set(working)
        while waiting:
            ended, waiting = wait(waiting, GLANCE, FIRST_COMPLETED)
            if any(future.exception() is not None for future in ended):
                return
            if self.seconds_left == 0.0:
                self.stopped_by = "time"
                return
        self.stopped_by = self.stopped_by or "restarts"

    def _numbers(self) -> Iterator[int]:
        """First restarts of pieces of work, as many as the limit allows."""
        begun, most = 0, self.limits.restarts
        for number in self.folder.waiting():
            if most is not None and begun >= most:
                return
            begun += self.folder.journal.about.at_once
            yield number

    def _reached_target(self) -> bool:
        best = self.folder.journal.best
        return self.limits.target is not None and best is not None and best >= self.limits.target

    def _work(self, index: int, listen: Callable[[Entry], None]) -> None:
        """One thread: piece after piece of work."""
        about = self.folder.journal.about
        try:
            while not self._stop.is_set():
                with self._lock:
                    first = next(self._waiting, None)
                if first is None:
                    return
                began = time.perf_counter()
                self.under_way[index] = first, began
                numbers = range(first, first + about.at_once)
                games = play_whole(self.players[index], self._state, about.seed, numbers, self._stop)
                with self._lock:
                    if self._stop.is_set():  # the time was up, or the target met, while this waited
                        return
                    self._record(first, games, time.perf_counter() - began, listen)
                    if self.stopped_by:
                        self._stop.set()
        except Stopped:
            pass
        finally:
            self.under_way.pop(index, None)
