"""The losses of the thesis (FACTS §3, Eq. 3.1, 4.1 and 4.2). All of them are made of two means over a batch:

    policy   l_p = mean of -πᵀ log p            value     l_v = mean of (v - z)²
    sum      l_p + l_v                          product   l_p · l_v (of the means, not the mean of products)
    weighted λ l_p + (1 - λ) l_v: λ = 1 is policy only, λ = 0 value only

So the gradient of each is a · ∇l_p + b · ∇l_v with numbers a and b (`mixture`), and one pass measures them all. That is
also what lets a batch be cut into parts: only a and b need to know the whole batch.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional

from palaestra.learn.config import LearnConfig


@dataclass(frozen=True)
class Losses:
    """The four losses of FACTS §3, whichever of them is minimised."""

    policy: float
    value: float
    sum: float
    product: float

    @classmethod
    def of(cls, policy: float, value: float) -> Losses:
        return cls(policy, value, policy + value, policy * value)


def policy_loss(logits: Tensor, target: Tensor) -> Tensor:
    """l_p: cross-entropy of π [B, A] and the softmax of logits [B, A], averaged over the rows."""
    return -(target * functional.log_softmax(logits, dim=1)).sum(dim=1).mean()


def value_loss(value: Tensor, target: Tensor) -> Tensor:
    """l_v: squared error of v [B] and z [B], averaged over the rows."""
    return functional.mse_loss(value, target)


def mixture(config: LearnConfig, policy: float, value: float) -> tuple[float, float]:
    """(a, b) such that a · ∇l_p + b · ∇l_v is the gradient of the loss to minimise, at l_p = policy and l_v = value."""
    match config.loss:
        case "sum":
            return 1.0, config.value_weight
        case "product":
            return value, policy
        case "policy":
            return 1.0, 0.0
        case "value":
            return 0.0, 1.0
        case "weighted":
            return config.loss_lambda, 1.0 - config.loss_lambda
