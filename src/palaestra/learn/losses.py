"""The losses of the thesis (Eq. 3.1, 4.1 and 4.2; sources: loss functions), all made of two means over a batch:

    policy   l_p = mean of -πᵀ log p            value     l_v = mean of (v - z)²
    sum      l_p + l_v, each with a weight      product   l_p · l_v (of the means, not the mean of products)
    weighted λ l_p + (1 - λ) l_v: λ = 1 is policy only, λ = 0 value only

A head that predicts outcomes has an l_v of its own, with z replaced by what the game ended in (sources: outcome head):

    outcome      3 · cross-entropy of the result + (amount - its target)², of the realised result's output alone
    categorical  cross-entropy of the outcome

So the gradient of each is a · ∇l_p + b · ∇l_v with numbers a and b (`mixture`), and one pass measures them all. That is
also what lets a batch be cut into parts: only a and b need to know the whole batch.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from palaestra.learn.config import LearnConfig
from palaestra.nets.heads import CATEGORICAL_HEAD, DRAW, OUTCOME_HEAD, VALUE_HEAD

NEVER = -1e9  # a logit whose share of any softmax is 0, and finite, so that 0 times it is 0
RESULT_WEIGHT = 3.0  # of the result beside its amount (sources: Schmidt training)


def policy_loss(logits: Tensor, target: Tensor) -> Tensor:
    """l_p: cross-entropy of π [B, A] and the softmax of logits [B, A], averaged over the rows.

    Actions whose target is negative take no part: the softmax is one over the others.
    """
    left_out = target < 0
    logs = functional.log_softmax(logits.masked_fill(left_out, NEVER), dim=1)
    return -(target.masked_fill(left_out, 0.0) * logs).sum(dim=1).mean()


def value_loss(value: Tensor, target: Tensor) -> Tensor:
    """l_v: squared error of v [B] and z [B], averaged over the rows."""
    return functional.mse_loss(value, target)


def outcome_loss(raw: Tensor, target: Tensor) -> Tensor:
    """l_v of outcome outputs [B, 5 or 3] and the target [B, 2] of `OutcomeHead`, averaged over the rows.

    A draw has no amount; its row counts in the mean all the same, so that a batch may be cut into parts.
    """
    result = target[:, 0].long()
    loss = RESULT_WEIGHT * functional.cross_entropy(raw[:, :3], result)
    if raw.shape[1] == 3:
        return loss
    given_win, given_loss = raw[:, 3], raw[:, 4]
    errors = torch.where(result < DRAW, given_win, given_loss) - target[:, 1]
    return loss + (errors.square() * (result != DRAW)).mean()


def categorical_loss(raw: Tensor, target: Tensor) -> Tensor:
    """l_v of logits [B, K] and the numbers [B] of the realised outcomes, averaged over the rows."""
    return functional.cross_entropy(raw, target.long())


def head_loss(head: str, answer: Tensor, target: Tensor) -> Tensor:
    """l_v of what a head of this name answered, and of what `Head.targets` wants."""
    losses = {VALUE_HEAD: value_loss, OUTCOME_HEAD: outcome_loss, CATEGORICAL_HEAD: categorical_loss}
    return losses[head](answer, target)


def mixture(config: LearnConfig, policy: float, value: float) -> tuple[float, float]:
    """(a, b) such that a · ∇l_p + b · ∇l_v is the gradient of the loss to minimise, at l_p = policy and l_v = value."""
    match config.loss:
        case "sum":
            return config.policy_weight, config.value_weight
        case "product":
            return value, policy
        case "policy":
            return 1.0, 0.0
        case "value":
            return 0.0, 1.0
        case "weighted":
            return config.loss_lambda, 1.0 - config.loss_lambda
