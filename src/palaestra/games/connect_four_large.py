"""Connect Four on boards too large for 64 bits: the same rules with one byte a cell, row 0 at the top.

p = (rows, cols, …) as in `palaestra.games.connect_four`, which chooses between the two; the tests hold them equal.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.jit import inlined
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.board import permute_cells
from palaestra.games.kernel_game import Rules
from palaestra.games.lines import makes_line, observe, start
from palaestra.games.rows import HEADER, ONGOING, mover, ply, set_mover, win_by_plies


@inlined
def play(state: Int8s, action: int, p: Int64s) -> np.int64:
    rows, cols = p[0], p[1]
    player = mover(state)
    row = rows - 1
    while state[HEADER + row * cols + action] != 0:
        row -= 1
    state[HEADER + row * cols + action] = 1 - 2 * player
    set_mover(state, 1 - player)
    if makes_line(state, row, action, rows, cols, 4):
        return np.int64(win_by_plies(player, ply(state), rows * cols))
    return np.int64(0) if ply(state) == rows * cols else np.int64(ONGOING)


@inlined
def legal(state: Int8s, actions: Int32s, p: Int64s) -> np.int64:
    """Columns whose highest cell is free."""
    count = np.int64(0)
    for col in range(p[1]):
        actions[count] = col
        count += np.int64(state[HEADER + col] == 0)
    return count


RULES = Rules(start, play, legal, observe, permute_cells)
