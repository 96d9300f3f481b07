"""From the root of a tree to its next leaf: a template bound once per selection rule.

The free names `score`, `score_all` and `AT_ONCE` are the rule's (see `palaestra.search.selection`). `select` looks for
leaves in a batch of trees, `select_leaf` in one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.jit import inlined, kernel
from palaestra.base.streams import next_word
from palaestra.base.types import Float64s, Int8s, Int32s, Int64s, UInt64s
from palaestra.search.leaf import add_pending, back_up, back_up_rave, side_of
from palaestra.search.rules.gumbel import choose_halving
from palaestra.search.selection import Move, Node, NoScore, edge_value, node_mean
from palaestra.search.tree import NO_NODE, PENDING, Records

if TYPE_CHECKING:
    from palaestra.search.selection import AT_ONCE, score, score_all


@kernel
def choose(nodes: Records, edges: Records, node: int, settings: Records, noise: Float64s, scratch: Float64s) -> int:
    """The edge that the rule follows from a node that is neither over nor proven; `noise` [L] is the root's."""
    s, here = settings[0], nodes[node]
    visits = here.visits + here.pending
    unvisited = node_mean(here, edges) - s.fpu if s.has_fpu else 0.0
    noisy = node == 0 and s.dirichlet_fraction > 0.0
    view = Node(visits, np.float64(here.value), here.count, here.rave)
    if AT_ONCE:
        score_all(here, edges, s, scratch)
    best, best_score = -1, -math.inf
    for i in range(here.count):
        edge = edges[here.first + i]
        if s.solver and edge.high <= here.low:
            continue
        if AT_ONCE:
            merit = scratch[i]
        else:
            prior = np.float64(edge.prior)
            if noisy:
                prior = (1.0 - s.dirichlet_fraction) * prior + s.dirichlet_fraction * noise[i]
            value = edge_value(edge, unvisited)
            move = Move(value, edge.N + edge.pending, prior, edge.rave_W, edge.rave_N)
            merit = score(move, view, s)
        if merit > best_score:
            best, best_score = here.first + i, merit
            if merit == math.inf:
                break
        elif merit != merit:
            raise NoScore("one is not a number")
    if best < 0:
        raise NoScore("all are minus infinity")
    return best


@inlined
def _follow(
    nodes: Records, edges: Records, node: int, settings: Records, noise: Float64s, wanted: int, scratch: Float64s
) -> int:
    """The edge to follow: by sequential halving at a Gumbel root, as long as it wants one, else by the rule."""
    if node == 0 and settings[0].gumbel_root:
        edge = choose_halving(nodes[node], edges, settings[0], noise, wanted, scratch)
        if edge >= 0:
            return edge
    return choose(nodes, edges, node, settings, noise, scratch)


@inlined
def _over(node) -> bool:  # type: ignore[no-untyped-def]
    return node.count == 0


@kernel
def _descend(
    nodes: Records, edges: Records, settings: Records, noise: Float64s, wanted: int, scratch: Float64s
) -> tuple[int, int]:
    """Follow the rule from the root to (node, edge): an edge without a child, or the last one before an exact node."""
    solver = settings[0].solver
    node = 0
    while True:
        edge = _follow(nodes, edges, node, settings, noise, wanted, scratch)
        child = edges[edge].child
        if child < 0 or _over(nodes[child]) or (solver and nodes[child].low == nodes[child].high):
            return node, edge
        node = child


@inlined
def _finished(tree, root, settings: Records) -> bool:  # type: ignore[no-untyped-def]
    s = settings[0]
    return tree.done + tree.waiting >= s.limit or (s.solver and root.low == root.high)


@inlined
def _is_full(tree, nodes: Records, edges: Records, max_legal: int) -> bool:  # type: ignore[no-untyped-def]
    """Whether a tree can hold no more than the nodes that its waiting leaves will take; once full, always full."""
    leaves = tree.waiting + 1
    if tree.nodes + leaves > nodes.shape[0] or tree.edges + leaves * max_legal > edges.shape[0]:
        tree.full = 1
    return tree.full != 0


@kernel
def select_leaf(  # type: ignore[no-untyped-def]
    tree,
    nodes: Records,
    edges: Records,
    noise: Float64s,
    settings: Records,
    schedule: Int32s,
    scratch: Float64s,
    marks: Int64s,
    clock: Int64s,
) -> tuple[int, int]:
    """The next leaf of a tree as (node, edge), marked as waiting; (NO_NODE, 0) when there is none for now.

    Simulations that end in a node whose value is exact are finished on the way. There is no leaf when the tree has
    enough of them, is finished, or meets one that waits already.
    """
    s = settings[0]
    while tree.waiting < s.leaves and not _finished(tree, nodes[0], settings):
        wanted = 0
        if s.gumbel_root:
            wanted = schedule[min(nodes[0].count, schedule.shape[0] - 1), tree.done + tree.waiting]
        node, edge = _descend(nodes, edges, settings, noise, wanted, scratch)
        child = edges[edge].child
        if child == PENDING:
            break
        if child < 0:
            # In a full tree leaves are not kept, so one may be asked about several times at once.
            if not _is_full(tree, nodes, edges, noise.shape[0]):
                edges[edge].child = PENDING
            tree.waiting += 1
            if s.leaves > 1:
                add_pending(nodes, edges, node, edge, 1)
            return node, edge
        value = side_of(nodes[child]) * nodes[child].low
        back_up(nodes, edges, node, edge, child, value, s.solver != 0)
        if s.rave:
            clock[0] += 1
            back_up_rave(nodes, edges, node, edge, value, marks, clock[0], s.rave_cell != 0)
        tree.done += 1
    return NO_NODE, 0


@kernel
def select(
    rows: Int64s,
    trees: Records,
    nodes: Records,
    edges: Records,
    states: Int8s,
    streams: UInt64s,
    noise: Float64s,
    settings: Records,
    schedule: Int32s,
    marks: Int64s,
    clock: Int64s,
    leaf_row: Int64s,
    leaf_node: Int32s,
    leaf_edge: Int32s,
    leaf_stream: UInt64s,
    leaf_state: Int8s,
    leaf_action: Int32s,
) -> int:
    """Choose leaves in the trees `rows`, up to `settings.leaves` waiting ones in each; return how many were written."""
    scratch = np.empty(noise.shape[1], dtype=np.float64)
    found = 0
    for r in range(rows.shape[0]):
        b = rows[r]
        N, E = nodes[b], edges[b]
        while True:
            node, edge = select_leaf(trees[b], N, E, noise[b], settings, schedule, scratch, marks, clock)
            if node == NO_NODE:
                break
            leaf_row[found] = b
            leaf_node[found] = node
            leaf_edge[found] = edge
            leaf_stream[found] = next_word(streams, b)
            leaf_action[found] = E[edge].action
            for i in range(leaf_state.shape[1]):
                leaf_state[found, i] = states[b, node, i]
            found += 1
    return found
