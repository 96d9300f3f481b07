from __future__ import annotations

import numpy as np
import pytest
import torch

from palaestra.base.errors import ConfigError, ModelError
from palaestra.games.registry import make_game
from palaestra.nets.architecture import GameFacts, parse_net, random_weights, weight_shapes
from palaestra.nets.boards import can_play, fitted, read_written
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.nets.export import export_onnx
from palaestra.nets.facts import Shared, kind_of
from palaestra.nets.graph import build_model
from tests.nets.reference import leaves_of, random_model, random_positions
from tests.nets.test_export import lived_in

SIZES = {
    "othello": ("4x4", "6x6", "8x8", "10x10"),
    "hex": ("3x3", "7x7"),
    "gobang": ("5x5", "6x9"),
    "connect_four": ("4x4", "5x5", "6x7"),
    "opposition": ("3x5", "3x9", "8x8"),
}


@pytest.mark.parametrize("family", SIZES)
def test_weights_are_the_same_on_boards_of_every_size(family: str) -> None:
    net = parse_net("r2c8")
    shapes = [weight_shapes(net, GameFacts.of(make_game(f"{family}-{size}"))) for size in SIZES[family]]
    assert all(one == shapes[0] for one in shapes)


@pytest.mark.parametrize("family", SIZES)
def test_one_module_and_one_file_play_on_boards_of_every_size(family: str) -> None:
    games = [make_game(f"{family}-{size}") for size in SIZES[family]]
    module = lived_in("r2c8", GameFacts.of(games[0]))
    content = export_onnx(module, GameFacts.of(games[0]))
    for game in games:
        planes = game.observe(random_positions(game, 20))
        with torch.no_grad():
            expected = [tensor.numpy() for tensor in module(torch.from_numpy(planes))]
        found = OnnxEvaluator(game, content).forward(planes)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)


def test_a_file_fitted_to_another_board_and_back_is_the_same_file() -> None:
    small, large = make_game("othello-4x4"), make_game("othello-8x8")
    content = random_model(small, "r1c8")
    there = fitted(content, large, "it")
    assert there != content and fitted(there, small, "it") == content
    assert read_written(there, "it").game == "othello-8x8"


def test_turning_the_board_turns_the_policy_where_all_kernels_are_symmetric() -> None:
    """Nothing in the network knows where on the board it is, but for the edges."""
    game = make_game("othello-6x6")
    net, facts = parse_net("r2c8"), GameFacts.of(game)
    weights = random_weights(net, facts, np.random.default_rng(2))
    for name, kernel in weights.items():
        if kernel.ndim == 4:
            turned = [np.rot90(flipped, k, (2, 3)) for flipped in (kernel, kernel[..., ::-1]) for k in range(4)]
            weights[name] = np.mean(turned, axis=0).astype(np.float32)
    evaluator = OnnxEvaluator(game, build_model(net, facts, weights))
    states = random_positions(game, 12)
    plain = evaluator(leaves_of(game, states))
    for symmetry in game.symmetries[1:]:
        image = evaluator(leaves_of(game, game.permute(states, symmetry)))
        np.testing.assert_allclose(image.logits[:, symmetry.actions], plain.logits, atol=1e-5)
        np.testing.assert_allclose(image.values, plain.values, atol=1e-5)


def test_far_from_the_edges_a_pattern_gives_the_same_logits_wherever_it_lies() -> None:
    game = make_game("gobang-15x15-5")
    evaluator = OnnxEvaluator(game, random_model(game, "r1c8"))  # three convolutions of 3×3 see three cells far
    planes = np.zeros((2, *game.observation_shape), dtype=np.float32)
    pattern = np.random.default_rng(0).integers(0, 2, (2, 3, 3))
    planes[0, :, 5:8, 5:8] = planes[1, :, 7:10, 6:9] = pattern
    logits = evaluator.forward(planes)[0].reshape(2, 15, 15)
    np.testing.assert_allclose(logits[0, 4:9, 4:9], logits[1, 6:11, 5:10], atol=1e-6)
    assert logits[0].std() > 1e-3


SHARING = tuple(map(make_game, ("gobang-6x6", "hex-6x6", "othello-6x6")))


def shared_model() -> tuple[Shared, bytes]:
    shared = Shared.among(SHARING)
    assert shared is not None
    net, facts = parse_net("r1c8"), GameFacts.of(SHARING[2], shared)
    return shared, build_model(net, facts, random_weights(net, facts, np.random.default_rng(0)))


def test_games_of_several_kinds_are_told_apart_by_a_plane_each() -> None:
    shared, model = shared_model()
    assert (shared.planes, shared.kinds, shared.has_pass) == (3, ("gobang", "hex", "othello"), True)
    for number, game in enumerate(SHARING):
        planes = shared.fill(game, game.observe(random_positions(game, 4)))
        assert planes.shape == (4, 6, 6, 6) and (planes[:, 3 + number] == 1).all() and planes[:, 3:].sum() == 4 * 36
        answer = OnnxEvaluator(game, model)(leaves_of(game, random_positions(game, 4)))
        assert answer.logits is not None and answer.logits.shape == (4, game.num_actions)
    assert OnnxEvaluator(make_game("hex-7x7"), model).facts.num_actions == 50


def test_what_a_network_cannot_play_is_refused_in_one_line() -> None:
    _, model = shared_model()
    assert can_play(model, make_game("hex-9x9")) and not can_play(model, make_game("connect_four-6x7"))
    with pytest.raises(ModelError, match=r"made for other games: gobang, hex, othello, not gobang-7x7-5"):
        OnnxEvaluator(make_game("gobang-7x7-5"), model)
    othello = make_game("othello-6x6")
    with pytest.raises(ModelError, match="its game is 'othello-6x6', othello-8x8 needs"):
        OnnxEvaluator(make_game("othello-8x8"), random_model(othello, "b1c8"))
    with pytest.raises(ModelError, match=r"othello-8x8: .*'value.out.weight' is .*129"):
        OnnxEvaluator(make_game("othello-8x8"), random_model(othello, "r1c8-categorical"))
    with pytest.raises(ConfigError, match="connect_four-6x7 cannot share a network with hex"):
        Shared.among((make_game("connect_four-6x7"), make_game("hex-6x6")))
    with pytest.raises(ConfigError, match=r"r1c8 does not fit .* neither cells nor columns.* take b1c8"):
        parse_net("r1c8").plan(GameFacts("chance", 1, (2, 3, 3), 5))


@pytest.mark.parametrize("text", ["", "[]", "[1, [], true]", '["a", ["b", "c"], true]', "[3, 4, true]", "[1e9"])
def test_what_a_stranger_says_about_shared_games_is_checked(text: str) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        Shared.from_text(text, "it")


def test_a_kind_is_a_game_without_its_size() -> None:
    kinds = {"othello-8x8": "othello", "gobang-9x9-5": "gobang-5", "opposition-3x9-absolute": "opposition-absolute"}
    assert {id: kind_of(id) for id in kinds} == kinds
