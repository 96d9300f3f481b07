"""What every state has in common: eight bytes of header, then whatever the game keeps.

    byte   0         1        2–3          4–7             8 …
           to_play   unused   ply, int16   outcome, int32  the game's own bytes

`to_play` is 0 for the first player and 1 for the second. `outcome` is `ONGOING` until the end; then it is one
integer from the first player's view, larger is better. Because the header is the same for all games, the
search reads whose turn it is and whether play is over without knowing the game.

These functions work on one state (one row of a batch); rules call them from compiled code.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.jit import inlined
from palaestra.base.types import Int8s

HEADER = 8
ONGOING = -(2**31)
FIRST, SECOND = 0, 1


@inlined
def copy_state(source: Int8s, target: Int8s) -> None:
    """By hand: `target[:] = source` is slower, and what Numba says of shapes that differ takes 3 s to compile."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@inlined
def mover(state: Int8s) -> np.int64:
    """The player to move, 0 or 1."""
    return np.int64(state[0])


@inlined
def set_mover(state: Int8s, player: int) -> None:
    state[0] = player


@inlined
def ply(state: Int8s) -> np.int64:
    """How many moves have been made."""
    return np.int64(np.uint8(state[2])) | (np.int64(state[3]) << 8)


@inlined
def set_ply(state: Int8s, value: int) -> None:
    state[2] = np.int8(value & 255)
    state[3] = np.int8(value >> 8)


@inlined
def outcome(state: Int8s) -> np.int64:
    """ONGOING, or the first player's outcome."""
    return (
        np.int64(np.uint8(state[4]))
        | (np.int64(np.uint8(state[5])) << 8)
        | (np.int64(np.uint8(state[6])) << 16)
        | (np.int64(state[7]) << 24)
    )


@inlined
def set_outcome(state: Int8s, value: int) -> None:
    for byte in range(4):
        state[4 + byte] = np.int8((value >> (8 * byte)) & 255)


@inlined
def win_by_plies(winner: int, plies: int, max_plies: int) -> np.int64:
    """Outcome of a game ordered by plies: a win is worth more the sooner it comes, a loss less."""
    size = np.int64(max_plies + 1 - plies)
    return size if winner == 0 else -size
