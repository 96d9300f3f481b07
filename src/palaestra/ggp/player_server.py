"""The player of the match protocol: one match at a time, played in a process of its own.

This process only talks, so that INFO is answered at once whatever a search does; the thinking, and everything that
rules from strangers can do, happens in a worker that can be killed (`worker_process`). Between matches one worker is
idle or being started. Every step of a match has a deadline. All players are asked at the same time, so that the next
message is there when the clock of the last one is over; a match of which nothing is heard by then lapses: the player
is free again, and nothing leaves it busy for ever. A match that was accepted is played on whatever was late, a message,
an answer or the worker, until another match takes its place. Knows neither GDL nor HTTP.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from palaestra.ggp import protocol
from palaestra.ggp.clock import Margin
from palaestra.ggp.http_server import Arrival
from palaestra.ggp.kif import Term
from palaestra.ggp.protocol import Abort, Info, Introduction, Play, Preview, Start, Stop
from palaestra.ggp.worker_process import Playing, Thought, WorkerProcess, WorkerSettings

START_SHARE = 0.9  # of the start clock, after which a player is ready in any case: it may read on after that
SILENCE = 3.0  # seconds beyond the clock of the last message after which a match lapses

Log = Callable[[str], None]
T = TypeVar("T")


@dataclass(eq=False)
class Match:
    """The match under way."""

    start: Start
    worker: WorkerProcess | None = None
    playing: Playing | None = None  # who plays, once the worker has said it
    history: list[tuple[Term, ...]] = field(default_factory=list)
    told: int = 0  # how much of the history the worker knows
    task: asyncio.Task[Any] | None = None  # what is being done about the last message
    asked: Play | None = None  # that message, if it asks for a move
    due: float = 0.0  # when its answer was to be there
    alarm: asyncio.TimerHandle | None = None
    lapsed: bool = False  # nothing was heard when it should: another match may take its place

    def line(self, ending: str, goals: list[int] | None = None) -> str:
        """The match in a line: "m.1: rules 5e1f…, role x, clocks 30+15, 5 turns by uct, done, goals 100 0"."""
        start, playing = self.start, self.playing or Playing("nobody")
        who = playing.plays + (f" instead of {playing.instead_of}" if playing.instead_of else "")
        turns = f"{len(self.history)} turn{'' if len(self.history) == 1 else 's'}"
        result = "" if goals is None else f", goals {' '.join(map(str, goals))}"
        return (
            f"{start.match}: rules {playing.rules or 'not read'}, role {start.role}, "
            f"clocks {start.start_clock:g}+{start.play_clock:g}, {turns} by {who}, {ending}{result}"
        )


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
                return protocol.info_text(self._introduction(), self.busy)
            case Preview():
                return protocol.BUSY if self.busy else protocol.READY
            case Start():
                return await self._start(message, arrival)
            case Play():
                return await self._play(message, arrival)
            case Stop():
                return self._finish(message.match, protocol.DONE, message.moves)
            case Abort():
                return self._finish(message.match, protocol.ABORTED, None)

    def _introduction(self) -> Introduction:
        """Who plays in the match under way, or would in the next one: kinds, not files, which are nobody's business."""
        playing = self.match.playing if self.match is not None and self.busy else None
        playing = playing or Playing(re.split(r"[(:]", self.settings.player, maxsplit=1)[0])
        return Introduction(self.name, playing.plays, playing.instead_of)

    async def _start(self, message: Start, arrival: Arrival) -> str:
        if self.busy:
            return protocol.BUSY
        if self.match is not None:
            self._drop(self.match, "nothing more was heard of it")
        self.match = match = Match(message)
        self._listen_for(match, arrival.opened + message.start_clock)
        until = self.margin.end(arrival.opened, START_SHARE * message.start_clock, arrival.round_trip)
        refusal = await self._run(match, self._prepare(match, until))
        if refusal is None:
            return protocol.BUSY
        if refusal:
            self._drop(match, f"refused: {refusal}")
            return protocol.BUSY
        return protocol.READY

    async def _run(self, match: Match, work: Coroutine[Any, Any, T]) -> T | None:
        """The result of some work for a match; None if a later message made it void, or the match is over."""
        match.task = task = asyncio.create_task(work)
        await asyncio.wait({task})
        if match.task is task:
            match.task = None
        if task.cancelled():
            return None
        if error := task.exception():  # ours, and no reason to stay busy for ever
            self._drop(match, f"dropped: unexpected {type(error).__name__}: {error}")
            return None
        return task.result()

    async def _prepare(self, match: Match, until: float) -> str:
        """Get ready by a time; what is wrong in a line, or nothing.

        A worker that is still being started or still reads when the time is over may go on: it can be done by the
        first move, and has a legal one in any case.
        """
        refusal = await self._seat(match, until)
        return refusal if refusal or match.worker is None else await match.worker.reading(until)

    async def _seat(self, match: Match, until: float) -> str:
        """Give a match a worker, and the worker the rules; what is wrong in a line, or nothing."""
        try:
            async with asyncio.timeout_at(until):
                worker = await self._take_worker()
        except TimeoutError:
            return ""
        except (RuntimeError, OSError) as error:
            return str(error)
        start = match.start
        match.worker, match.told = worker, 0
        worker.listener = lambda playing: self._hear(match, playing)
        worker.begin(start.rules, start.role, until, start.play_clock)
        return ""

    def _hear(self, match: Match, playing: Playing) -> None:
        """The worker says who plays. That another one plays than was asked for is said as loudly as a line can."""
        match.playing = playing
        if playing.note:
            self.log(f"{'WARNING: ' if playing.instead_of else ''}{match.start.match}: {playing.note}")

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
        self._listen_for(match, arrival.opened + clock)
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
        if match.worker is None:
            return Thought(None, error=refusal or "the process in which the player thinks has not started yet")
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

    def _finish(self, id: str, reply: str, moves: tuple[Term, ...] | None) -> str:
        match = self.match
        if match is None or match.start.match != id:
            return protocol.BUSY
        if moves is not None:
            match.history.append(moves)
        self._drop(match, reply)
        return reply

    def _drop(self, match: Match, ending: str) -> None:
        """End a match, and let go of what it holds in the background; the next one waits for a worker if it must."""
        if self.match is match:
            self.match = None
        if match.alarm is not None:
            match.alarm.cancel()
        if match.task is not None:
            match.task.cancel()
        worker, match.worker = match.worker, None
        self._idle = asyncio.create_task(self._recycle(match, ending, worker, self._idle))

    async def _recycle(
        self, match: Match, ending: str, worker: WorkerProcess | None, idle: asyncio.Task[WorkerProcess] | None
    ) -> WorkerProcess:
        """The worker of a finished match if it lets go of it; else the idle one, if there is one, or a new one."""
        if match.task is not None:
            await asyncio.wait({match.task})
        goals, free = None, False
        if worker is not None and worker.ready and worker.alive:
            free, goals = await worker.end(match.history[match.told :])
        self.log(match.line(ending, goals))
        if free and worker is not None:
            return worker
        if worker is not None:
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

    def _listen_for(self, match: Match, until: float) -> None:
        """A message came, and by `until` the next one is to be there."""
        match.lapsed = False
        if match.alarm is not None:
            match.alarm.cancel()
        match.alarm = asyncio.get_running_loop().call_at(until + SILENCE, self._lapse, match)

    def _lapse(self, match: Match) -> None:
        """Nobody seems to be there any more. Whoever is goes on, unless another match has begun."""
        if self.match is match:
            self.log(f"{match.start.match}: no message when the clock was over; another match may begin")
            match.lapsed = True
