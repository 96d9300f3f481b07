"""How long work tells how far it is. Who listens to what is for the callers to say."""

from __future__ import annotations

from collections.abc import Callable

ProgressListener = Callable[[int, int], None]  # (done, in all)
