"""A lock on an open file, so that only one process writes it; on Unix and on Windows. Knows nothing of the content."""

from __future__ import annotations

import errno
import time
from pathlib import Path

from palaestra.base.errors import PalaestraError

PATIENCE, AGAIN = 0.2, 0.005  # seconds: how long one waits for those who only look, and between two tries


def lock(handle: int, path: Path, error: type[PalaestraError]) -> None:
    """Have an open file to oneself until it is closed, or the process ends, however; `error` if another process has it.

    `path` is what the message names. A system that knows no locks, neither those of Unix nor those of Windows, lets
    everyone write.
    """
    until = time.monotonic() + PATIENCE
    try:
        while not (held := _is_taken(handle)) and time.monotonic() < until:
            time.sleep(AGAIN)
    except OSError as reason:
        if reason.errno != errno.ENOSYS:
            raise error(f"cannot lock {path}: {(reason.strerror or str(reason)).lower()}") from None
        held = True
    if not held:
        raise error(f"{path} is being written by another process; wait for it or end it")


def is_held(handle: int) -> bool:
    """Whether another process has the open file to itself; close the file after that.

    Whoever looks may have to take the lock for an instant, which `lock` waits for. On Unix it is a shared one, so
    that two who look at once do not take each other for the holder. False where the lock cannot be tried.
    """
    try:
        return not _is_taken(handle, shared=True)
    except OSError:
        return False


def _is_taken(handle: int, *, shared: bool = False) -> bool:
    """One try."""
    from filelock import lock_descriptor

    if shared:
        try:
            import fcntl
        except ImportError:  # Windows
            pass
        else:
            try:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True
    return lock_descriptor(handle, blocking=False)
