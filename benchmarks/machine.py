"""Where and when the figures were measured."""

from __future__ import annotations

import os
import platform
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LIBRARIES = ("palaestra", "numpy", "numba", "onnxruntime", "jax", "mctx", "pgx", "open_spiel")


def facts() -> dict[str, str]:
    """Date, processor, cores and the versions of the libraries that take part."""
    found = {"date": date.today().isoformat(), "CPU": cpu_model(), "cores": str(cores())}
    found["Python"] = platform.python_version()
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "not installed"
    return found


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cpu_model() -> str:
    """The processor's name as the system gives it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()
