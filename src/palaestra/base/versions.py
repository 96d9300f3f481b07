"""Versions of this program and of what it stands on: what two machines must have in common to come to the same bits."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import palaestra

PLAYING = ("numpy", "numba", "onnxruntime")  # whose versions can change the last bit of a game


@cache
def version_of(name: str) -> str:
    """The version of an installed package; "none" where it is not."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


@cache
def own_digest() -> str:
    """A hash of this package's code, which tells apart what has one number of version."""
    root, digest = Path(palaestra.__file__).parent, hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def playing_versions() -> dict[str, str]:
    """All that decides how a game is played, by name."""
    return {
        "palaestra": palaestra.__version__,
        "palaestra's code": own_digest(),
        "python": platform.python_version(),
        **{name: version_of(name) for name in PLAYING},
    }
