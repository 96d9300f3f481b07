"""How a run would go on more machines than there are: a discrete-event simulation with measured constants.

One learner and W workers. Workers play shares of an iteration's games; whoever is free asks for the next one. The
learner's machine hands shares out and takes games in, one after the other, and so does its network, by which every
machine is sent the new network and every game comes back. The learner trains when all games are there; with overlap it
trains on the games before while workers play. Knows nothing of games: only what they cost.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass


@dataclass(frozen=True)
class Costs:
    """What was measured on one machine."""

    seconds_a_game: float  # of one worker
    share_overhead: float  # seconds of a worker for a share, whatever its games: to make the network ready
    dispatch: float  # seconds of the learner's machine for a share
    settle: float  # seconds of the learner's machine for a game: to unpack and to value it
    bytes_a_game: float
    bytes_a_network: float
    samples_a_game: float
    samples_a_second: float  # that the learner trains
    bytes_a_second: float = 125e6  # of the learner's network: 1 Gbit/s


@dataclass(frozen=True)
class Plan:
    """A run, as far as its speed depends on it."""

    workers: int
    games: int  # of an iteration
    overlap: bool = False
    share: int | None = None  # games of a share; None: all workers get one
    relays: int = 1  # machines that pass networks and games on, each with a network of its own


@dataclass(frozen=True)
class Speed:
    """What came of it."""

    games_per_second: float
    busy: float  # share of the workers' time that they play
    bound: str  # what the run waits for: workers, learner, network or dispatch


def simulate(costs: Costs, plan: Plan, iterations: int = 4, *, training: bool = True) -> Speed:
    """Play and train some iterations, or only play; the first, which nothing overlaps, is not counted."""
    now, counted_from, trained_at = 0.0, 0.0, 0.0
    waits = dict.fromkeys(("workers", "learner", "network", "dispatch"), 0.0)
    playing = 0.0
    learning = plan.games * costs.samples_a_game / costs.samples_a_second if training else 0.0
    for iteration in range(iterations + 1):
        if iteration == 1:
            counted_from, playing = now, 0.0
            waits = dict.fromkeys(waits, 0.0)
        ended, spent = _play(costs, plan, now)
        playing += plan.games * costs.seconds_a_game
        for name, seconds in spent.items():
            waits[name] += seconds
        if plan.overlap:
            # The network that is trained meanwhile is waited for by the iteration after the next one.
            begun = max(ended, trained_at)
            waits["learner"] += begun - ended
            trained_at, now = begun + learning, begun
        else:
            waits["learner"] += learning
            now = ended + learning
    seconds = now - counted_from
    return Speed(
        iterations * plan.games / seconds,
        playing / (plan.workers * seconds),
        max(waits, key=lambda name: waits[name]),
    )


def _play(costs: Costs, plan: Plan, now: float) -> tuple[float, dict[str, float]]:
    """When the games of an iteration are there that begins now, and how long each part was at work."""
    size = plan.share or -(-plan.games // plan.workers)
    shares = [size] * (plan.games // size) + ([plan.games % size] if plan.games % size else [])
    hands = min(plan.workers, len(shares))
    link = costs.bytes_a_second * plan.relays
    network_free = desk_free = now
    free: list[tuple[float, int, int]] = []  # when a worker is free; its number; games that it brings
    for worker in range(hands):  # everyone who will play is sent the network first, one after the other
        network_free += costs.bytes_a_network / link
        heapq.heappush(free, (network_free, worker, 0))
    waits = dict.fromkeys(("workers", "learner", "network", "dispatch"), 0.0)
    waits["network"] = hands * costs.bytes_a_network / link
    waiting = list(reversed(shares))
    last = now
    while free:
        at, worker, brought = heapq.heappop(free)
        if brought:
            network_free = max(network_free, at) + brought * costs.bytes_a_game / link
            waits["network"] += brought * costs.bytes_a_game / link
            desk_free = max(desk_free, network_free) + brought * costs.settle
            waits["dispatch"] += brought * costs.settle
            last = max(last, desk_free)
        if waiting:
            games = waiting.pop()
            desk_free = max(desk_free, at) + costs.dispatch
            waits["dispatch"] += costs.dispatch
            heapq.heappush(free, (desk_free + costs.share_overhead + games * costs.seconds_a_game, worker, games))
    waits["workers"] = sum(costs.share_overhead + games * costs.seconds_a_game for games in shares) / hands
    return last, waits
