"""`alphabeta`: iterative deepening as a player."""

from __future__ import annotations

import numpy as np

from palaestra.base.errors import PlayerError
from palaestra.base.streams import Rng, below, seeds_from
from palaestra.base.types import Int8s, Int32s, Int64s, UInt64s
from palaestra.games.base import Game
from palaestra.players.base import Analysis, Choice, Player
from palaestra.rewards.base import default_reward
from palaestra.search.alphabeta import AlphaBeta, Result
from palaestra.search.alphabeta_values import SCALE

HALF = 10.0  # a static score of this size is shown as a value of one half


class AlphaBetaPlayer(Player):
    """The best move by alpha-beta, exact when the search reaches the end.

    `depth` ≥ 1 is the most plies to look ahead, `ms` > 0 the milliseconds for one move; with both, what comes first
    ends the search, and at least one of them is needed. A proven position ends it too. Among moves that are exactly
    equally good one is drawn uniformly from the row's stream. Every state of a batch is searched by itself; with
    `depth` alone choices are reproducible, with `ms` they depend on the machine.
    """

    def __init__(self, game: Game, text: str, depth: int | None = None, ms: float | None = None) -> None:
        super().__init__(game, text)
        if depth is None and ms is None:
            raise PlayerError(f"{text}: give depth or ms or both, for example alphabeta(depth=6) or alphabeta(ms=100)")
        if depth is not None and depth < 1:
            raise PlayerError(f"{text}: depth is {depth}; it must be at least 1, for example alphabeta(depth=6)")
        if ms is not None and not 0 < ms < float("inf"):
            raise PlayerError(f"{text}: ms is {ms}; it must be more than 0, for example alphabeta(ms=100)")
        self.depth, self.ms = depth, ms
        self._search = AlphaBeta(game)

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        return self.choose(states, rng, slots).actions

    def choose(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Choice:
        """The values of `analyse`; proven where they are certain results."""
        streams = seeds_from(rng, len(states))
        actions = np.empty(len(states), dtype=np.int32)
        values = np.empty(len(states), dtype=np.float32)
        proven = np.empty(len(states), dtype=np.bool_)
        for row, state in enumerate(states):
            result = self._search.search(state, self.depth, self.ms)
            actions[row] = _pick(result.actions, streams, row)
            values[row] = self._value(state, result)
            proven[row] = self._certain(result)
        return Choice(actions, values, proven)

    def analyse(self, state: Int8s, rng: Rng) -> Analysis:
        """Uniform over the equally good moves; the value is the result once it is certain, else a squeezed score."""
        result = self._search.search(state, self.depth, self.ms)
        action = _pick(result.actions, seeds_from(rng, 1), 0)
        policy = np.zeros(self.game.num_actions, dtype=np.float32)
        policy[result.actions] = 1.0 / len(result.actions)
        note = f"depth {result.depth}, {'exact' if result.proven else 'estimate'}, {result.nodes:,} nodes"
        pv = self._search.line(state, action, result.depth)
        return Analysis(action, self._value(state, result), policy, pv=pv, note=note, proven=self._certain(result))

    def _value(self, state: Int8s, result: Result) -> float:
        """In [-1, 1] for the mover."""
        side = 1 - 2 * int(state[0])
        if self._certain(result) or self.game.players == 1:
            outcome = np.array([result.value // SCALE], dtype=np.int32)
            return side * float(default_reward(self.game).value(outcome)[0])
        return side * squeezed(result.value)

    def _certain(self, result: Result) -> bool:
        """Whether the result is known: a win in sight is, even where a larger margin may still be found."""
        return result.proven or (self.game.players == 2 and abs(result.value) >= SCALE)


def squeezed(score: int) -> float:
    """A static score as a value between -1 and 1."""
    return score / (abs(score) + HALF)


def _pick(actions: list[int], streams: UInt64s, row: int) -> int:
    return actions[int(below(streams, row, len(actions)))]
