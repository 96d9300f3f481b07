"""How one thread ends a long search of another: an event that the search heeds between its playouts."""

from __future__ import annotations

import threading


class Stopped(Exception):
    """A search was told to stop before its end, and has no answer."""


def stop_if_asked(stopped: threading.Event | None) -> None:
    """Leave the search by Stopped once the event is set."""
    if stopped is not None and stopped.is_set():
        raise Stopped
