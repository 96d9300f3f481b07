"""Measured training counts what was done. No test looks at the speed itself."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from palaestra.learn.training_speed import _Clock, measure_training, random_examples


@pytest.mark.parametrize("net", ["b1c8", "b1c8-outcome"])
def test_the_ratio_is_that_of_the_trainer_to_the_network_alone(net: str) -> None:
    before = torch.get_num_threads()
    speed = measure_training(make_game("tic_tac_toe-3x3"), net, batch=64, threads=2, seconds=0.1)
    assert min(speed.samples_per_second, speed.fixed_batch_per_second, speed.limit) > 0
    assert speed.limit_ratio == pytest.approx(speed.samples_per_second / speed.limit)
    assert torch.get_num_threads() == before


def test_examples_to_measure_with_are_those_of_running_games() -> None:
    game = make_game("connect_four-6x7")
    examples = random_examples(game, 50, np.random.default_rng(1))
    assert len(examples) == 50 and (game.outcome(examples.states) == ONGOING).all()
    assert len(set(examples.ply.tolist())) > 5
    counts, _ = game.legal(examples.states)
    assert np.count_nonzero(examples.policy, axis=1).tolist() == counts.tolist()
    np.testing.assert_allclose(examples.policy.sum(axis=1), 1.0, rtol=1e-6)
    assert np.abs(examples.value).max() <= 1.0
    assert (np.abs(examples.outcome) <= 42 - examples.ply).all() and len(set(examples.outcome.tolist())) > 5


def test_first_steps_are_not_counted_and_those_that_were_not_made_neither() -> None:
    asked: list[int] = []
    clock = _Clock(lambda steps: asked.append(steps) or min(steps, 5))
    assert asked == [1, 2] and (clock.steps, clock.seconds) == (0, 0.0)
    clock.run(seconds=0.0)
    clock.run(seconds=10.0)
    assert asked[2] == 1 and asked[3] > 5
    assert clock.steps == 1 + 5 and clock.seconds > 0.0
