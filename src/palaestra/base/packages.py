"""Packages that only some need: imported when they are asked for, with one line where they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from palaestra.base.errors import PalaestraError


def need(module: str, extra: str, what: str, error: type[PalaestraError]) -> Any:
    """The module, imported; `error` says which extra of the package brings it, and what needs it."""
    try:
        return importlib.import_module(module)
    except ImportError as failure:
        top = module.partition(".")[0]
        if isinstance(failure, ModuleNotFoundError) and (failure.name or "").partition(".")[0] == top:
            why = f"{top} is not installed"
        else:
            why = f"{top} cannot be imported ({' '.join(str(failure).split())})"
        raise error(f"{what}: {why}; install it with: pip install 'palaestra[{extra}]'") from None
