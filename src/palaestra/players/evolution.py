"""`rhea`: rolling-horizon evolution as a player (sources: Alg. 15)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from palaestra.base.errors import PlayerError
from palaestra.base.streams import Rng, seeds_from
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.base import Game
from palaestra.players.base import Analysis, Choice, Player
from palaestra.rewards.base import default_reward
from palaestra.search.evolution import Evolution, Evolved, evolve


class RheaPlayer(Player):
    """Evolves plans of its own moves and plays the first move of the best one.

    `population` ≥ 1 plans of `horizon` ≥ 1 moves; a clone's genes change with probability 0 ≤ `mutation` ≤ 1; a plan is
    judged by `playouts` ≥ 1 random games; `evaluations` ≥ `population` plans are judged in all. The defaults are the
    thesis's: 50 evaluations of 2 playouts are 100 random games a move.
    """

    def __init__(
        self,
        game: Game,
        text: str,
        population: int = 10,
        horizon: int = 10,
        mutation: float = 0.2,
        playouts: int = 2,
        evaluations: int = 50,
        sequences: Literal["valid", "any"] = "valid",
    ) -> None:
        super().__init__(game, text)
        for name, value in (("population", population), ("horizon", horizon), ("playouts", playouts)):
            if value < 1:
                raise PlayerError(f"{text}: {name} is {value}; it must be at least 1, for example rhea({name}=10)")
        if not 0.0 <= mutation <= 1.0:
            raise PlayerError(f"{text}: mutation is {mutation}; it must be from 0 to 1, for example rhea(mutation=0.2)")
        if evaluations < population:
            raise PlayerError(
                f"{text}: evaluations is {evaluations}; it must be at least the population, {population}, "
                f"for example rhea(population=10, evaluations=50)"
            )
        self.settings = Evolution(population, horizon, mutation, playouts, evaluations, sequences)
        self.reward = default_reward(game)

    def _search(self, states: Int8s, rng: Rng) -> Evolved:
        return evolve(self.game, self.reward, states, seeds_from(rng, len(states)), self.settings)

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        return self.choose(states, rng, slots).actions

    def choose(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Choice:
        """The value is the mean reward of the best plan's playouts."""
        if not len(states):
            return Choice(np.empty(0, dtype=np.int32))
        found = self._search(states, rng)
        return Choice(found.actions, found.values.astype(np.float32))

    def analyse(self, state: Int8s, rng: Rng) -> Analysis:
        """The value is the mean reward of the best plan's playouts."""
        found = self._search(state[None, :], rng)
        action = int(found.actions[0])
        note = f"fitness {found.fitness[0]:.4f}, {self.settings.evaluations * self.settings.playouts} random games"
        return Analysis(action, float(found.values[0]), pv=[action], note=note)
