"""How many cores there are to work on. Knows nothing else."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """The cores that this process may use: fewer than the machine has where it is confined, as in a container."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
