from __future__ import annotations

import pytest

from palaestra.learn.loop import train
from palaestra.learn.presets import configure

SMALL = (
    "net=b1c8", "selfplay.games=16", "selfplay.search.simulations=8", "evaluation.games=4", "evaluation.simulations=8",
    "learn.batch=32",
)  # fmt: skip


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a run of tic-tac-toe that took a second."""
    folder = tmp_path_factory.mktemp("runs") / "tiny"
    train(configure("tic_tac_toe-3x3", "fast", SMALL, iterations=2, threads=1), folder)
    return str(folder)
