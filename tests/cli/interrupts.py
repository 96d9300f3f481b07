"""Processes that hear an interrupt even where the tests were started in the background, with interrupts ignored."""

from __future__ import annotations

import signal

import pytest

# What Ctrl-C and a polite `kill` send, and the exit code of each.
both_signals = pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)


def hear_interrupts() -> None:
    """For `preexec_fn`: what is ignored by a parent stays ignored in its children unless it is set back."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
