"""A job: one numbered piece of work that anybody may do, and how it tells how far it is.

A job is a function of a module and its arguments, and its result follows from them alone. So it can be done in another
process, and done again where that process died. Knows nothing of who does it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

Heard = Callable[[float, str], None]  # (share done, words)


@dataclass(frozen=True, eq=False)
class Shared:
    """An argument that many jobs have in common, such as a network: a machine is sent it once, not with every job."""

    value: Any


@dataclass(frozen=True)
class Job:
    """`function(*arguments)`, all of it picklable. Equal keys are equal work."""

    key: str  # for people, too: errors name it
    function: Callable[..., Any] = field(compare=False)  # of a module, so that another process finds it by name
    arguments: tuple[Any, ...] = field(default=(), compare=False)  # the function is called with what is in a Shared
    steady: bool = field(default=False, compare=False)  # it reports again and again: one that falls silent hangs


_HEARD: ContextVar[Heard | None] = ContextVar("heard", default=None)


def report(share: float, words: str = "") -> None:
    """Called by a job: how much of it is done, from 0 to 1, and words for people. Outside a job it does nothing.

    Raises `Stopped` where the job is no longer wanted. A thread cannot be ended in another way: a long job that may be
    done on threads reports several times a second.
    """
    if (heard := _HEARD.get()) is not None:
        heard(share, words)


def do(job: Job, heard: Heard) -> Any:
    """The job's result; `heard` is called with all that it reports."""
    before = _HEARD.set(heard)
    try:
        given = (one.value if isinstance(one, Shared) else one for one in job.arguments)
        return job.function(*given)
    finally:
        _HEARD.reset(before)
