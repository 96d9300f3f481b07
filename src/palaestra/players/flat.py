"""`mcs`: flat Monte Carlo as a player (sources: Alg. 8)."""

from __future__ import annotations

import numpy as np

from palaestra.base.errors import PlayerError
from palaestra.base.streams import Rng, seeds_from
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.base import Game
from palaestra.players.base import Analysis, Choice, Player
from palaestra.rewards.base import default_reward
from palaestra.search.flat import FlatResult, flat_playouts, flat_timed


class McsPlayer(Player):
    """The move with the best mean over random games.

    Exactly one of two budgets: `playouts` ≥ 1, the random games for one move in all, or `ms` > 0, the milliseconds for
    one move (the thesis used 50). Every legal move gets at least one playout, also beyond the budget. With `playouts`
    choices are reproducible; with `ms` they depend on the machine, and every state of a batch gets its own `ms`.
    """

    def __init__(self, game: Game, text: str, playouts: int | None = None, ms: float | None = None) -> None:
        super().__init__(game, text)
        if (playouts is None) == (ms is None):
            raise PlayerError(f"{text}: give either playouts or ms, for example mcs(playouts=1000) or mcs(ms=50)")
        if playouts is not None and playouts < 1:
            raise PlayerError(f"{text}: playouts is {playouts}; it must be at least 1, for example mcs(playouts=1000)")
        if ms is not None and not 0 < ms < float("inf"):
            raise PlayerError(f"{text}: ms is {ms}; it must be more than 0, for example mcs(ms=50)")
        self.playouts, self.ms = playouts, ms
        self.reward = default_reward(game)

    def _search(self, states: Int8s, rng: Rng) -> FlatResult:
        streams = seeds_from(rng, len(states))
        if self.playouts is not None:
            return flat_playouts(self.game, self.reward, states, streams, self.playouts)
        assert self.ms is not None
        return flat_timed(self.game, self.reward, states, streams, self.ms)

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        return self.choose(states, rng, slots).actions

    def choose(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Choice:
        """The value is the best mean."""
        if not len(states):
            return Choice(np.empty(0, dtype=np.int32))
        result = self._search(states, rng)
        return Choice(result.chosen(), result.means().max(axis=1).astype(np.float32))

    def analyse(self, state: Int8s, rng: Rng) -> Analysis:
        """The value is the best mean; the policy gives each move a share in proportion to (1 + mean) / 2."""
        result = self._search(state[None, :], rng)
        count, best = int(result.counts[0]), int(result.best()[0])
        actions, means = result.actions[0, :count], result.means()[0, :count]
        visits = np.zeros(self.game.num_actions, dtype=np.int32)
        visits[actions] = result.playouts[0, :count]
        shares = (1.0 + means) / 2.0
        policy = np.zeros(self.game.num_actions, dtype=np.float32)
        policy[actions] = shares / shares.sum() if shares.sum() > 0.0 else 1.0 / count
        action = int(actions[best])
        values = np.full(self.game.num_actions, np.nan, dtype=np.float32)
        values[actions] = means
        note = f"{visits.sum()} random games"
        return Analysis(action, float(means[best]), policy, visits, [action], note, values=values)
