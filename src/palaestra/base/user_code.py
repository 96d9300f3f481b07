"""Code of the user's own, named `module:attribute`: it is imported only when the user names it in the same command.

What a file names is data. A run's folder says which game it is of, and that may be `my_game:GAME`; but the folder may
come from a stranger, with a module of that name in it. So there are two ways in: `load` for a text that the user typed,
and `load_remembered` for a text that a file holds. The second one imports nothing but files that the user's own
commands have used before and that have not changed since. They are remembered by their hashes in a file of the user's
(`$PALAESTRA_STATE`, or `palaestra` in the user's folder for states), never beside a run.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import sys
import uuid
from pathlib import Path
from typing import Any

from palaestra.base.errors import PalaestraError
from palaestra.base.own_files import NotOwn, read_own, write_own
from palaestra.base.reading import parse_json

DATA_PREFIXES = ("gdl:",)  # texts with a colon that name data


def is_code(text: str) -> bool:
    """Whether a text names code: `module:attribute`."""
    return ":" in text and not text.startswith(DATA_PREFIXES)


def load(text: str, error: type[PalaestraError], noun: str, root: str | None = None) -> Any:
    """What `module:attribute` names; modules are looked for in `root` first, by default the current folder.

    `error` says in one line why there is none; `noun` is what it should have been.
    """
    module_name, _, attribute = text.partition(":")
    root = os.getcwd() if root is None else root
    if root not in sys.path:
        sys.path.insert(0, root)
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as failure:  # the user's own file may fail in any way at all
        reason = " ".join(f"{type(failure).__name__}: {failure}".split())
        raise error(f"cannot import {module_name!r} ({reason}); {noun} is module:attribute") from failure
    return getattr(module, attribute, None)


def imported_from(text: str) -> str | None:
    """The folder to find the module of a loaded text in; None if it is not loaded, or has no file."""
    module = sys.modules.get(text.partition(":")[0])
    if module is None or not (name := getattr(module, "__file__", None)):
        return None
    file = Path(name).resolve()
    return str(file.parents[module.__name__.count(".") + (file.name == "__init__.py")])


def load_again(text: str, root: str) -> Any:
    """In a process that a command of the user's has started: what another process of it has loaded from `root`."""
    module_name, _, attribute = text.partition(":")
    if module_name not in sys.modules and root not in sys.path:
        sys.path.insert(0, root)
    return getattr(importlib.import_module(module_name), attribute, None)


def remember(text: str) -> None:
    """Remember the file behind a text that the user typed and that has been loaded, where a file can be written."""
    if not is_code(text) or (root := imported_from(text)) is None:
        return
    file = Path(str(sys.modules[text.partition(":")[0]].__file__)).resolve()
    entry = {"file": str(file), "root": root, "sha256": _sha256(file)}
    known = _read()
    others = [old for old in known.get(text, []) if old["file"] != entry["file"]]
    with contextlib.suppress(OSError, RuntimeError, NotOwn):  # without it, later commands ask for --game
        write_own(_file(), json.dumps({**known, text: [*others, entry]}, indent=1).encode(), f"{uuid.uuid4().hex}.tmp")


def remembered(text: str) -> str | None:
    """The folder to import a text from that a file holds; None where the user has not used this code as it is now.

    Of several, the one in the current folder; elsewhere only one that cannot be confused with another.
    """
    roots = [entry["root"] for entry in _read().get(text, []) if _sha256(Path(entry["file"])) == entry["sha256"]]
    here = str(Path.cwd().resolve())
    return here if here in roots else roots[0] if len(roots) == 1 else None


def _file() -> Path:
    if chosen := os.environ.get("PALAESTRA_STATE"):
        return Path(chosen) / "used_code.json"
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "palaestra" / "used_code.json"


def _read() -> dict[str, list[dict[str, str]]]:
    """What is remembered; nothing if the file is not there, not whole, or not the user's own."""
    try:
        known = parse_json(read_own(_file()))
        return {
            text: [{key: str(entry[key]) for key in ("file", "root", "sha256")} for entry in entries]
            for text, entries in known.items()
        }
    except (OSError, NotOwn, RuntimeError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _sha256(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""
