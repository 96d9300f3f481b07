from __future__ import annotations

from typing import cast

import numpy as np
import pytest
import torch

from palaestra.base.errors import ModelError
from palaestra.games.registry import make_game
from palaestra.nets.adopt import adopt
from palaestra.nets.architecture import GameFacts
from palaestra.nets.export import folded_weights
from palaestra.nets.modules import NORM_EPSILON, Network, Norm, make_module
from tests.nets.reference import random_positions
from tests.nets.test_export import lived_in

GAME = make_game("othello-6x6")
SEEN = GameFacts.of(GAME)
PLANES = GAME.observe(random_positions(GAME, 60))


def answers(module: Network) -> list[np.ndarray]:  # type: ignore[type-arg]
    with torch.no_grad():
        return [tensor.numpy() for tensor in module.eval()(torch.from_numpy(PLANES))]


@pytest.mark.parametrize("net", ["b2c8", "r2c8", "thesis256", "mlp16x2", "r1c8-outcome"])
def test_a_module_that_has_adopted_weights_computes_what_they_did(net: str) -> None:
    old, new = lived_in(net, SEEN), cast(Network, make_module(net, SEEN, 0.0, 1))
    adopt(new, SEEN, folded_weights(old), PLANES)
    for one, other in zip(answers(new), answers(old), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-5)


def test_normalisations_know_what_their_layers_give_and_kernels_are_as_large_as_new_ones() -> None:
    module = cast(Network, make_module("r1c8", SEEN, 0.0, 1))
    adopt(module, SEEN, folded_weights(lived_in("r1c8", SEEN)), PLANES)
    stem = module.get_submodule("trunk.stem")
    assert isinstance(stem.norm, Norm) and isinstance(stem.weight, torch.Tensor)
    given = torch.nn.functional.conv2d(torch.from_numpy(PLANES), stem.weight, padding=1)
    np.testing.assert_allclose(stem.norm.mean.numpy(), given.mean(dim=(0, 2, 3)).detach().numpy(), atol=1e-5)
    assert abs(float(stem.weight.detach().square().mean().sqrt()) - (2 / 18) ** 0.5) < 1e-5


def test_a_network_whose_normalisations_cannot_be_told_is_refused() -> None:
    with pytest.raises(ModelError, match="schmidt cannot start from the weights of a file; b3c32 and r3c32 can"):
        adopt(make_module("schmidt", SEEN, 0.0, 1), SEEN, {}, PLANES)


def test_a_renormalised_layer_computes_in_training_what_it_does_in_play() -> None:
    """Also for a batch that is unlike those before it; a plain one takes the difference away."""
    x = 1.5 * torch.randn(64, 4, 5, 5, generator=torch.Generator().manual_seed(0)) + 1.0
    plain, renormalised = Norm(4, 0.1), Norm(4, 0.1, renormalised=True)
    played = renormalised.eval()(x).detach()
    np.testing.assert_allclose(renormalised.train()(x).detach().numpy(), played.numpy(), atol=1e-5)
    assert float((plain.train()(x) - played).detach().abs().mean()) > 0.3
    assert float((renormalised.mean - 0.1 * x.mean(dim=(0, 2, 3))).abs().max()) < 1e-5, "and it learns as usual"
    far = Norm(4, 0.1, renormalised=True).train()(x + 100)
    assert float(far.detach().mean()) < 6.0 / (1 + NORM_EPSILON) ** 0.5, "within limits"
