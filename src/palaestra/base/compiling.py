"""What is being compiled: clocks that do not count the time it takes, and listeners that are told of it.

`palaestra.base.jit` reports here. This module compiles nothing and is light: a program can listen from its start.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

CompileListener = Callable[[str, bool], None]  # what is compiled, and whether that begins (True) or is over (False)


class _Thread(threading.local):
    """What one thread is doing."""

    name = ""  # the function that it makes ready; empty: none
    told = False  # whether the listeners know
    seconds = 0.0  # spent on making functions ready so far


_thread = _Thread()
_listeners: list[CompileListener] = []
_adding = threading.Lock()
_processor_seconds = 0.0  # that all threads of the process computed to make functions ready


def clock() -> float:
    """`time.perf_counter` without the time that this thread has spent on making functions ready.

    Whoever has some milliseconds for a move measures them by this: the first move then costs no more than others.
    """
    return time.perf_counter() - _thread.seconds


def processor_clock() -> float:
    """`time.process_time` without what the process has computed to make functions ready."""
    return time.process_time() - _processor_seconds


@contextmanager
def listening(listener: CompileListener) -> Iterator[None]:
    """Tell a listener, in the thread that compiles, whenever a function is not found in the cache."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@contextmanager
def making_ready(name: str) -> Iterator[None]:
    """The time of the outermost function that is called for the first time, from the cache or compiled."""
    if _thread.name:
        yield
        return
    global _processor_seconds
    began, computed = time.perf_counter(), time.thread_time()
    _thread.name = name
    try:
        yield
    finally:
        _thread.seconds += time.perf_counter() - began
        with _adding:
            _processor_seconds += time.thread_time() - computed
        if _thread.told:
            _tell(False)
        _thread.name, _thread.told = "", False


def missed() -> None:
    """A function was not in the cache: it will be compiled now."""
    if _thread.name and not _thread.told:
        _thread.told = True
        _tell(True)


def _tell(begins: bool) -> None:
    for listener in list(_listeners):
        listener(_thread.name, begins)
