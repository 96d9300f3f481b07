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
from palaestra.nets.grow import grown_weights
from palaestra.nets.modules import Network, Norm, make_module
from tests.nets.reference import random_positions
from tests.nets.test_export import lived_in

PAIRS = [
    ("connect_four-5x5", "b2c8", "b2c12"),  # dense policy head
    ("othello-6x6", "b1c8", "b3c8"),  # cells and a pass; blocks alone
    ("gobang-6x6-5", "b2c8-outcome", "b3c16-outcome"),
    ("connect_four-5x5", "r1c8", "r2c16"),  # pooled columns
    ("othello-6x6", "r1c8", "r2c16"),
    ("othello-6x6", "mlp16x2", "mlp24x2"),
]


def grown(game_id: str, small: str, large: str) -> tuple[Network, Network, np.ndarray]:  # type: ignore[type-arg]
    """A network that has learned something, the larger one made of it, and planes of some positions."""
    game = make_game(game_id)
    facts, planes = GameFacts.of(game), game.observe(random_positions(game, 60))
    old, new = lived_in(small, facts), cast(Network, make_module(large, facts, 0.0, 1))
    weights = grown_weights(small, large, facts, folded_weights(old), np.random.default_rng(1))
    adopt(new, facts, weights, planes)
    return old, new, planes


@pytest.mark.parametrize(("game", "small", "large"), PAIRS)
def test_a_grown_network_computes_what_the_smaller_one_did(game: str, small: str, large: str) -> None:
    old, new, planes = grown(game, small, large)
    with torch.no_grad():
        for one, other in zip(new.eval()(torch.from_numpy(planes)), old.eval()(torch.from_numpy(planes)), strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), atol=5e-5)


def test_every_new_weight_can_learn() -> None:
    """None stands between two zeros, where no gradient would ever reach it: after two steps every kernel has moved."""
    _, new, planes = grown("connect_four-5x5", "b1c4", "b2c6")
    new.train()
    before = {name: tensor.detach().clone() for name, tensor in new.named_parameters()}
    optimizer = torch.optim.SGD(new.parameters(), lr=0.1)
    for _ in range(2):  # a block that starts at zero lets its kernels learn from the second step on
        logits, answer = new(torch.from_numpy(planes))
        loss = (logits - 1.0).square().mean() + (answer - 0.3).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    still = [name for name, tensor in new.named_parameters() if not bool((tensor != before[name]).any())]
    assert still == []
    zeros = [module for module in new.modules() if isinstance(module, Norm) and not bool(module.scale.any())]
    assert zeros == []


@pytest.mark.parametrize(
    ("small", "large", "why"),
    [
        ("b2c8", "b1c8", "b2c8 cannot grow into b1c8: that one has no blocks.1.conv1"),
        ("b2c8", "b2c6", "b2c8 cannot grow into b2c6: a network grows in blocks and channels"),
        ("b2c8", "r2c8", "b2c8 cannot grow into r2c8: that is another kind of network"),
        ("b2c8", "b3c8-outcome", "that is another kind of network"),
        ("mlp16x2", "mlp16x3", "mlp16x2 cannot grow into mlp16x3: a network grows in blocks and channels"),
    ],
)
def test_what_cannot_grow_is_refused_in_one_line(small: str, large: str, why: str) -> None:
    facts = GameFacts.of(make_game("othello-6x6"))
    weights = folded_weights(lived_in(small, facts))
    with pytest.raises(ModelError, match=why):
        grown_weights(small, large, facts, weights, np.random.default_rng(0))
