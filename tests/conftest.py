"""What all tests share: no deadlines, for no test asserts times; and a folder for states that is not the user's."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from palaestra.base.user_code import begin_command, trust

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What commands remember about the user's own code stays inside one test."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("PALAESTRA_STATE", str(folder))
    return folder


OwnFile = Callable[[str, str], None]


@pytest.fixture
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnFile]:
    """Writes a module of the user's own, `own_file("my", source)`, into the current folder, and trusts all of it."""
    monkeypatch.chdir(tmp_path)
    written, paths = set[str](), list(sys.path)

    def write(name: str, source: str) -> None:
        (tmp_path / f"{name}.py").write_text(source)
        sys.modules.pop(name, None)
        written.add(name)
        words = {word for line in source.splitlines() for word in line.replace("(", " ").replace(":", " ").split()}
        trust(*(f"{name}:{word}" for word in words if word.isidentifier()))

    yield write
    begin_command(())
    sys.path[:] = paths
    for name in written:
        sys.modules.pop(name, None)


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: thousands of fsyncs prove nothing while the machine itself stays up."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
