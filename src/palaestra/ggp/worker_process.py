"""The player's own end of a worker: starts the process, asks it with deadlines, and kills it where it does not answer.

Every wait has an end, and whatever the process does (crash, hang, talk nonsense) is an answer of None or an error line.
Knows the lines of `palaestra.ggp.worker`, not the match.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from palaestra.ggp.kif import Term, term_text

START_SECONDS = 120.0  # a cold start compiles; a machine under load is slow
END_SECONDS = 2.0
_LINE = 2**20  # bytes


@dataclass(frozen=True)
class WorkerSettings:
    """What a worker is started with; all of it goes on its command line."""

    player: str  # a text
    seed: int = 0
    megabytes: int = 4096  # most, of its heap
    maker: str = "palaestra.ggp.movers:make_mover"  # module:function, from a player's text and a seed to a mover

    def text(self) -> str:
        return json.dumps(asdict(self))


@dataclass(frozen=True)
class Playing:
    """Which kind of player thinks in a match, and which one was asked for if that cannot; `note` is for the user."""

    plays: str = ""
    instead_of: str = ""
    note: str = ""  # a line, or nothing
    rules: str = ""  # their digest


@dataclass(frozen=True)
class Thought:
    """What came of a turn: a move or None; how late the search was, in seconds; what went wrong, in a line."""

    move: str | None
    late: float = 0.0
    error: str = ""


class WorkerProcess:
    """One process. After any deadline that it missed in `begin` or `end`, whoever owns it kills it."""

    def __init__(self, transport: asyncio.SubprocessTransport, process: Process) -> None:
        self.transport, self.process = transport, process
        assert process.stdin is not None and process.stdout is not None
        self.input, self.output = process.stdin, process.stdout
        self.ready = False  # the mover has read the rules of the match
        self.listener: Callable[[Playing], None] = lambda playing: None

    @classmethod
    async def start(cls, settings: WorkerSettings) -> WorkerProcess:
        """A worker that is up; RuntimeError if the process does not come up."""
        loop = asyncio.get_running_loop()
        # What asyncio.create_subprocess_exec does, but for the transport, whose `close` ends the pipes at once.
        transport, protocol = await loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(limit=_LINE, loop=loop),
            sys.executable, "-m", "palaestra.ggp.worker", settings.text(),
            stdin=PIPE, stdout=PIPE, stderr=None, start_new_session=True,  # an interrupt at the terminal is not for it
        )  # fmt: skip
        worker = cls(transport, Process(transport, protocol, loop))
        try:
            answer = await worker.hear(time.monotonic() + START_SECONDS)
        except BaseException:
            await worker.kill()
            raise
        if answer is None:
            await worker.kill()
            raise RuntimeError("the process in which the player thinks does not start")
        return worker

    @property
    def alive(self) -> bool:
        return self.process.returncode is None and not self.output.at_eof()

    def say(self, **message: Any) -> None:
        """A broken pipe shows when the answer is awaited."""
        if not self.input.is_closing():
            self.input.write(json.dumps(message).encode() + b"\n")

    async def hear(self, until: float) -> dict[str, Any] | None:
        """The next line; None when the time is over or the process is gone."""
        try:
            async with asyncio.timeout_at(until):
                line = await self.output.readline()
            answer = json.loads(line) if line else None
        except (TimeoutError, ValueError, OSError):
            return None
        if not isinstance(answer, dict):
            return None
        self.ready |= "ready" in answer
        if "playing" in answer:
            self.listener(Playing(**answer["playing"]))
        return answer

    def begin(self, rules: str, role: str, deadline: float, play_clock: float) -> None:
        """Hand over a match."""
        self.ready = False
        self.say(do="begin", rules=rules, role=role, deadline=deadline, play_clock=play_clock)

    async def reading(self, until: float) -> str:
        """Wait for the mover to be ready; what is wrong in a line, or nothing: then it is, or may be in time later."""
        while not self.ready:
            answer = await self.hear(until)
            if answer is None:
                return "" if self.alive else "the process in which the player thinks died over the rules"
            if "error" in answer:
                return str(answer["error"])
        return ""

    async def choose(self, turn: int, joints: Sequence[Sequence[Term]], deadline: float, until: float) -> Thought:
        """A move before `until`: the search's, due at `deadline`, or else the best of those that were told before."""
        self.say(do="choose", turn=turn, joints=_texts(joints), deadline=deadline)
        best: str | None = None
        while (answer := await self.hear(until)) is not None:
            if answer.get("turn") != turn:
                continue  # an earlier search that overstayed, or news of another kind
            if "error" in answer:
                return Thought(best, error=str(answer["error"]))
            if "move" in answer:
                return Thought(str(answer["move"]), time.monotonic() - deadline)
            best = str(answer.get("best"))
        if not self.alive:
            return Thought(best, error="the process in which the player thinks died")
        what = "the search overstayed its time" if self.ready else "the player has not read the rules yet"
        return Thought(best, late=until - deadline if self.ready else 0.0, error=what)

    async def end(self, joints: Sequence[Sequence[Term]]) -> tuple[bool, list[int] | None]:
        """Whether the worker let go of its match and can take another, and the goals if these last moves ended it."""
        self.say(do="end", joints=_texts(joints))
        until = time.monotonic() + END_SECONDS
        while (answer := await self.hear(until)) is not None:
            if "ended" in answer:
                return True, answer.get("goals")
        return False, None

    async def kill(self) -> None:
        """End the process and everything it holds."""
        self.transport.close()
        await self.process.wait()
        await asyncio.sleep(0)  # in which the loop lets go of the pipes


def _texts(joints: Sequence[Sequence[Term]]) -> list[list[str]]:
    return [[term_text(move) for move in joint] for joint in joints]
