"""The steps of a search over a batch of trees: select, attach, absorb (expand and back up), and moving the root.

Leaves are rows of int32 arrays: the tree, the node that was left, the edge that was followed. Between `select` and
`attach` the caller advances the game; between `attach` and `absorb` it asks the evaluator.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.jit import allocating, kernel
from palaestra.base.types import Bools, Float32s, Int8s, Int32s, Int64s
from palaestra.games.rows import mover
from palaestra.search.leaf import absorb_leaf, attach_leaf, new_node, set_priors
from palaestra.search.selection import Method
from palaestra.search.tree import NO_NODE, NO_PARENT, Records, Trees
from palaestra.search.waiting import Places, Traces


@kernel
def attach(
    found: int,
    places: Places,
    after: Int8s,
    counts: Int32s,
    actions: Int32s,
    values: Float32s,
    forest: Trees,
    method: Method,
) -> int:
    """Give the first `found` leaves their nodes; finish the simulations that ended the game. Returns how many are left
    to evaluate.

    `after` [n, S] are the positions reached, with their legal moves; where there are none, play is over and
    `values` [n] holds the first player's value. The last of `places` receives the new nodes.
    """
    leaf_row, leaf_node, leaf_edge, leaf_child = places
    trees, nodes, edges, states, _, _ = forest
    waiting = 0
    for i in range(found):
        b = leaf_row[i]
        leaf_child[i] = attach_leaf(
            trees[b], nodes[b], edges[b], states[b], leaf_node[i], leaf_edge[i], after[i], counts[i], actions[i],
            values[i], method,
        )  # fmt: skip
        waiting += counts[i] > 0
    return waiting


@kernel
def absorb(
    places: Places, after: Int8s, logits: Float32s, values: Float32s, traces: Traces, forest: Trees, method: Method
) -> None:
    """Expand evaluated leaves and back their values up.

    `logits` is [n, A] or [n, 0] for none; `values` [n] is for the players to move at the leaves, whose states are
    `after` [n, S].
    """
    leaf_row, leaf_node, leaf_edge, leaf_child = places
    lengths, moves, move_movers = traces
    trees, nodes, edges, _, _, _ = forest
    for i in range(leaf_row.shape[0]):
        b = leaf_row[i]
        absorb_leaf(
            trees[b], nodes[b], edges[b], leaf_node[i], leaf_edge[i], leaf_child[i], mover(after[i]), logits[i],
            values[i], lengths[i], moves[i], move_movers[i], method,
        )  # fmt: skip


@kernel
def plant(rows: Int64s, roots: Int8s, counts: Int32s, actions: Int32s, forest: Trees) -> None:
    """Start empty trees: node 0 is the root, its priors are still to come."""
    trees, nodes, edges, states, _, _ = forest
    for i in range(rows.shape[0]):
        b = rows[i]
        trees[b].nodes, trees[b].edges, trees[b].full = 0, 0, 0
        new_node(trees[b], nodes[b], edges[b], states[b], roots[i], NO_PARENT, -1, counts[i], actions[i])


@kernel
def expand_roots(rows: Int64s, logits: Float32s, values: Float32s, nodes: Records, edges: Records) -> None:
    """Give freshly planted roots their value and priors."""
    for i in range(rows.shape[0]):
        b = rows[i]
        nodes[b, 0].value = values[i]
        set_priors(nodes[b, 0], edges[b], logits[i])


@kernel
def find_state(nodes: Records, states: Int8s, used: int, state: Int8s) -> int:
    """The most visited node with this state among the first `used`, or NO_NODE."""
    best, visits = NO_NODE, -1
    for n in range(used):
        same = True
        for i in range(state.shape[0]):
            if states[n, i] != state[i]:
                same = False
                break
        if same and nodes[n].count > 0 and nodes[n].visits > visits:
            best, visits = n, nodes[n].visits
    return best


@allocating
def move_root(b: int, root: int, forest: Trees) -> None:
    """Keep only the subtree of `root`, moved to the front of the tree's arrays in one pass."""
    trees, nodes, edges, states, _, _ = forest
    tree, N, E, S = trees[b], nodes[b], edges[b], states[b]
    place = np.full(tree.nodes, NO_NODE, dtype=np.int32)  # old node -> new node
    shift = np.zeros(tree.nodes, dtype=np.int32)  # by how much its edges moved
    used_nodes, used_edges = 0, 0
    for n in range(root, tree.nodes):
        parent, edge, first = N[n].parent, N[n].edge, N[n].first
        if n != root and (parent < root or place[parent] == NO_NODE):
            continue
        place[n] = used_nodes
        shift[n] = first - used_edges
        N[used_nodes] = N[n]
        new = N[used_nodes]
        new.first = used_edges
        if n == root:
            new.parent, new.edge = NO_PARENT, -1
        else:
            new.parent, new.edge = place[parent], edge - shift[parent]
            E[new.edge].child = used_nodes
        for i in range(new.count):
            E[used_edges + i] = E[first + i]
        for i in range(S.shape[1]):
            S[used_nodes, i] = S[n, i]
        used_nodes += 1
        used_edges += new.count
    tree.nodes, tree.edges, tree.full = used_nodes, used_edges, 0


@kernel
def resume(rows: Int64s, roots: Int8s, forest: Trees, kept: Bools) -> None:
    """Move the roots of the trees `rows` to the states `roots`, where they contain them; `kept` says where."""
    trees, nodes, _, states, _, _ = forest
    for i in range(rows.shape[0]):
        b = rows[i]
        node = find_state(nodes[b], states[b], trees[b].nodes, roots[i])
        kept[i] = node != NO_NODE
        if node > 0:
            move_root(b, node, forest)
