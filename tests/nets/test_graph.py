from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from palaestra.base.errors import ModelError
from palaestra.games.registry import make_game
from palaestra.nets.architecture import GameFacts, parse_net, random_weights
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.nets.graph import build_model
from tests.nets.reference import forward, random_model, random_positions

GAMES = ("tic_tac_toe-3x3", "gobang-4x6", "connect_four-4x5", "othello-4x4")


@pytest.mark.parametrize("name", ["b1c4", "b2c16"])
@pytest.mark.parametrize("id", GAMES)
def test_the_onnx_network_equals_the_plain_forward_pass(id: str, name: str) -> None:
    game, net = make_game(id), parse_net(name)
    facts = GameFacts.of(game)
    rng = np.random.default_rng(7)
    weights = random_weights(net, facts, rng)
    for bias in (name for name in weights if name.endswith("bias")):
        weights[bias] = rng.standard_normal(weights[bias].shape, dtype=np.float32) * np.float32(0.3)
    planes = game.observe(random_positions(game, 5))
    logits, values = OnnxEvaluator(game, build_model(net, facts, weights)).forward(planes)
    for row, board in enumerate(planes.astype(np.float64)):
        expected_logits, expected_value = forward(net, facts, weights, board)
        np.testing.assert_allclose(logits[row], expected_logits, atol=1e-4)
        assert values[row] == pytest.approx(expected_value, abs=1e-4)


@pytest.mark.parametrize("planes, extra", [(2, 0), (3, 1)])
def test_several_planes_of_actions_are_numbered_plane_by_plane(planes: int, extra: int) -> None:
    net, facts = parse_net("b1c4"), GameFacts("lines", 1, (2, 3, 4), planes * 12 + extra)
    weights = random_weights(net, facts, np.random.default_rng(3))
    board = np.random.default_rng(4).random((2, 3, 4))
    model = ReferenceEvaluator(onnx.load_from_string(build_model(net, facts, weights)))
    logits, values = model.run(["logits", "value"], {"observation": board[None].astype(np.float32)})
    expected_logits, expected_value = forward(net, facts, weights, board)
    np.testing.assert_allclose(logits[0], expected_logits, atol=1e-4)
    assert values[0] == pytest.approx(expected_value, abs=1e-4)


@pytest.mark.parametrize("id", GAMES)
def test_a_model_satisfies_the_standard_and_says_what_it_is(id: str) -> None:
    game = make_game(id)
    model = onnx.load_from_string(random_model(game, "b1c8"))
    onnx.checker.check_model(model, full_check=True)
    assert {entry.key: entry.value for entry in model.metadata_props} == {
        "palaestra.game": id,
        "palaestra.game_version": str(game.version),
        "palaestra.net": "b1c8",
        "palaestra.observation_shape": "x".join(map(str, game.observation_shape)),
        "palaestra.num_actions": str(game.num_actions),
    }


def test_the_same_weights_give_the_same_bytes() -> None:
    game = make_game("tic_tac_toe-3x3")
    assert random_model(game, seed=5) == random_model(game, seed=5)
    assert random_model(game, seed=5) != random_model(game, seed=6)


def test_a_random_deep_network_neither_saturates_nor_dies() -> None:
    game = make_game("gobang-6x6")
    planes = game.observe(random_positions(game, 200))
    for name in ("b1c32", "b12c32"):
        logits, values = OnnxEvaluator(game, random_model(game, name)).forward(planes)
        assert 0.05 < logits.std() < 5.0
        assert 0.01 < values.std() and np.abs(values).mean() < 0.9


@pytest.mark.parametrize(
    "change, complaint",
    [
        (lambda weights: weights.pop("stem.bias"), "lacks 'stem.bias'"),
        (lambda weights: weights.update({"tail.weight": np.zeros(1, dtype=np.float32)}), "does not have 'tail.weight'"),
        (
            lambda weights: weights.update({"stem.bias": np.zeros(9, dtype=np.float32)}),
            r"float32\[9\], not",
        ),
        (lambda weights: weights.update({"stem.bias": np.zeros(8)}), r"float64\[8\], not float32\[8\]"),
        (lambda weights: weights.update({"stem.bias": np.full(8, np.nan, dtype=np.float32)}), "not finite"),
    ],
)
def test_weights_that_are_not_the_networks_are_refused(change, complaint: str) -> None:  # type: ignore[no-untyped-def]
    net, facts = parse_net("b1c8"), GameFacts.of(make_game("tic_tac_toe-3x3"))
    weights = random_weights(net, facts, np.random.default_rng(0))
    change(weights)
    with pytest.raises(ModelError, match=complaint):
        build_model(net, facts, weights)
