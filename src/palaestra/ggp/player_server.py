"""The player of the match protocol: one match at a time, played in a process of its own.

This process only talks, so that INFO is answered at once whatever a search does; the thinking, and everything that
rules from strangers can do, happens in a worker that can be killed (`worker_process`). Between matches one worker is
idle or being started. Every step of a match has a deadline, and a match of which nothing is heard any more lapses:
nothing leaves the player busy for ever. A match that was accepted is played on whatever was late, a message, an answer
or the worker, until another match takes its place. Knows neither GDL nor HTTP.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from palaestra.ggp import protocol
from palaestra.ggp.clock import Margin
from palaestra.ggp.http_server import Arrival
from palaestra.ggp.kif import Term
from palaestra.ggp.protocol import Abort, Info, Play, Preview, Start, Stop
from palaestra.ggp.worker_process import Thought, WorkerProcess, WorkerSettings

START_SHARE = 0.9  # of the start clock, after which a player is ready in any case: it may read on after that
SILENCE = 60.0  # seconds beyond its clocks after which a match lapses

Log = Callable[[str], None]
T = TypeVar("T")


@dataclass(eq=False)
class Match:
    """The match under way."""

    start: Start
    worker: WorkerProcess | None = None
    ready: bool = False  # the worker has read the rules
    history: list[tuple[Term, ...]] = field(default_factory=list)
    told: int = 0  # how much of the history the worker knows
    task: asyncio.Task[Any] | None = None  # what is being done about the last message
    asked: Play | None = None  # that message, if it asks for a move
    due: float = 0.0  # when its answer was to be there
    alarm: asyncio.TimerHandle | None = None
    lapsed: bool = False  # nothing was heard for long: it holds no worker, and another match may take its place

    @property
    def patience(self) -> float:
        """Seconds without a message after which nobody is there any more; other players may use up their clocks."""
        return self.start.start_clock + 2 * self.start.play_clock + SILENCE


class PlayerServer:
    """Answers messages. Use it as a context: leaving it ends the worker."""

    def __init__(self, settings: WorkerSettings, name: str = "palaestra", log: Log | None = None) -> None:
        self.settings, self.name = settings, name
        self.log = log or (lambda line: None)
        self.margin = Margin()
        self.match: Match | None = None
        self._turns = 0  # over all matches, so that no late answer is taken for a new one
        self._started = 0  # workers, so that each has a seed of its own
        self._workers: set[WorkerProcess] = set()
        self._idle: asyncio.Task[WorkerProcess] | None = None

    async def __aenter__(self) -> PlayerServer:
        self._idle = asyncio.create_task(self._new_worker())
        return self

    async def __aexit__(self, *error: object) -> None:
        match, self.match = self.match, None
        if match is not None and match.alarm is not None:
            match.alarm.cancel()
        tasks = [task for task in (match.task if match else None, self._idle) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for worker in tuple(self._workers):
            await self._kill(worker)

    @property
    def busy(self) -> bool:
        """Whether a match is under way."""
        return self.match is not None and not self.match.lapsed

    async def up(self) -> None:
        """Return when a worker is there; RuntimeError if none can be started."""
        assert self._idle is not None
        await asyncio.shield(self._idle)

    async def answer(self, text: str, arrival: Arrival) -> str:
        """The reply to one message; GdlError if it is none."""
        message = protocol.read_message(text)
        match message:
            case Info():
                return protocol.info_text(self.name, self.busy)
            case Preview():
                return protocol.BUSY if self.busy else protocol.READY
            case Start():
                return await self._start(message, arrival)
            case Play():
                return await self._play(message, arrival)
            case Stop():
                return self._finish(message.match, protocol.DONE)
            case Abort():
                return self._finish(message.match, protocol.ABORTED)

    async def _start(self, message: Start, arrival: Arrival) -> str:
        if self.busy:
            return protocol.BUSY
        self.match = match = Match(message)
        until = self.margin.end(arrival.opened, START_SHARE * message.start_clock, arrival.round_trip)
        refusal = await self._run(match, self._seat(match, until))
        if refusal is None:
            return protocol.BUSY
        if refusal:
            self.log(f"{message.match}: {refusal}")
            self._drop(match)
            return protocol.BUSY
        return protocol.READY

    async def _run(self, match: Match, work: Coroutine[Any, Any, T]) -> T | None:
        """The result of some work for a match; None if a later message made it void, or the match is over."""
        match.task = task = asyncio.create_task(work)
        self._listen_for(match)
        await asyncio.wait({task})
        if match.task is task:
            match.task = None
        if task.cancelled():
            return None
        if error := task.exception():  # ours, and no reason to stay busy for ever
            self.log(f"{match.start.match}: unexpected {type(error).__name__}: {error}; the match is dropped")
            self._drop(match)
            return None
        self._listen_for(match)
        return task.result()

    async def _seat(self, match: Match, until: float) -> str:
        """Give a match a worker, and the worker the rules, by a time; what is wrong in a line, or nothing.

        A worker that is still being started or still reads when the time is over may go on: it can be done by the
        first move.
        """
        try:
            async with asyncio.timeout_at(until):
                worker = await self._take_worker()
        except TimeoutError:
            return ""
        except (RuntimeError, OSError) as error:
            return str(error)
        start = match.start
        match.worker, match.ready, match.told = worker, False, 0
        worker.begin(start.rules, start.role, until, start.play_clock)
        return await self._await_ready(match, until)

    async def _await_ready(self, match: Match, until: float) -> str:
        worker = match.worker
        assert worker is not None
        answer = await worker.hear(until)
        if answer is None:
            return "" if worker.alive else "the process in which the player thinks died over the rules"
        if "error" in answer:
            return str(answer["error"])
        match.ready = True
        if note := answer.get("ready"):
            self.log(f"{match.start.match}: {note}")
        return ""

    async def _play(self, message: Play, arrival: Arrival) -> str:
        match = self.match
        if match is None or match.start.match != message.match:
            return protocol.BUSY
        clock = match.start.play_clock
        kept = self.margin.keep(clock, arrival.round_trip)
        until = self.margin.end(arrival.opened, clock, arrival.round_trip)
        if (task := match.task) is not None:
            if message == match.asked and arrival.opened < match.due:
                return protocol.BUSY  # the same once more
            task.cancel()  # the match went on without the answer
            await asyncio.wait({task})
            if self.match is not match or match.task not in (None, task):
                return protocol.BUSY  # and so did others meanwhile
        match.asked, match.due = message, until
        if message.moves is not None:
            match.history.append(message.moves)
        thought = await self._run(match, self._think(match, until, kept))
        if thought is None:
            return protocol.BUSY
        self.margin.observe(thought.late)
        if thought.error:
            self.log(f"{message.match}: {thought.error}; the move is {thought.move or protocol.NIL}")
        return thought.move or protocol.NIL

    async def _think(self, match: Match, until: float, kept: float) -> Thought:
        """A move by `until`; half of what was kept is there for a search that is a little late."""
        refusal = ""
        if match.worker is None or not match.worker.alive:
            refusal = await self._replace_worker(match, until)
        elif not match.ready:
            refusal = await self._await_ready(match, until)
        if refusal or match.worker is None or not match.ready:
            return Thought(None, error=refusal or "the player is not ready yet")
        self._turns += 1
        news, match.told = match.history[match.told :], len(match.history)
        return await match.worker.choose(self._turns, news, until, until + kept / 2)

    async def _replace_worker(self, match: Match, until: float) -> str:
        """A worker where there is none: it hears the rules again, and with its first turn the whole history."""
        if match.worker is not None:
            await self._kill(match.worker)
            match.worker = None
        self._idle = self._idle or asyncio.create_task(self._new_worker())
        return await self._seat(match, until)

    def _finish(self, id: str, reply: str) -> str:
        match = self.match
        if match is None or match.start.match != id:
            return protocol.BUSY
        self._drop(match)
        return reply

    def _drop(self, match: Match) -> None:
        """End a match."""
        if self.match is match:
            self.match = None
        self._release(match)

    def _release(self, match: Match) -> None:
        """Let go of what a match holds, in the background; the next match waits for a worker if it must."""
        if match.alarm is not None:
            match.alarm.cancel()
        if match.task is not None:
            match.task.cancel()
        worker, match.worker = match.worker, None
        self._idle = asyncio.create_task(self._recycle(match.task, worker, match.ready, self._idle))

    async def _recycle(
        self,
        task: asyncio.Task[Any] | None,
        worker: WorkerProcess | None,
        ready: bool,
        idle: asyncio.Task[WorkerProcess] | None,
    ) -> WorkerProcess:
        """The worker of a finished match if it lets go of it; else the idle one, if there is one, or a new one."""
        if task is not None:
            await asyncio.wait({task})
        if worker is not None:
            if ready and worker.alive and await worker.end():
                return worker
            await self._kill(worker)
        return await (idle or self._new_worker())

    async def _take_worker(self) -> WorkerProcess:
        assert self._idle is not None
        try:
            worker = await asyncio.shield(self._idle)
        except (RuntimeError, OSError):
            self._idle = asyncio.create_task(self._new_worker())  # the next match may have more luck
            raise
        self._idle = None
        return worker if worker.alive else await self._new_worker()

    async def _new_worker(self) -> WorkerProcess:
        self._started += 1
        worker = await WorkerProcess.start(replace(self.settings, seed=self.settings.seed + self._started - 1))
        self._workers.add(worker)
        return worker

    async def _kill(self, worker: WorkerProcess) -> None:
        self._workers.discard(worker)
        await worker.kill()

    def _listen_for(self, match: Match) -> None:
        """Count the silence from now on."""
        match.lapsed = False
        if match.alarm is not None:
            match.alarm.cancel()
        if self.match is match:
            match.alarm = asyncio.get_running_loop().call_later(match.patience, self._lapse, match)

    def _lapse(self, match: Match) -> None:
        """Nobody seems to be there any more; whoever is goes on with a new worker."""
        if self.match is match:
            self.log(f"{match.start.match}: no message for {match.patience:.0f} s; another match may begin")
            match.lapsed = True
            self._release(match)
