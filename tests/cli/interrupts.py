"""Processes that hear an interrupt even where the tests were started in the background, with interrupts ignored."""

from __future__ import annotations

import signal

import pytest

# What Ctrl-C and a polite `kill` send, and the exit code of each.
_SIGNALS = {"SIGINT": (signal.SIGINT, 130), "SIGTERM": (signal.SIGTERM, 143)}


def signals(quick: str = "") -> pytest.MarkDecorator:
    """Both signals; where one is named, the other is for the slow tests: they share all but their exit code."""
    marks = {name: () if quick in ("", name) else (pytest.mark.slow,) for name in _SIGNALS}
    return pytest.mark.parametrize(
        ("number", "code"), [pytest.param(*_SIGNALS[name], id=name, marks=marks[name]) for name in _SIGNALS]
    )


def hear_interrupts() -> None:
    """For `preexec_fn`: what is ignored by a parent stays ignored in its children unless it is set back."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
