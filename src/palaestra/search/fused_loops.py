"""Whole searches in compiled code, for leaves that are judged by random games: a template bound per game.

It makes the same steps as the lockstep driver (select, a move of the game, attach, a playout, absorb), but one tree
after the other, so that a tree stays in the processor's cache and no step costs a round through Python. Visits are the
same. The free names `legal` and `move` are the game's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from palaestra.games.rows import ONGOING, mover, outcome
from palaestra.jit import inlined, kernel
from palaestra.search.leaf import absorb_leaf, attach_leaf, select_leaf
from palaestra.search.tree import NO_NODE, Records
from palaestra.streams import below, next_word
from palaestra.types import Float32s, Float64s, Int8s, Int32s, Int64s, UInt64s

if TYPE_CHECKING:
    from palaestra.games.kernel_game import legal, move


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


@kernel
def run_trees(
    rows: Int64s,
    first: int,
    quota: int,
    more_nodes: bool,
    more_edges: bool,
    trace: bool,
    max_plies: int,
    rewards: Float32s,
    playout_rewards: Float32s,
    p: Int64s,
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
) -> int:
    """Search the trees rows[first:] until all are finished, `quota` leaves were judged, or one needs more room.

    Returns the place of the first tree that is not finished. `more_nodes` and `more_edges` say whether the arrays are
    still below their budgets. `rewards` holds the first player's value of every
    outcome of the game, `playout_rewards` that of a random game's end; the draw is in the middle.
    """
    max_legal = noise.shape[1]
    state, stream = np.empty(states.shape[2], np.int8), np.empty(1, np.uint64)
    actions, scratch = np.empty(max_legal, np.int32), np.empty(max_legal, np.float64)
    no_logits = np.empty(0, np.float32)
    moves = np.empty(max_plies if trace else 0, np.int32)
    movers = np.empty(moves.shape[0], np.int8)
    for r in range(first, rows.shape[0]):
        b = rows[r]
        tree, N, E, S, eta = trees[b], nodes[b], edges[b], states[b], noise[b]
        while True:
            if quota == 0 or _should_grow(tree, N, E, max_legal, more_nodes, more_edges):
                return r
            node, edge = select_leaf(tree, N, E, eta, settings, schedule, scratch, marks, clock)
            if node == NO_NODE:
                break
            quota -= 1
            stream[0] = next_word(streams, b)
            for i in range(state.shape[0]):
                state[i] = S[node, i]
            move(state, E[edge].action, p)
            ended, to_move = outcome(state), mover(state)
            count = legal(state, actions, p) if ended == ONGOING else 0
            value = np.float32(0.0) if ended == ONGOING else _worth(rewards, ended)
            child = attach_leaf(tree, N, E, S, node, edge, state, count, actions, value, settings, marks, clock)
            if ended != ONGOING:
                continue
            length = _play_out(state, stream, p, actions, trace, moves, movers)
            value = _worth(playout_rewards, outcome(state)) * np.float32(1 - 2 * to_move)
            absorb_leaf(
                tree, N, E, node, edge, child, to_move, no_logits, value, length, moves, movers, settings, marks, clock
            )
    return rows.shape[0]
