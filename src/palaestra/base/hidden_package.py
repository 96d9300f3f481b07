"""A package that one thread does not find while it imports others: what these would load but nobody here needs."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.abc import MetaPathFinder


class _Hiding(MetaPathFinder):
    """Asked first where modules are found. Other threads find what they look for."""

    def __init__(self, package: str) -> None:
        self.package, self.thread = package, threading.get_ident()

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == self.package and threading.get_ident() == self.thread:
            raise ModuleNotFoundError(f"{name} is hidden from what is imported now", name=name)


@contextmanager
def hidden(package: str) -> Iterator[None]:
    """Inside, this thread cannot import the package; one that is there already stays."""
    if package in sys.modules:
        yield
        return
    hiding = _Hiding(package)
    sys.meta_path.insert(0, hiding)
    try:
        yield
    finally:
        sys.meta_path.remove(hiding)
