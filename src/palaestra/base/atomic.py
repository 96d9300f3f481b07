"""Files that are whole or absent, whatever happens: temporary name, fsync, rename, fsync of the folder.

A process that is killed leaves at most files ending in `.tmp`, which `sweep` removes. Every system call that changes
the disk stands in this file, so that the tests can make each of them fail. Knows nothing of runs.
"""

from __future__ import annotations

import os
from pathlib import Path

from palaestra.base.errors import RunError

TEMPORARY = ".tmp"
BINARY = getattr(os, "O_BINARY", 0)  # Windows writes other ends of lines without it


def write_file(path: Path, data: bytes, durable: bool = True) -> None:
    """Replace `path` by `data`; after an error or a crash the old content is still there.

    Without `durable` nobody waits for the disk: readers find one content or the other, but what a power cut leaves is
    open.
    """
    temporary = path.with_name(f".{path.name}{TEMPORARY}")
    try:
        try:
            _fill(temporary, data, durable)
            os.replace(temporary, path)
        except OSError:
            _remove_quietly(temporary)
            raise
        if durable:
            sync_folder(path.parent)
    except OSError as error:
        raise disk_error("cannot write", path, error) from None


def append_file(path: Path, data: bytes, at: int) -> None:
    """Make `path` its first `at` bytes followed by `data`. Only the first `at` bytes survive a crash for certain."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | BINARY, 0o644)
        try:
            os.ftruncate(handle, at)
            os.lseek(handle, at, os.SEEK_SET)
            _write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        raise disk_error("cannot write", path, error) from None


def make_folder(path: Path) -> None:
    """Make a folder, its parents too, in such a way that it survives a crash; one that is there is fine."""
    try:
        os.makedirs(path, exist_ok=True)
        sync_folder(path.parent)
    except OSError as error:
        raise disk_error("cannot make the folder", path, error) from None


def remove_file(path: Path) -> None:
    """Remove a file that nothing needs any more; one that is gone is fine."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise disk_error("cannot remove", path, error) from None


def sweep(folder: Path) -> None:
    """Remove what a killed process left half-written in this folder."""
    for left in folder.glob(f".*{TEMPORARY}"):
        remove_file(left)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder durable, where a folder can be opened; Windows sees to it itself."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def disk_error(what: str, path: Path, error: OSError) -> RunError:
    """The one line for an operating system's refusal."""
    return RunError(f"{what} {path}: {(error.strerror or str(error)).lower()}")


def _fill(path: Path, data: bytes, durable: bool) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | BINARY, 0o644)
    try:
        _write_all(handle, data)
        if durable:
            os.fsync(handle)
    finally:
        os.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]


def _remove_quietly(path: Path) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass  # the first error is the one to tell
