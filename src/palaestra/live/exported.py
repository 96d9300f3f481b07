"""A network of a run as one file that plays anywhere, and what the file is, as JSON."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from palaestra.base.atomic import write_file
from palaestra.base.text import format_value
from palaestra.nets.graph import with_reward
from palaestra.players.runs import StoredRun, open_run


class ExportDocument(TypedDict):
    """The file as JSON."""

    path: str
    sha256: str
    game: str
    network: int
    net: str
    reward: str
    bytes: int


@dataclass(frozen=True)
class ExportedNetwork:
    """An ONNX file that was written, and where its network comes from."""

    path: Path
    run: StoredRun
    iteration: int
    sha256: str
    bytes: int

    @property
    def player(self) -> str:
        """The text of a player with this file; under the game's own reward where the run's has learned."""
        usual = self.run.is_learned() or self.run.reward == "default"
        reward = "" if usual else f", reward={format_value(self.run.reward)}"
        return f"puct({format_value(str(self.path))}, simulations=100{reward})"

    def document(self) -> ExportDocument:
        return {
            "path": str(self.path),
            "sha256": self.sha256,
            "game": self.run.game,
            "network": self.iteration,
            "net": self.run.net,
            "reward": self.run.reward,
            "bytes": self.bytes,
        }


def export_network(run: str, path: Path, network: str = "best") -> ExportedNetwork:
    """Write a run's network (best, last, or an iteration) as an ONNX file that names the run's reward."""
    stored = open_run(run)
    iteration = stored.pick(network)
    content = with_reward(stored.network(iteration), stored.reward)
    write_file(path, content)
    return ExportedNetwork(path, stored, iteration, hashlib.sha256(content).hexdigest(), len(content))
