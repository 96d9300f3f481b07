"""Boards of at most 64 cells as bits: what such games share besides their rules.

Word 1 of a state holds the first player's stones and word 2 the second player's; cell row · cols + col is the bit of
that number. A game may keep further words of its own behind them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from palaestra.base.jit import inlined, kernel
from palaestra.base.types import Bools, Float32s, Int8s, Int32s, Int64s
from palaestra.games import bits
from palaestra.games.board import BoardGame
from palaestra.games.rows import mover

STONES = 1  # the word of the first player's stones; the second player's follow
CELLS = 64


@inlined
def list_bits(word: np.uint64, actions: Int32s) -> int:
    """Write the numbers of the set bits in ascending order and return how many there are."""
    count = 0
    while word != 0:
        actions[count] = bits.lowest(word)
        count += 1
        word &= word - np.uint64(1)
    return count


@inlined
def image(word: np.uint64, cells: Int32s) -> np.uint64:
    """The set whose members are cells[i] for every bit i of `word`."""
    moved = np.uint64(0)
    while word != 0:
        moved |= np.uint64(1) << np.uint64(cells[bits.lowest(word)])
        word &= word - np.uint64(1)
    return moved


@kernel
def observe_bits(state: Int8s, planes: Float32s, p: Int64s) -> None:
    """Planes: the mover's stones, the opponent's."""
    for plane in range(2):
        left = bits.load(state, STONES + (mover(state) ^ plane))
        for row in range(planes.shape[1]):
            for col in range(planes.shape[2]):
                planes[plane, row, col] = np.float32(left & np.uint64(1))
                left >>= np.uint64(1)


@kernel
def permute_bits(state: Int8s, out: Int8s, cells: Int32s, actions: Int32s, swap: bool, p: Int64s) -> None:
    for player in range(2):
        bits.store(out, STONES + (1 - player if swap else player), image(bits.load(state, STONES + player), cells))


@dataclass(frozen=True, eq=False, kw_only=True)
class BitBoardGame(BoardGame):
    """A board game whose stones are two words of bits."""

    def cells(self, state: Int8s) -> Int8s:
        first, second = np.ascontiguousarray(state).view(np.uint64)[STONES : STONES + 2]
        places = np.arange(self.rows * self.cols, dtype=np.uint64).reshape(self.rows, self.cols)
        stones = [((word >> places) & np.uint64(1)).astype(np.int8) for word in (first, second)]
        return stones[0] - stones[1]

    def put_cells(self, state: Int8s, cells: Int8s) -> None:
        words = [word_of(cells == 1), word_of(cells == -1)]
        state[8 * STONES : 8 * (STONES + 2)] = np.array(words, dtype=np.uint64).view(np.int8)


def word_of(cells: Bools) -> int:
    """The word with a bit for every true cell of a board."""
    return sum(1 << int(cell) for cell in np.flatnonzero(cells))


def signed(word: int) -> int:
    """The int64 with the same bits: how a parameter vector keeps a mask."""
    return word - 2**64 if word >= 2**63 else word
