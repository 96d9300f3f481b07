"""Gumbel search (Danihelka et al., 2022; sources: Gumbel root): the improved policy, and the root's sequential halving.

Inside the tree visits follow the improved policy: `score_all` is the selection rule `gumbel`. The root is a setting of
its own, `gumbel_root`, which goes with every rule: a planned number of visits is shared out among a few moves
(`choose_halving`).
"""

from __future__ import annotations

import math

import numpy as np

from palaestra.base.jit import kernel
from palaestra.base.types import Float64s, Int32s
from palaestra.search.selection import Rule, edge_value
from palaestra.search.tree import Records


@kernel
def improved_logits(node, edges: Records, settings, out: Float64s) -> None:  # type: ignore[no-untyped-def]
    """log P(a) + σ(completed Q(a)) for every edge of a node (Gumbel search; Danihelka et al., 2022).

    An unvisited move takes the mixed value: the node's own value and the prior-weighted mean of its visited moves.
    σ(q) = (c_visit + max N) · c_scale · (q + 1) / 2.
    """
    visits, most, seen_prior, seen_value = 0, 0, 0.0, 0.0
    for e in range(node.first, node.first + node.count):
        n = edges[e].N + edges[e].pending
        visits += n
        most = max(most, n)
        if n > 0:
            seen_prior += edges[e].prior
            seen_value += edges[e].prior * edge_value(edges[e], 0.0)
    mixed = np.float64(node.value)
    if visits > 0 and seen_prior > 0.0:
        mixed = (node.value + visits * seen_value / seen_prior) / (1 + visits)
    scale = (settings.gumbel_visits + most) * settings.gumbel_scale
    for i in range(node.count):
        edge = edges[node.first + i]
        q = 0.5 * (edge_value(edge, mixed) + 1.0)
        out[i] = math.log(max(np.float64(edge.prior), 1e-30)) + scale * q


@kernel
def softmax(x: Float64s, count: int) -> None:
    """In place over the first `count` entries."""
    top = -math.inf
    for i in range(count):
        top = max(top, x[i])
    total = 0.0
    for i in range(count):
        x[i] = math.exp(x[i] - top)
        total += x[i]
    for i in range(count):
        x[i] /= total


@kernel
def score_all(node, edges: Records, settings, scores: Float64s) -> None:  # type: ignore[no-untyped-def]
    """How far each move's share of the visits lags behind the improved policy."""
    improved_logits(node, edges, settings, scores)
    softmax(scores, node.count)
    visits = node.visits + node.pending
    for i in range(node.count):
        edge = edges[node.first + i]
        scores[i] -= (edge.N + edge.pending) / (1.0 + visits)


RULE = Rule(score_all=score_all)


@kernel
def choose_halving(  # type: ignore[no-untyped-def]
    node, edges: Records, settings, gumbels: Float64s, wanted: int, scratch: Float64s
) -> int:
    """At a Gumbel root: among the moves with `wanted` visits, the best of gumbel + improved logit."""
    improved_logits(node, edges, settings, scratch)
    best, best_score = -1, -math.inf
    for i in range(node.count):
        edge = edges[node.first + i]
        if edge.N + edge.pending == wanted and gumbels[i] + scratch[i] > best_score:
            best, best_score = node.first + i, gumbels[i] + scratch[i]
    return best


def halving_schedule(considered: int, simulations: int) -> Int32s:
    """int32[considered + 1, simulations]: row m says how many visits the move of simulation t must have so far.

    Sequential halving (Karnin et al., 2013): m moves are visited equally often, then the better half of them, and so
    on; whatever is left goes to the last two.
    """
    schedule = np.zeros((considered + 1, simulations), dtype=np.int32)
    for m in range(1, considered + 1):
        sequence: list[int] = []
        if m == 1:
            sequence = list(range(simulations))
        rounds = max(1, math.ceil(math.log2(m)))
        alive, visits = m, [0] * m
        while len(sequence) < simulations:
            for _ in range(max(1, simulations // (rounds * alive))):
                sequence.extend(visits[:alive])
                for i in range(alive):
                    visits[i] += 1
            alive = max(2, alive // 2)
        schedule[m] = sequence[:simulations]
    return schedule
