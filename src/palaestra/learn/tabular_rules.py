"""What a tabular learner does at a move and after a match, as kernels over the rows of a table. Knows no game.

A match is recorded as T steps of one role: the state, how many actions it had there and the place of the one it took.
The last step earns the role's goal, a share of 100 (win 1, draw ½, loss 0), the others nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from palaestra.base.jit import allocating, inlined, kernel
from palaestra.base.streams import below, uniform
from palaestra.base.types import Float64s, Int8s, Int32s, Int64s, UInt64s
from palaestra.players.table import NO_ROW, Rows, best_value, find, find_or_add, greedy

UNSEEN = -1  # instead of a place: the table has no row for this state


class Settings(NamedTuple):
    """The numbers of a learner, as kernels take them."""

    traces: bool  # TD(λ) instead of Q-learning
    alpha: float
    gamma: float
    lambda_: float
    playouts: int  # random games for a state without a row; 0: a random move
    noops: bool  # whether states in which the other side moves have rows, too
    nested: bool  # the random games for a state without a row are those of a nested search, not of a flat one


@kernel
def choose(rows: Rows, state: Int8s, role: int, count: int, epsilon: float, streams: UInt64s, stream: int) -> np.int64:
    """The place of the move that ε-greedy takes among `count`, or UNSEEN (sources: Alg. 1)."""
    if epsilon > 0.0 and uniform(streams, stream) < epsilon:
        return below(streams, stream, count)
    row = find(rows, state, role)
    return np.int64(UNSEEN) if row == NO_ROW else greedy(rows, row, streams, stream)


@kernel
def choose_rows(
    rows: Rows, states: Int8s, counts: Int32s, roles: Int8s, epsilons: Float64s, streams: UInt64s, places: Int64s
) -> None:
    """`choose` for states [B, S]; row i draws from stream i, in place."""
    for i in range(states.shape[0]):
        places[i] = choose(rows, states[i], roles[i], counts[i], epsilons[i], streams, i)


@allocating
def learn_match(
    rows: Rows, settings: Settings, states: Int8s, counts: Int32s, places: Int32s, role: int, length: int, goal: float
) -> None:
    """Give every step of a match a row, and teach the table what came of it; there must be room for `length` rows."""
    steps = np.empty(length, dtype=np.int64)
    for t in range(length):
        steps[t] = find_or_add(rows, states[t], role, counts[t])
    if settings.traces:
        _learn_traces(rows, settings, steps, places, goal)
    else:
        _learn_backwards(rows, settings, steps, places, goal)


@inlined
def _learn_backwards(rows: Rows, settings: Settings, steps: Int64s, places: Int32s, goal: float) -> None:
    """Eq. 2.2, last step first: Q ← (1-α)·Q + α·(R + γ·max Q′), where R is the goal at the end and 0 before it."""
    target = goal
    for t in range(steps.shape[0] - 1, -1, -1):
        cell = rows.first[steps[t]] + places[t]
        rows.values[cell] = (1.0 - settings.alpha) * rows.values[cell] + settings.alpha * target
        target = settings.gamma * best_value(rows, steps[t])


@inlined
def _learn_traces(rows: Rows, settings: Settings, steps: Int64s, places: Int32s, goal: float) -> None:
    """TD(λ) with accumulating traces: δ = R + γ·Q(s′, a′) - Q(s, a), and every earlier step moves by α·(γλ)^age·δ.

    A pair (s, a) that was met twice has two steps here, whose shares add up to its accumulated trace.
    """
    for t in range(steps.shape[0]):
        cell = rows.first[steps[t]] + places[t]
        last = t + 1 == steps.shape[0]
        after = goal if last else settings.gamma * rows.values[rows.first[steps[t + 1]] + places[t + 1]]
        share = settings.alpha * (after - rows.values[cell])
        for past in range(t, -1, -1):
            rows.values[rows.first[steps[past]] + places[past]] += share
            share *= settings.gamma * settings.lambda_
