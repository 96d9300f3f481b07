"""k in a row on boards of at most 64 cells: the rules of `palaestra.games.lines` with the board as bits.

Bit = action = row · cols + col. A line begins at its lowest bit and goes on by `step` bits: to the right (1), down
(cols), down right (cols + 1) or down left (cols - 1). Lines cannot wrap around the edges, because only those that begin
where k cells fit are counted: p = (cells, k, step, beginnings, step, beginnings, …), one pair a direction.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.jit import inlined, kernel
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games import bits
from palaestra.games.bit_board import STONES, list_bits, observe_bits, permute_bits, signed, word_of
from palaestra.games.kernel_game import Rules
from palaestra.games.rows import ONGOING, mover, ply, set_mover, win_by_plies


def parameters(rows: int, cols: int, k: int) -> Int64s:
    """p for these rules."""
    row, col = np.indices((rows, cols))
    below, right, left = row + k <= rows, col + k <= cols, col + 1 >= k
    p = [rows * cols, k]
    for step, fits in ((1, right), (cols, below), (cols + 1, below & right), (cols - 1, below & left)):
        # A direction in which no line fits has no beginnings; its step is then 1, so that no shift passes 63 bits.
        p += [step if fits.any() else 1, signed(word_of(fits))]
    return np.array(p, dtype=np.int64)


@kernel
def start(state: Int8s, choice: int, p: Int64s) -> None:
    """The empty board is all zeros."""


@inlined
def runs(stones: np.uint64, step: np.uint64, k: int) -> np.uint64:
    """Where k stones that stand `step` bits apart begin: runs of 1, 2, 4, … cells are joined until they are k long."""
    length = 1
    while length < k:
        more = min(length, k - length)
        stones &= stones >> (step * np.uint64(more))
        length += more
    return stones


@inlined
def play(state: Int8s, action: int, p: Int64s) -> np.int64:
    cells, k = p[0], p[1]
    player = mover(state)
    stones = bits.load(state, STONES + player) | (np.uint64(1) << np.uint64(action))
    bits.store(state, STONES + player, stones)
    set_mover(state, 1 - player)
    lines = np.uint64(0)
    for direction in range(2, 10, 2):
        lines |= runs(stones, np.uint64(p[direction]), k) & np.uint64(p[direction + 1])
    if lines != 0:
        return np.int64(win_by_plies(player, ply(state), cells))
    return np.int64(0) if ply(state) == cells else np.int64(ONGOING)


@inlined
def legal(state: Int8s, actions: Int32s, p: Int64s) -> int:
    """The free cells."""
    board = ~np.uint64(0) >> np.uint64(64 - p[0])
    return list_bits(board & ~(bits.load(state, STONES) | bits.load(state, STONES + 1)), actions)


RULES = Rules(start, play, legal, observe_bits, permute_bits)
