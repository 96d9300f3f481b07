"""A program that plays, as a process that is sent lines and answers with lines; every wait for it has an end.

Started without a shell, in a session of its own, so that an interrupt at the terminal does not end it before us.
Knows no protocol and no game.
"""

from __future__ import annotations

import contextlib
import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import IO

from palaestra.base.errors import EngineError, PlayerError
from palaestra.base.text import clip

LONGEST = 2**16  # bytes of a line; what is longer comes in pieces
WAITING = 4096  # lines that may wait to be read; a program that writes more has to wait itself
COMPLAINTS = 4  # last lines of its stderr that are kept, for messages
FAREWELL = 1.0  # seconds that a program has to leave by itself


def words_of(command: str) -> list[str]:
    """The program and its arguments; PlayerError if there is no such program."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise PlayerError(f"the command {clip(command)} cannot be read ({error}); for example gtp:gnugo") from None
    if not words or shutil.which(words[0]) is None:
        named = clip(words[0]) if words else "nothing"
        hint = "; a command with blanks stands in double quotes" if words and " " in words[0] else ""
        raise PlayerError(
            f"there is no program {named} to start{hint}; install it, or give its path: gtp:/usr/games/gnugo"
        )
    return words


class EngineProcess:
    """One running program. `who` is what messages call it."""

    def __init__(self, words: list[str], who: str) -> None:
        self.who = who
        try:
            process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineError(f"{who} cannot be started: {(error.strerror or str(error)).lower()}") from None
        self._process = process
        self._lines: queue.Queue[str | None] = queue.Queue(WAITING)
        self._complaints: deque[str] = deque(maxlen=COMPLAINTS)
        assert process.stdout is not None and process.stderr is not None
        ended = threading.Event()
        _start(_read, process.stdout, self._lines, ended)
        self._listener = _start(_listen, process.stderr, self._complaints)
        self._end = weakref.finalize(self, _end, process, ended)  # also where nobody calls `end`

    def send(self, line: str) -> None:
        """A line to the program; EngineError if it is gone."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        except (OSError, ValueError):
            raise EngineError(f"{self.who} has ended{self._why()}") from None

    def read(self, deadline: float, wanted: str) -> str:
        """The next line, without its end, by `deadline` (`time.monotonic`); `wanted` is what the answer is to be."""
        try:
            line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise EngineError(f"{self.who} hung: no {wanted} in time") from None
        if line is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(FAREWELL)
            raise EngineError(f"{self.who} died: no {wanted}{self._why()}")
        return line

    def kill(self) -> None:
        """End a program that failed, at once."""
        _kill(self._process)
        self._end()

    def _why(self) -> str:
        """How it ended, and the last that it wrote on stderr."""
        code = self._process.poll()
        if code is not None:
            self._listener.join(FAREWELL)  # its last words may not have been heard yet
        words = "" if code is None else f", exit code {code}" if code >= 0 else f", signal {-code}"
        said = self._complaints[-1] if self._complaints else ""
        return words + (f"; it said {clip(said)}" if said else "")


def _start(work: Callable[..., None], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=work, args=arguments, daemon=True, name="palaestra-engine")
    thread.start()
    return thread


def _read(stream: IO[bytes], lines: queue.Queue[str | None], ended: threading.Event) -> None:
    """What the program writes, line by line, and None at its end; nobody waits for it once it was ended."""
    with contextlib.suppress(OSError, ValueError):
        while not ended.is_set() and (line := stream.readline(LONGEST)):
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            while not ended.is_set():
                try:
                    lines.put(text, timeout=0.2)
                    break
                except queue.Full:
                    continue
    with contextlib.suppress(queue.Full):
        lines.put(None, timeout=0.0 if ended.is_set() else None)


def _listen(stream: IO[bytes], complaints: deque[str]) -> None:
    with contextlib.suppress(OSError, ValueError):
        while line := stream.readline(LONGEST):
            if text := line.decode("utf-8", "replace").strip():
                complaints.append(text)


def _end(process: subprocess.Popen[bytes], ended: threading.Event) -> None:
    """Let the program leave, and end it with all that it started if it does not."""
    ended.set()
    with contextlib.suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
    try:
        process.wait(FAREWELL)
    except subprocess.TimeoutExpired:
        _kill(process)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(FAREWELL)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """With all that it has started. While it is not waited for, its number is its own."""
    if process.poll() is not None:
        return
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
