"""Which files a module is made of: its own, and those beside it that its import statements name.

Files are read and never run. Knows nothing of why somebody asks.
"""

from __future__ import annotations

import ast
import os
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def installed_folders() -> tuple[str, ...]:
    """The folders of Python's own modules and of installed packages, each with a separator at its end.

    Both as they are named and as they are without symbolic links.
    """
    named = {sysconfig.get_paths()[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(sorted(f"{path}{os.sep}" for path in named | {os.path.realpath(path) for path in named}))


def is_own(file: Path) -> bool:
    """Whether a file belongs to neither Python, nor an installed package, nor this one."""
    return not str(file).startswith((*installed_folders(), f"{_package()}{os.sep}"))


def imported_files(name: str, file: Path, root: Path) -> set[Path]:
    """The module's file, and all files below `root` that it reaches by import statements, wherever these stand.

    `name` is the module's full name and `root` the folder that its first part lies in. What is imported without an
    import statement, or from elsewhere, is not found.
    """
    found: set[Path] = set()
    waiting = [(name, file), *_files(name, root)]
    while waiting:
        name, file = waiting.pop()
        if file in found or not is_own(file):
            continue
        found.add(file)
        for other in _imports(name, file):
            waiting += _files(other, root)
    return found


def _files(name: str, root: Path) -> Iterator[tuple[str, Path]]:
    """The module and the packages around it, as far as they have files below `root`."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        place = root.joinpath(*parts[:end])
        for file in (place / "__init__.py", place.with_name(f"{parts[end - 1]}.py")):
            if file.is_file():
                yield ".".join(parts[:end]), file.resolve()
                break


def _imports(name: str, file: Path) -> Iterator[str]:
    """Full names that may be modules: `from a import b` names a and a.b. Nothing where the file is no Python."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    around = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = around[: len(around) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            if base:
                yield base
            yield from (f"{base}.{alias.name}".lstrip(".") for alias in node.names if alias.name != "*")


def _package() -> Path:
    return Path(__file__).resolve().parents[1]
