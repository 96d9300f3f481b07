"""Lines that another program sends, read beside whatever is being thought; knows no protocol."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable, Iterator

LONGEST = 2**16  # bytes of a line; the rest of a longer one is dropped, and `TOO_LONG` stands at its end
CHUNK = 2**16  # bytes that are read at once
WAITING = 1024  # lines that may wait
TOO_LONG = "\x00"  # which nothing that is read holds
_CONTROLS = {code: None for code in (*range(32), 127)} | {ord("\t"): " "}


class Lines:
    """The lines of what `read` gives, which a thread reads, so that one can see whether something has come."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._queue: queue.Queue[str | None] = queue.Queue(WAITING)
        threading.Thread(target=self._fill, args=(read,), daemon=True, name="palaestra-lines").start()

    def next(self) -> str | None:
        """The next line, without its end; None when nothing more will come."""
        line = self._queue.get()
        if line is None:
            self._queue.put(None)
        return line

    def waiting(self) -> bool:
        """Whether a line, or the end, has come and was not taken."""
        return not self._queue.empty()

    def _fill(self, read: Callable[[int], bytes]) -> None:
        for line in split_lines(read):
            self._queue.put(line)
        self._queue.put(None)


def standard_input() -> Callable[[int], bytes]:
    """What reads stdin, without Python's own buffer: a thread that waits in it could not be left behind at the end."""
    try:
        number = sys.stdin.fileno()
    except (OSError, ValueError, AttributeError):  # something else stands in its place
        return sys.stdin.buffer.read if hasattr(sys.stdin, "buffer") else lambda size: sys.stdin.read(size).encode()
    return lambda size: os.read(number, size)


def split_lines(read: Callable[[int], bytes]) -> Iterator[str]:
    """Every line without its end and without control characters, up to where nothing more comes."""
    kept, cut = b"", False
    while chunk := _chunk(read):
        *ended, last = chunk.split(b"\n")
        for piece in ended:
            line = kept + piece
            yield _decoded(line, cut or len(line) > LONGEST)
            kept, cut = b"", False
        kept += last
        cut = cut or len(kept) > LONGEST
        kept = kept[:LONGEST]
    if kept:
        yield _decoded(kept, cut)


def _chunk(read: Callable[[int], bytes]) -> bytes:
    try:
        return read(CHUNK)
    except (OSError, ValueError):  # the other side has closed it
        return b""


def _decoded(line: bytes, cut: bool) -> str:
    return clean(line[:LONGEST].decode("utf-8", "replace")) + (TOO_LONG if cut else "")


def clean(text: str) -> str:
    """Without control characters; a tab is a space."""
    return text.translate(_CONTROLS)
