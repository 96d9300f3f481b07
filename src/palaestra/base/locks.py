"""A lock on an open file, so that only one process writes it; on Unix and on Windows. Knows nothing of the content."""

from __future__ import annotations

import errno
from pathlib import Path

from palaestra.base.errors import PalaestraError


def lock(handle: int, path: Path, error: type[PalaestraError]) -> None:
    """Have an open file to oneself until it is closed, or the process ends, however; `error` if another process has it.

    `path` is what the message names. A system that knows no locks, neither those of Unix nor those of Windows, lets
    everyone write.
    """
    from filelock import lock_descriptor

    try:
        held = lock_descriptor(handle, blocking=False)
    except OSError as reason:
        if reason.errno != errno.ENOSYS:
            raise error(f"cannot lock {path}: {(reason.strerror or str(reason)).lower()}") from None
        held = True
    if not held:
        raise error(f"{path} is being written by another process; wait for it or end it")
