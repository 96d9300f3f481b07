"""What one step of training learns from. The arrays say nothing about where the positions came from."""

from __future__ import annotations

from dataclasses import dataclass

from palaestra.types import Float32s


@dataclass(frozen=True, eq=False)
class Batch:
    """B positions with their targets, all from the view of the player to move."""

    planes: Float32s  # [B, C, H, W], as `Game.observe` gives them
    policy: Float32s  # [B, A], the target π: never negative, each row adds up to 1
    value: Float32s  # [B], in [-1, 1]

    def __len__(self) -> int:
        return len(self.planes)
