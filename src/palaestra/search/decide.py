"""What a finished search says: visits, values, a policy and a move, for every root of a batch.

Proven values win: at a proven root only moves that reach its value are considered, and a move that is proven as good
as the root's lower bound is preferred to an estimate below it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from palaestra.base.jit import allocating, kernel
from palaestra.base.streams import gamma, uniform
from palaestra.base.types import Bools, Float32s, Float64s, Int32s, Int64s, UInt64s
from palaestra.search.rules.gumbel import improved_logits, softmax
from palaestra.search.selection import edge_value, node_mean
from palaestra.search.tree import Records, Trees


@dataclass(frozen=True, eq=False)
class SearchResult:
    """One row a root; columns are its legal moves in ascending order (the rest of a row is 0)."""

    counts: Int32s  # [M] number of legal moves
    actions: Int32s  # [M, L]
    visits: Int32s  # [M, L] N(s,a)
    q: Float32s  # [M, L] for the player to move; exact where proven, nan where never visited
    prior: Float32s  # [M, L] P(s,a), without noise
    policy: Float32s  # [M, L] π, sums to 1
    values: Float32s  # [M] of the root, for the player to move
    proven: Bools  # [M]
    chosen: Int32s  # [M] the action to play
    simulations: Int32s  # [M] finished in this search


# What `decide` fills in: fields of a `SearchResult`, and the places of the chosen moves among the legal ones.
Answers = tuple[
    Int32s,  # visits
    Float32s,  # q
    Float32s,  # prior
    Float32s,  # policy
    Float32s,  # values
    Bools,  # proven
    Int32s,  # choices: [M]
]


@kernel
def draw_dirichlet(rows: Int64s, nodes: Records, streams: UInt64s, noise: Float64s, alpha: float) -> None:
    """One draw from Dirichlet(alpha) over the legal moves of every root."""
    for r in range(rows.shape[0]):
        b = rows[r]
        count = nodes[b, 0].count
        total = 0.0
        for i in range(count):
            noise[b, i] = gamma(streams, b, alpha)
            total += noise[b, i]
        for i in range(count):
            noise[b, i] = noise[b, i] / total if total > 0.0 else 1.0 / count


@kernel
def draw_gumbels(rows: Int64s, nodes: Records, streams: UInt64s, noise: Float64s, temperatures: Float64s) -> None:
    """Gumbel(0) variates for the legal moves of every root, times its temperature: at 0 the best move is played."""
    for r in range(rows.shape[0]):
        b = rows[r]
        for i in range(nodes[b, 0].count):
            noise[b, i] = -math.log(-math.log(uniform(streams, b))) * temperatures[r]


@kernel
def most_visited(node, edges: Records) -> int:  # type: ignore[no-untyped-def]  # a record has no Python type
    """The edge to play without noise: most visits, then the higher value; what is proven comes first."""
    best, best_visits, best_value = -1, -1, -math.inf
    for e in range(node.first, node.first + node.count):
        value = edge_value(edges[e], -math.inf)
        visits = edges[e].N
        if node.low == node.high:
            if not edges[e].low == edges[e].high == node.low:
                continue
        elif edges[e].high <= node.low and edges[e].low < node.low:
            visits = -1  # proven worse than what the root is sure of
        if visits > best_visits or (visits == best_visits and value > best_value) or best < 0:
            best, best_visits, best_value = e, visits, value
    if node.low < node.high and edge_value(edges[best], -1.0) < node.low:
        for e in range(node.first, node.first + node.count):
            if edges[e].low == node.low:
                return e
    return best


@kernel
def _weights(  # type: ignore[no-untyped-def]
    node, edges: Records, temperature: float, settings: Records, weights: Float64s
) -> None:
    """The policy of one root over its edges: the improved policy under Gumbel, else visits ** (1 / temperature)."""
    if settings[0].gumbel_root:
        improved_logits(node, edges, settings[0], weights)
        softmax(weights, node.count)
        return
    proven = node.low == node.high
    top = 0.0
    for i in range(node.count):
        edge = edges[node.first + i]
        weights[i] = edge.N
        if proven:
            weights[i] = edge.N + 1.0 if edge.low == edge.high == node.low else 0.0
        top = max(top, weights[i])
    if top == 0.0:  # no simulation was finished: only the priors are known
        for i in range(node.count):
            weights[i] = edges[node.first + i].prior
        return
    if temperature == 0.0:
        chosen = most_visited(node, edges) - node.first
        for i in range(node.count):
            weights[i] = 1.0 if i == chosen else 0.0
        return
    total = 0.0
    for i in range(node.count):
        weights[i] = (weights[i] / top) ** (1.0 / temperature)
        total += weights[i]
    for i in range(node.count):
        weights[i] /= total


@kernel
def _gumbel_choice(node, edges: Records, gumbels: Float64s, settings: Records, scratch: Float64s) -> int:  # type: ignore[no-untyped-def]
    """The winner of sequential halving: among the most visited moves, the best of gumbel + improved logit."""
    improved_logits(node, edges, settings[0], scratch)
    most = 0
    for e in range(node.first, node.first + node.count):
        most = max(most, edges[e].N)
    best, best_score = 0, -math.inf
    for i in range(node.count):
        if edges[node.first + i].N == most and gumbels[i] + scratch[i] > best_score:
            best, best_score = i, gumbels[i] + scratch[i]
    return best


@allocating
def decide(rows: Int64s, temperatures: Float64s, forest: Trees, settings: Records, answers: Answers) -> None:
    """What the trees `rows` say of their roots, under a temperature each."""
    _, nodes, edges, _, streams, noise = forest
    visits, q, prior, policy, values, proven, choices = answers
    weights = np.empty(noise.shape[1], dtype=np.float64)
    for r in range(rows.shape[0]):
        b = rows[r]
        root, E = nodes[b, 0], edges[b]
        _weights(root, E, temperatures[r], settings, weights)
        for i in range(root.count):
            edge = E[root.first + i]
            visits[r, i] = edge.N
            q[r, i] = edge_value(edge, math.nan)
            prior[r, i] = edge.prior
            policy[r, i] = weights[i]
        proven[r] = root.low == root.high
        values[r] = root.low if proven[r] else node_mean(root, E)
        if settings[0].gumbel_root and not proven[r]:
            choices[r] = _gumbel_choice(root, E, noise[b], settings, weights)
        elif temperatures[r] == 0.0 or proven[r]:
            choices[r] = most_visited(root, E) - root.first
        else:
            threshold = uniform(streams, b)
            chosen = root.count - 1
            for i in range(root.count):
                threshold -= weights[i]
                if threshold < 0.0:
                    chosen = i
                    break
            while weights[chosen] == 0.0:  # rounding may leave a crumb of the threshold at the end
                chosen -= 1
            choices[r] = chosen


@kernel
def principal_variation(nodes: Records, edges: Records, moves: Int32s) -> int:
    """Write the most visited line from the root of one tree; returns its length."""
    node, length = 0, 0
    while length < moves.shape[0] and nodes[node].count > 0 and nodes[node].visits > 0:
        edge = most_visited(nodes[node], edges)
        moves[length] = edges[edge].action
        length += 1
        if edges[edge].child < 0:
            break
        node = edges[edge].child
    return length
