"""Commands that a page starts: the very command line that a person would type, in a session of its own.

A command goes on when the page, the browser and the server are gone, and a later server finds it again: its folder
keeps what was asked, which process does it, and what it printed. That a command runs is said by a lock on its log,
which the process inherits and which no other can hold; so a process number that was used again is never taken for it.
Nothing goes through a shell. Knows no verb: whoever starts a command has checked its words.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from palaestra.base.atomic import disk_error, make_folder, write_file
from palaestra.base.errors import RunError
from palaestra.base.locks import is_held, lock
from palaestra.base.reading import parse_json, read_bytes
from palaestra.base.user_code import for_a_page

RECORD, LOG = "command.json", "command.log"
GRACE = 20.0  # seconds in which a command that was asked to stop may write what it has
MOST_RECORD = 2**18  # bytes
WIDTH = "100"  # columns of what a command prints

_recording = threading.Lock()  # the end of one command and the start of the next write the same file
_children: dict[Path, subprocess.Popen[bytes]] = {}  # of this server; where locks are not inherited, all that is known


@dataclass(frozen=True)
class Command:
    """A command as it was started last in its folder; `code` is its exit code where somebody was there to see it."""

    folder: Path
    words: tuple[str, ...]  # after `palaestra`
    pid: int
    started: float  # seconds since 1970
    begun: str | None = None  # when the process began, as the system counts; None where it does not say
    code: int | None = None

    # Starting and finding.

    @classmethod
    def start(cls, words: list[str], folder: Path) -> Command:
        """Start `palaestra WORDS`; RunError if the folder's command runs already."""
        make_folder(folder)
        handle = _open_log(folder)
        try:
            os.ftruncate(handle, 0)
            child = _spawn([sys.executable, "-m", "palaestra", *words], handle)
        except OSError as error:
            raise disk_error("cannot start a command with the log", folder / LOG, error) from None
        finally:
            os.close(handle)  # the child has its own, and with it the lock
        found = cls(folder, tuple(words), child.pid, time.time(), _begun(child.pid))
        _children[folder] = child
        with _recording:
            found._write()
        threading.Thread(target=_await_end, args=(found, child), daemon=True).start()
        return found

    @classmethod
    def last(cls, folder: Path) -> Command | None:
        """The command that was started last in this folder; None if there was none, or its record cannot be read."""
        try:
            kept = parse_json(read_bytes(folder / RECORD, MOST_RECORD))
        except (OSError, ValueError):
            return None
        return cls(folder, *_checked(kept)) if _is_record(kept) else None

    # What it does.

    @property
    def is_running(self) -> bool:
        return is_running(self.folder)

    @property
    def line(self) -> str:
        """The command as a person types it."""
        return shlex.join(["palaestra", *self.words])

    @property
    def failed(self) -> bool:
        """Whether it is known to have ended with an error; to be stopped is none."""
        return self.code is not None and self.code not in (0, 130, 143, -signal.SIGTERM, -getattr(signal, "SIGKILL", 9))

    def log(self, most: int = 4000) -> str:
        """The end of what it printed."""
        try:
            with open(self.folder / LOG, "rb") as file:
                file.seek(max(0, os.fstat(file.fileno()).st_size - most))
                return file.read(most).decode("utf-8", "replace").strip()
        except OSError:
            return ""

    @property
    def last_line(self) -> str:
        return self.log().rpartition("\n")[2].strip()

    def stop(self, grace: float = GRACE) -> None:
        """End it as Ctrl-C does, and by force if it does not end in time. Waits; one that has ended is fine.

        RunError if the process that is recorded is another one by now: that one is left alone.
        """
        if not self.is_running:
            return
        if os.name == "nt":
            _children[self.folder].terminate()
            return
        if not self._is_process():
            raise RunError(f"process {self.pid} is not {self.line} any more, and is left alone; see {self.folder}")
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGTERM)
            if not self._ends_within(grace):
                os.killpg(self.pid, signal.SIGKILL)
                self._ends_within(grace)

    def _ends_within(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while self.is_running:
            if time.monotonic() > until:
                return False
            time.sleep(0.05)
        return True

    def _is_process(self) -> bool:
        """Whether the recorded process is the one that was started: it leads its group, and began when it did."""
        try:
            return os.getpgid(self.pid) == self.pid and _begun(self.pid) == self.begun
        except OSError:
            return False

    def _write(self) -> None:
        kept = asdict(self) | {"folder": None, "words": list(self.words)}
        write_file(self.folder / RECORD, json.dumps(kept).encode())


def is_running(folder: Path) -> bool:
    """Whether a command that was started in this folder runs, by whomever it was started."""
    if os.name == "nt":
        child = _children.get(folder)
        return child is not None and child.poll() is None
    try:
        with open(folder / LOG, "rb") as file:
            return is_held(file.fileno())
    except OSError:
        return False


def _open_log(folder: Path) -> int:
    """The log, ours alone; RunError if a command has it."""
    path = folder / LOG
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o644)
    except OSError as error:
        raise disk_error("cannot write", path, error) from None
    try:
        lock(handle, path, RunError)
    except RunError:
        os.close(handle)
        raise RunError(f"{folder.name} is being worked on already; stop it first, or wait until it ends") from None
    return handle


def _spawn(words: list[str], log: int) -> subprocess.Popen[bytes]:
    apart: dict[str, Any] = {"start_new_session": True}
    if os.name == "nt":
        apart = {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    around = {**os.environ, **for_a_page(), "COLUMNS": WIDTH}
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=around, **apart)


def _await_end(command: Command, child: subprocess.Popen[bytes]) -> None:
    """Note the exit code, unless another command has begun in the folder or the folder is gone."""
    code = child.wait()
    with _recording:
        last = Command.last(command.folder)
        if last is not None and (last.pid, last.started) == (command.pid, command.started):
            with contextlib.suppress(RunError):
                Command(last.folder, last.words, last.pid, last.started, last.begun, code)._write()


def _begun(pid: int) -> str | None:
    """When a process began, in ticks since the system did; None where the system does not tell."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[19]  # field 22; the name before it may have spaces and brackets


def _is_record(kept: Any) -> bool:
    if not isinstance(kept, dict) or not isinstance(words := kept.get("words"), list):
        return False
    whole = isinstance(kept.get("pid"), int) and kept["pid"] > 1 and isinstance(kept.get("started"), int | float)
    begun, code = kept.get("begun"), kept.get("code")
    return (
        whole
        and all(isinstance(word, str) for word in words)
        and (begun is None or isinstance(begun, str))
        and (code is None or isinstance(code, int))
    )


def _checked(kept: dict[str, Any]) -> tuple[tuple[str, ...], int, float, str | None, int | None]:
    return tuple(kept["words"]), kept["pid"], float(kept["started"]), kept.get("begun"), kept.get("code")
