"""The one line that a person sees while code is compiled for the first time; pipes and files see nothing of it."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from palaestra.base.compiling import listening

if TYPE_CHECKING:
    from rich.status import Status


@contextmanager
def compile_notice() -> Iterator[None]:
    """While a function is being compiled, a terminal shows a spinner and what it is for, on stderr."""
    with listening(_Notice()):
        yield


class _Notice:
    """Several threads may compile at once: the spinner is there from the first to the last of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy = 0
        self._status: Status | None = None

    def __call__(self, module: str, begins: bool) -> None:
        from rich.text import Text

        from palaestra.cli.output import stderr

        with self._lock:
            self._busy += 1 if begins else -1
            if begins and self._status is None and stderr().is_terminal:
                self._status = stderr().status(Text(f"compiling {subject(module)} (once)"))
                self._status.start()
            elif not self._busy and self._status is not None:
                self._status.stop()
                self._status = None


def subject(module: str) -> str:
    """What a module's functions are for: the game that loops were bound to, a part of the package, a user's module."""
    bound = re.fullmatch(r".*@(.*)-[0-9a-f]+", module)
    parts = (bound[1] if bound else module).split(".")
    if parts[0] == "palaestra" and len(parts) > 1 and not bound:
        return parts[1]
    return parts[-1]
