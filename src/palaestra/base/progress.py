"""The callback by which work that takes long reports how much of it is done. Knows no work."""

from __future__ import annotations

from collections.abc import Callable

ProgressListener = Callable[[int, int], None]  # (done, in all)
