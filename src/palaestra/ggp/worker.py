"""The process in which a player thinks: a JSON object a line on stdin and stdout, so that it can be killed any time.

    out  {"up": true}
    in   {"do": "begin", "rules": KIF, "role": …, "deadline": …, "play_clock": …}
    out  {"ready": true}, perhaps only after the first `choose`, or {"error": line}
    in   {"do": "choose", "turn": n, "joints": [[move, …], …], "deadline": …}
    out  {"turn": n, "best": move} at once and whenever another one looks better,
         then {"turn": n, "move": move} or {"turn": n, "error": line}
    out  {"playing": {…}} whenever what plays has changed (`Playing`)
    in   {"do": "end", "joints": …}
    out  {"ended": true, "goals": [number, …] or null}

`joints` are the moves of everybody since the last `choose`. Two threads share the work. One obeys: it follows the match
in the rules as they stand, which need no getting ready, so that a legal move is there at once whatever else is. The
other is the mover's: it compiles, reads the rules, follows and searches; one that overstays its time keeps nobody from
hearing the best move so far, nor the next turn. Deadlines are those of `time.monotonic`, which processes share. Knows
nothing of HTTP or of who manages the match.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from palaestra.base.errors import GdlError, PalaestraError
from palaestra.base.user_code import trust
from palaestra.ggp.interpreter import Interpreter
from palaestra.ggp.kif import Term, term_text
from palaestra.ggp.machine import QUESTION_SECONDS, Machine
from palaestra.ggp.protocol import read_term, rules_digest
from palaestra.ggp.rules import Rules, parse_rules
from palaestra.ggp.worker_process import Playing, WorkerSettings

if TYPE_CHECKING:
    from palaestra.ggp.movers import Mover

PATIENCE = 1.0  # seconds for a search to notice its deadline
BETWEEN = 0.05  # seconds between two best moves that are told

Joint = tuple[Term, ...]


class Referee:
    """Follows a match by the rules alone."""

    def __init__(self, machine: Machine, joints: Sequence[Joint] = ()) -> None:
        self.machine, self.state = machine, machine.initial()
        self.joints: list[Joint] = []
        for joint in joints:
            self.follow(joint)

    def follow(self, joint: Joint) -> None:
        if len(joint) != len(self.machine.roles):
            raise GdlError(f"{len(joint)} moves for {len(self.machine.roles)} roles")
        self.state = self.machine.step(self.state, joint)
        self.joints.append(joint)

    def legal(self, seat: int) -> list[Term]:
        """The moves of a role; GdlError if there are none."""
        if self.machine.terminal(self.state):
            raise GdlError("the match is over")
        if legal := self.machine.legal(self.state)[seat]:
            return legal
        raise GdlError("the rules give no legal move")


class Worker:
    """One match at a time: a referee that answers at once, and a mover that thinks in a thread."""

    def __init__(self, mover: Mover, seed: int, out: TextIO) -> None:
        self.mover = mover
        self.rng = np.random.default_rng(seed)
        self.out = out
        self.writing = threading.Lock()
        self.tasks: queue.Queue[tuple[int | None, Callable[[], None]]] = queue.Queue()
        self.referee: Referee | None = None  # none between matches
        self.seat, self.digest = 0, ""  # the role in the match, and what tells its rules from others
        self.told: Playing | None = None
        self.flaw = ""  # why the mover does not play
        threading.Thread(target=self._work, daemon=True).start()

    def say(self, **message: Any) -> None:
        with self.writing:
            self.out.write(json.dumps(message) + "\n")
            self.out.flush()

    # What the other side asks for.

    def begin(self, rules: str, role: str, deadline: float, play_clock: float) -> None:
        self.referee = None
        game = parse_rules(rules)
        self.seat, self.digest = game.roles.index(game.role(role)), rules_digest(rules)
        self.tasks.put((None, partial(self._read, game, deadline, play_clock)))
        self.referee = Referee(Interpreter(game, max(deadline - time.monotonic(), QUESTION_SECONDS)))

    def choose(self, turn: int, joints: list[list[str]], deadline: float) -> None:
        """Follow the moves, say a legal one at once, and let the mover find a better one."""
        if self.referee is None:
            raise GdlError("no match has begun")
        machine = self.mover.shared
        if machine is not None and self.referee.machine is not machine:
            self.referee = Referee(machine, self.referee.joints)  # the same rules, faster
        news: list[Joint] = []
        try:
            for joint in _joints(joints):
                self.referee.follow(joint)
                news.append(joint)
            legal = self.referee.legal(self.seat)
        except PalaestraError:
            self.tasks.put((None, partial(self._follow, news)))  # the mover stands where the referee does
            raise
        if len(legal) == 1:
            self.say(turn=turn, move=term_text(legal[0]))
            self.tasks.put((None, partial(self._follow, news)))
            return
        self.say(turn=turn, best=term_text(legal[int(self.rng.integers(len(legal)))]))
        self.tasks.put((turn, partial(self._think, turn, news, deadline)))

    def end(self, joints: list[list[str]]) -> None:
        """Let go of the match. A search that goes on and on is not answered for, so that the process is killed."""
        goals = None
        with contextlib.suppress(PalaestraError):  # last moves that are none leave the goals unknown
            if self.referee is not None:
                for joint in _joints(joints):
                    self.referee.follow(joint)
                if self.referee.machine.terminal(self.referee.state):
                    goals = self.referee.machine.goals(self.referee.state)
        with self.tasks.all_tasks_done:
            idle = self.tasks.all_tasks_done.wait_for(lambda: not self.tasks.unfinished_tasks, PATIENCE)
        if idle:
            self.mover.end()
            self.referee = None
            self.say(ended=True, goals=goals)

    # What the mover's thread does.

    def _work(self) -> None:
        while True:
            turn, task = self.tasks.get()
            self._guarded(turn, task)
            self.tasks.task_done()

    def _read(self, rules: Rules, deadline: float, play_clock: float) -> None:
        self.told, self.flaw = None, "the player cannot play these rules"
        self.mover.begin(rules, rules.roles[self.seat], deadline, play_clock)
        self.flaw = ""
        self._tell_who_plays()
        self.say(ready=True)

    def _follow(self, joints: Sequence[Joint]) -> None:
        if self.flaw:
            raise GdlError(self.flaw)
        for joint in joints:
            self.mover.played(joint)
        self._tell_who_plays()

    def _think(self, turn: int, joints: Sequence[Joint], deadline: float) -> None:
        """Follow, and think if this is the newest position there is."""
        self._follow(joints)
        if not self.tasks.empty():
            return
        last: tuple[float, Term] = 0.0, ()

        def publish(move: Term) -> None:
            nonlocal last
            now = time.monotonic()
            if move != last[1] and now - last[0] >= BETWEEN:
                self.say(turn=turn, best=term_text(move))
                last = now, move

        move = self.mover.choose(deadline, publish)
        self._tell_who_plays()
        self.say(turn=turn, move=term_text(move))

    def _tell_who_plays(self) -> None:
        if (playing := replace(self.mover.playing, rules=self.digest)) != self.told:
            self.told = playing
            self.say(playing=asdict(playing))

    # Both.

    def _guarded(self, turn: int | None, task: Callable[[], None]) -> None:
        """Whatever rules or a search can do, it becomes a line, and the next match is fine."""
        try:
            task()
        except MemoryError:
            self.say(turn=turn, error="the rules need more memory than the player was given")
        except PalaestraError as error:
            self.say(turn=turn, error=_line(error))
        except Exception as error:
            self.say(turn=turn, error=f"unexpected {type(error).__name__}: {_line(error)}")

    def serve(self, lines: TextIO) -> None:
        """Say that the process is up and obey until the other side is gone, which ends it at once, whatever it does."""
        orders: dict[str, Callable[..., None]] = {"begin": self.begin, "choose": self.choose, "end": self.end}
        heard: queue.Queue[str] = queue.Queue()
        threading.Thread(target=_listen, args=(lines, heard), daemon=True).start()
        self.say(up=True)
        self.tasks.put((None, self._prepare))
        while True:
            message = json.loads(heard.get())
            what = message.pop("do")
            self._guarded(message.get("turn"), partial(orders[what], **message))

    def _prepare(self) -> None:
        with contextlib.suppress(Exception):  # what is wrong will be told when a match begins
            self.mover.prepare()


def _listen(lines: TextIO, heard: queue.Queue[str]) -> None:
    for line in lines:
        heard.put(line)
    os._exit(0)


def _joints(texts: list[list[str]]) -> Iterator[Joint]:
    for joint in texts:
        yield tuple(read_term(text) for text in joint)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _limit_heap(most: int) -> None:
    """At most so many bytes, where the system can hold a process to it; Windows cannot."""
    try:
        import resource
    except ImportError:
        return
    # Of the heap alone: libraries reserve address space that they never touch.
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def main() -> None:
    settings = WorkerSettings(**json.loads(sys.argv[1]))
    trust(settings.player)  # typed by whoever started the server
    # What libraries print must not mix with the answers.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    module, _, function = settings.maker.partition(":")
    mover = getattr(importlib.import_module(module), function)(settings.player, settings.seed)
    _limit_heap(settings.megabytes * 2**20)
    Worker(mover, settings.seed, out).serve(sys.stdin)


if __name__ == "__main__":
    main()
