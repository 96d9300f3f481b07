from __future__ import annotations

import math
import re
from typing import Any

import pytest
import torch

from palaestra.base.errors import ConfigError
from palaestra.learn.config import LearnConfig
from palaestra.learn.learner import Losses
from palaestra.learn.losses import categorical_loss, head_loss, make_loss, outcome_loss, policy_loss, value_loss
from tests.conftest import OwnFile

LOGITS = torch.log(torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]]))
TARGET = torch.tensor([[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]])


def test_the_policy_loss_is_the_mean_cross_entropy_in_nats() -> None:
    # Row 1: (ln 2 + ln 4) / 2 = 1.5 ln 2; row 2: ln 8 = 3 ln 2.
    assert policy_loss(LOGITS, TARGET).item() == pytest.approx(2.25 * math.log(2))
    shifted = LOGITS + torch.tensor([[100.0], [-100.0]])  # logits are raw: a constant in a row means nothing
    assert policy_loss(shifted, TARGET).item() == pytest.approx(2.25 * math.log(2), abs=1e-4)


def test_the_policy_loss_compares_no_action_whose_target_is_negative() -> None:
    logits = LOGITS.clone().requires_grad_()
    target = torch.tensor([[0.5, 0.5, -1.0], [0.0, 1.0, -1.0]])
    # Row 1: of (2/3, 1/3), (ln 3/2 + ln 3) / 2; row 2: of (1/2, 1/2), ln 2.
    loss = policy_loss(logits, target)
    assert loss.item() == pytest.approx(((math.log(1.5) + math.log(3)) / 2 + math.log(2)) / 2)
    loss.backward()
    assert logits.grad is not None and logits.grad[:, 2].tolist() == [0.0, 0.0] and logits.grad[0, 0] != 0
    assert policy_loss(LOGITS, torch.tensor([[0.0, 0.0, -1.0]] * 2)).item() == 0.0  # a position without a target


def test_the_value_loss_is_the_mean_squared_error() -> None:
    assert value_loss(torch.tensor([0.5, -1.0, 0.0]), torch.tensor([1.0, 1.0, 0.0])).item() == pytest.approx(4.25 / 3)


# Rows: won with 6 to go, drawn, lost with 20 to go; for the player to move.
TARGETS = torch.tensor([[0.0, 0.6], [1.0, 0.0], [2.0, 2.0]])
RAW = torch.tensor([[2.0, 0.0, -1.0, 0.5, 9.0], [0.0, 1.0, 0.5, 7.0, -7.0], [0.0, 0.0, 0.0, 9.0, 1.0]])


def test_the_outcome_loss_is_three_cross_entropies_and_the_squared_error_of_what_came_true() -> None:
    entropies = [
        math.log(sum(math.exp(logit) for logit in row[:3])) - row[result]
        for row, result in zip(RAW.tolist(), (0, 1, 2), strict=True)
    ]
    squares = [(0.5 - 0.6) ** 2, 0.0, (1.0 - 2.0) ** 2]  # of a draw nothing is measured
    assert outcome_loss(RAW, TARGETS).item() == pytest.approx(sum(entropies) + sum(squares) / 3, rel=1e-5)
    assert outcome_loss(RAW[:, :3], TARGETS).item() == pytest.approx(sum(entropies), rel=1e-5)


def test_gradients_reach_only_the_amount_of_the_realised_result_and_none_in_a_draw() -> None:
    raw = RAW.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(outcome_loss(raw, TARGETS), raw)
    assert (gradient[:, 3:] != 0).tolist() == [[True, False], [False, False], [False, True]]
    assert gradient[0, 3].item() == pytest.approx(2 * (0.5 - 0.6) / 3) and (gradient[:, :3] != 0).all()


def test_a_batch_cut_into_parts_has_the_mean_of_their_outcome_losses() -> None:
    parts = [outcome_loss(RAW[rows], TARGETS[rows]).item() * len(RAW[rows]) / 3 for rows in (slice(0, 2), slice(2, 3))]
    assert sum(parts) == pytest.approx(outcome_loss(RAW, TARGETS).item(), rel=1e-6)


def test_the_categorical_loss_is_the_cross_entropy_of_the_outcome() -> None:
    target = torch.tensor([2.0, 0.0])
    assert categorical_loss(LOGITS, target).item() == pytest.approx(2.5 * math.log(2))  # (ln 4 + ln 8) / 2


def test_each_head_has_its_own_loss() -> None:
    assert head_loss("outcome", RAW, TARGETS) == outcome_loss(RAW, TARGETS)
    assert head_loss("categorical", LOGITS, torch.tensor([2.0, 0.0])) == categorical_loss(LOGITS, torch.tensor([2, 0]))
    value, target = torch.tensor([0.5, -1.0]), torch.tensor([1.0, 1.0])
    assert head_loss("value", value, target) == value_loss(value, target)


@pytest.mark.parametrize("size", [1e4, 3e38])
def test_losses_of_extreme_logits_are_no_nan(size: float) -> None:
    raw = torch.tensor([[size, -size, 0.0, 0.5, 0.5], [-size, size, size, 0.5, 0.5], [0.0, 0.0, size, 0.5, 0.5]])
    assert not torch.isnan(outcome_loss(raw, TARGETS)) and not torch.isnan(categorical_loss(raw, TARGETS[:, 0]))


def test_all_four_losses_follow_from_the_two_means() -> None:
    assert Losses.of(3.0, 0.5) == Losses(policy=3.0, value=0.5, sum=3.5, product=1.5)


WHOLE: list[tuple[dict[str, Any], Any]] = [
    ({"loss": "sum"}, lambda p, v: p + v),
    ({"loss": "sum", "value_weight": 0.05}, lambda p, v: p + 0.05 * v),
    ({"loss": "sum", "policy_weight": 20.0, "value_weight": 0.5}, lambda p, v: 20 * p + 0.5 * v),
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
    a, b = make_loss(LearnConfig(**settings)).mixture(policy.item(), value.item())
    for mine, theirs in zip(torch.autograd.grad(a * policy + b * value, (logits, values)), expected, strict=True):
        torch.testing.assert_close(mine, theirs)


OWN = """
import torch
from palaestra.learn.losses import Loss

def cubed(policy, value, weight=1.0): return policy + weight * value**3
def detached(policy, value): return 1.0
class Half(Loss):
    def policy(self, logits, target): return 0.5 * super().policy(logits, target)
    def total(self, policy, value): return policy * value
class Rows(Half):
    def value(self, head, answer, target): return (answer - target) ** 2
"""


def test_a_function_of_ones_own_is_minimised_by_its_derivatives(own_file: OwnFile) -> None:
    own_file("own_losses", OWN)
    loss = make_loss(LearnConfig(loss="own_losses:cubed(weight=2)"))
    assert loss.mixture(1.0, 0.5) == pytest.approx((1.0, 2 * 3 * 0.25))
    torch.testing.assert_close(loss.policy(LOGITS, TARGET), policy_loss(LOGITS, TARGET))


def test_a_class_of_ones_own_may_replace_a_term(own_file: OwnFile) -> None:
    own_file("own_losses", OWN)
    loss = make_loss(LearnConfig(loss="own_losses:Half"))
    torch.testing.assert_close(loss.policy(LOGITS, TARGET), 0.5 * policy_loss(LOGITS, TARGET))
    assert loss.mixture(3.0, 0.5) == (0.5, 3.0)


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ("own_losses:detached", "own_losses:detached gave 1.0, not one number that follows from its tensors"),
        ("own_losses:Rows", "own_losses:Rows.value gave tensor"),
        ("own_losses:cubed(wait=2)", "does not fit own_losses:cubed"),
        ("own_losses:torch", "own_losses:torch is module; expected: a loss is a palaestra.learn.losses.Loss"),
    ],
)
def test_a_loss_that_is_none_is_told_in_one_line(own_file: OwnFile, loss: str, words: str) -> None:
    own_file("own_losses", OWN)
    with pytest.raises(ConfigError, match=re.escape(words)):
        make_loss(LearnConfig(loss=loss))
