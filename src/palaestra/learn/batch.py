"""What one step of training learns from. The arrays say nothing about where the positions came from."""

from __future__ import annotations

from dataclasses import dataclass

from palaestra.base.types import Float32s, Int8s, Int32s


@dataclass(frozen=True, eq=False)
class Batch:
    """B positions with their targets. A head that predicts outcomes makes its target of the last three arrays."""

    planes: Float32s  # [B, C, H, W], as `Game.observe` gives them
    policy: Float32s  # [B, A], the target π, adding up to 1, or to 0 where there is none; -1: not compared
    value: Float32s  # [B], in [-1, 1], for the player to move
    outcome: Int32s  # [B], of the game that the position is from, for the first player
    ply: Int32s  # [B], plies before the position
    mover: Int8s  # [B], 0 or 1: the player to move

    def __len__(self) -> int:
        return len(self.planes)
