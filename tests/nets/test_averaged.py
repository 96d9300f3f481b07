"""A network averaged over the symmetries of the board."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.games.registry import make_game
from palaestra.nets.averaged import Averaged
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.nets.inference_speed import model_bytes
from tests.search.test_evaluator import leaves_of
from tests.search.test_textbook import random_positions


@pytest.mark.parametrize("net", ["b1c8", "b1c8-outcome", "b1c8-categorical"])
@pytest.mark.parametrize("game_id", ["connect_four-5x5", "othello-4x4", "opposition-3x5", "hex-3x3"])
def test_an_averaged_network_sees_a_position_and_its_images_alike(game_id: str, net: str) -> None:
    game = make_game(game_id)
    plain = OnnxEvaluator(game, model_bytes(game, net))
    averaged = Averaged(plain, game)
    states = random_positions(game, 12, seed=4)
    here = averaged(leaves_of(game, states))
    assert here.logits is not None
    for symmetry in game.symmetries:
        there = averaged(leaves_of(game, game.permute(states, symmetry)))
        assert there.logits is not None
        np.testing.assert_allclose(there.logits[:, symmetry.actions], here.logits, atol=1e-5)
        np.testing.assert_allclose(there.values, here.values, atol=1e-6)


@pytest.mark.parametrize("net", ["b1c8", "b1c8-outcome"])
def test_the_mean_is_the_mean_of_what_the_network_says_to_every_image(net: str) -> None:
    game = make_game("connect_four-5x5")
    plain = OnnxEvaluator(game, model_bytes(game, net))
    states = random_positions(game, 5, seed=1)
    mirror = game.symmetries[1]
    one, two = plain(leaves_of(game, states)), plain(leaves_of(game, game.permute(states, mirror)))
    mean = Averaged(plain, game)(leaves_of(game, states))
    np.testing.assert_allclose(mean.values, (one.values + two.values) / 2, atol=1e-6)
    assert one.logits is not None and two.logits is not None and mean.logits is not None
    np.testing.assert_allclose(mean.logits, (one.logits + two.logits[:, ::-1]) / 2, atol=1e-6)
