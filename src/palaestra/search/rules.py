"""Which move to follow from a node: selection rules (sources: search; Alg. 11), each a function over a node's edges.

Q(s,a) is the mean value of an edge, or its exact value once that is proven; pending visits count as losses. With the
solver on, a move whose proven upper bound cannot beat what the node is already sure of is passed over. Ties go to
the lowest index.
"""

from __future__ import annotations

import math

import numpy as np

from palaestra.base.jit import inlined, kernel
from palaestra.base.types import Float64s, Int32s
from palaestra.search.tree import Records

UCT, PUCT, RAVE, GUMBEL = 0, 1, 2, 3
RULES = {"uct": UCT, "puct": PUCT, "rave": RAVE, "gumbel": GUMBEL}

SETTINGS = np.dtype(
    [
        ("rule", np.int32),
        ("solver", np.int32),
        ("gumbel_root", np.int32),
        ("has_fpu", np.int32),
        ("rave_cell", np.int32),  # an action counts only for the side that plays it next
        ("leaves", np.int32),  # leaves of one tree per step
        ("limit", np.int32),  # simulations of one tree per search
        ("c_puct", np.float64),
        ("c_uct", np.float64),
        ("fpu", np.float64),
        ("rave_k", np.float64),
        ("dirichlet_fraction", np.float64),
        ("gumbel_visits", np.float64),
        ("gumbel_scale", np.float64),
    ],
    align=True,
)


@inlined
def edge_value(edge, unvisited: float) -> float:  # type: ignore[no-untyped-def]  # a record has no Python type
    """Q(s,a): exact where proven, else the mean, else `unvisited`."""
    if edge.low == edge.high:
        return np.float64(edge.low)
    n = edge.N + edge.pending
    return (edge.W - edge.pending) / n if n > 0 else unvisited


@inlined
def node_mean(node, edges: Records) -> float:  # type: ignore[no-untyped-def]
    """Mean of the values backed up through a node; the evaluator's value before the first."""
    if node.visits == 0:
        return np.float64(node.value)
    total = 0.0
    for e in range(node.first, node.first + node.count):
        total += edges[e].W
    return total / node.visits


@kernel
def choose_uct(node, edges: Records, settings: Records) -> int:  # type: ignore[no-untyped-def]
    """The edge to follow by UCT: Q + c √(ln N(s) / N(s,a)), every move once first."""
    s = settings[0]
    visits = node.visits + node.pending
    log_visits = math.log(visits) if visits > 0 else 0.0
    best, best_score = -1, -math.inf
    for e in range(node.first, node.first + node.count):
        edge = edges[e]
        if s.solver and edge.high <= node.low:
            continue
        n = edge.N + edge.pending
        if n == 0:
            return e
        score = edge_value(edge, 0.0) + s.c_uct * math.sqrt(log_visits / n)
        if score > best_score:
            best, best_score = e, score
    return best


@kernel
def choose_puct(node, edges: Records, root: bool, noise: Float64s, settings: Records) -> int:  # type: ignore[no-untyped-def]
    """The edge to follow by PUCT, blended with RAVE if asked; `noise` [L] is mixed into the priors of the root.

    PUCT: U = Q + c P √N(s) / (1 + N(s,a)) (Eq. 5.1); RAVE: (1 - β) U + β U_rave (Eq. 5.2 to 5.4).
    """
    s = settings[0]
    visits = node.visits + node.pending
    root_visits = math.sqrt(visits + 1e-8)  # the constant lets priors decide the first visit (sources: search)
    root_rave, beta = 0.0, 0.0
    if s.rule == RAVE:
        root_rave = math.sqrt(node.rave)
        beta = math.sqrt(s.rave_k / (3.0 * visits + s.rave_k))
    unvisited = node_mean(node, edges) - s.fpu if s.has_fpu else 0.0
    best, best_score = -1, -math.inf
    for i in range(node.count):
        edge = edges[node.first + i]
        if s.solver and edge.high <= node.low:
            continue
        n = edge.N + edge.pending
        prior = np.float64(edge.prior)
        if root and s.dirichlet_fraction > 0.0:
            prior = (1.0 - s.dirichlet_fraction) * prior + s.dirichlet_fraction * noise[i]
        score = edge_value(edge, unvisited) + s.c_puct * prior * root_visits / (1 + n)
        if s.rule == RAVE:
            q_rave = edge.rave_W / edge.rave_N if edge.rave_N > 0 else 0.0
            rave_score = q_rave + s.c_puct * prior * root_rave / (1 + edge.rave_N)
            score = (1.0 - beta) * score + beta * rave_score
        if score > best_score:
            best, best_score = node.first + i, score
    return best


@kernel
def improved_logits(node, edges: Records, settings: Records, out: Float64s) -> None:  # type: ignore[no-untyped-def]
    """log P(a) + σ(completed Q(a)) for every edge of a node (Gumbel search; Danihelka et al., 2022).

    An unvisited move takes the mixed value: the node's own value and the prior-weighted mean of its visited moves.
    σ(q) = (c_visit + max N) · c_scale · (q + 1) / 2.
    """
    s = settings[0]
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
    for i in range(node.count):
        edge = edges[node.first + i]
        q = 0.5 * (edge_value(edge, mixed) + 1.0)
        out[i] = math.log(max(np.float64(edge.prior), 1e-30)) + (s.gumbel_visits + most) * s.gumbel_scale * q


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
def choose_improved(node, edges: Records, settings: Records, scratch: Float64s) -> int:  # type: ignore[no-untyped-def]
    """The edge whose share of visits lags most behind the improved policy (interior nodes of Gumbel search)."""
    s = settings[0]
    improved_logits(node, edges, settings, scratch)
    softmax(scratch, node.count)
    visits = node.visits + node.pending
    best, best_score = -1, -math.inf
    for i in range(node.count):
        edge = edges[node.first + i]
        if s.solver and edge.high <= node.low:
            continue
        score = scratch[i] - (edge.N + edge.pending) / (1.0 + visits)
        if score > best_score:
            best, best_score = node.first + i, score
    return best


@kernel
def choose_halving(  # type: ignore[no-untyped-def]
    node, edges: Records, settings: Records, gumbels: Float64s, wanted: int, scratch: Float64s
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
