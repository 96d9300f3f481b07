"""Where measured speeds are kept, and what they depend on: the machine, the libraries, the code that takes the time.

A commit that changes none of these changes no speed, so that what was measured stays good. Knows no measurement.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

import palaestra
from palaestra.base.cores import usable_cores
from palaestra.base.jit import cache_root
from palaestra.base.own_files import NotOwn, read_own, write_own
from palaestra.base.reading import parse_json
from palaestra.games.base import Game
from palaestra.learn.provenance import about_program

FOLDER = "speeds"
TIMED_FOLDERS = ("nets", "search")  # whose code takes a run's time, with the rules of its game and
TIMED_FILES = ("calibration.py", "replay.py", "selfplay.py", "trainer.py", "workforce.py")  # of learn


def memory_file() -> Path:
    """Where measurements are kept on this machine and with these libraries."""
    return cache_root() / FOLDER / f"{machine_digest()}.json"


def machine_digest() -> str:
    """A hash of all that decides how fast one and the same code is: processor, cores and libraries."""
    facts: dict[str, object] = {**about_program(), "cpu": processor(), "cores": usable_cores()}
    for name in ("palaestra", "revision"):
        facts.pop(name, None)
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def processor() -> str:
    """The name of the processor, as far as the system tells it."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def code_digest(game: Game) -> str:
    """A hash of the code that takes a run's time: the game's rules, search, networks, self-play and training."""
    root, digest = Path(palaestra.__file__).parent, hashlib.sha256()
    files = {path for folder in TIMED_FOLDERS for path in (root / folder).rglob("*.py")}
    files |= {root / "learn" / name for name in TIMED_FILES}
    if (own := sys.modules[type(game).__module__].__file__) is not None:
        files.add(Path(own))
    for path in sorted(files):
        with suppress(OSError):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def read_memory(path: Path) -> dict[str, Any]:
    """What is remembered; nothing where the file is not there, not the user's own, or damaged."""
    try:
        known = parse_json(read_own(path))
    except (OSError, NotOwn, ValueError):
        return {}
    return {name: one for name, one in known.items() if isinstance(one, dict)} if isinstance(known, dict) else {}


def write_memory(path: Path, known: dict[str, Any]) -> None:
    """Keep what was measured; where nothing can be written it is measured again next time."""
    with suppress(OSError, NotOwn):
        write_own(path, json.dumps(known, indent=1).encode(), f".{path.name}.{uuid.uuid4().hex}")
