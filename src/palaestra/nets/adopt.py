"""Weights that play, put back into a module that trains: the inverse of `palaestra.nets.export`.

Folding has made one layer of a layer and its normalisation. Which of the many pairs it was cannot be seen any more, and
does not matter to play; to training it does. So each normalisation gets the means and deviations that its layer has on
some positions of the game, and each kernel the size of a new one: training goes on as in a network that it has made
itself. What the module computes in play is what the file computed, up to rounding.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from palaestra.base.errors import ModelError
from palaestra.base.types import Float32s
from palaestra.nets.architecture import GameFacts, Weights
from palaestra.nets.graph import check_weights
from palaestra.nets.modules import NORM_EPSILON, Network, Norm, Trained


def adopt(module: Trained, facts: GameFacts, weights: Weights, planes: Float32s) -> None:
    """Set all of a module to these weights; `planes` are observations of some positions.

    ModelError, and no change, if they are not those of the module.
    """
    if not isinstance(module, Network) or any(layer.normalised == "after" for layer in module.plan.layers.values()):
        raise ModelError(f"{module.net.name} cannot start from the weights of a file; b3c32 and r3c32 can, for example")
    check_weights(module.net, facts, weights)
    training = module.training
    hooks = []
    with torch.no_grad():
        for name, unit in module.units():
            weight, bias = (torch.from_numpy(weights[f"{name}.{part}"]) for part in ("weight", "bias"))
            idle = unit.layer.starts_at_zero and not weight.any()  # a new block: its kernel stays, nothing passes yet
            size = 0.0 if idle else 1.0 if unit.norm is None else _size(weight)
            if not idle:
                unit.weight.copy_(weight / size)
            if unit.norm is None:
                assert unit.bias is not None, "a layer without a normalisation has a bias"
                unit.bias.copy_(bias)
                continue
            if unit.bias is not None:
                unit.bias.zero_()
            hooks.append(unit.norm.register_forward_pre_hook(_Measured(bias, size)))
        device = next(module.parameters()).device
        module.eval()(torch.from_numpy(planes).to(device))
    for hook in hooks:
        hook.remove()
    module.train(training)


class _Measured:
    """Sets a normalisation when its layer's outputs are there: to their means and deviations, and to what undoes it."""

    def __init__(self, bias: Tensor, size: float) -> None:
        self.bias, self.size = bias, size

    def __call__(self, norm: Norm, given: tuple[Tensor]) -> None:
        (x,) = given
        variance, mean = torch.var_mean(x, dim=[0, *range(2, x.dim())], correction=0)
        norm.mean.copy_(mean)
        norm.variance.copy_(variance)
        norm.scale.copy_(self.size * torch.sqrt(variance + NORM_EPSILON))
        norm.shift.copy_(self.bias.to(x.device) + self.size * mean)


def _size(weight: Tensor) -> float:
    """By how much a kernel is larger than a new one, whose outputs are as large as its inputs."""
    usual = math.sqrt(2.0 / math.prod(weight.shape[1:]))
    return max(float(weight.square().mean().sqrt()) / usual, 1e-6)
