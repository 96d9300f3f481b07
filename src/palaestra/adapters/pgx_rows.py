"""A state of PGX, which is a tree of arrays, as a row of bytes, and back; many at once.

    byte   0 … 7                             8 …
           header of palaestra.games.rows    every array of the tree but those that the header or PGX can give again

Left out are the observation, the rewards, whose turn it is and whether play is over. Numbers of 32 bits that have a
sign take two bytes, truth values one bit, all else its own size. Knows no game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palaestra.base.errors import GameError
from palaestra.base.types import Int8s
from palaestra.games.rows import HEADER, ONGOING

GIVEN = (".current_player", ".observation", ".rewards", ".terminated", ".truncated")


@dataclass(frozen=True, eq=False)
class Leaf:
    """One array of a state: where it stands in a row, if it does."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    begin: int
    end: int

    @property
    def count(self) -> int:
        return int(np.prod(self.shape))


class Layout:
    """How states of one game lie in rows; made from any one of them."""

    def __init__(self, state: Any) -> None:
        import jax

        found, self._tree = jax.tree_util.tree_flatten_with_path(state)
        self.leaves: list[Leaf] = []
        at = HEADER
        for path, leaf in found:
            name, array = jax.tree_util.keystr(path), np.asarray(leaf)
            size = 0 if name in GIVEN else _bytes(array)
            self.leaves.append(Leaf(name, array.shape, array.dtype, at, at + size))
            at += size
        self.state_size = -(-at // 8) * 8
        self._mask = next(i for i, leaf in enumerate(self.leaves) if leaf.name == ".legal_action_mask")

    def rows(self, arrays: list[NDArray[Any]], headers: Int8s) -> Int8s:
        """int8[B, S] of a batch's arrays, which stand in the order of `leaves`."""
        rows = np.zeros((len(headers), self.state_size), dtype=np.int8)
        rows[:, :HEADER] = headers
        for leaf, array in zip(self.leaves, arrays, strict=True):
            if leaf.end == leaf.begin:
                continue
            flat = array.reshape(len(rows), -1)
            if leaf.dtype == np.bool_:
                stored: NDArray[Any] = np.packbits(flat, axis=1)
            elif leaf.dtype == np.int32:
                stored = flat.astype("<i2")
                if not np.array_equal(stored, flat):
                    raise GameError(f"a state of PGX holds numbers in {leaf.name} that do not fit into two bytes")
            else:
                stored = flat
            rows[:, leaf.begin : leaf.end] = np.ascontiguousarray(stored).view(np.int8)
        return rows

    def state(self, rows: Int8s) -> Any:
        """The batch of states behind rows, with zeros where an observation and rewards would be."""
        import jax

        rows = np.ascontiguousarray(rows)
        over = np.ascontiguousarray(rows[:, 4:8]).view(np.int32)[:, 0] != ONGOING
        arrays = []
        for leaf in self.leaves:
            shape = (len(rows), *leaf.shape)
            part = np.ascontiguousarray(rows[:, leaf.begin : leaf.end])
            if leaf.name == ".current_player":
                array: NDArray[Any] = rows[:, 0].astype(leaf.dtype)
            elif leaf.name == ".terminated":
                array = over
            elif leaf.begin == leaf.end:
                array = np.zeros(shape, dtype=leaf.dtype)
            elif leaf.dtype == np.bool_:
                array = np.unpackbits(part.view(np.uint8), axis=1, count=leaf.count).astype(np.bool_).reshape(shape)
            elif leaf.dtype == np.int32:
                array = part.view("<i2").astype(np.int32).reshape(shape)
            else:
                array = part.view(leaf.dtype).reshape(shape)
            arrays.append(array)
        return jax.tree_util.tree_unflatten(self._tree, arrays)

    def masks(self, rows: Int8s) -> NDArray[np.bool_]:
        """bool[B, A]: which actions are legal; all of them where play is over."""
        leaf = self.leaves[self._mask]
        part = np.ascontiguousarray(rows[:, leaf.begin : leaf.end]).view(np.uint8)
        return np.unpackbits(part, axis=1, count=leaf.count).astype(np.bool_)


def _bytes(array: NDArray[Any]) -> int:
    if array.dtype == np.bool_:
        return -(-array.size // 8)
    return array.size * (2 if array.dtype == np.int32 else array.itemsize)
