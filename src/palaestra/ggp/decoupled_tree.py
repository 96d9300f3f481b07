"""The tree of decoupled UCT in compiled code: every role has statistics of its own moves at every node.

A node is a state, a child is reached by one move of each role. An edge is one legal move of one role: what it led to
is averaged over all that the others did. Selection lets every role choose by UCB1 on its own edges alone, and goes on
to the child of these choices, until it comes to a node that is new, over, or whose child finds no more room. Many
simulations are under way at once: what has begun counts for the exploration, only what is done for the mean.

    node    0        1        2 …            edges of node 0: role 0's, then role 1's …
    via     –      (e0,e3)  (e1,e3)

Knows no rules: a move is a number.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from palaestra.base.jit import allocating, inlined, kernel
from palaestra.base.streams import below, mix
from palaestra.base.types import Bools, Float64s, Int32s, Int64s, UInt64s

ROOT, NO_NODE, UNREAD = 0, -1, -1
NODES, EDGES = 0, 1  # entries of `sizes`
NEAR = 0.01  # upper bounds that differ by less are alike
_STEP = np.uint64(0x9E3779B97F4A7C15)


class Tree(NamedTuple):
    """N nodes, E edges, R roles; `sizes` says how many nodes and edges are in use."""

    parent: Int32s  # [N] NO_NODE for the first
    via: Int32s  # [N, R] the edges that led here
    first: Int32s  # [N, R] where the edges of each role begin
    counts: Int32s  # [N, R] how many there are: UNREAD until the rules were asked, 0 where the game is over
    passes: Int32s  # [N] simulations that went on from here, those under way with them
    move: Int32s  # [E]
    begun: Int32s  # [E] simulations, those under way with them
    done: Int32s  # [E]
    total: Float64s  # [E] of results between 0 and 1
    slots: Int32s  # [S] nodes by their `via`; S is a power of two, at least twice N
    sizes: Int64s  # [2]


def new_tree(nodes: int, edges: int, roles: int) -> Tree:
    """An empty tree with this much room."""
    return Tree(
        np.full(nodes, NO_NODE, dtype=np.int32),
        np.full((nodes, roles), NO_NODE, dtype=np.int32),
        np.zeros((nodes, roles), dtype=np.int32),
        np.full((nodes, roles), UNREAD, dtype=np.int32),
        np.zeros(nodes, dtype=np.int32),
        np.zeros(edges, dtype=np.int32),
        np.zeros(edges, dtype=np.int32),
        np.zeros(edges, dtype=np.int32),
        np.zeros(edges, dtype=np.float64),
        np.full(1 << (2 * nodes).bit_length(), NO_NODE, dtype=np.int32),
        np.zeros(2, dtype=np.int64),
    )


def larger(old: Tree, nodes: int, edges: int) -> Tree:
    """The same tree with room for more."""
    new = new_tree(nodes, edges, old.via.shape[1])
    for kind, names in ((NODES, ("parent", "via", "first", "counts", "passes")), (EDGES, ("move", "begun", "done"))):
        for name in names:
            getattr(new, name)[: old.sizes[kind]] = getattr(old, name)[: old.sizes[kind]]
    new.total[: old.sizes[EDGES]] = old.total[: old.sizes[EDGES]]
    new.sizes[:] = old.sizes
    _fill_slots(new)
    return new


@inlined
def _slot(tree: Tree, via: Int32s) -> np.int64:
    """Where the node that these edges lead to lies, or the empty slot where it would."""
    hashed = np.uint64(0)
    for role in range(via.shape[0]):
        hashed = mix((hashed ^ np.uint64(via[role])) + _STEP)
    mask = tree.slots.shape[0] - 1
    slot = np.int64(hashed & np.uint64(mask))
    while tree.slots[slot] != NO_NODE:
        node, same = tree.slots[slot], True
        for role in range(via.shape[0]):
            same &= tree.via[node, role] == via[role]
        if same:
            break
        slot = (slot + 1) & mask
    return slot


@kernel
def _fill_slots(tree: Tree) -> None:
    for node in range(tree.sizes[NODES]):
        if tree.parent[node] != NO_NODE:
            tree.slots[_slot(tree, tree.via[node])] = node


@inlined
def _bound(tree: Tree, edge: int, width: float) -> float:
    return tree.total[edge] / max(tree.done[edge], 1) + width / math.sqrt(tree.begun[edge])


@kernel
def _choose(tree: Tree, node: int, role: int, exploration: float, streams: UInt64s) -> np.int64:
    """The edge of a role by UCB1: each once in their order, then the largest upper bound.

    One of those that are nearly as large is drawn: roles that all took the first would go in step, and never meet most
    of each other's moves.
    """
    first, count, passes = tree.first[node, role], tree.counts[node, role], tree.passes[node]
    if passes < count:
        return np.int64(first + passes)
    width, highest, near = exploration * math.sqrt(math.log(max(passes, 1))), -1.0, 0
    for edge in range(first, first + count):
        highest = max(highest, _bound(tree, edge, width))
    for edge in range(first, first + count):
        near += _bound(tree, edge, width) >= highest - NEAR
    left = below(streams, 0, near) if near > 1 else np.int64(0)
    for edge in range(first, first + count):
        if _bound(tree, edge, width) >= highest - NEAR:
            if left == 0:
                return np.int64(edge)
            left -= 1
    return np.int64(first)


@allocating
def select(tree: Tree, root: int, exploration: float, most: int, leaves: Int32s, streams: UInt64s) -> None:
    """Begin one simulation for each of `leaves` and say where it stopped. New nodes are UNREAD, one after the other.

    The tree grows to `most` nodes; a simulation that would go on to one more stops before it.
    """
    roles = tree.via.shape[1]
    via = np.empty(roles, dtype=np.int32)
    for i in range(leaves.shape[0]):
        node = np.int64(root)
        while tree.counts[node, 0] > 0:
            for role in range(roles):
                via[role] = _choose(tree, node, role, exploration, streams)
            slot = _slot(tree, via)
            child = np.int64(tree.slots[slot])
            if child == NO_NODE:
                if tree.sizes[NODES] >= most:
                    break
                child = tree.sizes[NODES]
                tree.sizes[NODES] += 1
                tree.slots[slot] = child
                tree.parent[child] = node
                for role in range(roles):
                    tree.via[child, role] = via[role]
            tree.passes[node] += 1
            for role in range(roles):
                tree.begun[via[role]] += 1
            node = child
        leaves[i] = node


@kernel
def read(tree: Tree, begin: int, legal: Bools, bounds: Int32s, streams: UInt64s) -> None:
    """Give the nodes from `begin` on their edges, in random order; there must be room.

    `legal` bool[n, M]: the moves of role r are columns bounds[r] … bounds[r+1]-1, numbered from 0 on. A node where a
    role has none is over.
    """
    roles = tree.via.shape[1]
    for row in range(legal.shape[0]):
        node, at, stuck = begin + row, tree.sizes[EDGES], False
        for role in range(roles):
            tree.first[node, role] = at
            for column in range(bounds[role], bounds[role + 1]):
                if legal[row, column]:
                    tree.move[at] = column - bounds[role]
                    at += 1
            count = at - tree.first[node, role]
            tree.counts[node, role] = count
            stuck |= count == 0
            for place in range(count - 1, 0, -1):
                one, other = tree.first[node, role] + place, tree.first[node, role] + below(streams, 0, place + 1)
                tree.move[one], tree.move[other] = tree.move[other], tree.move[one]
        if stuck:
            for role in range(roles):
                tree.counts[node, role] = 0
        else:
            tree.sizes[EDGES] = at


@kernel
def back_up(tree: Tree, root: int, leaves: Int32s, results: Float64s) -> None:
    """Finish simulations that stopped at `leaves` with results float64[B, R]."""
    for i in range(leaves.shape[0]):
        node = np.int64(leaves[i])
        while node != root:
            for role in range(results.shape[1]):
                edge = tree.via[node, role]
                tree.done[edge] += 1
                tree.total[edge] += results[i, role]
            node = np.int64(tree.parent[node])


@kernel
def joint_moves(tree: Tree, begin: int, end: int, joints: Int32s) -> None:
    """The moves int32[n, R] that led to the nodes begin … end-1."""
    for node in range(begin, end):
        for role in range(joints.shape[1]):
            joints[node - begin, role] = tree.move[tree.via[node, role]]
