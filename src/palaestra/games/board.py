"""Text and pictures of games played with stones on a grid of cells, and the symmetries of such a grid.

A cell is +1 (first player), -1 (second) or 0. Cells are named by a column letter and a row number, a1 top left:

        a b c
     1  X . .        position as text:  X../.O./... 0 2
     2  . O .        (rows from the top, player to move, ply, and the outcome once play is over)
     3  . . .
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase

import numpy as np

from palaestra.base.errors import MoveError
from palaestra.base.jit import kernel
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.kernel_game import KernelGame
from palaestra.games.rows import HEADER, ONGOING
from palaestra.games.svg import Spot, grid_document, grid_spot
from palaestra.games.symmetry import Symmetry

MAX_SIDE = 26  # columns are named by one letter


@kernel
def permute_cells(state: Int8s, out: Int8s, cells: Int32s, actions: Int32s, swap: bool, p: Int64s) -> None:
    """The `permute` of games that keep one byte a cell, from HEADER on."""
    for i in range(cells.shape[0]):
        stone = state[HEADER + i]
        out[HEADER + cells[i]] = -stone if swap else stone


@dataclass(frozen=True, eq=False, kw_only=True)
class BoardGame(KernelGame):
    """A kernel game with stones on rows × cols cells."""

    rows: int
    cols: int
    glyphs: tuple[str, str] = ("X", "O")
    look: str = "stones"  # how `palaestra.games.svg` draws it
    line: int | None = None  # so many stones in a row win, where a row does

    def cells(self, state: Int8s) -> Int8s:
        """int8[rows, cols] of +1, -1, 0; by default one byte a cell."""
        return state[HEADER : HEADER + self.rows * self.cols].reshape(self.rows, self.cols)

    def put_cells(self, state: Int8s, cells: Int8s) -> None:
        """Write stones into a state whose body is zero: the inverse of `cells`."""
        state[HEADER : HEADER + cells.size] = cells.reshape(-1)

    def cell_name(self, cell: int) -> str:
        return f"{ascii_lowercase[cell % self.cols]}{cell // self.cols + 1}"

    def action_to_text(self, state: Int8s, action: int) -> str:
        return self.cell_name(action)

    def render(self, state: Int8s) -> str:
        lines = ["    " + " ".join(ascii_lowercase[: self.cols])]
        for number, row in enumerate(self._glyph_rows(state), start=1):
            lines.append(f"{number:3d} " + " ".join(row))
        return "\n".join(lines)

    def svg(self, state: Int8s) -> str:
        return grid_document(self.cells(state), look=self.look)

    def spot(self, state: Int8s, action: int, drawn: Int8s) -> Spot | None:
        """The cell that the action's text names: an action need not be the number of a cell."""
        cell = self._cells_by_name.get(self.action_to_text(state, action))
        return None if cell is None else grid_spot(*divmod(cell, self.cols))

    @cached_property
    def _cells_by_name(self) -> dict[str, int]:
        return {self.cell_name(cell): cell for cell in range(self.rows * self.cols)}

    def deciding(self, state: Int8s) -> list[Spot]:
        """The cells of every line of `line` stones or more."""
        if self.line is None:
            return []
        cells = self.cells(state)
        found: set[tuple[int, int]] = set()
        for row, col in np.argwhere(cells).tolist():
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                run = [(row + i * down, col + i * right) for i in range(self.line)]
                on_board = 0 <= run[-1][1] < self.cols and run[-1][0] < self.rows
                if on_board and all(cells[cell] == cells[row, col] for cell in run):
                    found |= set(run)
        return [grid_spot(*cell) for cell in sorted(found)]

    def _glyph_rows(self, state: Int8s) -> list[str]:
        shown = {1: self.glyphs[0], -1: self.glyphs[1], 0: "."}
        return ["".join(shown[int(stone)] for stone in row) for row in self.cells(state)]

    def state_to_text(self, state: Int8s) -> str:
        words = ["/".join(self._glyph_rows(state)), str(int(state[0])), str(int(self.plies(state[None])[0]))]
        outcome = int(self.outcome(state[None])[0])
        if outcome != ONGOING:
            words.append(str(outcome))
        return " ".join(words)

    def state_from_text(self, text: str) -> Int8s:
        values = {self.glyphs[0]: 1, self.glyphs[1]: -1, ".": 0}
        try:
            board, mover, ply, outcome, *more = [*text.split(), str(ONGOING)]  # once play is over, one word more
            cells = np.array([[values[glyph] for glyph in row] for row in board.split("/")], dtype=np.int8)
            header = int(mover), int(ply), int(outcome)
            sound = cells.shape == (self.rows, self.cols) and len(more) < 2 and -(2**31) <= header[2] < 2**31
        except (ValueError, KeyError):
            sound = False
        if not sound or header[0] not in (0, 1) or not 0 <= header[1] <= self.max_plies:
            example = self.state_to_text(self.start(np.zeros(1, dtype=np.int64))[0])
            raise MoveError(f"{text!r} is not a position of {self.id}; the initial one is {example!r}")
        return self.make_state(cells, *header)

    def make_state(self, cells: Int8s, mover: int, ply: int, outcome: int = ONGOING) -> Int8s:
        """A state with these stones and this header."""
        state = np.zeros(self.state_size, dtype=np.int8)
        state[0] = mover
        state[2:4] = np.array([ply], dtype=np.int16).view(np.int8)
        state[4:8] = np.array([outcome], dtype=np.int32).view(np.int8)
        self.put_cells(state, cells)
        return state


def cell_symmetries(maps: Iterable[tuple[str, Int32s]], extra_actions: int = 0) -> tuple[Symmetry, ...]:
    """Symmetries of games whose actions are cells, with `extra_actions` (a pass) that stay where they are."""
    return tuple(
        Symmetry(name, cells, np.append(cells, len(cells) + np.arange(extra_actions)).astype(np.int32))
        for name, cells in maps
    )
