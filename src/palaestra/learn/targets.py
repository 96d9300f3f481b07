"""What the value head should have said: z, z mixed with the root's Q, or TD(λ) over the values of the roots.

Turns need not alternate and there may be one player: everything is turned to the first player's view, combined, and
turned back to the player who was to move.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.jit import kernel
from palaestra.base.types import Bools, Float32s, Int8s, Int32s
from palaestra.learn.config import SelfPlayConfig


def value_targets(
    config: SelfPlayConfig, game: Int32s, mover: Int8s, root: Float32s, proven: Bools, result: Float32s
) -> Float32s:
    """float32[n] in [-1, 1], for the player to move at each of n positions that are sorted by (game, ply).

    `game` [n] says which positions follow each other; `mover` [n] is 0 or 1; `root` [n] is the search's value for the
    mover, exact where `proven` [n]; `result` [n] is the reward of the position's game for the first player.
    """
    side = (1 - 2 * mover).astype(np.float32)
    z = side * result + np.float32(0)  # a draw is 0, not -0
    if config.value_target == "z":
        return z
    if config.value_target == "mixed":
        share = np.float32(config.q_weight)
        return (np.float32(1) - share) * z + share * root
    targets = np.empty(len(game), dtype=np.float32)
    lambda_returns(game, side * root, proven, result.astype(np.float32), config.td_lambda, targets)
    return side * targets


@kernel
def lambda_returns(
    game: Int32s, value: Float32s, proven: Bools, result: Float32s, lambda_: float, targets: Float32s
) -> None:
    """Fill `targets` [n], in one view for all: G = v where proven, else (1 - λ) v + λ G of the next position.

    After the last position of a game comes its result, so λ = 1 is the result (or the exact value of the first proven
    position on the way to it), and λ = 0 the root's own value.
    """
    following = 0.0
    for i in range(game.shape[0] - 1, -1, -1):
        if i + 1 == game.shape[0] or game[i + 1] != game[i]:
            following = np.float64(result[i])
        if proven[i]:
            following = np.float64(value[i])
        else:
            following = (1.0 - lambda_) * value[i] + lambda_ * following
        targets[i] = following
