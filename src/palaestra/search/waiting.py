"""Leaves under way: the buffers that a step of a search fills, and the leaves that wait for their evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from palaestra.base.types import Int8s, Int32s, Int64s, UInt64s
from palaestra.search.evaluator import Leaves
from palaestra.search.memory import words_of


@dataclass(frozen=True, eq=False)
class Waiting:
    """Leaves that wait for the evaluator, one a row."""

    row: Int64s  # [n] the tree
    node: Int32s  # [n] that was left
    edge: Int32s  # [n] that was followed
    child: Int32s  # [n] the leaf's own node, NO_NODE in a full tree
    leaves: Leaves

    def take(self, rows: Int64s) -> Waiting:
        """Some of them, as copies."""
        return Waiting(self.row[rows], self.node[rows], self.edge[rows], self.child[rows], self.leaves.take(rows))


class Batch:
    """Buffers for `size` leaves, written by kernels."""

    def __init__(self, size: int, state_size: int, max_legal: int) -> None:
        self.size = size
        self.row: Int64s = np.empty(size, dtype=np.int64)
        self.node: Int32s = np.empty(size, dtype=np.int32)
        self.edge: Int32s = np.empty(size, dtype=np.int32)
        self.child: Int32s = np.empty(size, dtype=np.int32)
        self.stream: UInt64s = np.empty(size, dtype=np.uint64)
        self.state: Int8s = np.empty((size, state_size), dtype=np.int8)
        self.words: UInt64s = words_of(self.state)  # the same bytes
        self.action: Int32s = np.empty(size, dtype=np.int32)  # the move that leads to the leaf
        self.count: Int32s = np.empty(size, dtype=np.int32)  # of its legal moves
        self.legal: Int32s = np.empty((size, max_legal), dtype=np.int32)

    def waiting(self, count: int) -> Waiting:
        """The first `count` leaves, which are good until the batch is filled again; their trees are named for good."""
        leaves = Leaves(self.state[:count], self.count[:count], self.legal[:count], self.stream[:count])
        return Waiting(self.row[:count].copy(), self.node[:count], self.edge[:count], self.child[:count], leaves)


def joined(parts: Sequence[Waiting]) -> Waiting | None:
    """All leaves of several parts; None if there are none."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    leaves = [part.leaves for part in parts]
    return Waiting(
        np.concatenate([part.row for part in parts]),
        np.concatenate([part.node for part in parts]),
        np.concatenate([part.edge for part in parts]),
        np.concatenate([part.child for part in parts]),
        Leaves(
            np.concatenate([part.states for part in leaves]),
            np.concatenate([part.counts for part in leaves]),
            np.concatenate([part.actions for part in leaves]),
            np.concatenate([part.streams for part in leaves]),
        ),
    )
