"""Reading what others wrote: whole files up to a size, JSON and TOML, with no way to hang, to exhaust or to crash.

A file may be a pipe that nobody writes to, endless, or nested a hundred thousand deep. What is wrong with a file is
an OSError, and what is wrong with its text a ValueError: whoever reads says in one line what the file should have been.
Nothing that is read runs.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

MOST_BYTES = 2**31  # of a file, where whoever reads it does not know better
MOST_TEXT = 2**26  # bytes of JSON
MOST_TOML = 2**16  # bytes of TOML, whose reader is slow
MOST_DEPTH = 64  # lists and tables inside each other
MOST_DOTS = 100  # in a line of TOML: a key of n parts costs its reader n² steps


@contextmanager
def opened(path: Path | str) -> Iterator[BinaryIO]:
    """A file to read from. OSError if it is not there or is none: a folder, a pipe, a device."""
    try:
        possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise OSError(errno.EINVAL, "no file can have this name", path)
    # Without waiting: to open a pipe is to wait for whoever writes into it.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        raise OSError(errno.EINVAL, f"it is {'a folder' if stat.S_ISDIR(mode) else 'not a regular file'}", path)
    with os.fdopen(handle, "rb") as file:
        yield file


def read_bytes(path: Path | str, most: int = MOST_BYTES) -> bytes:
    """All bytes of a file; OSError also if there are more than `most`."""
    with opened(path) as file:
        if os.fstat(file.fileno()).st_size > most or len(data := file.read(most + 1)) > most:
            raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", path)
    return data


def parse_json(data: bytes | str) -> Any:
    """A JSON value of finite numbers; ValueError for anything else, for too much of it and for too deep nesting."""
    if len(data) > MOST_TEXT:
        raise ValueError(f"more than {MOST_TEXT:,} bytes of JSON")
    try:
        return _shallow(json.loads(data, parse_constant=_refuse))
    except RecursionError:
        raise ValueError(f"nested more than {MOST_DEPTH} deep") from None


def parse_toml(data: bytes | str) -> dict[str, Any]:
    """The tables of a TOML document; ValueError for anything else, for too much of it and for too deep nesting."""
    text = data if isinstance(data, str) else data.decode()
    if len(text) > MOST_TOML:
        raise ValueError(f"more than {MOST_TOML:,} bytes of TOML")
    if any(line.count(".") > MOST_DOTS for line in text.splitlines()):
        raise ValueError(f"more than {MOST_DOTS} dots in a line")
    try:
        return _shallow(tomllib.loads(text))
    except RecursionError:
        raise ValueError(f"nested more than {MOST_DEPTH} deep") from None


def _shallow(value: Any) -> Any:
    """The value; ValueError if it is nested so deep that code which walks through it could run out of stack."""
    level = [value]
    for _ in range(MOST_DEPTH):
        inside = [item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list)]
        if not inside:
            return value
        level = [item for items in inside for item in items]
    raise ValueError(f"nested more than {MOST_DEPTH} deep")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number of JSON")
