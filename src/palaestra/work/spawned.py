"""Processes that are started afresh (spawn), so that no lock and no thread of this process is copied into them.

They end with this process, however it ends, and find the parent's folder, search path and consent to code. Knows
nothing of what they do.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from palaestra.base.errors import PalaestraError, WorkError
from palaestra.base.user_code import trust, trusted

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


@dataclass(frozen=True)
class Surroundings:
    """What a process finds around its work: the parent's folder, search path and the code that the user has named."""

    folder: str
    path: list[str]
    trusted: list[str]

    @staticmethod
    def here() -> Surroundings:
        return Surroundings(os.getcwd(), sys.path, trusted())

    def enter(self) -> None:
        os.chdir(self.folder)
        sys.path[:] = self.path
        trust(*self.trusted)

    def enter_elsewhere(self) -> None:
        """The same on a machine that may have other folders: what is not there is left out."""
        if os.path.isdir(self.folder):
            os.chdir(self.folder)
        sys.path += [entry for entry in self.path if entry not in sys.path and os.path.exists(entry)]
        trust(*self.trusted)


def start(serve: Callable[[Connection], None], name: str, *, one_thread: bool) -> tuple[SpawnProcess, Connection]:
    """A new process that runs `serve` with its end of a line to us, and our end of that line.

    With `one_thread`, libraries for linear algebra compute on one thread there.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_begin, args=(serve, theirs, trusted()), name=name)
    with _uninterrupted(), _environment(ONE_THREAD if one_thread else {}):
        process.start()
    theirs.close()
    return process, ours


def _begin(serve: Callable[[Connection], None], line: Connection, user_code: list[str]) -> None:
    """In the new process. The user trusts `user_code` there too."""
    trust(*user_code)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is the parent's, which then ends this process
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, BrokenPipeError):
        serve(line)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def to_be_raised(error: BaseException) -> Exception:
    """An error as the parent can raise it; what happened here is noted on those that are not meant for users."""
    if not isinstance(error, PalaestraError):
        error.add_note("".join(traceback.format_exception(error)))
    with contextlib.suppress(Exception):  # an error's class may not be made for pickling
        if isinstance(error, Exception):
            pickle.loads(pickle.dumps(error))
            return error
    return WorkError(f"{type(error).__name__}: {error}")


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """A process started within is not ended by Ctrl-C, not even while it starts."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _environment(names: dict[str, str]) -> Iterator[None]:
    """A process started within sees these variables: libraries read them when they are first imported."""
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
