"""Weights as safetensors files that say whose they are. Reading one runs no code and believes nothing unchecked.

The file's only entry of metadata is one JSON text (one, because the format writes several in no fixed order): game,
version, network, and a checksum of the arrays. This module knows no network library; the arrays may be of any kind.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from palaestra.errors import ModelError
from palaestra.nets.architecture import GameFacts

KEY = "palaestra"

Arrays = Mapping[str, np.ndarray[Any, Any]]


def save_weights(arrays: Arrays, facts: GameFacts, net: str) -> bytes:
    """A safetensors file; the same arrays always give the same bytes."""
    from safetensors.numpy import save

    whole = {name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}
    about = {"game": facts.id, "version": facts.version, "net": net, "sha256": checksum(whole)}
    return bytes(save(whole, metadata={KEY: json.dumps(about)}))


def load_weights(source: Path | bytes, facts: GameFacts, net: str) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a file made by `save_weights` for this game and network; ModelError of one line otherwise."""
    name = "the weights" if isinstance(source, bytes) else str(source)
    content = source if isinstance(source, bytes) else _read(source)
    about, arrays = _parse(name, content)
    wanted = {"game": facts.id, "version": facts.version, "net": net}
    for key, value in wanted.items():
        if about.get(key) != value:
            raise ModelError(f"{name}: made for another {key}: {about.get(key)!r}, needed is {value!r}")
    if about.get("sha256") != checksum(arrays):
        raise ModelError(f"{name}: the file is damaged: its checksum is not that of its arrays")
    return arrays


def checksum(arrays: Arrays) -> str:
    """SHA-256 of names, types, shapes and contents."""
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        total.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        total.update(np.asarray(array, order="C").tobytes())
    return total.hexdigest()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path with a null byte
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise ModelError(f"{path}: cannot read this file ({reason}); weights are a .safetensors file") from None


def _parse(name: str, content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays = dict(load(content))
        # The library gives metadata only of files on disk: the header is eight bytes of length, then that much JSON.
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError):
        raise ModelError(f"{name}: not a safetensors file, or a part of one; nothing of it was used") from None
    try:
        about = json.loads(header["__metadata__"][KEY])
    except (ValueError, KeyError, TypeError, RecursionError):
        about = None
    if not isinstance(about, dict):
        raise ModelError(f"{name}: a safetensors file that does not say which game and network it is of")
    return about, arrays
