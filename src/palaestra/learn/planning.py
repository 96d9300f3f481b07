"""Self-play by evolution in place of a search (sources: RHEA as a warm start).

`Planning` answers a table of games as a search does: as many random games judge its plans as a search would make
simulations, the policy is the share of each first move in the last population, and no network is asked. Nothing is
remembered from one move to the next.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from palaestra.base.types import Float64s, Int8s, Int64s, UInt64s
from palaestra.games.base import Game
from palaestra.rewards.base import Reward
from palaestra.search.decide import SearchResult
from palaestra.search.evolution import Evolution, chances, evolve

THESIS = Evolution()


class Planning:
    """Chooses moves by rolling-horizon evolution with the thesis's settings (sources: Alg. 15)."""

    def __init__(self, game: Game, reward: Reward, simulations: int) -> None:
        self.game, self.reward, self.simulations = game, reward, simulations

    def run(
        self, states: Int8s, streams: UInt64s, rows: Int64s, temperatures: Float64s, simulations: int | None = None
    ) -> SearchResult:
        """A move for every state int8[M, S], drawn from shares^(1/T); T = 0 plays the first move of the best plan.

        `simulations` replaces the number of random games; `rows` means something to trees only.
        """
        plans = max(1, (simulations or self.simulations) // THESIS.playouts)
        settings = replace(THESIS, population=min(THESIS.population, plans), evaluations=plans)
        streams = streams.copy()
        found = evolve(self.game, self.reward, states, streams, settings)
        counts, actions = self.game.legal(states)
        legal = np.arange(actions.shape[1]) < counts[:, None]
        votes = (actions[:, :, None] == found.first[:, None, :]).sum(axis=2, dtype=np.int32) * legal
        warm = temperatures > 0.0
        weights = (votes / votes.max(axis=1, keepdims=True)) ** (1.0 / np.where(warm, temperatures, 1.0))[:, None]
        weights[~warm] = (legal & (actions == found.actions[:, None]))[~warm]
        sums = weights.cumsum(axis=1)
        wanted = chances(streams, np.arange(len(states))) * sums[:, -1]
        drawn = np.minimum((sums <= wanted[:, None]).sum(axis=1), counts - 1)
        return SearchResult(
            counts=counts,
            actions=actions,
            visits=votes,
            q=np.full(votes.shape, np.nan, dtype=np.float32),
            prior=np.zeros(votes.shape, dtype=np.float32),
            policy=(weights / sums[:, -1:]).astype(np.float32),
            values=found.values.astype(np.float32),
            proven=np.zeros(len(states), dtype=np.bool_),
            chosen=actions[np.arange(len(states)), drawn],
            simulations=np.full(len(states), plans * settings.playouts, dtype=np.int32),
        )
