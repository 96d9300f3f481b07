"""k in a row on an empty board: tic-tac-toe and Gobang (sources: Gobang and tic-tac-toe).

        a b c           actions      0 1 2
     1  X . O                        3 4 5
     2  . X .                        6 7 8
     3  . . .

Two players place stones in turn; a line of k or more of one's own, in any of four directions, wins; a full board
without one is a draw. `tic_tac_toe-3x3` (also 4x4, 5x5) needs three in a row, `gobang-6x6` four, and
`gobang-15x15-5` names k. Here a cell is one byte, +1 first player, -1 second, and p = (rows, cols, k); boards of at
most 64 cells are kept as bits (`palaestra.games.lines_small`).
"""

from __future__ import annotations

import numpy as np

from palaestra.base.errors import GameError
from palaestra.base.jit import inlined, kernel
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s
from palaestra.games import lines_small
from palaestra.games.bit_board import CELLS, BitBoardGame
from palaestra.games.board import MAX_SIDE, BoardGame, cell_symmetries, permute_cells
from palaestra.games.kernel_game import Rules, state_bytes
from palaestra.games.rows import HEADER, ONGOING, mover, ply, set_mover, win_by_plies
from palaestra.games.symmetry import rectangle_maps


@kernel
def start(state: Int8s, choice: int, p: Int64s) -> None:
    """The empty board is all zeros."""


@inlined
def run_length(state: Int8s, row: int, col: int, d_row: int, d_col: int, rows: int, cols: int) -> int:
    """How many stones equal to the one on (row, col) follow it in one direction."""
    place = HEADER + row * cols + col
    stone = state[place]
    length = 0
    while True:
        row += d_row
        col += d_col
        place += d_row * cols + d_col
        if row < 0 or row >= rows or col < 0 or col >= cols or state[place] != stone:
            return length
        length += 1


@inlined
def makes_line(state: Int8s, row: int, col: int, rows: int, cols: int, k: int) -> bool:
    """Whether the stone on (row, col) stands in a line of at least k."""
    for d_row, d_col in ((0, 1), (1, 0), (1, 1), (1, -1)):
        ahead = run_length(state, row, col, d_row, d_col, rows, cols)
        behind = run_length(state, row, col, -d_row, -d_col, rows, cols)
        if ahead + behind + 1 >= k:
            return True
    return False


@inlined
def play(state: Int8s, action: int, p: Int64s) -> np.int64:
    rows, cols, k = p[0], p[1], p[2]
    player = mover(state)
    state[HEADER + action] = 1 - 2 * player
    set_mover(state, 1 - player)
    row = action // cols
    if makes_line(state, row, action - row * cols, rows, cols, k):
        return np.int64(win_by_plies(player, ply(state), rows * cols))
    return np.int64(0) if ply(state) == rows * cols else np.int64(ONGOING)


@inlined
def legal(state: Int8s, actions: Int32s, p: Int64s) -> np.int64:
    """The free cells. Every cell is written and only free ones are counted: no branch to miss."""
    count = np.int64(0)
    for cell in range(p[0] * p[1]):
        actions[count] = cell
        count += np.int64(state[HEADER + cell] == 0)
    return count


@kernel
def observe(state: Int8s, planes: Float32s, p: Int64s) -> None:
    """Planes: the mover's stones, the opponent's."""
    own = 1 - 2 * mover(state)
    for cell in range(p[0] * p[1]):
        stone = state[HEADER + cell]
        if stone != 0:
            planes[0 if stone == own else 1, cell // p[1], cell % p[1]] = 1.0


RULES = Rules(start, play, legal, observe, permute_cells)


def make_lines(id: str, rows: int, cols: int, k: int) -> BoardGame:
    if not 2 <= min(rows, cols) <= max(rows, cols) <= MAX_SIDE or not 2 <= k <= max(rows, cols):
        raise GameError(
            f"{id!r}: a board has 2 to {MAX_SIDE} rows and columns, and the line fits on it: gobang-15x15-5"
        )
    return build(id, rows, cols, k, as_bits=rows * cols <= CELLS)


def build(id: str, rows: int, cols: int, k: int, as_bits: bool) -> BoardGame:
    """The same game with its board as bits (at most 64 cells) or as bytes."""
    maker = BitBoardGame if as_bits else BoardGame
    symmetries = cell_symmetries(rectangle_maps(rows, cols))
    return maker(
        id=id,
        rules=lines_small.RULES if as_bits else RULES,
        params=lines_small.parameters(rows, cols, k) if as_bits else np.array([rows, cols, k], dtype=np.int64),
        rows=rows,
        cols=cols,
        num_actions=rows * cols,
        action_layout="cells",
        max_plies=rows * cols,
        max_legal=rows * cols,
        state_size=state_bytes(16 if as_bits else rows * cols),
        observation_shape=(2, rows, cols),
        tiebreak="plies",
        symmetries=symmetries,
        exchange=symmetries[0],
        line=k,
        goal=f"Place stones on free cells; {k} of your own in a row, in any direction, win.",
    )


def make_tic_tac_toe(sizes: tuple[int, ...]) -> BoardGame:
    """`tic_tac_toe-NxN`: three in a row."""
    rows, cols = sizes
    return make_lines(f"tic_tac_toe-{rows}x{cols}", rows, cols, 3)


def make_gobang(sizes: tuple[int, ...]) -> BoardGame:
    """`gobang-RxC` is four in a row; `gobang-RxC-K` is K in a row."""
    rows, cols, *rest = sizes
    k = rest[0] if rest else 4
    return make_lines(f"gobang-{rows}x{cols}" + (f"-{k}" if rest else ""), rows, cols, k)
