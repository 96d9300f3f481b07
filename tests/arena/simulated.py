"""Tournaments between players of known strength, drawn from the printed model (sources: rating model)."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np

from palaestra.arena.ratings import Results
from palaestra.base.types import Float64s

Pairs = list[tuple[int, int]]

ROUND_ROBIN: Pairs = list(permutations(range(8), 2))
ALWAYS_FIRST: Pairs = [(i, j) for i, j in ROUND_ROBIN if i < j]  # 0 moves first in all its games, 7 in none
GAUNTLET: Pairs = [(i, j) for i, j in ROUND_ROBIN if 0 in (i, j)]
CHAIN: Pairs = [pair for i, j in pairwise(range(12)) for pair in ((i, j), (j, i))]
SPARSE: Pairs = [pair for i in range(12) for k in (1, 4) for pair in ((i, (i + k) % 12), ((i + k) % 12, i))]


def printed(ratings: Float64s, draw: float) -> Float64s:
    """Ratings of the model as they are printed: from their mean, times 4x/(1+x)²."""
    x = 10 ** (-draw / 400)
    return (ratings - ratings.mean()) * 4 * x / (1 + x) ** 2


def simulate(
    rng: np.random.Generator, ratings: Float64s, pairs: Pairs, games: int, advantage: float = 32.8, draw: float = 97.3
) -> Results:
    """`games` games for every (first mover, second mover)."""
    first, second = np.array(pairs, dtype=np.int32).T
    lead = ratings[first] - ratings[second] + advantage
    win, loss = 1 / (1 + 10 ** ((draw - lead) / 400)), 1 / (1 + 10 ** ((draw + lead) / 400))
    counts = rng.multinomial(games, np.stack([win, np.maximum(1 - win - loss, 0), loss], axis=1)).astype(np.int64)
    names = tuple(f"player {i}" for i in range(len(ratings)))
    return Results(names, first, second, counts[:, 0], counts[:, 1], counts[:, 2])
