"""Retrograde analysis: games in which positions can come back, and which only a limit on plies ends (`opposition`).

What such a rule book says depends on the position alone, not on the ply, except that play stops with a draw at
`max_plies`. All positions that can be reached are listed once, ply set to 0, and solved backwards from the ends:
layer n holds the positions won in exactly n plies against the longest resistance (sources: opposition solved).

The limit on plies is then exact arithmetic. With r plies left, a position won in n ≤ r plies is won in n all the same,
since nobody can delay it; one that needs n > r is a draw, since "won within r plies" does not depend on the limit.
Through the public interface of a game only, whose outcomes must be ordered by plies; a few thousand positions take well
under a second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.search.solver import Solution

PLY_BYTES = slice(2, 4)
ENDED = -1  # instead of a child's number: the move ends the game
NO_MOVE = -2  # padding


@dataclass(frozen=True, eq=False)
class Graph:
    """All N positions without their ply, and what every legal move leads to."""

    numbers: dict[bytes, int]  # of each position, by its bytes
    movers: Int8s  # [N]
    actions: Int32s  # [N, L]
    children: Int64s  # [N, L] number of the position after the move, or ENDED, or NO_MOVE
    ends: Int32s  # [N, L] sign of the outcome where the move ends the game

    def number(self, state: Int8s) -> int:
        """Which position a state is, whatever its ply."""
        return self.numbers[without_ply(state[None]).tobytes()]


class Retrograde:
    """Every position of one game, with its winner (+1 first, -1 second, 0 nobody) and the distance to the end."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.graph = reachable(game)
        self.winners, self.distances = solve_backwards(self.graph)

    def solve(self, state: Int8s) -> Solution:
        """Outcome and best moves of a position that is not over, under the limit on plies."""
        node = self.graph.number(state)
        winner, distance = int(self.winners[node]), int(self.distances[node])
        left = self.game.max_plies - int(self.game.plies(state[None])[0])
        outcome = winner * (left + 1 - distance) if distance <= left else 0
        return Solution(outcome, self.best(state), depth=distance)

    def attempt(self, state: Int8s, exact: bool = True, seconds: float = math.inf) -> Solution:
        """The same as `solve`: all positions are solved already, so that every answer is proven."""
        return self.solve(state)

    def line(self, state: Int8s, solution: Solution, seconds: float = math.inf) -> list[int]:
        """Best play from the first of the best moves on: to the end, or in a draw until a position comes back."""
        return self._follow(state)

    def best(self, state: Int8s) -> list[int]:
        """All the best moves, ascending."""
        node = self.graph.number(state)
        left = self.game.max_plies - int(self.game.plies(state[None])[0])
        side = 1 - 2 * int(state[0])
        moves = np.flatnonzero(self.graph.children[node] != NO_MOVE)
        worth = np.array([side * self._worth(node, int(move), left - 1) for move in moves])
        return sorted(self.graph.actions[node, moves[worth == worth.max()]].tolist())

    def _worth(self, node: int, move: int, left: int) -> int:
        """Rank of a move for the first player, with `left` plies after it: sooner wins and later losses are better."""
        child = int(self.graph.children[node, move])
        if child == ENDED:
            return int(self.graph.ends[node, move]) * (self.game.max_plies + 1)
        distance = int(self.distances[child])
        return int(self.winners[child]) * (self.game.max_plies + 1 - distance) if distance <= left else 0

    def _follow(self, state: Int8s) -> list[int]:
        pv: list[int] = []
        seen: set[int] = set()
        while self.game.outcome(state[None])[0] == ONGOING and self.graph.number(state) not in seen:
            seen.add(self.graph.number(state))
            pv.append(self.best(state)[0])
            state = self._after(state, pv[-1])
        return pv

    def _after(self, state: Int8s, action: int) -> Int8s:
        return self.game.advance(state[None], np.array([action], dtype=np.int32))[0]


@lru_cache(maxsize=8)
def analysed(game: Game) -> Retrograde:
    """The analysis of a game, made once: games are immutable, and an analysis is only read."""
    return Retrograde(game)


def without_ply(states: Int8s) -> Int8s:
    """Copies of states with the ply set to 0."""
    plain = states.copy()
    plain[:, PLY_BYTES] = 0
    return plain


def reachable(game: Game) -> Graph:
    """Every position that can follow from any start, by breadth-first search in batches."""
    numbers: dict[bytes, int] = {}
    rows: list[tuple[Int8s, Int32s, Int64s, Int32s]] = []  # of each batch: movers, actions, children, ends
    batch = _fresh(without_ply(game.start(np.arange(game.num_starts))), numbers)
    while len(batch):
        counts, actions = game.legal(batch)
        real = np.arange(actions.shape[1]) < counts[:, None]
        after = without_ply(game.advance(np.repeat(batch, counts, axis=0), actions[real]))
        outcomes = game.outcome(after)
        going_on = outcomes == ONGOING
        following = _fresh(after[going_on], numbers)
        targets = np.full(len(after), ENDED, dtype=np.int64)
        targets[going_on] = [numbers[state.tobytes()] for state in after[going_on]]
        children = np.full(actions.shape, NO_MOVE, dtype=np.int64)
        children[real] = targets
        ends = np.zeros(actions.shape, dtype=np.int32)
        ends[real] = np.where(going_on, 0, np.sign(outcomes))
        rows.append((batch[:, 0].copy(), actions, children, ends))
        batch = following
    movers, actions, children, ends = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    return Graph(numbers, movers, actions, children, ends)


def _fresh(states: Int8s, numbers: dict[bytes, int]) -> Int8s:
    """Those of the states that have no number yet, each once; they are given the next numbers in this order."""
    chosen = []
    for row, state in enumerate(states):
        if (key := state.tobytes()) not in numbers:
            numbers[key] = len(numbers)
            chosen.append(row)
    return states[chosen]


def solve_backwards(graph: Graph) -> tuple[Int32s, Int32s]:
    """winners and distances int32[N] (0 for both where nobody can force a win), layer by layer from the ends."""
    side = 1 - 2 * graph.movers.astype(np.int32)
    winners = np.zeros(len(side), dtype=np.int32)
    distances = np.zeros(len(side), dtype=np.int32)
    inner, absent = graph.children >= 0, graph.children == NO_MOVE
    child = np.where(inner, graph.children, 0)
    for layer in range(1, len(side) + 1):
        results = np.where(inner, winners[child], graph.ends) * side[:, None]  # of each move, for the mover
        won = ((results == 1) & ~absent).any(axis=1)
        lost = ((results == -1) | absent).all(axis=1)
        fresh = (winners == 0) & (won | lost)
        if not fresh.any():
            break
        winners[fresh] = np.where(won, side, -side)[fresh]
        distances[fresh] = layer
    return winners, distances
