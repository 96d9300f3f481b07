"""The process in which a player thinks: a JSON object a line on stdin and stdout, so that it can be killed any time.

    out  {"up": true}
    in   {"do": "begin", "rules": KIF, "role": …, "deadline": …, "play_clock": …}
    out  {"ready": note} or {"error": line}
    in   {"do": "choose", "turn": n, "joints": [[move, …], …], "deadline": …}
    out  {"turn": n, "fallback": move}, then {"turn": n, "move": move} or {"turn": n, "error": line}
    in   {"do": "end"}
    out  {"ended": true}

`joints` are the moves of everybody since the last `choose`. The fallback is a legal move that is there at once; the
search runs in a thread of its own, so that one which overstays its deadline cannot keep the next fallback from coming.
Deadlines are those of `time.monotonic`, which processes share. Knows nothing of HTTP or of who manages the match.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import queue
import resource
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from palaestra.errors import GdlError, PalaestraError
from palaestra.ggp.kif import Term, term_text
from palaestra.ggp.protocol import read_term
from palaestra.ggp.rules import parse_rules
from palaestra.ggp.worker_process import WorkerSettings

if TYPE_CHECKING:
    from palaestra.ggp.movers import Mover

PATIENCE = 1.0  # seconds for a search to notice its deadline


class Worker:
    """One match at a time: the rules' own state, and a mover that thinks about it in a thread."""

    def __init__(self, mover: Mover, seed: int, out: TextIO) -> None:
        self.mover = mover
        self.rng = np.random.default_rng(seed)
        self.out = out
        self.writing = threading.Lock()
        self.jobs: queue.Queue[tuple[int, Any, float]] = queue.Queue()
        self.state: Any = None  # of the mover's machine; None between matches
        self.seat = 0
        threading.Thread(target=self._search, daemon=True).start()

    def say(self, **message: Any) -> None:
        with self.writing:
            self.out.write(json.dumps(message) + "\n")
            self.out.flush()

    def begin(self, rules: str, role: str, deadline: float, play_clock: float) -> None:
        self.state = None
        game = parse_rules(rules)
        role = game.role(role)
        note = self.mover.begin(game, role, deadline, play_clock)
        self.seat = game.roles.index(role)
        self.state = self.mover.machine.initial()
        self.say(ready=note)

    def choose(self, turn: int, joints: list[list[str]], deadline: float) -> None:
        """Follow the moves, say a legal one at once, and let the mover find a better one."""
        if self.state is None:
            raise GdlError("no match has begun")
        machine = self.mover.machine
        with self.mover.lock:
            for texts in joints:
                joint = machine.joint(self.state, [read_term(text) for text in texts])
                after = machine.step(self.state, joint)
                self.mover.played(self.state, joint)
                self.state = after
            if machine.terminal(self.state):
                raise GdlError("the match is over")
            legal: list[Term] = machine.legal(self.state)[self.seat]
        if not legal:
            raise GdlError("the rules give no legal move")
        if len(legal) == 1:
            self.say(turn=turn, move=term_text(legal[0]))
            return
        self.say(turn=turn, fallback=term_text(legal[int(self.rng.integers(len(legal)))]))
        self.jobs.put((turn, self.state, deadline))

    def _search(self) -> None:
        """The thread: think about the newest position there is."""
        while True:
            turn, state, deadline = self.jobs.get()
            try:
                if self.jobs.empty():
                    self.say(turn=turn, move=term_text(self.mover.choose(state, deadline)))
            except MemoryError:
                self.say(turn=turn, error="the search needs more memory than it was given")
            except Exception as error:  # a search that fails must not leave the match without moves
                self.say(turn=turn, error=_line(error))
            finally:
                self.jobs.task_done()

    def end(self) -> None:
        """Let go of the match. A search that goes on and on is not answered for, so that the process is killed."""
        with self.jobs.all_tasks_done:
            idle = self.jobs.all_tasks_done.wait_for(lambda: not self.jobs.unfinished_tasks, PATIENCE)
        if idle:
            self.mover.end()
            self.state = None
            self.say(ended=True)

    def serve(self, lines: TextIO) -> None:
        """Say that the process is up and obey until the other side is gone, which ends it at once, whatever it does."""
        orders: dict[str, Callable[..., None]] = {"begin": self.begin, "choose": self.choose, "end": self.end}
        heard: queue.Queue[str] = queue.Queue()
        threading.Thread(target=_listen, args=(lines, heard), daemon=True).start()
        self.say(up=True)
        with contextlib.suppress(Exception):  # what is wrong will be told when a match begins
            self.mover.prepare()
        while True:
            message = json.loads(heard.get())
            what, turn = message.pop("do"), message.get("turn")
            try:
                orders[what](**message)
            except MemoryError:
                self.say(turn=turn, error="the rules need more memory than the player was given")
            except PalaestraError as error:
                self.say(turn=turn, error=_line(error))
            except Exception as error:  # whatever rules can do to a machine, the next match is fine
                self.say(turn=turn, error=f"unexpected {type(error).__name__}: {_line(error)}")


def _listen(lines: TextIO, heard: queue.Queue[str]) -> None:
    for line in lines:
        heard.put(line)
    os._exit(0)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())


def main() -> None:
    settings = WorkerSettings(**json.loads(sys.argv[1]))
    # What libraries print must not mix with the answers.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    module, _, function = settings.maker.partition(":")
    mover = getattr(importlib.import_module(module), function)(settings.player, settings.seed)
    # Of the heap alone: libraries reserve address space that they never touch.
    most = settings.megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    Worker(mover, settings.seed, out).serve(sys.stdin)


if __name__ == "__main__":
    main()
