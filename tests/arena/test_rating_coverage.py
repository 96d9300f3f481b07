"""Whether 95 % intervals hold the truth 95 times in 100, and whether ratings are right on average."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from palaestra.arena.ratings import RatingConfig, rate
from tests.arena.simulated import ALWAYS_FIRST, CHAIN, GAUNTLET, ROUND_ROBIN, SPARSE, Pairs, printed, simulate

USUAL, FITTED = RatingConfig(), RatingConfig(advantage=None, draw=None)


@dataclass(frozen=True)
class Design:
    pairs: Pairs
    games: int  # for every first mover of a pair
    spread: float  # standard deviation of the true ratings
    advantage: float = 32.8
    draw: float = 97.3
    config: RatingConfig = USUAL


DESIGNS = {
    "round robin": Design(ROUND_ROBIN, 10, 150),
    "round robin of few games": Design(ROUND_ROBIN, 2, 150),
    "round robin, wide": Design(ROUND_ROBIN, 10, 300),
    "gauntlet": Design(GAUNTLET, 20, 150),
    "chain": Design(CHAIN, 20, 150),
    "sparse": Design(SPARSE, 10, 150),
    "some always first": Design(ALWAYS_FIRST, 20, 150),
    "fitted, many draws": Design(ROUND_ROBIN, 10, 150, 80.0, 180.0, FITTED),
    "fitted, no draws": Design(ROUND_ROBIN, 10, 150, 0.0, 0.0, FITTED),
    "fitted, some always first": Design([*ALWAYS_FIRST, *ROUND_ROBIN], 5, 150, 60.0, 97.3, FITTED),
    "very wide, small prior": Design(ROUND_ROBIN, 10, 500, config=RatingConfig(prior=0.5)),
    "gauntlet, wide, small prior": Design(GAUNTLET, 10, 400, config=RatingConfig(prior=0.5)),
}


def coverage(design: Design, tournaments: int, anchored: bool = False, seed: int = 1) -> float:
    """The share of players, over all tournaments, whose true rating lies in the interval."""
    rng = np.random.default_rng(seed)
    size = 1 + max(max(pair) for pair in design.pairs)
    inside = []
    for _ in range(tournaments):
        ratings = rng.normal(0, design.spread, size)
        results = simulate(rng, ratings, design.pairs, design.games, design.advantage, design.draw)
        truth = printed(ratings, design.draw)
        config = design.config
        if anchored:
            config = config.model_copy(update={"anchor": ("player 0", 0.0)})
            truth = truth - truth[0]
        rated = rate(results, config)
        held = (rated.elo - rated.minus <= truth) & (truth <= rated.elo + rated.plus)
        inside.append(held[1:] if anchored else held)
    return float(np.mean(inside))


@pytest.mark.parametrize("name", ["round robin", "chain", "fitted, many draws"])
def test_intervals_hold_the_truth_95_times_in_100(name: str) -> None:
    assert 0.92 <= coverage(DESIGNS[name], 150) <= 0.98  # the slow test has 1,000 and narrower bounds


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("anchored", [False, True])
def test_intervals_hold_the_truth_in_1000_tournaments(name: str, anchored: bool) -> None:
    share = coverage(DESIGNS[name], 1000, anchored)
    print(f"{name}{', anchored' if anchored else ''}: {100 * share:.1f} %")
    assert 0.93 <= share <= 0.97


@pytest.mark.parametrize("config", [RatingConfig(advantage=60.0), FITTED])
def test_players_who_always_start_are_rated_without_bias(config: RatingConfig) -> None:
    """Equal players, 0 always first and 7 never; the others link them with both colours."""
    rng = np.random.default_rng(5)
    pairs = [*ALWAYS_FIRST, *((j, i) for i, j in ALWAYS_FIRST if i > 0 and j < 7)]
    rated = [rate(simulate(rng, np.zeros(8), pairs, 20, advantage=60.0), config) for _ in range(150)]
    errors = np.array([one.elo for one in rated])
    noise = errors.std(axis=0) / np.sqrt(len(errors))
    assert np.all(np.abs(errors.mean(axis=0)) < 3.5 * noise)
    wrong = rate(simulate(rng, np.zeros(8), pairs, 2000, advantage=60.0), RatingConfig(advantage=0.0))
    assert wrong.elo[0] - wrong.elo[7] > 50  # what the same games would say if nobody had the first move
