"""What alpha-beta's numbers mean, and what its two ways of searching have in common. Knows no game.

**A value** is one integer from the first player's view. A finished game is worth `outcome * SCALE`; at the horizon
stands the game's static `score`, cut to less than SCALE either way. So a proven win outranks every estimate and every
estimate outranks a proven loss, while sooner wins, later losses and bigger margins keep their order. With one player a
score is read as a forecast of the outcome and takes its scale.

**Proven** is a value into which no estimate went. Where a game's wins are all alike or ordered by plies, a win (or
loss) found within the horizon is proven too: what lies beyond comes later and is worth less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from palaestra.base.compiling import clock
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING

SCALE = 2**24
UNBOUNDED = 2**62  # beyond any value


@dataclass(frozen=True)
class Terms:
    """How values are made: `unit` multiplies a static score, `limit` cuts it; `settled`: a win in sight is proven."""

    unit: int
    limit: int
    settled: bool

    @staticmethod
    def of(game: Game, estimates: bool) -> Terms:
        """The game's own terms; without estimates, every position at the horizon counts as a draw."""
        settled = game.players == 2 and game.tiebreak in ("none", "plies")
        if game.players == 1:
            return Terms(SCALE if estimates else 0, UNBOUNDED // 2, settled)
        return Terms(int(estimates), SCALE - 1, settled)


def worth(game: Game, states: Int8s, terms: Terms) -> Int64s:
    """int64[B]: outcomes of finished games and static scores of the others, on the scale of this module."""
    outcomes = game.outcome(states).astype(np.int64)
    estimates = np.clip(game.score(states).astype(np.int64) * terms.unit, -terms.limit, terms.limit)
    return np.where(outcomes == ONGOING, estimates, outcomes * SCALE)


@dataclass(frozen=True)
class Limits:
    """When to stop: at a moment of `palaestra.base.compiling.clock`, or when `Backend.nodes` comes to a number."""

    deadline: float = float("inf")
    nodes: float = float("inf")

    def reached(self, nodes: int) -> bool:
        return nodes >= self.nodes or clock() >= self.deadline


@dataclass(frozen=True, eq=False)
class Iteration:
    """A finished search to one depth: the value, whether it is proven, and each root move's value.

    Root moves worse than the best have a bound on the wrong side of it, not their true value.
    """

    value: int
    proven: bool
    actions: Int32s
    values: Int64s


class Backend(Protocol):
    """One way to run an iteration; `nodes` counts since `begin`."""

    @property
    def nodes(self) -> int: ...

    def begin(self, state: Int8s) -> None:
        """Forget everything; the next iterations are about this state, or about what follows from it."""

    def iterate(self, state: Int8s, depth: int, alpha: int, beta: int, limits: Limits) -> Iteration | None:
        """Search `depth` plies; None when the limits came first."""

    def recall(self, state: Int8s, proven: bool = False) -> int | None:
        """The best action of a position whose exact value is remembered; with `proven`, only if it is proven."""
