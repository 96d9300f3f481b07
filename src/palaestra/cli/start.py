"""Where the command begins, and how signals end it: Ctrl-C with exit code 130, SIGTERM with 143, never a traceback.

Imports nothing heavy, so that signals are heeded almost from the first instant. In a verb both are a KeyboardInterrupt:
whoever tells a person how to go on after Ctrl-C tells it after SIGTERM, too.
"""

from __future__ import annotations

import sys

try:
    import gc
    import os
    import signal
except KeyboardInterrupt:  # these few milliseconds count, too
    sys.exit(130)

TYPE_CHECKING = False  # as in typing, which is not needed yet
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn

INTERRUPTED, TERMINATED = 130, 143
OBJECTS = 50_000  # made between two looks for garbage; Python's 700 make imports, which leave none, a tenth slower


def run() -> NoReturn:
    """Run the command line and leave the process with its exit code."""
    _hear(signal.SIGINT, lambda number, frame: os._exit(INTERRUPTED))  # while nothing has begun
    _hear(signal.SIGTERM, lambda number, frame: os._exit(TERMINATED))
    gc.set_threshold(OBJECTS)
    from palaestra.cli.main import run as run_command

    terminated = []

    def terminate(number: int, frame: FrameType | None) -> None:
        terminated.append(number)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a second one does not wait for anything
        raise KeyboardInterrupt

    code: str | int | None = INTERRUPTED
    try:
        _hear(signal.SIGINT, signal.default_int_handler)
        _hear(signal.SIGTERM, terminate)
        run_command()
    except KeyboardInterrupt:
        pass
    except SystemExit as left:
        code = left.code
    _hear(signal.SIGINT, signal.SIG_DFL)  # all has been said; the interpreter's own end is not to print more
    exec("")  # Python forgets an interrupt that came inside an exec; it would otherwise end the process by a signal
    sys.exit(TERMINATED if terminated and code == INTERRUPTED else code)


def _hear(number: signal.Signals, handler: Callable[[int, FrameType | None], object] | signal.Handlers) -> None:
    """Set a handler, unless whoever started the process wants the signal ignored."""
    if signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, handler)
