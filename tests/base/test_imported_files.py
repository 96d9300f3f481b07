"""The files that a module is made of are found by reading import statements; nothing is run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from palaestra.base.imported_files import imported_files, is_own


def write(root: Path, **modules: str) -> None:
    """Modules by name, `__` standing for a dot; a name that ends in `__init` is a package's own file."""
    for name, text in modules.items():
        path = root.joinpath(*name.split("__")).with_suffix(".py")
        path = path.with_name("__init__.py") if path.name == "init.py" else path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def names(root: Path, module: str, file: str) -> list[str]:
    found = imported_files(module, root / file, root)
    return sorted(str(path.relative_to(root)) for path in found)


def test_imports_are_followed_wherever_they_stand(tmp_path: Path) -> None:
    write(
        tmp_path,
        game="import json, first\ndef later():\n    from second import value\n",
        first="import numpy",
        second="from third import *\nraise SystemExit('nothing is run')",
        third="import game",
        stranger="",
    )
    assert names(tmp_path, "game", "game.py") == ["first.py", "game.py", "second.py", "third.py"]


def test_packages_and_relative_imports_are_followed(tmp_path: Path) -> None:
    write(
        tmp_path,
        pack__init="from . import rules",
        pack__rules="from .deep.board import Board\nfrom .. import nowhere",
        pack__deep__init="",
        pack__deep__board="from ..other import x\nimport pack.deep.marks",
        pack__deep__marks="",
        pack__other="",
        pack__unused="",
    )
    expected = ["__init__.py", "deep/__init__.py", "deep/board.py", "deep/marks.py", "other.py", "rules.py"]
    assert names(tmp_path, "pack.rules", "pack/rules.py") == [f"pack/{name}" for name in expected]


@pytest.mark.parametrize("content", [b"def", b"\x00", b"\xff\xfe", b"(" * 10_000])
def test_what_is_no_python_imports_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "game.py").write_bytes(content)
    assert names(tmp_path, "game", "game.py") == ["game.py"]


def test_python_and_installed_packages_and_this_one_are_not_the_users_own(tmp_path: Path) -> None:
    others = [Path(sys.modules[name].__file__ or "").resolve() for name in ("json", "pytest", "palaestra")]
    assert [is_own(file) for file in others] == [False, False, False]
    assert is_own(tmp_path / "game.py")
