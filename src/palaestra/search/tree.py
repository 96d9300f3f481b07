"""The memory of a search: B trees as flat arrays of records, grown by doubling up to a node budget.

A node owns a slice of its tree's edges, one edge for each legal move and no more. Children are made after their
parents and edges in the order of their nodes, so one pass in index order can move a subtree to the front.

All values are for the player to move at the node; an edge's are for the player who chooses it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palaestra.base.types import Float64s, Int8s, Int64s, UInt64s

NO_PARENT = -1
NO_NODE = -1
UNEXPANDED = -1  # an edge that nobody has followed yet
PENDING = -2  # an edge whose child waits for its evaluation

MAX_STATE_BYTES = 2**30  # of one tree: bounds the nodes of games with large states
EDGES_PER_NODE = 24  # on average over a tree that is full

NODE = np.dtype(
    [
        ("parent", np.int32),  # node, or NO_PARENT
        ("edge", np.int32),  # the parent's edge that leads here
        ("first", np.int32),  # its first edge
        ("count", np.int32),  # number of edges: 0 when play is over
        ("visits", np.int32),  # N(s): how often one of its edges was followed
        ("pending", np.int32),  # how many of its descendants wait for an evaluation
        ("rave", np.int32),  # N_rave(s): sum of its edges' rave_N
        ("mover", np.int32),
        ("value", np.float32),  # v: the evaluator's word
        ("low", np.float32),  # proven bounds of the exact value
        ("high", np.float32),
    ],
    align=True,
)

EDGE = np.dtype(
    [
        ("W", np.float64),  # sum of values
        ("rave_W", np.float64),
        ("action", np.int32),
        ("child", np.int32),  # node, UNEXPANDED or PENDING
        ("N", np.int32),  # visits
        ("pending", np.int32),  # visits under way: each counts as a loss until it is known (virtual loss)
        ("rave_N", np.int32),
        ("prior", np.float32),  # P
        ("low", np.float32),  # proven bounds of the child's value, for the player who moves here
        ("high", np.float32),
    ],
    align=True,
)

TREE = np.dtype(
    [
        ("nodes", np.int32),  # used nodes; the root is node 0
        ("edges", np.int32),  # used edges
        ("done", np.int32),  # simulations finished in this search
        ("waiting", np.int32),  # leaves that wait for their evaluation
        ("full", np.int32),  # 1 once there is no room for another node
    ],
    align=True,
)

Records = NDArray[Any]  # arrays of the record types above


# A forest as kernels take it; row b is tree b.
Trees = tuple[
    Records,  # trees: TREE[B]
    Records,  # nodes: NODE[B, n]
    Records,  # edges: EDGE[B, e]
    Int8s,  # states: [B, n, S] of the nodes
    UInt64s,  # streams: [B] of random numbers
    Float64s,  # noise: [B, L] of the roots' moves
]


class Forest:
    """Arrays of `count` trees for states of `state_size` bytes; rows are trees."""

    def __init__(self, count: int, state_size: int, max_legal: int, node_budget: int, nodes: int = 64) -> None:
        self.max_legal = max_legal
        self.node_budget = node_budget = max(2, min(node_budget, MAX_STATE_BYTES // state_size))
        # A game may list hundreds of moves at every node: bound edges too, so that memory stays linear.
        self.edge_budget = min(node_budget * min(max_legal, EDGES_PER_NODE) + max_legal, 2**31 - 1)
        nodes = min(nodes, node_budget)
        self._room = 0  # nodes and their edges that surely still fit into every tree
        self.trees: Records = np.zeros(count, dtype=TREE)
        self.streams: UInt64s = np.zeros(count, dtype=np.uint64)
        self.noise = np.zeros((count, max_legal), dtype=np.float64)
        self.states: Int8s = np.empty((count, nodes, state_size), dtype=np.int8)
        self.nodes: Records = np.empty((count, nodes), dtype=NODE)
        self.edges: Records = np.empty((count, min(nodes * min(max_legal, 8), self.edge_budget)), dtype=EDGE)

    @property
    def count(self) -> int:
        return len(self.trees)

    def grow(self, leaves: int) -> None:
        """Make room for `leaves` more nodes in every tree, as far as the budgets allow."""
        self._room -= leaves
        if self._room < 0:
            self.reserve(leaves)

    def reserve(self, leaves: int) -> None:
        """`grow`, when it is not known how many nodes were added since the last time."""
        nodes_used, edges_used = int(self.trees["nodes"].max()), int(self.trees["edges"].max())
        while self.nodes.shape[1] < min(nodes_used + leaves, self.node_budget):
            size = min(2 * self.nodes.shape[1], self.node_budget)
            self.nodes = _resized(self.nodes, self.count, size)
            self.states = _resized(self.states, self.count, size)
        while self.edges.shape[1] < min(edges_used + leaves * self.max_legal, self.edge_budget):
            self.edges = _resized(self.edges, self.count, min(2 * self.edges.shape[1], self.edge_budget))
        free_edges = (self.edges.shape[1] - edges_used) // self.max_legal
        self._room = min(self.nodes.shape[1] - nodes_used, free_edges) - leaves

    def add_trees(self, count: int) -> None:
        """Append `count` empty trees."""
        rows = self.count + count
        self.nodes = _resized(self.nodes, rows, self.nodes.shape[1])
        self.states = _resized(self.states, rows, self.states.shape[1])
        self.edges = _resized(self.edges, rows, self.edges.shape[1])
        for name in ("trees", "streams", "noise"):
            old = getattr(self, name)
            setattr(self, name, np.concatenate([old, np.zeros((count, *old.shape[1:]), dtype=old.dtype)]))

    def plant(self, rows: Int64s) -> None:
        """Make these trees empty."""
        self.trees[rows] = np.zeros((), dtype=TREE)

    @property
    def arrays(self) -> Trees:
        """All of it for a kernel, good until the forest grows."""
        return self.trees, self.nodes, self.edges, self.states, self.streams, self.noise

    @property
    def may_grow(self) -> tuple[bool, bool]:
        """Whether nodes and edges are still below their budgets."""
        return self.nodes.shape[1] < self.node_budget, self.edges.shape[1] < self.edge_budget

    @property
    def bytes(self) -> int:
        """Memory held by the trees."""
        return self.states.nbytes + self.nodes.nbytes + self.edges.nbytes


def _resized(array: Records, rows: int, columns: int) -> Records:
    """A larger copy; what is new is left as it is, since every node and edge is filled in when it is made."""
    larger = np.empty((rows, columns, *array.shape[2:]), dtype=array.dtype)
    larger[: array.shape[0], : array.shape[1]] = array
    return larger
