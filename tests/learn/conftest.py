from __future__ import annotations

import os

import pytest


@pytest.fixture
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: thousands of fsyncs prove nothing while the machine itself stays up."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
