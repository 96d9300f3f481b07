"""Moves of self-play by evolution: policy, temperature and budget (sources: RHEA as a warm start)."""

from __future__ import annotations

import numpy as np

from palaestra.base.streams import keyed_seeds
from palaestra.games.registry import make_game
from palaestra.learn.planning import Planning
from palaestra.rewards.base import default_reward
from palaestra.search.evolution import Evolution, evolve

GAME = make_game("connect_four-5x5")


def test_the_policy_is_the_share_of_first_moves_and_cold_moves_are_the_best_plans() -> None:
    states, streams = GAME.initial(40), keyed_seeds(1, np.arange(40))
    temperatures = np.where(np.arange(40) < 20, 1.0, 0.0)
    found = Planning(GAME, default_reward(GAME), 100).run(states, streams, np.arange(40), temperatures)
    evolved = evolve(GAME, default_reward(GAME), states, streams.copy(), Evolution())
    for row in range(40):
        shares = [(evolved.first[row] == action).mean() for action in found.actions[row]]
        np.testing.assert_array_equal(found.visits[row], np.multiply(shares, 10).round())
        if row < 20:
            np.testing.assert_allclose(found.policy[row], shares, atol=1e-6)
            assert found.visits[row, found.actions[row].tolist().index(found.chosen[row])] > 0
        else:
            assert found.chosen[row] == evolved.actions[row] and found.policy[row].max() == 1.0
    assert len(set(found.chosen[:20].tolist())) > 1
    assert (found.simulations == 100).all()


def test_a_quick_move_has_fewer_random_games() -> None:
    planning = Planning(GAME, default_reward(GAME), 100)
    found = planning.run(GAME.initial(2), keyed_seeds(1, np.arange(2)), np.arange(2), np.zeros(2), simulations=7)
    assert found.simulations.tolist() == [6, 6] and (found.visits.sum(axis=1) == 3).all()
