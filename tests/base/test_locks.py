"""One writer a file."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import filelock
import pytest

from palaestra.base.errors import RecordError, RunError
from palaestra.base.locks import is_held, lock

HOLD = """
import os, sys
from pathlib import Path
from palaestra.base.errors import RunError
from palaestra.base.locks import lock
lock(os.open(sys.argv[1], os.O_RDWR), Path(sys.argv[1]), RunError)
print("held", flush=True)
sys.stdin.read()
"""


def test_another_process_is_refused_until_the_first_is_killed(tmp_path: Path) -> None:
    (path := tmp_path / "file").touch()
    command = [sys.executable, "-c", HOLD, str(path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    handle = os.open(path, os.O_RDWR)
    assert is_held(handle)
    with pytest.raises(RecordError, match=f"{path} is being written by another process; wait for it or end it"):
        lock(handle, path, RecordError)
    process.kill()
    process.communicate()
    lock(handle, path, RecordError)
    os.close(handle)


def test_looking_at_a_lock_keeps_nobody_from_taking_it(tmp_path: Path) -> None:
    (path := tmp_path / "file").touch()
    enough = threading.Event()
    seen: list[bool] = []

    def look() -> None:
        while not enough.is_set():
            with open(path, "rb") as file:
                seen.append(is_held(file.fileno()))

    looking = [threading.Thread(target=look) for _ in range(2)]
    for thread in looking:
        thread.start()
    try:
        for _ in range(200):
            handle = os.open(path, os.O_RDWR)
            lock(handle, path, RunError)
            os.close(handle)
    finally:
        enough.set()
        for thread in looking:
            thread.join()
    assert seen
    with open(path, "rb") as file:
        assert not is_held(file.fileno())


def test_what_goes_wrong_is_one_line_and_a_system_without_locks_lets_all_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(code: int) -> None:
        def failing(handle: int, blocking: bool) -> bool:
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(filelock, "lock_descriptor", failing)

    fail(errno.ENOSYS)
    lock(0, tmp_path, RunError)
    fail(errno.ENOLCK)
    with pytest.raises(RunError, match=f"cannot lock {tmp_path}: no locks available"):
        lock(0, tmp_path, RunError)
