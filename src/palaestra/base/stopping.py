"""How one thread ends long work of another: an event that is looked at again and again, and what is raised then."""

from __future__ import annotations

import threading


class Stopped(Exception):
    """Work was told to stop before its end, and has no result."""


def stop_if_asked(stopped: threading.Event | None) -> None:
    """Leave the work by Stopped once the event is set."""
    if stopped is not None and stopped.is_set():
        raise Stopped
