"""Leaves under way: the buffers that a step of a search fills, and the leaves that wait for their evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from palaestra.base.types import Int8s, Int32s, Int64s, UInt64s
from palaestra.search.evaluator import Leaves
from palaestra.search.memory import words_of

# Where leaves hang, one a row.
Places = tuple[
    Int64s,  # row: [n] the tree
    Int32s,  # node: [n] that was left
    Int32s,  # edge: [n] that was followed
    Int32s,  # child: [n] the leaf's own node, NO_NODE in a full tree
]
# What a step of a search writes of leaves, one a row: the four of `Places`, then
Found = tuple[
    Int64s, Int32s, Int32s, Int32s,
    UInt64s,  # stream: [n]
    Int8s,  # state: [n, S] the leaf's, or the parent's where the game is still to be advanced
    UInt64s,  # words: [n, S/8] the same bytes
    Int32s,  # action: [n] the move that leads to the leaf
    Int32s,  # count: [n] of its legal moves
    Int32s,  # legal: [n, L]
]  # fmt: skip
# The moves of random games, one game a row.
Traces = tuple[
    Int32s,  # lengths: [n]
    Int32s,  # moves: [n, max_plies], or [n, 0] when they do not count
    Int8s,  # movers: like moves
]


@dataclass(frozen=True, eq=False)
class Waiting:
    """Leaves that wait for the evaluator, one a row."""

    places: Places
    leaves: Leaves

    @property
    def row(self) -> Int64s:
        """[n] their trees."""
        return self.places[0]

    def take(self, rows: Int64s) -> Waiting:
        """Some of them, as copies."""
        row, node, edge, child = self.places
        return Waiting((row[rows], node[rows], edge[rows], child[rows]), self.leaves.take(rows))


class Batch:
    """Buffers for `size` leaves, written by kernels."""

    def __init__(self, size: int, state_size: int, max_legal: int) -> None:
        self.size = size
        node, edge, child, self.action, self.count = (np.empty(size, dtype=np.int32) for _ in range(5))
        self.places: Places = np.empty(size, dtype=np.int64), node, edge, child
        self.stream: UInt64s = np.empty(size, dtype=np.uint64)
        self.state: Int8s = np.empty((size, state_size), dtype=np.int8)
        self.legal: Int32s = np.empty((size, max_legal), dtype=np.int32)
        words = words_of(self.state)
        self.arrays: Found = (*self.places, self.stream, self.state, words, self.action, self.count, self.legal)
        # What is said of leaves that have no logits, and whose random games do not count.
        self.no_logits = np.empty((size, 0), dtype=np.float32)
        no_moves, no_movers = np.empty((size, 0), dtype=np.int32), np.empty((size, 0), dtype=np.int8)
        self.no_traces: Traces = np.zeros(size, dtype=np.int32), no_moves, no_movers

    def waiting(self, count: int) -> Waiting:
        """The first `count` leaves, valid until the batch is filled again; the numbers of their trees are copied."""
        row, node, edge, child = self.places
        leaves = Leaves(self.state[:count], self.count[:count], self.legal[:count], self.stream[:count])
        return Waiting((row[:count].copy(), node[:count], edge[:count], child[:count]), leaves)


def joined(parts: Sequence[Waiting]) -> Waiting | None:
    """All leaves of several parts; None if there are none."""
    if len(parts) <= 1:
        return parts[0] if parts else None
    leaves = [part.leaves for part in parts]
    row, node, edge, child = zip(*[part.places for part in parts], strict=True)
    return Waiting(
        (np.concatenate(row), np.concatenate(node), np.concatenate(edge), np.concatenate(child)),
        Leaves(
            np.concatenate([part.states for part in leaves]),
            np.concatenate([part.counts for part in leaves]),
            np.concatenate([part.actions for part in leaves]),
            np.concatenate([part.streams for part in leaves]),
        ),
    )
