"""Optimizers by name, and how their rate falls over a run. Knows parameters, not what they compute.

Muon (K. Jordan, 2024): the momentum of a kernel, taken as a matrix [out, in·k·k], is replaced by the nearest matrix
with orthonormal rows or columns before it is added. Every direction of a layer then moves at the same pace, where Adam
and SGD follow the few directions with large gradients. What is no hidden kernel (biases, normalisations, the layers
that give logits and values) is updated by AdamW. What it gains here stands in docs/notebook.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from palaestra.learn.config import LearnConfig
from palaestra.nets.modules import Trained

# x → a·x + b·x³ + c·x⁵, five times, brings singular values between 0.01 and 1 near 1 (0.7 to 1.2): all that is needed.
NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
ROUNDS = 5
ADAM_SHARE = 0.15  # of Muon's rate, for the parameters that AdamW updates
ADAM_BETAS, ADAM_EPSILON = (0.9, 0.999), 1e-8


class Muon(torch.optim.Optimizer):
    """Orthogonalised Nesterov momentum for `kernels`, AdamW for the `others`; weights decay as lr · weight_decay."""

    def __init__(
        self, kernels: Iterable[Tensor], others: Iterable[Tensor], lr: float, momentum: float, weight_decay: float
    ) -> None:
        groups = [{"params": list(kernels), "kernels": True}, {"params": list(others), "kernels": False}]
        super().__init__(
            [group for group in groups if group["params"]],
            {"lr": lr, "momentum": momentum, "weight_decay": weight_decay},
        )

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            if group["kernels"]:
                self._move_kernels(group)
            else:
                self._move_others(group)

    def _move_kernels(self, group: dict[str, Any]) -> None:
        parameters: list[Tensor] = group["params"]
        gradients = [_gradient(parameter) for parameter in parameters]
        for parameter in parameters:
            if not self.state[parameter]:
                self.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)
        moving = [self.state[parameter]["momentum_buffer"] for parameter in parameters]
        torch._foreach_lerp_(moving, gradients, 1.0 - group["momentum"])
        ahead = torch._foreach_lerp(gradients, moving, group["momentum"])
        torch._foreach_mul_(parameters, 1.0 - group["lr"] * group["weight_decay"])
        alike: dict[tuple[int, int], list[int]] = {}  # matrices of one shape are one batch
        for number, parameter in enumerate(parameters):
            alike.setdefault((parameter.shape[0], parameter[0].numel()), []).append(number)
        for (rows, columns), numbers in alike.items():
            # Twice the rows have √2 the norm: tall matrices move in proportion to what they give to the next layer.
            rate = group["lr"] * math.sqrt(max(1.0, rows / columns))
            moves = orthogonal(torch.stack([ahead[number].reshape(rows, columns) for number in numbers]))
            for number, move in zip(numbers, moves, strict=True):
                parameters[number].add_(move.reshape(parameters[number].shape), alpha=-rate)

    def _move_others(self, group: dict[str, Any]) -> None:
        """AdamW, whose weights do not decay: biases and scales are not to shrink."""
        first, second = ADAM_BETAS
        parameters: list[Tensor] = group["params"]
        gradients = [_gradient(parameter) for parameter in parameters]
        for parameter in parameters:
            if not (state := self.state[parameter]):
                state["step"] = torch.zeros(())
                state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(parameter), torch.zeros_like(parameter)
        steps, means, squares = (
            [self.state[parameter][key] for parameter in parameters] for key in ("step", "exp_avg", "exp_avg_sq")
        )
        torch._foreach_add_(steps, 1)
        counts = [step.item() for step in steps]
        torch._foreach_lerp_(means, gradients, 1.0 - first)
        torch._foreach_lerp_(squares, torch._foreach_mul(gradients, gradients), 1.0 - second)
        spreads = torch._foreach_div(squares, [1.0 - second**count for count in counts])
        torch._foreach_sqrt_(spreads)
        torch._foreach_add_(spreads, ADAM_EPSILON)
        rates = [-ADAM_SHARE * group["lr"] / (1.0 - first**count) for count in counts]
        torch._foreach_addcdiv_(parameters, means, spreads, rates)


def _gradient(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None, "training sets the gradient of every parameter"
    return parameter.grad


def orthogonal(matrices: Tensor) -> Tensor:
    """Of each matrix U S Vᵀ of [n, rows, columns], about U Vᵀ.

    A round takes X to F X with F = a + b X Xᵀ + c (X Xᵀ)². All F are polynomials of the first X Xᵀ and commute with it:
    rounds need only these small squares, and X is multiplied once, by the product of all F.
    """
    a, b, c = NEWTON_SCHULZ
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    square = torch.bmm(x, x.mT)
    product = _polynomial(square, a, b, c)
    factor = product
    for _ in range(ROUNDS - 1):
        square = torch.bmm(torch.bmm(factor, square), factor)
        factor = _polynomial(square, a, b, c)
        product = torch.bmm(factor, product)
    x = torch.bmm(product, x)
    return x.mT if tall else x


def _polynomial(square: Tensor, a: float, b: float, c: float) -> Tensor:
    """a + b S + c S² of each matrix S."""
    result = torch.baddbmm(square, square, square, beta=b, alpha=c)
    result.diagonal(dim1=1, dim2=2).add_(a)
    return result


def make_optimizer(module: Trained, config: LearnConfig, fused: bool) -> torch.optim.Optimizer:
    """Adam (β .9/.999, ε 1e-8), AdamW, SGD with Nesterov momentum, or Muon; no decay of biases and normalisations."""
    parameters = list(module.parameters())
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    match config.optimizer:
        case "adam":
            return torch.optim.Adam(groups, lr=config.lr, betas=ADAM_BETAS, eps=ADAM_EPSILON, fused=fused)
        case "adamw":
            return torch.optim.AdamW(groups, lr=config.lr, betas=ADAM_BETAS, eps=ADAM_EPSILON, fused=fused)
        case "sgd":
            moving = config.momentum > 0
            return torch.optim.SGD(groups, lr=config.lr, momentum=config.momentum, nesterov=moving, fused=fused)
        case "muon":
            hidden = set(map(id, module.hidden_kernels()))
            kernels = [parameter for parameter in parameters if id(parameter) in hidden]
            others = [parameter for parameter in parameters if id(parameter) not in hidden]
            return Muon(kernels, others, config.lr, config.momentum, config.weight_decay)


def new_moments(module: Trained, config: LearnConfig, counter: Tensor) -> dict[str, Tensor]:
    """New tensors for what the optimizer remembers of each parameter, named `parameter.key`; `counter` counts steps."""
    hidden = set(map(id, module.hidden_kernels())) if config.optimizer == "muon" else set()
    moments: dict[str, Tensor] = {}
    for name, parameter in module.named_parameters():
        if config.optimizer == "sgd" or id(parameter) in hidden:
            moments[f"{name}.momentum_buffer"] = torch.zeros_like(parameter.data)
            continue
        moments[f"{name}.step"] = counter.clone()
        moments |= {f"{name}.{key}": torch.zeros_like(parameter.data) for key in ("exp_avg", "exp_avg_sq")}
    return moments


def learning_rate(config: LearnConfig, progress: float) -> float:
    """The rate at a point of the run between 0 and 1."""
    if config.schedule == "constant":
        return config.lr
    fall = 0.5 * (1.0 + math.cos(math.pi * min(max(progress, 0.0), 1.0)))
    return config.lr * (config.lr_end + (1.0 - config.lr_end) * fall)
