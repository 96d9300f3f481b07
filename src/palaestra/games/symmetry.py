"""Symmetries of boards as permutations of cells and of actions.

`cells[i]` is the place to which cell i goes and `actions[a]` the image of action a, so a policy is carried along by
`image[..., actions] = policy` and planes by `image[..., cells] = planes` (both flattened).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from palaestra.base.types import Float32s, Int32s


@dataclass(frozen=True, eq=False)
class Symmetry:
    """One symmetry: int32[H*W] images of cells and int32[A] images of actions.

    Where planes stand for directions on the board, `channels` int32[C] says which plane each of them becomes.
    """

    name: str
    cells: Int32s
    actions: Int32s
    channels: Int32s | None = None

    def planes(self, planes: Float32s) -> Float32s:
        """Images of observations [B, C, H, W]."""
        image = np.empty_like(planes)
        flat = planes.reshape(*planes.shape[:2], -1)
        into = image.reshape(flat.shape)
        if self.channels is None:
            into[..., self.cells] = flat
        else:
            into[:, self.channels[:, None], self.cells] = flat
        return image

    def policy(self, policy: Float32s) -> Float32s:
        """Images of action probabilities [B, A]."""
        image = np.empty_like(policy)
        image[..., self.actions] = policy
        return image


def identity(num_cells: int, num_actions: int) -> Symmetry:
    return Symmetry("identity", np.arange(num_cells, dtype=np.int32), np.arange(num_actions, dtype=np.int32))


Place = Callable[[int, int], tuple[int, int]]


def cell_map(rows: int, cols: int, place: Place) -> Int32s:
    """Images of cells when (row, column) goes to `place(row, column)`."""
    images = [place(r, c) for r in range(rows) for c in range(cols)]
    return np.array([r * cols + c for r, c in images], dtype=np.int32)


def square_maps(n: int) -> list[tuple[str, Int32s]]:
    """The eight symmetries of an n×n square, identity first."""
    m = n - 1
    places: list[tuple[str, Place]] = [
        ("identity", lambda r, c: (r, c)),
        ("rotate 90", lambda r, c: (c, m - r)),
        ("rotate 180", lambda r, c: (m - r, m - c)),
        ("rotate 270", lambda r, c: (m - c, r)),
        ("mirror left-right", lambda r, c: (r, m - c)),
        ("mirror top-bottom", lambda r, c: (m - r, c)),
        ("transpose", lambda r, c: (c, r)),
        ("transpose other diagonal", lambda r, c: (m - c, m - r)),
    ]
    return [(name, cell_map(n, n, place)) for name, place in places]


def rectangle_maps(rows: int, cols: int) -> list[tuple[str, Int32s]]:
    """The symmetries of a board: eight for a square, four for any other rectangle; identity first."""
    if rows == cols:
        return square_maps(rows)
    places: list[tuple[str, Place]] = [
        ("identity", lambda r, c: (r, c)),
        ("rotate 180", lambda r, c: (rows - 1 - r, cols - 1 - c)),
        ("mirror left-right", lambda r, c: (r, cols - 1 - c)),
        ("mirror top-bottom", lambda r, c: (rows - 1 - r, c)),
    ]
    return [(name, cell_map(rows, cols, place)) for name, place in places]
