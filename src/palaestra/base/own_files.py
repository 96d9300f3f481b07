"""Files that nobody but the user can have written: what is read from them may be believed, as with the keys of ssh.

A file counts if it, its folder and the folder above belong to the user and neither the group nor others can write them.
What is looked at is what has been opened, not a name that may mean something else a moment later; below the uppermost
folder no symbolic link is followed. On systems without owners and modes, such as Windows, every file counts.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OWNERS = hasattr(os, "geteuid") and os.open in os.supports_dir_fd
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class NotOwn(Exception):
    """A file or folder that someone else may have written; the text says which and why."""


def read_own(path: Path) -> bytes:
    """The bytes of `root/folder/name`; OSError where there are none, NotOwn if they may be someone else's."""
    if not _OWNERS:
        return path.read_bytes()
    with _own_folder(path.parent) as folder, _opened(path.name, os.O_RDONLY | _NO_LINK, path, folder) as handle:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotOwn(f"{path} is not a regular file")
        with os.fdopen(os.dup(handle), "rb") as file:
            return file.read()


def write_own(path: Path, data: bytes, temporary: str) -> None:
    """Write `root/folder/name` under a temporary name and rename it; what has to be made only the user can enter."""
    path.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    if not _OWNERS:
        path.with_name(temporary).write_bytes(data)
        os.replace(path.with_name(temporary), path)
        return
    with _own_folder(path.parent) as folder:
        try:
            handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.replace(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:
            try:
                os.unlink(temporary, dir_fd=folder)
            except OSError:
                pass  # the first error is the one to tell
            raise


@contextmanager
def _own_folder(path: Path) -> Iterator[int]:
    """`root/folder`, opened."""
    root = os.lstat(path.parent)
    if stat.S_ISLNK(root.st_mode) and root.st_uid != os.geteuid():
        raise NotOwn(f"{path.parent} is a link of another user")
    with (
        _opened(path.parent, _FOLDER, path.parent) as above,
        _opened(path.name, _FOLDER | _NO_LINK, path, above) as own,
    ):
        yield own


@contextmanager
def _opened(name: Path | str, flags: int, path: Path, folder: int | None = None) -> Iterator[int]:
    """A handle of something that is the user's own; `path` is its full name."""
    try:
        handle = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise NotOwn(f"{path} is a symbolic link or no folder") from None
        raise
    try:
        status = os.fstat(handle)
        if status.st_uid != os.geteuid():
            raise NotOwn(f"{path} belongs to another user")
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise NotOwn(f"others can write {path}")
        yield handle
    finally:
        os.close(handle)
