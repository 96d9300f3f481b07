"""Connect Four on any rows × columns: four in a row, stones fall to the lowest free cell (sources: Connect Four).

      1 2 3 4 5 6 7        action = column, 0 … 6, written 1 … 7
      . . . . . . .
      . . . . . . .        bits of a 6×7 board; bit 7·column is the lowest cell of a column, and the bit above its
      . . . . . . .        highest cell stays empty, so that no line runs from one column into the next:
      . . . . . . .             5 12 19 26 33 40 47
      . . . O . . .             …                         in general: column · (rows + 1) + height
      . . X X O . .             0  7 14 21 28 35 42

A state is the header, the first player's stones and the second player's, one word each; p = (rows, cols, rows + 1).
Boards that need more than 64 bits keep one byte a cell (`palaestra.games.connect_four_large`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from palaestra.base.errors import GameError, MoveError
from palaestra.base.jit import inlined, kernel
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games import bits
from palaestra.games.board import MAX_SIDE, BoardGame
from palaestra.games.connect_four_large import RULES as BYTE_RULES
from palaestra.games.kernel_game import Rules, state_bytes
from palaestra.games.rows import ONGOING, mover, ply, set_mover, win_by_plies
from palaestra.games.svg import Spot, grid_document, grid_spot
from palaestra.games.symmetry import Symmetry, cell_map, identity

LINE = 4
STONES = 1  # the word of the first player's stones; the second player's follow


@kernel
def start(state: Int8s, choice: int, p: Int64s) -> None:
    """The empty board is all zeros."""


@inlined
def has_line(stones: np.uint64, step: np.uint64) -> bool:
    """Whether four stones stand `step` bits apart: pairs first, then pairs of pairs."""
    pairs = stones & (stones >> step)
    return (pairs & (pairs >> (step + step))) != 0


@inlined
def play(state: Int8s, action: int, p: Int64s) -> np.int64:
    rows, cols, height = p[0], p[1], p[2]
    player = mover(state)
    stones = bits.load(state, STONES + player)
    taken = stones | bits.load(state, STONES + 1 - player)
    # Adding a column's lowest bit to its stones carries into the first free cell.
    base = np.uint64(action * height)
    column = ((np.uint64(1) << np.uint64(rows)) - np.uint64(1)) << base
    stones |= (taken + (np.uint64(1) << base)) & column
    bits.store(state, STONES + player, stones)
    set_mover(state, 1 - player)
    step = np.uint64(height)
    one = np.uint64(1)
    if has_line(stones, one) | has_line(stones, step) | has_line(stones, step + one) | has_line(stones, step - one):
        return np.int64(win_by_plies(player, ply(state), rows * cols))
    return np.int64(0) if ply(state) == rows * cols else np.int64(ONGOING)


@inlined
def legal(state: Int8s, actions: Int32s, p: Int64s) -> np.int64:
    """Columns whose highest cell is free. Every column is written and only free ones are counted: no branch to miss."""
    free = ~(bits.load(state, STONES) | bits.load(state, STONES + 1)) >> np.uint64(p[0] - 1)
    height = np.uint64(p[2])
    count = np.int64(0)
    for col in range(p[1]):
        actions[count] = col
        count += np.int64(free & np.uint64(1))
        free >>= height
    return count


@kernel
def observe(state: Int8s, planes: Float32s, p: Int64s) -> None:
    """Planes: the mover's stones, the opponent's; row 0 is the highest."""
    player = mover(state)
    for plane in range(2):
        stones = bits.load(state, STONES + (player ^ plane))
        for col in range(p[1]):
            for row in range(p[0]):
                bit = np.uint64(col * p[2] + p[0] - 1 - row)
                planes[plane, row, col] = np.float32((stones >> bit) & np.uint64(1))


@kernel
def permute(state: Int8s, out: Int8s, cells: Int32s, actions: Int32s, swap: bool, p: Int64s) -> None:
    """Symmetries of this game move whole columns."""
    column = (np.uint64(1) << np.uint64(p[0])) - np.uint64(1)
    for player in range(2):
        stones = bits.load(state, STONES + player)
        image = np.uint64(0)
        for col in range(p[1]):
            image |= ((stones >> np.uint64(col * p[2])) & column) << np.uint64(actions[col] * p[2])
        bits.store(out, STONES + (1 - player if swap else player), image)


BIT_RULES = Rules(start, play, legal, observe, permute)


@dataclass(frozen=True, eq=False, kw_only=True)
class ConnectFour(BoardGame):
    """Text and drawings: columns are numbered from 1, and moves may be written without spaces up to nine columns."""

    look: str = "drop"
    line: int | None = LINE

    def action_to_text(self, state: Int8s, action: int) -> str:
        return str(action + 1)

    def split_moves(self, text: str) -> list[str]:
        words = super().split_moves(text)
        return list("".join(words)) if self.cols <= 9 else words

    def state_from_text(self, text: str) -> Int8s:
        state = super().state_from_text(text)
        taken = self.cells(state) != 0
        if np.any(taken[:-1] & ~taken[1:]) or np.count_nonzero(taken) != self.plies(state[None])[0]:
            raise MoveError(f"{text!r} is not a position of {self.id}: stones rest on stones, and the ply counts them")
        return state

    def render(self, state: Int8s) -> str:
        width = len(str(self.cols)) + 1
        lines: list[list[str]] = [[str(col + 1) for col in range(self.cols)], *map(list, self._glyph_rows(state))]
        return "\n".join("".join(word.rjust(width) for word in line) for line in lines)

    def svg(self, state: Int8s) -> str:
        names = [str(col + 1) for col in range(self.cols)]
        return grid_document(self.cells(state), look=self.look, col_names=names)

    def spot(self, state: Int8s, action: int, drawn: Int8s) -> Spot | None:
        """The cell into which a stone falls."""
        free = int(np.count_nonzero(self.cells(state)[:, action] == 0))
        return grid_spot(free - 1, action) if free else None


@dataclass(frozen=True, eq=False, kw_only=True)
class BitConnectFour(ConnectFour):
    """The board as two words of bits."""

    def cells(self, state: Int8s) -> Int8s:
        first, second = np.ascontiguousarray(state).view(np.uint64)[STONES : STONES + 2]
        places = self._places()
        stones = [((word >> places) & np.uint64(1)).astype(np.int8) for word in (first, second)]
        return stones[0] - stones[1]

    def put_cells(self, state: Int8s, cells: Int8s) -> None:
        words = [np.bitwise_or.reduce(np.uint64(1) << self._places()[cells == stone]) for stone in (1, -1)]
        state[8 * STONES : 8 * (STONES + 2)] = np.array(words, dtype=np.uint64).view(np.int8)

    def _places(self) -> UInt64s:
        """The bits of the cells, uint64[rows, cols]."""
        heights = np.arange(self.rows - 1, -1, -1)[:, None]
        return (np.arange(self.cols) * (self.rows + 1) + heights).astype(np.uint64)


def make(sizes: tuple[int, ...]) -> ConnectFour:
    """`connect_four-RxC`: rows × columns."""
    rows, cols = sizes
    if not 1 <= min(rows, cols) <= max(rows, cols) <= MAX_SIDE or max(rows, cols) < LINE:
        raise GameError(
            f"'connect_four-{rows}x{cols}': a board has 1 to {MAX_SIDE} rows and columns, room for {LINE} in a row, "
            "for example connect_four-6x7"
        )
    return build(rows, cols, as_bits=(rows + 1) * cols <= 64)


def build(rows: int, cols: int, as_bits: bool) -> ConnectFour:
    """The same game with its board as bits ((rows + 1) · cols ≤ 64) or as bytes."""
    maker = BitConnectFour if as_bits else ConnectFour
    mirror = cell_map(rows, cols, lambda row, col: (row, cols - 1 - col))
    symmetries = (
        identity(rows * cols, cols),
        Symmetry("mirror left-right", mirror, np.arange(cols - 1, -1, -1, dtype=np.int32)),
    )
    return maker(
        id=f"connect_four-{rows}x{cols}",
        rules=BIT_RULES if as_bits else BYTE_RULES,
        params=np.array([rows, cols, rows + 1], dtype=np.int64),
        rows=rows,
        cols=cols,
        num_actions=cols,
        action_layout="columns",
        max_plies=rows * cols,
        max_legal=cols,
        state_size=state_bytes(16 if as_bits else rows * cols),
        observation_shape=(2, rows, cols),
        tiebreak="plies",
        symmetries=symmetries,
        exchange=symmetries[0],
        goal=f"Drop stones into the columns; {LINE} of your own in a row, in any direction, win.",
    )
