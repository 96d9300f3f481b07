"""Folders below the runs folder that a browser may name: tournaments, and games for one player being solved."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from palaestra.base.errors import ConfigError, RunError
from palaestra.base.text import clip
from palaestra.runs.places import free_folder

LONGEST = 80  # characters of a name
_NAME = re.compile(rf"[^\W_][\w.+-]{{0,{LONGEST - 1}}}", re.UNICODE)


@dataclass(frozen=True)
class Place:
    """A folder of folders; what is not named in letters, digits, - _ + and . is not in it."""

    root: Path
    noun: str  # of what its folders are, for messages

    @staticmethod
    def is_name(name: str) -> bool:
        """Whether a folder of a page can have this name."""
        return _NAME.fullmatch(name) is not None and name.isprintable()

    def named(self, name: str) -> Path:
        """The folder of that name; RunError if there is none."""
        folder = self.root / name
        if not self.is_name(name) or folder.is_symlink() or not folder.is_dir():
            raise RunError(f"{clip(name)} is not a {self.noun} of this page; they are in {self.root}")
        return folder

    def new(self, name: str, otherwise: str) -> Path:
        """A folder that is not there yet; without a name, `otherwise` or that with a number. ConfigError if taken."""
        if not name.strip():
            return free_folder(otherwise, self.root)
        name = name.strip()
        if not self.is_name(name):
            raise ConfigError(
                f"{clip(name)} cannot name a {self.noun}: up to {LONGEST} letters, digits, - _ + and ., first-try"
            )
        if (self.root / name).exists():
            raise ConfigError(f"there is a {self.noun} {name} already; choose another name")
        return self.root / name

    def all(self) -> list[Path]:
        """Every folder, the one that was changed last first."""
        try:
            found = [path for path in self.root.iterdir() if self.is_name(path.name)]
            kept = [(path.stat().st_mtime, path) for path in found if path.is_dir() and not path.is_symlink()]
        except OSError:
            return []
        return [path for _, path in sorted(kept, reverse=True)]
