"""What all tests share: no deadlines, for no test asserts times; and a folder for states that is not the user's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What commands remember about the user's own code stays inside one test."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("PALAESTRA_STATE", str(folder))
    return folder


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: thousands of fsyncs prove nothing while the machine itself stays up."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
