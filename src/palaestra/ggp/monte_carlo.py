"""Flat Monte Carlo over a state machine: for any game, with any number of roles, moving at once or in turn.

Own moves are the arms of a bandit (UCB1); a pull plays the move, and everybody at random from there to the end. Where
the machine is a propositional network, whole batches of pulls run in compiled code. Stops at its deadline. Knows
neither the protocol nor what a Player is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from palaestra.base.errors import GdlError
from palaestra.base.types import Float64s, Int64s
from palaestra.ggp.machine import Machine, State
from palaestra.ggp.propnet import PropNet
from palaestra.ggp.terms import Term

T = TypeVar("T")

EXPLORATION = 0.7  # of UCB1, for results between 0 and 1
MOST_TURNS = 5_000  # of a random game; rules need not bring every game to an end
BATCHES = (64, 512)  # pulls at once in a network: a word at least
BATCH_SECONDS = 0.02  # what a batch may take before it grows no more

Pull = Callable[[Int64s], Float64s | None]
"""Results in [0, 1] of one random game for each of some arms; None if the deadline came first."""


def monte_carlo(
    machine: Machine,
    state: State,
    seat: int,
    deadline: float,
    rng: np.random.Generator,
    playouts: int | None = None,
    publish: Callable[[Term], None] | None = None,
) -> Term:
    """The move of role number `seat` that was pulled most, ties to the better mean; there must be a legal one.

    Pulls go on until `deadline` (time.monotonic) or for a number of playouts. Random games that the deadline cuts off
    count nothing; before any is over, moves are as good as each other. `publish` hears the best move so far after
    every batch.
    """
    moves = machine.legal(state)[seat]
    pull = _single(machine, state, seat, deadline, rng)
    batch, most = 1, 1
    if isinstance(machine, PropNet):
        pull = _batched(machine, state, seat, rng)
        batch, most = BATCHES
    visits = np.zeros(len(moves), dtype=np.int64)
    totals = np.zeros(len(moves), dtype=np.float64)
    order = rng.permutation(len(moves))
    while (left := most if playouts is None else playouts - int(visits.sum())) > 0 and time.monotonic() < deadline:
        began = time.monotonic()
        arms = _arms(visits, totals, order, min(batch, left))
        try:
            results = pull(arms)
        except GdlError:
            if most == 1:
                break
            # Among these games one did not end; one by one, the others count.
            pull, batch, most = _single(machine, state, seat, deadline, rng), 1, 1
            continue
        if results is None:
            break
        np.add.at(visits, arms, 1)
        np.add.at(totals, arms, results)
        if publish is not None:
            publish(moves[_best(visits, totals, order)])
        if time.monotonic() - began < BATCH_SECONDS:
            batch = min(2 * batch, most)
    return moves[_best(visits, totals, order)]


def _best(visits: Int64s, totals: Float64s, order: Int64s) -> int:
    """The arm with the most visits, ties to the better mean."""
    means = totals / np.maximum(visits, 1)
    return int(order[np.lexsort((means[order], visits[order]))[-1]])


def _arms(visits: Int64s, totals: Float64s, order: Int64s, count: int) -> Int64s:
    """The next arms, int64[count]: each once in their order, then by upper bounds that take the batch for visited."""
    visits = visits.copy()
    arms = np.empty(count, dtype=np.int64)
    means = totals / np.maximum(visits, 1)
    for i in range(count):
        pulled = int(visits.sum())
        if pulled < len(order):
            arms[i] = order[pulled]
        else:
            arms[i] = np.argmax(means + EXPLORATION * np.sqrt(np.log(pulled) / visits))
        visits[arms[i]] += 1
    return arms


def _single(machine: Machine, state: State, seat: int, deadline: float, rng: np.random.Generator) -> Pull:
    """One game after another, on any machine."""
    legal = machine.legal(state)

    def pull(arms: Int64s) -> Float64s | None:
        results = np.empty(len(arms), dtype=np.float64)
        for i, arm in enumerate(arms):
            joint = [_pick(options, rng) for options in legal]
            joint[seat] = legal[seat][arm]
            goals = random_game(machine, machine.step(state, joint), deadline, rng)
            if goals is None:
                return None
            results[i] = goals[seat] / 100.0
        return results

    return pull


def random_game(machine: Machine, state: State, deadline: float, rng: np.random.Generator) -> list[int] | None:
    """The goals at the end of a random game, or where it stands if it does not end; None at the deadline."""
    for _ in range(MOST_TURNS):
        if machine.terminal(state):
            break
        if time.monotonic() >= deadline:
            return None
        legal = machine.legal(state)
        if not all(legal):
            break  # rules that leave a role without a move lead nowhere
        state = machine.step(state, [_pick(options, rng) for options in legal])
    return machine.goals(state)


def _batched(machine: PropNet, state: State, seat: int, rng: np.random.Generator) -> Pull:
    """Many games at once, in compiled code. GdlError if one of them does not end."""
    numbers = [
        np.array([own.index(move) for move in options], dtype=np.int32)
        for own, options in zip(machine.moves, machine.legal(state), strict=True)
    ]
    assert isinstance(state, bytes)
    root = np.frombuffer(state, dtype=np.uint64)

    def pull(arms: Int64s) -> Float64s | None:
        joint = np.stack([rng.choice(own, size=len(arms)) for own in numbers], axis=1)
        joint[:, seat] = numbers[seat][arms]
        after = machine.advance(np.tile(root, (len(arms), 1)), joint)
        goals = machine.random_playouts(len(arms), rng, after, MOST_TURNS).goals
        return goals[:, seat] / 100.0

    return pull


def _pick(options: list[T], rng: np.random.Generator) -> T:
    return options[int(rng.integers(len(options)))]
