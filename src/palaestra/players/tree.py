"""Players that search a tree: uct, rave, puct and gumbel are one class with different configurations."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from palaestra.base.streams import Rng
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.base import Game
from palaestra.players.base import EVERY, UNPROVEN, Analysis, Choice, Player
from palaestra.players.exact import results_of_values
from palaestra.rewards.base import Reward
from palaestra.search.config import SearchConfig
from palaestra.search.driver import TIMED_SLICE, Search
from palaestra.search.evaluator import Evaluator

ANALYSIS_LEAVES = 32  # most leaves per step when one position is all there is to fill a batch with


class TreePlayer(Player):
    """Plays what a search chooses; with `reuse`, the tree of a slot is kept between the moves of its game."""

    def __init__(
        self, game: Game, text: str, evaluator: Evaluator, config: SearchConfig, reward: Reward | None = None
    ) -> None:
        super().__init__(game, text)
        self.search = Search(game, evaluator, config, reward)
        self._row_of: dict[int, int] = {}
        self._free: list[int] = []

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        return self.choose(states, rng, slots).actions

    def choose(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Choice:
        """The values of the roots, exact where the search proved them."""
        if slots is None:
            self.forget()
        result = self.search.run(states, rng, None if slots is None else self._rows(slots))
        return Choice(result.chosen, result.values, result.proven)

    def forget(self, slots: Int64s | None = None) -> None:
        for slot in list(self._row_of) if slots is None else slots.tolist():
            if (row := self._row_of.pop(slot, None)) is not None:
                self._free.append(row)
                self.search.forest.plant(np.array([row]))

    @property
    def network_seconds(self) -> float | None:
        return self.search.evaluator.network_seconds

    def analyse(self, state: Int8s, rng: Rng) -> Analysis:
        search = self._analyst()
        search.run(state[None, :], rng)
        return self._thought(search, state)

    def thoughts(self, state: Int8s, rng: Rng, every: float = EVERY) -> Iterator[Analysis]:
        search, told = self._analyst(), time.monotonic()
        for _ in search.steps(state[None, :], rng, leaves=TIMED_SLICE):
            if time.monotonic() - told >= every:
                yield self._thought(search, state)
                told = time.monotonic()
        yield self._thought(search, state)

    def _analyst(self) -> Search:
        """The search of one position: several leaves a step keep a network's batches full, and their number depends on
        the settings alone."""
        config = self.search.config
        leaves = config.leaves_per_step
        if not self.search.is_fused:
            leaves = max(leaves, min(ANALYSIS_LEAVES, config.simulation_limit // 64))
        settings = config.model_copy(update={"leaves_per_step": leaves})
        return Search(self.game, self.search.evaluator, settings, self.search.reward)

    def _thought(self, search: Search, state: Int8s) -> Analysis:
        """What a search, finished or not, says of its position."""
        config, result = self.search.config, search.result()
        count = int(result.counts[0])
        legal = result.actions[0, :count]
        policy, priors = np.zeros((2, self.game.num_actions), dtype=np.float32)
        policy[legal], priors[legal] = result.policy[0, :count], result.prior[0, :count]
        visits = np.zeros(self.game.num_actions, dtype=np.int32)
        visits[legal] = result.visits[0, :count]
        values = np.full(self.game.num_actions, np.nan, dtype=np.float32)
        values[legal] = result.q[0, :count]
        proven = legal[search.proven_moves()]
        exact = np.full(self.game.num_actions, UNPROVEN, dtype=np.int32)
        exact[proven] = results_of_values(self.game, search.reward, values[proven], int(state[0]))
        if config.temperature == 0.0 and not (config.gumbel_root or result.proven[0]) and visits.any():
            policy = (visits / visits.sum()).astype(np.float32)  # shares say more than a single 1
        return Analysis(
            action=int(result.chosen[0]),
            value=float(result.values[0]),
            policy=policy,
            visits=visits,
            pv=search.principal_variation(),
            note=f"{int(result.simulations[0]):,} simulations" + (", proven" if result.proven[0] else ""),
            proven=bool(result.proven[0]),
            priors=priors,
            values=values,
            exact=exact,
        )

    def _rows(self, slots: Int64s) -> Int64s:
        """The trees of these slots; a new slot takes a freed tree or the next one."""
        rows = np.empty(len(slots), dtype=np.int64)
        for i, slot in enumerate(slots.tolist()):
            if slot not in self._row_of:
                self._row_of[slot] = self._free.pop() if self._free else len(self._row_of)
            rows[i] = self._row_of[slot]
        return rows
