"""A fixed set of searches and their fingerprint: whatever changes a single visit changes the signature."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from palaestra.games.registry import make_game
from palaestra.rewards.base import default_reward
from palaestra.search.config import SearchConfig
from palaestra.search.decide import SearchResult
from palaestra.search.driver import Search
from palaestra.search.evaluator import Rollout

GAMES = ("tic_tac_toe-4x4", "connect_four-6x7", "othello-6x6", "morpion-4d")
CONFIGS = {
    "uct": SearchConfig(rule="uct", simulations=200),
    "puct": SearchConfig(simulations=200, dirichlet_fraction=0.25, fpu=0.1, leaves_per_step=4),
    "rave": SearchConfig(rule="rave", rave_k=100.0, rave_playouts=True, simulations=200, solver=False),
    "gumbel": SearchConfig(rule="gumbel", gumbel_root=True, reuse=False, simulations=64, temperature=1),
}
SEED = 20


@dataclass(frozen=True, eq=False)
class FixedSearch:
    """One of the fixed searches: what was searched, how, and what came out."""

    game: str
    name: str
    config: SearchConfig
    result: SearchResult


def fixed_searches() -> Iterator[FixedSearch]:
    """Every configuration on every game, with playouts as evaluator, from two positions of each."""
    for id in GAMES:
        game = make_game(id)
        streams = np.array([SEED, SEED + 1], dtype=np.uint64)
        states = game.start(np.zeros(2, dtype=np.int64))
        counts, actions = game.legal(states)
        states[1] = game.advance(states[1:], actions[1:, counts[1] // 2])[0]
        for name, config in CONFIGS.items():
            evaluator = Rollout(game, default_reward(game), trace=config.rave_playouts)
            yield FixedSearch(id, name, config, Search(game, evaluator, config).run(states, streams))


def signature() -> str:
    """Sixteen hexadecimal digits over the visits of all fixed searches."""
    digest = hashlib.sha256()
    for search in fixed_searches():
        digest.update(search.result.visits.astype("<i4").tobytes())
    return digest.hexdigest()[:16]
