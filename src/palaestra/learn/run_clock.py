"""The clock that a run goes by."""

from __future__ import annotations

import time

from palaestra.base.compiling import processor_clock
from palaestra.learn.config import RunConfig


def now(config: RunConfig) -> float:
    """Seconds from an arbitrary beginning, in the process that the run is in."""
    return time.perf_counter() if config.clock == "wall" else processor_clock() / config.threads
