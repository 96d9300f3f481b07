"""A player that is known by its text alone: it is made, and thinks, in another process."""

from __future__ import annotations

from palaestra.base.errors import PlayerError
from palaestra.base.streams import Rng
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.players.base import Player


class Elsewhere(Player):
    """Has a side in a game and a name; whoever shows the game asks the other process, and plays what it answers."""

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        raise PlayerError(f"{self.text} thinks in another process, and is asked there")
