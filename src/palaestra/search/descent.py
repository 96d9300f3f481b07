"""From the root of a tree to its next leaf: a template bound once per selection rule.

The free names `score`, `score_all` and `AT_ONCE` are the rule's (see `palaestra.search.selection`). `select` looks for
leaves in a batch of trees, `select_leaf` in one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.jit import allocating, inlined, kernel
from palaestra.base.streams import next_word
from palaestra.base.types import Float64s, Int64s
from palaestra.search.leaf import add_pending, back_up, back_up_rave, side_of
from palaestra.search.rules.gumbel import choose_halving
from palaestra.search.selection import Method, Move, Node, NoScore, edge_value, node_mean
from palaestra.search.tree import NO_NODE, PENDING, Records, Trees
from palaestra.search.waiting import Found

if TYPE_CHECKING:
    from palaestra.search.selection import AT_ONCE, score, score_all


@inlined
def _seen(edge, unvisited: float, share: float, noise: float) -> Move:  # type: ignore[no-untyped-def]  # a record
    """An edge as the rule sees it; `share` of its prior is noise."""
    prior = np.float64(edge.prior)
    if share > 0.0:
        prior = (1.0 - share) * prior + share * noise
    return Move(edge_value(edge, unvisited), edge.N + edge.pending, prior, edge.rave_W, edge.rave_N)


@inlined
def _is_exact(node, solver: bool) -> bool:  # type: ignore[no-untyped-def]
    return node.count == 0 or (solver and node.low == node.high)


@kernel
def descend(
    nodes: Records, edges: Records, settings: Records, noise: Float64s, wanted: int, scratch: Float64s
) -> tuple[int, int]:
    """Follow the rule from the root to (node, edge): an edge without a child, or the last one before an exact node.

    `noise` [L] is the root's. A Gumbel root follows its plan first: a move with `wanted` visits, if there is one. This
    is one function because references to arrays that are handed on at every node are counted at every node.
    """
    s = settings[0]
    node, share = 0, s.dirichlet_fraction
    while True:
        here, best, best_score = nodes[node], -1, -math.inf
        if node == 0 and s.gumbel_root:
            best = choose_halving(here, edges, s, noise, wanted, scratch)
        if best < 0:
            view = Node(here.visits + here.pending, np.float64(here.value), here.count, here.rave)
            unvisited = node_mean(here, edges) - s.fpu if s.has_fpu else 0.0
            if AT_ONCE:
                score_all(here, edges, s, scratch)
            for i in range(here.count):
                edge = edges[here.first + i]
                if s.solver and edge.high <= here.low:
                    continue
                merit = scratch[i] if AT_ONCE else score(_seen(edge, unvisited, share, noise[i]), view, s)
                if merit > best_score:
                    best, best_score = here.first + i, merit
                    if merit == math.inf:
                        break
                elif merit != merit:
                    raise NoScore("one is not a number")
        if best < 0:
            raise NoScore("all are minus infinity")
        child = edges[best].child
        if child < 0 or _is_exact(nodes[child], s.solver != 0):
            return node, best
        node, share = child, 0.0


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
    method: Method,
    scratch: Float64s,
) -> tuple[int, int]:
    """The next leaf of a tree as (node, edge), marked as waiting; (NO_NODE, 0) when there is none for now.

    Simulations that end in a node whose value is exact are finished on the way. There is no leaf when the tree has
    enough of them, is finished, or meets one that waits already.
    """
    settings, schedule, marks, clock = method
    s = settings[0]
    while tree.waiting < s.leaves and not _finished(tree, nodes[0], settings):
        wanted = 0
        if s.gumbel_root:
            wanted = schedule[min(nodes[0].count, schedule.shape[0] - 1), tree.done + tree.waiting]
        node, edge = descend(nodes, edges, settings, noise, wanted, scratch)
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


@allocating
def select(rows: Int64s, forest: Trees, method: Method, batch: Found) -> int:
    """Choose leaves in the trees `rows`, up to `settings.leaves` waiting ones in each; return how many were written.

    `batch` receives where they hang, their streams, and the states and moves that lead to them.
    """
    trees, nodes, edges, states, streams, noise = forest
    leaf_row, leaf_node, leaf_edge, _, leaf_stream, leaf_state, _, leaf_action, _, _ = batch
    scratch = np.empty(noise.shape[1], dtype=np.float64)
    found = 0
    for r in range(rows.shape[0]):
        b = rows[r]
        N, E = nodes[b], edges[b]
        while True:
            node, edge = select_leaf(trees[b], N, E, noise[b], method, scratch)
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
