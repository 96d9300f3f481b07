"""Exact play by alpha-beta to the end of the game, for boards small enough. Knows no game.

The search looks 1, 3, 5, … plies ahead, with a large transposition table, until the value is proven: a proof of a draw
needs the whole tree anyway, and where turns alternate these are the plies at which the mover's own wins come. Where
outcomes are margins, which never show before the end, the game's static score orders the moves; elsewhere every
position at the horizon counts as a draw, so that only real ends prune.

Win, loss or draw alone (`exact=False`) is a search with the window (-1, 1) and is cheaper than the exact outcome.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.search.alphabeta import AlphaBeta
from palaestra.search.alphabeta_values import SCALE, UNBOUNDED, Iteration, Limits
from palaestra.types import Int8s

STEP = 2
MOST_ENTRIES = 2**22  # 128 MB, taken as it fills
DEFAULT_NODES = 100_000_000


@dataclass(frozen=True)
class Solution:
    """A solved position. `outcome` is the first player's; with `exact` false only its sign is meant.

    `actions` are all the best moves, ascending; with `exact` false, moves that keep the sign, at least one.
    """

    outcome: int
    actions: list[int]
    exact: bool = True
    depth: int = 0  # plies that had to be searched
    nodes: int = 0


class Solver:
    """Solves positions of one game, each within `nodes` positions; every call stands alone."""

    def __init__(self, game: Game, nodes: int = DEFAULT_NODES) -> None:
        self.game, self.nodes = game, nodes
        entries = min(max(nodes // 8, 2**10), MOST_ENTRIES)
        self._search = AlphaBeta(game, entries, estimates=game.tiebreak in ("margin", "score"))

    def solve(self, state: Int8s, exact: bool = True) -> Solution | None:
        """The value and the best moves of a position that is not over; None when the nodes do not suffice."""
        backend, window = self._search.backend, UNBOUNDED if exact else 1
        left = self.game.max_plies - int(self.game.plies(state[None])[0])
        depth = 1
        backend.begin(state)
        while True:
            found = backend.iterate(state, depth, -window, window, Limits(nodes=self.nodes))
            if found is None:
                return None
            if found.proven:
                return Solution(_outcome(found, exact), _best(found, exact), exact, depth, backend.nodes)
            assert depth < left, "a search to the end of the game rests on no estimate"
            depth = min(depth + STEP, left)

    def line(self, state: Int8s, solution: Solution) -> list[int] | None:
        """Best play to the end, from the first of the best moves on: to be asked right after `solve`.

        Its length is the distance to the end. None when the nodes do not suffice.
        """
        backend = self._search.backend
        limits = Limits(nodes=backend.nodes + self.nodes)
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


def _outcome(found: Iteration, exact: bool) -> int:
    return found.value // SCALE if exact else (found.value > 0) - (found.value < 0)


def _best(found: Iteration, exact: bool) -> list[int]:
    """Root moves that reach the value; where only the sign was asked for, those that showed it."""
    wanted = found.values == found.value if exact else np.sign(found.values) == np.sign(found.value)
    return sorted(found.actions[wanted].tolist())
