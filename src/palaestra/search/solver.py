"""Exact play by alpha-beta to the end of the game, for boards small enough. Knows no game.

The search looks 1, 3, 5, … plies ahead, with a large transposition table, until the value is proven: a proof of a draw
needs the whole tree anyway, and where turns alternate these are the plies at which the mover's own wins come. Where
outcomes are margins, which never show before the end, the game's static score orders the moves; elsewhere every
position at the horizon counts as a draw, so that only real ends prune.

Win, loss or draw alone (`exact=False`) is a search with the window (-1, 1) and is cheaper than the exact outcome.

`solve` gives proofs and nothing else: it is what oracles ask. `attempt` always answers, within a budget, and says
whether the answer is proven.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from palaestra.base.compiling import clock
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.search.alphabeta import AlphaBeta
from palaestra.search.alphabeta_values import SCALE, UNBOUNDED, Iteration, Limits

STEP = 2
MOST_ENTRIES = 2**22  # 128 MB, taken as it fills
DEFAULT_NODES = 100_000_000


@dataclass(frozen=True)
class Solution:
    """A solved position. `outcome` is the first player's; with `exact` false only its sign is meant.

    `actions` are all the best moves, ascending; with `exact` false, moves that keep the sign, at least one. Where not
    `proven` they are the best as far as the search saw, and `outcome` is 0 unless a win or a loss is in sight.
    """

    outcome: int
    actions: list[int]
    exact: bool = True
    depth: int = 0  # plies that had to be searched
    nodes: int = 0
    proven: bool = True
    estimate: int = 0  # where not proven: the static score at the horizon, for the first player
    effort: float = 0.0  # where not proven: log10 of the positions that a proof may need, guessed from the last depths


class Solver:
    """Solves positions of one game, each within `nodes` positions; no call depends on those before it."""

    def __init__(self, game: Game, nodes: int = DEFAULT_NODES) -> None:
        self.game, self.nodes = game, nodes
        entries = min(max(nodes // 8, 2**10), MOST_ENTRIES)
        self._search = AlphaBeta(game, entries, estimates=game.tiebreak in ("margin", "score"))

    def solve(self, state: Int8s, exact: bool = True) -> Solution | None:
        """The value and the best moves of a position that is not over; None when the nodes do not suffice."""
        solution = self.attempt(state, exact)
        return solution if solution.proven else None

    def attempt(self, state: Int8s, exact: bool = True, seconds: float = math.inf) -> Solution:
        """The same, also when the nodes or the seconds do not suffice: then what the last finished depth showed.

        The first ply is always finished.
        """
        backend, window = self._search.backend, UNBOUNDED if exact else 1
        limits = Limits(clock() + seconds, self.nodes)
        left = self.game.max_plies - int(self.game.plies(state[None])[0])
        backend.begin(state)
        depth, found = 1, backend.iterate(state, 1, -window, window, Limits())
        assert found is not None
        visited = [1, backend.nodes]  # after each finished depth
        while not found.proven:
            assert depth < left, "a search to the end of the game rests on no estimate"
            further = min(depth + STEP, left)
            deeper = None if limits.reached(backend.nodes) else backend.iterate(state, further, -window, window, limits)
            if deeper is None:
                return _unproven(found, exact, depth, visited, left)
            depth, found = further, deeper
            visited.append(backend.nodes)
        return Solution(_outcome(found, exact), _best(found, exact), exact, depth, backend.nodes)

    def line(self, state: Int8s, solution: Solution, seconds: float = math.inf) -> list[int] | None:
        """Best play to the end, from the first of the best moves on: to be asked right after the solution.

        Its length is the distance to the end. None when the nodes or the seconds do not suffice.
        """
        backend = self._search.backend
        limits = Limits(clock() + seconds, backend.nodes + self.nodes)
        pv, depth, action = [solution.actions[0]], solution.depth, solution.actions[0]
        while True:
            state = self.game.advance(state[None], np.array([action], dtype=np.int32))[0]
            if self.game.outcome(state[None])[0] != ONGOING:
                return pv
            depth -= 1  # the same horizon as before, so that everything remembered still holds
            known = backend.recall(state, proven=True)
            if known is None:
                found = backend.iterate(state, depth, -UNBOUNDED, UNBOUNDED, limits)
                if found is None:
                    return None
                known = _best(found, exact=True)[0]
            action = known
            pv.append(action)


def _unproven(found: Iteration, exact: bool, depth: int, visited: list[int], left: int) -> Solution:
    """What a search showed that was stopped after `depth` of the `left` plies, `visited` nodes after each depth."""
    certain = abs(found.value) >= SCALE
    growth = max(visited[-1] / visited[-2], 1.0)
    return Solution(
        _outcome(found, exact) if certain else 0,
        _best(found, exact),
        exact,
        depth,
        visited[-1],
        proven=False,
        estimate=0 if certain else found.value,
        effort=math.log10(visited[-1]) + (left - depth) / STEP * math.log10(growth),
    )


def _outcome(found: Iteration, exact: bool) -> int:
    return found.value // SCALE if exact else (found.value > 0) - (found.value < 0)


def _best(found: Iteration, exact: bool) -> list[int]:
    """Root moves that reach the value; where only the sign was asked for, those that showed it."""
    wanted = found.values == found.value if exact else np.sign(found.values) == np.sign(found.value)
    return sorted(found.actions[wanted].tolist())
