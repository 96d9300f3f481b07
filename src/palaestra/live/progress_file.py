"""Where a run is, for other processes: a small file in its folder that is written again while the run goes on.

The file is no part of the run: no manifest names it, nothing reads it but views, and a run without it is the same run.
It tells what the lines of metrics cannot, which is what happens inside an iteration.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pydantic import ConfigDict, TypeAdapter, ValidationError

from palaestra.base.atomic import remove_file, write_file
from palaestra.base.errors import RunError
from palaestra.base.reading import parse_json, read_bytes
from palaestra.learn import events
from palaestra.learn.events import Event
from palaestra.live.run import RunProgress

PROGRESS = "progress.json"
EVERY = 0.4  # seconds between two writes
MOST_BYTES = 2**18


class ProgressFile(RunProgress):
    """A listener that keeps the file; a disk that refuses it never ends a run."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._path = folder / PROGRESS
        self._written = 0.0
        self._writing = threading.Lock()  # progress of a stage is told by several threads

    def __call__(self, event: Event) -> None:
        super().__call__(event)
        if isinstance(event, events.RunEnded):
            with self._writing, contextlib.suppress(RunError):
                remove_file(self._path)
        elif isinstance(event, events.RunStarted | events.Warned) or time.monotonic() - self._written >= EVERY:
            self._write()

    def _write(self) -> None:
        if self.started is None or not self._writing.acquire(blocking=False):
            return
        try:
            data = json.dumps({**self.document(), "written": time.time()}, allow_nan=False).encode()
            with contextlib.suppress(RunError):
                write_file(self._path, data, durable=False)
            self._written = time.monotonic()
        finally:
            self._writing.release()


@dataclass(frozen=True)
class Progress:
    """What the file says: `RunProgress.document` and when it was written, in seconds since 1970."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(allow_inf_nan=False, extra="ignore")

    iterations: int
    share: float
    seconds: float
    seconds_left: float | None
    stage: str | None
    done: int
    total: int | None
    unit: str
    warnings: list[str]
    ended: bool
    written: float


def read_progress(folder: Path) -> Progress | None:
    """What a run's process told last, also one that was killed since; None without a file that can be read."""
    try:
        return TypeAdapter(Progress).validate_python(parse_json(read_bytes(folder / PROGRESS, MOST_BYTES)))
    except (OSError, ValueError, ValidationError):
        return None
