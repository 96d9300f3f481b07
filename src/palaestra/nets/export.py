"""From a trained module to the network that plays: batch normalisation folded into the layers, written as ONNX.

Folding is exact up to rounding, which is done once, from double precision. `export_onnx` takes some milliseconds: it
lists the nodes of a known network and traces nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from palaestra.nets.architecture import GameFacts, SchmidtNet, Weights
from palaestra.nets.graph import build_model
from palaestra.nets.modules import LateUnit, Network, Unit


def export_onnx(module: Network, facts: GameFacts) -> bytes:
    """The ONNX file of what `module.eval()` computes; ModelError if a weight is not finite."""
    return build_model(module.net, facts, folded_weights(module, facts))


def folded_weights(module: Network, facts: GameFacts) -> Weights:
    """The weights of `palaestra.nets.architecture.weight_shapes`, float32."""
    units = dict(module.units())
    with torch.no_grad():
        if isinstance(module.net, SchmidtNet):
            pairs = _fold_late(units, facts)
        else:
            pairs = {name: _fold(unit) for name, unit in units.items()}
    weights: Weights = {}
    for name, (weight, bias) in pairs.items():
        weights[f"{name}.weight"] = weight.float().contiguous().numpy()
        weights[f"{name}.bias"] = bias.float().contiguous().numpy()
    return weights


def _double(tensor: Tensor) -> Tensor:
    return tensor.detach().cpu().double()


def _own(unit: Unit) -> tuple[Tensor, Tensor]:
    """Weight and bias without the normalisation, in double precision."""
    weight = _double(unit.weight)
    return weight, torch.zeros(len(weight), dtype=torch.float64) if unit.bias is None else _double(unit.bias)


def _fold(unit: Unit) -> tuple[Tensor, Tensor]:
    """Weight and bias of a layer whose normalisation comes right after it."""
    weight, bias = _own(unit)
    if unit.norm is None:
        return weight, bias
    scale, shift = unit.norm.affine()
    return weight * scale.view(-1, *[1] * (weight.dim() - 1)), bias * scale + shift


# Whose output each layer of `schmidt` reads.
_SOURCES = {
    "conv2": "conv1",
    "conv3": "conv2",
    "policy.conv": "conv3",
    "value.hidden": "conv3",
    "policy.dense": "policy.conv",
}


def _fold_late(units: dict[str, Unit], facts: GameFacts) -> dict[str, tuple[Tensor, Tensor]]:
    """Weights and biases where normalisations come after the ReLU: each goes into the layers that read it.

    What it adds is the same on every cell and nothing in the padding; what a convolution makes of that is a board of
    constants, the bias of each cell.
    """
    _, rows, cols = facts.observation_shape
    folded = {}
    for name, unit in units.items():
        weight, bias = _own(unit)
        if name in _SOURCES:
            source = units[_SOURCES[name]]
            assert isinstance(source, LateUnit) and source.norm is not None
            scale, shift = source.norm.affine()
            if weight.dim() == 4:
                board = shift.view(1, -1, 1, 1).expand(1, -1, rows, cols)
                bias = functional.conv2d(board, weight, bias, padding=unit.padding)[0]
                weight = weight * scale.view(1, -1, 1, 1)
            else:
                bias = bias + weight @ shift.repeat_interleave(rows * cols)
                weight = weight * scale.repeat_interleave(rows * cols)
        folded[name] = weight, bias
    return folded
