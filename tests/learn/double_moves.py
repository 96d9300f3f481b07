"""A tiny game in which each player moves twice in a row: whoever negates values at every ply is wrong here.

Six plies, movers 0 0 1 1 0 0; each picks 0, 1 or 2; the first player's picks minus twice the second's, minus 3.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.jit import kernel
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s
from palaestra.games.kernel_game import KernelGame, Rules, state_bytes
from palaestra.games.rows import HEADER, ONGOING, mover, ply, set_mover

PLIES = 6


@kernel
def start(state: Int8s, choice: int, p: Int64s) -> None:
    """Nobody has picked anything."""


@kernel
def play(state: Int8s, action: int, p: Int64s) -> int:
    state[HEADER] += action if mover(state) == 0 else -2 * action
    set_mover(state, (ply(state) // 2) % 2)
    return state[HEADER] - 3 if ply(state) == PLIES else ONGOING


@kernel
def legal(state: Int8s, actions: Int32s, p: Int64s) -> int:
    for action in range(3):
        actions[action] = action
    return 3


@kernel
def observe(state: Int8s, planes: Float32s, p: Int64s) -> None:
    planes[0, 0, 0] = state[HEADER]
    planes[0, 0, 1] = ply(state)


def double_moves() -> KernelGame:
    return KernelGame(
        id="double_moves",
        num_actions=3,
        max_plies=PLIES,
        max_legal=3,
        state_size=state_bytes(1),
        observation_shape=(1, 1, 2),
        tiebreak="margin",
        rules=Rules(start, play, legal, observe),
        params=np.zeros(1, dtype=np.int64),
    )
