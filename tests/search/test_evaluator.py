"""Evaluators: values are the mover's, rows are independent, mixtures are weighted."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.nets.architecture import GameFacts, parse_net, random_weights
from palaestra.nets.cache import Cached
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.nets.graph import build_model
from palaestra.rewards.base import default_reward
from palaestra.search.config import SearchConfig
from palaestra.search.driver import Search
from palaestra.search.evaluator import Evaluator, Leaves, Mixed, Rollout, Uniform
from tests.search.test_textbook import random_positions, scripted


def leaves_of(game: Game, states: np.ndarray) -> Leaves:
    counts, actions = game.legal(states)
    return Leaves(states, counts, actions, np.arange(len(states), dtype=np.uint64))


def network(game: Game) -> OnnxEvaluator:
    net, facts = parse_net("b1c8"), GameFacts.of(game)
    return OnnxEvaluator(game, build_model(net, facts, random_weights(net, facts, np.random.default_rng(0))))


def test_a_rollout_is_worth_its_result_to_the_player_to_move() -> None:
    game = make_game("connect_four-5x5")
    states = random_positions(game, 200, seed=0)
    leaves = leaves_of(game, states)
    ends = game.rollout(states, leaves.streams.copy())
    values = Rollout(game, default_reward(game))(leaves).values
    assert values.tolist() == (np.sign(ends.outcomes) * (1 - 2 * game.to_play(states))).tolist()
    assert {-1.0, 1.0} <= set(values.tolist())


def test_a_mixture_takes_values_from_both_and_logits_from_the_first() -> None:
    game = make_game("tic_tac_toe-3x3")
    states = random_positions(game, 30, seed=0)
    first, second = scripted(game), Rollout(game, default_reward(game))
    mixed = Mixed(first, second, 0.25)(leaves_of(game, states))
    one, two = first(leaves_of(game, states)), second(leaves_of(game, states))
    np.testing.assert_allclose(mixed.values, 0.75 * one.values + 0.25 * two.values, atol=1e-6)
    assert mixed.logits is not None and (mixed.logits == one.logits).all()


def test_uniform_knows_nothing() -> None:
    game = make_game("tic_tac_toe-3x3")
    answer = Uniform()(leaves_of(game, game.initial(3)))
    assert answer.logits is None and answer.values.tolist() == [0, 0, 0]


@pytest.mark.parametrize("leaves_per_step", [1, 4])
@pytest.mark.parametrize("game_id", ["connect_four-4x4", "othello-4x4"])
def test_remembering_answers_changes_no_visit(game_id: str, leaves_per_step: int) -> None:
    game = make_game(game_id)
    states = random_positions(game, 20, seed=2)
    seeds = np.arange(20, dtype=np.uint64)
    config = SearchConfig(simulations=80, leaves_per_step=leaves_per_step, dirichlet_fraction=0.2)

    def visits(evaluator: Evaluator) -> list[list[int]]:
        return Search(game, evaluator, config).run(states, seeds).visits.tolist()

    plain = visits(network(game))
    remembering = Cached(network(game), game, 4096)
    assert visits(remembering) == plain
    assert remembering.hits > 0
    assert visits(Cached(network(game), game, 64)) == plain, "a table that is much too small"
    assert visits(Cached(network(game), game, 0)) == plain
