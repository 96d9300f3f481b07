"""Where and when the figures were measured."""

from __future__ import annotations

import platform
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from palaestra.base.cores import usable_cores

LIBRARIES = ("palaestra", "numpy", "numba", "onnxruntime", "jax", "mctx", "pgx", "open_spiel")


def facts() -> dict[str, str]:
    """Date, processor, cores and the versions of the libraries that take part."""
    found = {"date": date.today().isoformat(), "CPU": cpu_model(), "cores": str(usable_cores())}
    found["Python"] = platform.python_version()
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "not installed"
    return found


def cpu_model() -> str:
    """The processor's name as the system gives it."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()
