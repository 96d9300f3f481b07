"""From a trained module to the network that plays: batch normalisation folded into the layers, written as ONNX.

Folding is exact up to rounding, which is done once, from double precision. `export_onnx` takes some milliseconds: it
lists the nodes of a known network and traces nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from palaestra.nets.architecture import GameFacts, Weights
from palaestra.nets.graph import build_model
from palaestra.nets.modules import Network, Trained, Unit
from palaestra.nets.plan import Layer
from palaestra.nets.torch_net import OwnModule


def export_onnx(module: Trained, facts: GameFacts) -> bytes:
    """The ONNX file of what `module.eval()` computes; ModelError if a weight is not finite."""
    if isinstance(module, OwnModule):
        return module.onnx()
    assert isinstance(module, Network)
    return build_model(module.net, facts, folded_weights(module))


def folded_weights(module: Network) -> Weights:
    """The weights of `palaestra.nets.architecture.weight_shapes`, float32."""
    units = dict(module.units())
    weights: Weights = {}
    with torch.no_grad():
        for step in module.plan.steps:
            if step.layer is None:
                continue
            weight, bias = _fold(units[step.layer.name])
            read = step.sources[0]
            if (late := module.plan.late_source(read)) is not None:
                weight, bias = _fold_source(units[late.name], weight, bias, step.layer, module.plan.steps[read].shape)
            weights[f"{step.layer.name}.weight"] = weight.float().contiguous().numpy()
            weights[f"{step.layer.name}.bias"] = bias.float().contiguous().numpy()
    return weights


def _double(tensor: Tensor) -> Tensor:
    return tensor.detach().cpu().double()


def _fold(unit: Unit) -> tuple[Tensor, Tensor]:
    """Weight and bias of a layer with the normalisation that comes right after it, in double precision."""
    weight = _double(unit.weight)
    bias = torch.zeros(len(weight), dtype=torch.float64) if unit.bias is None else _double(unit.bias)
    if unit.layer.normalised != "before":
        return weight, bias
    assert unit.norm is not None
    scale, shift = unit.norm.affine()
    return weight * scale.view(-1, *[1] * (weight.dim() - 1)), bias * scale + shift


def _fold_source(
    source: Unit, weight: Tensor, bias: Tensor, layer: Layer, shape: tuple[int, ...]
) -> tuple[Tensor, Tensor]:
    """Weight and bias of a layer that reads one whose normalisation comes after its ReLU; `shape` is what it reads.

    What that normalisation adds is the same on every cell and nothing in the padding; what a convolution makes of it is
    a board of constants, the bias of each cell.
    """
    assert source.norm is not None
    scale, shift = source.norm.affine()
    if weight.dim() == 4:
        board = shift.view(1, -1, 1, 1).expand(1, *shape)
        bias = functional.conv2d(board, weight, bias, padding=layer.padding)[0]
        return weight * scale.view(1, -1, 1, 1), bias
    cells = shape[0] // len(scale)
    return weight * scale.repeat_interleave(cells), bias + weight @ shift.repeat_interleave(cells)
