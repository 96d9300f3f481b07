from __future__ import annotations

import numpy as np
import pytest
import torch

from palaestra.base.errors import ModelError
from palaestra.games.registry import FAMILIES, make_game
from palaestra.nets.architecture import GameFacts
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.nets.export import export_onnx
from palaestra.nets.modules import Network, Norm, make_module
from tests.nets.reference import random_positions


def lived_in(net: str, facts: GameFacts, seed: int = 5) -> Network:
    """A network whose biases and normalisations are what training may make of them, negative scales too."""
    module = make_module(net, facts, 0.3, seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() == 1:
                parameter.normal_(0.0, 0.3, generator=generator)
        for part in module.modules():
            if isinstance(part, Norm):
                part.scale.add_(torch.rand(part.scale.shape, generator=generator).sub_(0.5).sign_())
                part.mean.normal_(0.0, 0.3, generator=generator)
                part.variance.uniform_(0.5, 2.0, generator=generator)
    return module


SOLO = ("morpion", "bin_packing", "tsp")
OTHERS = [
    *[("r2c16", entry.examples[0]) for entry in FAMILIES.values()],
    ("r2c16", "othello-8x8"),
    ("r2c16", "connect_four-6x7"),
    ("thesis256", "gobang-5x5"),
    ("thesis256-signed", "gobang-5x5"),
    ("thesis", "othello-6x6"),
    ("thesis512", "connect_four-6x7"),
    *[("schmidt", entry.examples[0]) for name, entry in FAMILIES.items() if name not in SOLO],
    *[("mlp64x2", entry.examples[0]) for entry in FAMILIES.values()],
]
TWO_PLAYERS = [entry.examples[0] for name, entry in FAMILIES.items() if name not in SOLO]
FEW_OUTCOMES = [entry.examples[0] for name, entry in FAMILIES.items() if name not in ("opposition", "tsp")]
HEADS = [
    *[(f"{net}-outcome", id) for net in ("b2c16", "r2c16", "schmidt", "mlp64x2") for id in TWO_PLAYERS],
    *[(f"{net}-categorical", id) for net in ("b2c16", "mlp64x2") for id in FEW_OUTCOMES],
    ("schmidt-categorical", "othello-6x6"),
    ("thesis256-outcome", "gobang-5x5"),
    ("thesis256-categorical", "othello-6x6"),
    ("schmidt-outcome", "opposition-3x9-absolute"),
]


@pytest.mark.parametrize("net, id", [*[("b2c16", entry.examples[0]) for entry in FAMILIES.values()], *OTHERS, *HEADS])
def test_the_onnx_file_equals_the_module_in_play(net: str, id: str) -> None:
    game = make_game(id)
    facts = GameFacts.of(game)
    module = lived_in(net, facts)
    planes = game.observe(random_positions(game, 40))
    with torch.no_grad():
        expected_logits, expected_values = (tensor.numpy() for tensor in module(torch.from_numpy(planes)))
    assert expected_logits.std() > 1e-3 and expected_values.std() > 1e-3
    logits, values = OnnxEvaluator(game, export_onnx(module, facts)).forward(planes)
    np.testing.assert_allclose(logits, expected_logits, atol=1e-4)
    np.testing.assert_allclose(values, expected_values, atol=1e-4)


@pytest.mark.parametrize("net", ["b2c16", "r2c16", "schmidt", "thesis256", "b2c16-outcome", "schmidt-categorical"])
def test_answers_of_exported_networks_do_not_depend_on_the_rest_of_the_call(net: str) -> None:
    game = make_game("othello-6x6")
    evaluator = OnnxEvaluator(game, export_onnx(lived_in(net, GameFacts.of(game)), GameFacts.of(game)), batch=128)
    planes = game.observe(random_positions(game, 100))
    logits, values = evaluator.forward(planes)
    assert evaluator.calls.positions == 128
    for count in (1, 3, 16, 33):
        some_logits, some_values = evaluator.forward(planes[10 : 10 + count])
        assert np.array_equal(some_logits, logits[10 : 10 + count])
        assert np.array_equal(some_values, values[10 : 10 + count])


def test_the_same_module_gives_the_same_bytes_and_training_mode_does_not_matter() -> None:
    facts = GameFacts.of(make_game("othello-6x6"))
    module = lived_in("b2c8", facts)
    once = export_onnx(module, facts)
    assert export_onnx(module.train(), facts) == once


def test_weights_that_are_not_finite_are_not_exported() -> None:
    facts = GameFacts.of(make_game("othello-6x6"))
    module = make_module("b1c8", facts, 0.0, 0)
    with torch.no_grad():
        module.trunk.stem.norm.mean[3] = torch.nan  # type: ignore[union-attr, index, operator]
    with pytest.raises(ModelError, match=r"'stem.bias' holds numbers that are not finite"):
        export_onnx(module, facts)
