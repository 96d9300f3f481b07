from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from palaestra.learn.config import LearnConfig
from palaestra.learn.losses import Losses, mixture, policy_loss, value_loss

LOGITS = torch.log(torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]]))
TARGET = torch.tensor([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])


def test_the_policy_loss_is_the_mean_cross_entropy_in_nats() -> None:
    # Row 1: (ln 2 + ln 4) / 2 = 1.5 ln 2; row 2: ln 8 = 3 ln 2.
    assert policy_loss(LOGITS, TARGET).item() == pytest.approx(2.25 * math.log(2))
    shifted = LOGITS + torch.tensor([[100.0], [-100.0]])  # logits are raw: a constant in a row means nothing
    assert policy_loss(shifted, TARGET).item() == pytest.approx(2.25 * math.log(2), abs=1e-4)


def test_the_value_loss_is_the_mean_squared_error() -> None:
    assert value_loss(torch.tensor([0.5, -1.0, 0.0]), torch.tensor([1.0, 1.0, 0.0])).item() == pytest.approx(4.25 / 3)


def test_all_four_losses_follow_from_the_two_means() -> None:
    assert Losses.of(3.0, 0.5) == Losses(policy=3.0, value=0.5, sum=3.5, product=1.5)


WHOLE: list[tuple[dict[str, Any], Any]] = [
    ({"loss": "sum"}, lambda p, v: p + v),
    ({"loss": "sum", "value_weight": 0.05}, lambda p, v: p + 0.05 * v),
    ({"loss": "product"}, lambda p, v: p * v),
    ({"loss": "policy"}, lambda p, v: p),
    ({"loss": "value"}, lambda p, v: v),
    ({"loss": "weighted", "loss_lambda": 0.75}, lambda p, v: 0.75 * p + 0.25 * v),
    ({"loss": "weighted", "loss_lambda": 1.0}, lambda p, v: p),
    ({"loss": "weighted", "loss_lambda": 0.0}, lambda p, v: v),
]


@pytest.mark.parametrize("settings, whole", WHOLE)
def test_the_mixture_has_the_gradient_of_the_whole_loss(settings: dict[str, Any], whole: Any) -> None:
    logits, values = LOGITS.clone().requires_grad_(), torch.tensor([0.5, -0.25]).requires_grad_()
    policy, value = policy_loss(logits, TARGET), value_loss(values, torch.tensor([1.0, 1.0]))
    expected = torch.autograd.grad(
        whole(policy, value), (logits, values), retain_graph=True, allow_unused=True, materialize_grads=True
    )
    a, b = mixture(LearnConfig(**settings), policy.item(), value.item())
    for mine, theirs in zip(torch.autograd.grad(a * policy + b * value, (logits, values)), expected, strict=True):
        torch.testing.assert_close(mine, theirs)
