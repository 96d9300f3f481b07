"""Muon against its definition, and which parameters it takes; what training makes of optimizers is in test_trainer."""

from __future__ import annotations

import pytest
import torch

from palaestra.learn.config import LearnConfig
from palaestra.learn.optimizers import ADAM_SHARE, NEWTON_SCHULZ, ROUNDS, Muon, make_optimizer, new_moments, orthogonal
from palaestra.nets.architecture import GameFacts
from palaestra.nets.modules import make_module

GAME_FACTS = GameFacts("game", 1, (2, 6, 7), 7)


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 4, 30), (1, 30, 4)])
def test_orthogonal_matrices_keep_the_directions_and_forget_their_lengths(shape: tuple[int, int, int]) -> None:
    generator = torch.Generator().manual_seed(1)
    u, _, v = torch.linalg.svd(torch.randn(shape, generator=generator), full_matrices=False)
    lengths = torch.linspace(1.0, 0.05, min(shape[1:]))
    found = orthogonal(u @ torch.diag(lengths) @ v)
    along = u.mT @ found @ v.mT  # diagonal, if no direction was turned
    values = torch.diagonal(along, dim1=1, dim2=2)
    assert (along - torch.diag_embed(values)).abs().max() < 1e-3
    assert values.min() > 0.6 and values.max() < 1.3


@pytest.mark.parametrize("shape", [(3, 8, 8), (2, 4, 30), (1, 30, 4)])
def test_orthogonal_matrices_are_those_of_newton_and_schulz_round_by_round(shape: tuple[int, int, int]) -> None:
    a, b, c = NEWTON_SCHULZ
    given = torch.randn(shape, generator=torch.Generator().manual_seed(3))
    for matrix, found in zip(given, orthogonal(given), strict=True):
        x = matrix / matrix.norm()
        for _ in range(ROUNDS):
            x = a * x + b * x @ x.T @ x + c * x @ x.T @ x @ x.T @ x
        torch.testing.assert_close(found, x, atol=1e-4, rtol=1e-4)


def test_a_step_of_muon_is_its_definition() -> None:
    generator = torch.Generator().manual_seed(2)
    kernel, bias = torch.randn((4, 2, 3, 3), generator=generator), torch.randn(4, generator=generator)
    weight, offset = torch.nn.Parameter(kernel.clone()), torch.nn.Parameter(bias.clone())
    optimizer = Muon([weight], [offset], lr=0.1, momentum=0.8, weight_decay=0.5)
    moving, mean, square = torch.zeros_like(kernel), torch.zeros_like(bias), torch.zeros_like(bias)
    for step in range(1, 4):
        weight.grad = torch.randn(kernel.shape, generator=generator)
        offset.grad = torch.randn(bias.shape, generator=generator)
        moving = 0.8 * moving + 0.2 * weight.grad
        update = orthogonal((0.2 * weight.grad + 0.8 * moving).reshape(1, 4, 18)).reshape(kernel.shape)
        kernel = kernel * (1 - 0.1 * 0.5) - 0.1 * update
        mean, square = 0.9 * mean + 0.1 * offset.grad, 0.999 * square + 0.001 * offset.grad**2
        adam = (mean / (1 - 0.9**step)) / ((square / (1 - 0.999**step)).sqrt() + 1e-8)
        bias = bias - 0.1 * ADAM_SHARE * adam
        optimizer.step()
        torch.testing.assert_close(weight.data, kernel)
        torch.testing.assert_close(offset.data, bias)


@pytest.mark.parametrize("net", ["b2c8", "thesis256", "schmidt", "mlp16x2"])
def test_muon_takes_hidden_kernels_and_leaves_the_outputs_to_adam(net: str) -> None:
    module = make_module(net, GAME_FACTS, 0.0, 0)
    optimizer = make_optimizer(module, LearnConfig(optimizer="muon"), fused=False)
    kernels, others = ({id(p) for p in group["params"]} for group in optimizer.param_groups)
    assert kernels | others == {id(p) for p in module.parameters()} and not kernels & others
    for name, parameter in module.named_parameters():
        ends = name.startswith(("policy.dense", "policy.out", "value.out"))
        assert (id(parameter) in kernels) == (name.endswith("weight") and parameter.dim() > 1 and not ends), name


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "sgd", "muon"])
def test_new_moments_are_what_an_optimizer_keeps_after_a_step(optimizer: str) -> None:
    module = make_module("b1c8", GAME_FACTS, 0.0, 0)
    config = LearnConfig.model_validate({"optimizer": optimizer})
    made = make_optimizer(module, config, fused=False)
    for parameter in module.parameters():
        parameter.grad = torch.ones_like(parameter)
    made.step()
    names = {id(parameter): name for name, parameter in module.named_parameters()}
    kept = {f"{names[id(p)]}.{key}": tensor.shape for p, state in made.state.items() for key, tensor in state.items()}
    moments = new_moments(module, config, torch.zeros(()))
    assert {name: tensor.shape for name, tensor in moments.items()} == kept
