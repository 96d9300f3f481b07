"""Searches in compiled code, one tree after the other: a template bound per game and selection rule.

It makes the same steps as the lockstep driver (select, a move of the game, attach, absorb), but a tree stays in the
processor's cache and no step costs a round through Python. `run_trees` judges leaves by random games and makes whole
searches; `gather_leaves` goes on in every tree until its leaf is one that the evaluator has to be asked about. Visits
are the same. The free names `legal` and `move` are the game's, `select_leaf` is the rule's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.jit import allocating, inlined
from palaestra.base.streams import below, next_word
from palaestra.base.types import Float32s, Float64s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.rows import ONGOING, mover, outcome
from palaestra.search.leaf import absorb_leaf, attach_leaf
from palaestra.search.memory import Table, find_entry
from palaestra.search.selection import Method
from palaestra.search.tree import NO_NODE, Records, Trees
from palaestra.search.waiting import Found

if TYPE_CHECKING:
    from palaestra.games.kernel_game import legal, move
    from palaestra.search.descent import select_leaf


@inlined
def _play_out(
    state: Int8s, streams: UInt64s, p: Int64s, scratch: Int32s, trace: bool, moves: Int32s, movers: Int8s
) -> int:
    """Random play to the end, in place; the moves are written down if asked for, and counted."""
    length = 0
    while outcome(state) == ONGOING:
        action = scratch[below(streams, 0, legal(state, scratch, p))]
        if trace:
            moves[length] = action
            movers[length] = mover(state)
            length += 1
        move(state, action, p)
    return length


@inlined
def _worth(rewards: Float32s, ended: int) -> np.float32:
    """The first player's value of an outcome; outcomes that no board should give count as the table's last."""
    return rewards[min(max(rewards.shape[0] // 2 + ended, 0), rewards.shape[0] - 1)]


@inlined
def _should_grow(  # type: ignore[no-untyped-def]
    tree, nodes: Records, edges: Records, max_legal: int, more_nodes: bool, more_edges: bool
) -> bool:
    """Whether a tree needs larger arrays for another node, and may have them."""
    if tree.full != 0:
        return False
    return (more_nodes and tree.nodes == nodes.shape[0]) or (more_edges and tree.edges + max_legal > edges.shape[0])


@inlined
def _next_leaf(  # type: ignore[no-untyped-def]
    tree,
    nodes: Records,
    edges: Records,
    states: Int8s,
    noise: Float64s,
    state: Int8s,
    actions: Int32s,
    rewards: Float32s,
    p: Int64s,
    method: Method,
    scratch: Float64s,
) -> tuple[int, int, int, int]:
    """Select a leaf and hang it in: its parent, edge, node and number of legal moves.

    The parent is NO_NODE when the tree is finished. Where play is over there are no legal moves, and the simulation is
    done. `state` and `actions` receive the position and its legal moves.
    """
    node, edge = select_leaf(tree, nodes, edges, noise, method, scratch)
    if node == NO_NODE:
        return NO_NODE, 0, NO_NODE, 0
    for i in range(state.shape[0]):
        state[i] = states[node, i]
    move(state, edges[edge].action, p)
    ended = outcome(state)
    count = legal(state, actions, p) if ended == ONGOING else 0
    value = np.float32(0.0) if ended == ONGOING else _worth(rewards, ended)
    child = attach_leaf(tree, nodes, edges, states, node, edge, state, count, actions, value, method)
    return node, edge, child, count


@allocating
def run_trees(
    rows: Int64s,
    first: int,
    quota: int,
    rewards: Float32s,
    p: Int64s,
    forest: Trees,
    may_grow: tuple[bool, bool],
    method: Method,
    playout_rewards: Float32s,
    traced: int,
) -> int:
    """Search the trees rows[first:] until all are finished, `quota` leaves were judged, or one needs more room.

    Returns the place of the first tree that is not finished. `rewards` holds the first player's value of every outcome
    of the game, `playout_rewards` that of a random game's end; the draw is in the middle. `traced` is the most moves
    that a random game may have, or 0 where its moves do not count.
    """
    trees, nodes, edges, states, streams, noise = forest
    more_nodes, more_edges = may_grow
    max_legal = noise.shape[1]
    state, stream = np.empty(states.shape[2], np.int8), np.empty(1, np.uint64)
    actions, scratch = np.empty(max_legal, np.int32), np.empty(max_legal, np.float64)
    no_logits = np.empty(0, np.float32)
    moves, movers = np.empty(traced, np.int32), np.empty(traced, np.int8)
    for r in range(first, rows.shape[0]):
        b = rows[r]
        tree, N, E, S, eta = trees[b], nodes[b], edges[b], states[b], noise[b]
        while True:
            if quota == 0 or _should_grow(tree, N, E, max_legal, more_nodes, more_edges):
                return r
            node, edge, child, count = _next_leaf(tree, N, E, S, eta, state, actions, rewards, p, method, scratch)
            if node == NO_NODE:
                break
            quota -= 1
            stream[0] = next_word(streams, b)
            if count == 0:
                continue
            to_move = mover(state)
            length = _play_out(state, stream, p, actions, traced > 0, moves, movers)
            value = _worth(playout_rewards, outcome(state)) * np.float32(1 - 2 * to_move)
            absorb_leaf(tree, N, E, node, edge, child, to_move, no_logits, value, length, moves, movers, method)
    return rows.shape[0]


@allocating
def gather_leaves(
    rows: Int64s,
    quota: int,
    rewards: Float32s,
    p: Int64s,
    forest: Trees,
    may_grow: tuple[bool, bool],
    method: Method,
    memory: Table,
    batch: Found,
) -> tuple[int, int, int]:
    """Search every tree of `rows`, one leaf at a time, until it is finished or its leaf needs an evaluation.

    Leaves that end the game, or that stand in the evaluator's `memory`, are finished on the way. The others are written
    to `batch`. A tree is left off after `quota` leaves, and where it needs more room (see `run_trees`): those trees are
    moved to the front of `rows`. Returns the numbers of leaves written, of trees left off, and of leaves found in the
    memory.
    """
    trees, nodes, edges, states, streams, noise = forest
    more_nodes, more_edges = may_grow
    tags, keys, known_logits, known_values, _ = memory
    leaf_row, leaf_node, leaf_edge, leaf_child, leaf_stream, leaf_state, leaf_words, _, leaf_count, leaf_actions = batch
    scratch = np.empty(noise.shape[1], np.float64)
    no_moves, no_movers = np.empty(0, np.int32), np.empty(0, np.int8)
    found, left, hits = 0, 0, 0
    for r in range(rows.shape[0]):
        b = rows[r]
        tree, N, E, S, eta = trees[b], nodes[b], edges[b], states[b], noise[b]
        state, actions = leaf_state[found], leaf_actions[found]
        leaves = 0
        while True:
            if leaves == quota or _should_grow(tree, N, E, noise.shape[1], more_nodes, more_edges):
                rows[left] = b
                left += 1
                break
            node, edge, child, count = _next_leaf(tree, N, E, S, eta, state, actions, rewards, p, method, scratch)
            if node == NO_NODE:
                break
            leaves += 1
            stream = next_word(streams, b)
            if count == 0:
                continue
            entry = find_entry(leaf_words, found, tags, keys)
            if entry < 0:
                leaf_row[found], leaf_node[found], leaf_edge[found], leaf_child[found] = b, node, edge, child
                leaf_stream[found], leaf_count[found] = stream, count
                found += 1
                break
            hits += 1
            absorb_leaf(
                tree, N, E, node, edge, child, mover(state), known_logits[entry], known_values[entry],
                0, no_moves, no_movers, method,
            )  # fmt: skip
    return found, left, hits
