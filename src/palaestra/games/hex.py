"""Hex on an n×n rhombus (sources: Hex): the first player joins top and bottom, the second left and right.

        a b c            actions      0 1 2
      1  . X .                         3 4 5
       2  O X .                         6 7 8
        3  . O .

Each cell has six neighbours: left and right, above and above right, below and below left. Stones are placed in turn
and never move; exactly one player can join both of his edges, so there is no draw. There is no swap rule.

A cell is one byte: its sign is the owner (+1 first, -1 second, 0 empty) and its size is 1 plus the edges that its
group touches (1 for top or left, 2 for bottom or right, 3 for both: the game is won). These marks follow from the
position alone, so equal positions have equal bytes; each stone is marked anew at most twice in a game.

p = (n, cells, edge marks of each cell for both players, six neighbours of each cell); a neighbour off the board is the
byte behind the last cell, which is always 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np

from palaestra.base.errors import GameError
from palaestra.base.jit import allocating, inlined, kernel
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s
from palaestra.games.board import BoardGame, cell_symmetries
from palaestra.games.kernel_game import Rules, state_bytes
from palaestra.games.rows import HEADER, ONGOING, mover, ply, set_mover, win_by_plies
from palaestra.games.svg import Spot, hex_document, hex_spot
from palaestra.games.symmetry import square_maps

MIN_SIDE, MAX_SIDE = 2, 19
BOTH_EDGES = 3
NEIGHBOURS = ((0, -1), (0, 1), (-1, 0), (-1, 1), (1, 0), (1, -1))
MARKS = 2  # where in p the edge marks begin


@kernel
def start(state: Int8s, choice: int, p: Int64s) -> None:
    """The empty board is all zeros."""


@allocating
def spread(state: Int8s, cell: int, sign: int, marks: int, p: Int64s) -> None:
    """Give `marks` to the whole group of the stone on `cell`."""
    cells = p[1]
    waiting = np.empty(cells, dtype=np.int32)
    waiting[0] = cell
    count = 1
    while count > 0:
        count -= 1
        first = MARKS + 2 * cells + 6 * waiting[count]
        for j in range(first, first + 6):
            stone = sign * np.int64(state[HEADER + p[j]])
            if stone > 0 and stone != 1 + marks:
                state[HEADER + p[j]] = np.int8(sign * (1 + marks))
                waiting[count] = p[j]
                count += 1


@inlined
def place(state: Int8s, cell: int, player: int, p: Int64s) -> np.int64:
    """Put a stone on an empty cell and return the edges that its group touches now."""
    cells = p[1]
    sign = np.int64(1 - 2 * player)
    marks = p[MARKS + player * cells + cell]
    shared = np.int64(BOTH_EDGES)  # marks that all neighbouring groups have already
    first = MARKS + 2 * cells + 6 * cell
    for j in range(first, first + 6):
        stone = sign * np.int64(state[HEADER + p[j]])
        if stone > 0:
            marks |= stone - 1
            shared &= stone - 1
    state[HEADER + cell] = np.int8(sign * (1 + marks))
    if marks & ~shared:
        spread(state, cell, sign, marks, p)
    return marks


@inlined
def play(state: Int8s, action: int, p: Int64s) -> np.int64:
    player = mover(state)
    set_mover(state, 1 - player)
    if place(state, action, player, p) == BOTH_EDGES:
        return np.int64(win_by_plies(player, ply(state), p[1]))
    return np.int64(ONGOING)


@inlined
def legal(state: Int8s, actions: Int32s, p: Int64s) -> int:
    count = 0
    for cell in range(p[1]):
        actions[count] = cell  # kept only if the cell is empty: no branch, twice as fast on a half-full board
        count += state[HEADER + cell] == 0
    return count


@kernel
def observe(state: Int8s, planes: Float32s, p: Int64s) -> None:
    """Planes: the mover's stones, the opponent's, and all ones if the mover joins top and bottom."""
    own = 1 - 2 * mover(state)
    for cell in range(p[1]):
        row, col = cell // p[0], cell % p[0]
        stone = own * np.int64(state[HEADER + cell])
        if stone != 0:
            planes[0 if stone > 0 else 1, row, col] = 1.0
        if own == 1:
            planes[2, row, col] = 1.0


@kernel
def permute(state: Int8s, out: Int8s, cells: Int32s, actions: Int32s, swap: bool, p: Int64s) -> None:
    """Stones are placed one by one on the image: the marks do not depend on their order."""
    for cell in range(p[1]):
        stone = state[HEADER + cell]
        if stone != 0:
            place(out, cells[cell], 1 if (stone < 0) != swap else 0, p)


RULES = Rules(start, play, legal, observe, permute)


@kernel
def place_stone(state: Int8s, cell: int, player: int, p: Int64s) -> None:
    """`place` for callers outside compiled code."""
    place(state, cell, player, p)


@dataclass(frozen=True, eq=False, kw_only=True)
class HexGame(BoardGame):
    """Text and pictures of a rhombus."""

    def cells(self, state: Int8s) -> Int8s:
        return np.sign(super().cells(state))

    def put_cells(self, state: Int8s, cells: Int8s) -> None:
        for cell in np.flatnonzero(cells):
            place_stone(state, cell, int(cells.flat[cell] < 0), self.params)

    def render(self, state: Int8s) -> str:
        lines = ["    " + " ".join(ascii_lowercase[: self.cols])]
        for row, glyphs in enumerate(self._glyph_rows(state)):
            lines.append(" " * row + f"{row + 1:3d}  " + " ".join(glyphs))
        return "\n".join(lines)

    def svg(self, state: Int8s) -> str:
        return hex_document(self.cells(state))

    def spot(self, state: Int8s, action: int, drawn: Int8s) -> Spot | None:
        return hex_spot(*divmod(action, self.cols))

    def deciding(self, state: Int8s) -> list[Spot]:
        """The group that joins two edges."""
        marks = np.abs(super().cells(state))
        return [hex_spot(row, col) for row, col in np.argwhere(marks == 1 + BOTH_EDGES).tolist()]


def make(sizes: tuple[int, ...]) -> HexGame:
    """`hex-NxN`."""
    n, cols = sizes
    if n != cols or not MIN_SIDE <= n <= MAX_SIDE:
        raise GameError(f"hex-{n}x{cols}: the board is square with {MIN_SIDE} to {MAX_SIDE} cells a side: hex-11x11")
    maps = dict(square_maps(n))
    return HexGame(
        id=f"hex-{n}x{n}",
        rules=RULES,
        params=_params(n),
        rows=n,
        cols=n,
        num_actions=n * n,
        action_layout="cells",
        max_plies=n * n,
        max_legal=n * n,
        state_size=state_bytes(n * n + 1),
        observation_shape=(3, n, n),
        tiebreak="plies",
        symmetries=cell_symmetries((name, maps[name]) for name in ("identity", "rotate 180")),
        exchange=cell_symmetries([("transpose", maps["transpose"])])[0],
        goal="Join your two edges with a chain of stones: the first player (X) joins top and bottom, the second (O) "
        "left and right.",
    )


def _params(n: int) -> Int64s:
    grid = [(row, col) for row in range(n) for col in range(n)]
    marks = [[int(cell[player] == 0) + 2 * int(cell[player] == n - 1) for cell in grid] for player in (0, 1)]
    neighbours = [
        (row + r) * n + col + c if 0 <= row + r < n and 0 <= col + c < n else n * n
        for row, col in grid
        for r, c in NEIGHBOURS
    ]
    return np.array([n, n * n, *marks[0], *marks[1], *neighbours], dtype=np.int64)
