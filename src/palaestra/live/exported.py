"""A network of a run as one file that plays anywhere, and what the file is, as JSON."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from palaestra.base.atomic import write_file
from palaestra.base.errors import PlayerError
from palaestra.base.text import format_value
from palaestra.games.registry import make_game
from palaestra.nets.boards import fitted
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
    game: str  # as it is named
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
            "game": self.run.game if self.game == self.run.game_text else self.game,
            "network": self.iteration,
            "net": self.run.net,
            "reward": self.run.reward,
            "bytes": self.bytes,
        }


def export_network(run: str, path: Path, network: str = "best", game: str | None = None) -> ExportedNetwork:
    """Write a run's network (best, last, or an iteration) as an ONNX file that names the run's reward.

    `game` is another one that the network can play: the file is then for its board.
    """
    stored = open_run(run)
    iteration = stored.pick(network)
    content, text = stored.network(iteration), stored.game_text
    if game is not None and (rules := make_game(game)).id != stored.game:
        if not stored.plays(rules):
            raise PlayerError(f"run {stored.name} plays {stored.game}, not {rules.id}: only rNcM fits other boards")
        content, text = fitted(content, rules, stored.name), game
    content = with_reward(content, stored.reward)
    write_file(path, content)
    return ExportedNetwork(path, stored, text, iteration, hashlib.sha256(content).hexdigest(), len(content))
