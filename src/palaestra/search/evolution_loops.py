"""Playouts that follow genes: a template that `palaestra.base.jit.bind` compiles once per game.

The free names `move` and `legal` are the game's (see `palaestra.games.kernel_game`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.jit import allocating, inlined
from palaestra.base.streams import below, uniform
from palaestra.base.types import Int8s, Int32s, Int64s, UInt64s
from palaestra.games.rows import ONGOING, mover, outcome

if TYPE_CHECKING:
    from palaestra.games.kernel_game import legal, move


@inlined
def contains(actions: Int32s, count: int, action: int) -> bool:
    """Whether `action` is among the first `count` of a list in ascending order."""
    for i in range(count):
        if actions[i] >= action:
            return bool(actions[i] == action)
    return False


@allocating
def play_plans(
    states: Int8s, parents: Int32s, streams: UInt64s, mutation: float, p: Int64s, max_legal: int, plans: Int32s
) -> None:
    """Fill plans [B, P, H] with one's own moves of a random game; see `palaestra.search.evolution.play_plans`."""
    state = np.empty(states.shape[1], dtype=np.int8)
    actions = np.empty(max_legal, dtype=np.int32)
    horizon = plans.shape[2]
    for b in range(plans.shape[0]):
        me = mover(states[b])
        for i in range(plans.shape[1]):
            for byte in range(state.shape[0]):
                state[byte] = states[b, byte]
            gene = 0
            while gene < horizon and outcome(state) == ONGOING:
                count = legal(state, actions, p)
                own = mover(state) == me
                action = np.int32(-1)
                if own and uniform(streams, b) >= mutation:
                    action = parents[b, i, gene]
                if not contains(actions, count, action):
                    action = actions[below(streams, b, count)]
                if own:
                    plans[b, i, gene] = action
                    gene += 1
                move(state, action, p)
            for rest in range(gene, horizon):
                plans[b, i, rest] = -1


@allocating
def evaluate_rows(
    states: Int8s, genomes: Int32s, streams: UInt64s, p: Int64s, max_legal: int, outcomes: Int32s, plies: Int32s
) -> None:
    """Fill outcomes and plies to the end, both [B, P, Q], of Q playouts from states[b] along genomes[b, i].

    The player to move at states[b] plays its genes while they last and are legal; every other move is uniform.
    """
    state = np.empty(states.shape[1], dtype=np.int8)
    actions = np.empty(max_legal, dtype=np.int32)
    horizon = genomes.shape[2]
    for b in range(genomes.shape[0]):
        me = mover(states[b])
        for i in range(genomes.shape[1]):
            for q in range(outcomes.shape[2]):
                for byte in range(state.shape[0]):
                    state[byte] = states[b, byte]
                gene, length = 0, 0
                while outcome(state) == ONGOING:
                    count = legal(state, actions, p)
                    action = np.int32(-1)
                    if gene < horizon and mover(state) == me:
                        action = genomes[b, i, gene]
                        gene += 1
                        if not contains(actions, count, action):
                            action = np.int32(-1)
                    if action < 0:
                        action = actions[below(streams, b, count)]
                    move(state, action, p)
                    length += 1
                outcomes[b, i, q] = outcome(state)
                plies[b, i, q] = length
