"""Networks that play with bytes: near those they are made of, as ONNX's slow reference says, and only if asked."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from palaestra.base.errors import ConfigError
from palaestra.base.types import Float32s
from palaestra.games.registry import make_game
from palaestra.learn.selfplay import SelfPlay, play_games, with_precision
from palaestra.nets import int8
from palaestra.nets.architecture import GameFacts, Weights, parse_net, random_weights
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.nets.graph import INPUT, build_model
from palaestra.nets.int8 import has_int8, in_int8, takes_int8
from palaestra.search.search_speed import scattered
from tests.learn.selfplay_games import run_config

NETWORKS = [
    ("connect_four-5x5", "b2c16"),
    ("othello-4x4", "b1c8"),
    ("hex-5x5", "r2c16"),
    ("opposition-3x9", "b1c8-outcome"),
]


@pytest.fixture
def exact() -> None:
    if not has_int8():
        pytest.skip("this processor cuts off products of bytes")


def weights_of(game_id: str, net: str) -> Weights:
    """Random weights, biases included."""
    rng = np.random.default_rng(3)
    weights = random_weights(parse_net(net), GameFacts.of(make_game(game_id)), rng)
    return {
        name: rng.normal(0, 0.3, array.shape).astype(np.float32) if name.endswith(".bias") else array
        for name, array in weights.items()
    }


def content_of(game_id: str, net: str, weights: Weights | None = None) -> bytes:
    facts = GameFacts.of(make_game(game_id))
    return build_model(parse_net(net), facts, weights or weights_of(game_id, net))


def planes_of(game_id: str, count: int, seed: int = 0) -> Float32s:
    game = make_game(game_id)
    return game.observe(scattered(game, count, np.random.default_rng(seed)))


def run(content: bytes, planes: Float32s) -> list[Float32s]:
    model = onnx.load_model_from_string(content)
    model.opset_import[0].version = 19  # the first that the reference knows; nothing that is used here has changed
    found: list[Float32s] = ReferenceEvaluator(model).run(None, {INPUT: planes})
    return found


@pytest.mark.parametrize(("game_id", "net"), NETWORKS)
def test_what_it_says_is_near_what_the_network_says(game_id: str, net: str) -> None:
    content, planes = content_of(game_id, net), planes_of(game_id, 60, seed=1)
    made = in_int8(content, planes_of(game_id, 200))
    for ours, exactly in zip(run(made, planes), run(content, planes), strict=True):
        assert np.abs(ours - exactly).max() < 0.15 * np.abs(exactly).max()
        assert 0 < np.abs(ours - exactly).mean() < 0.03 * np.abs(exactly).max()


@pytest.mark.usefixtures("exact")
@pytest.mark.parametrize(("game_id", "net"), NETWORKS)
def test_it_is_played_as_the_slow_reference_says(game_id: str, net: str) -> None:
    game, content = make_game(game_id), content_of(game_id, net)
    planes = planes_of(game_id, 40, seed=1)
    played = OnnxEvaluator(game, content, int8=True).forward(planes)
    slow = run(in_int8(content, planes_of(game_id, 256)), planes)
    for ours, theirs in zip(played, slow, strict=True):  # a sum that is half a step may be rounded to either side
        assert np.abs(ours - theirs).mean() < 2e-3 * np.abs(theirs).max()
    assert not np.array_equal(played[0], OnnxEvaluator(game, content).forward(planes)[0]), "it is not the same network"


def test_every_convolution_but_the_last_computes_with_bytes() -> None:
    graph = onnx.load_model_from_string(in_int8(content_of("othello-4x4", "b2c8"), planes_of("othello-4x4", 50))).graph
    kernels = [node.input[1].endswith(".read") for node in graph.node if node.op_type == "Conv"]
    assert kernels.count(True) == 1 + 2 * 2 + 2, "the stem, two blocks, the first layers of both heads"
    assert kernels.count(False) == 1, "the one that ends in logits"
    assert not any(node.op_type == "Relu" and node.input[0].startswith("conv") for node in graph.node)


@pytest.mark.parametrize("size", [0.0, 1e-12])
def test_a_channel_that_says_nothing_but_its_bias_keeps_it(size: float) -> None:
    weights = weights_of("connect_four-5x5", "b2c16")
    weights["value.conv.weight"] = weights["value.conv.weight"] * np.float32(size)
    weights["value.conv.bias"] = np.full_like(weights["value.conv.bias"], 3.0)
    content, planes = content_of("connect_four-5x5", "b2c16", weights), planes_of("connect_four-5x5", 30)
    ours, exactly = (run(some, planes)[1] for some in (in_int8(content, planes), content))
    assert ours == pytest.approx(exactly, abs=0.02) and np.abs(exactly).min() > 0.01


def test_a_network_without_convolutions_stays_as_it_is() -> None:
    content = content_of("tic_tac_toe-3x3", "mlp8x1")
    assert in_int8(content, planes_of("tic_tac_toe-3x3", 10)) == content


def self_play(precision: str, threads: int = 1, slots: int = 64) -> SelfPlay:
    config = run_config("connect_four-5x5", games=9, threads=threads, slots=slots, precision=precision)
    return play_games(make_game("connect_four-5x5"), content_of("connect_four-5x5", "b2c16"), config, 1)


@pytest.mark.usefixtures("exact")
def test_games_are_the_same_on_any_number_of_threads() -> None:
    one = self_play("int8")
    assert one.records != self_play("float32").records
    for other in (self_play("auto", threads=3, slots=2), self_play("int8", threads=2)):
        assert other.records == one.records
        for name, array in one.examples.to_arrays().items():
            assert array.tobytes() == other.examples.to_arrays()[name].tobytes(), name


def test_where_bytes_are_cut_off_it_is_refused_and_auto_is_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(int8, "has_int8", lambda: False)
    assert not takes_int8("auto") and not takes_int8("float32")
    with pytest.raises(ConfigError, match="cuts off products of bytes"):
        takes_int8("int8")
    assert with_precision(run_config("connect_four-5x5", precision="auto")).selfplay.precision == "float32"
    monkeypatch.setattr(int8, "has_int8", lambda: True)
    assert with_precision(run_config("connect_four-5x5", precision="auto")).selfplay.precision == "int8"
    assert with_precision(run_config("connect_four-5x5")).selfplay.precision == "float32"


def test_networks_of_other_devices_stay_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "palaestra.nets.evaluator.best_providers", lambda: ["CUDAExecutionProvider", "CPUExecutionProvider"]
    )
    has_int8.cache_clear()
    assert not has_int8()
    has_int8.cache_clear()
