"""The losses of the thesis (Eq. 3.1, 4.1 and 4.2; sources: loss functions), all made of two means over a batch:

    policy   l_p = mean of -πᵀ log p            value     l_v = mean of (v - z)²
    sum      l_p + l_v, each with a weight      product   l_p · l_v (of the means, not the mean of products)
    weighted λ l_p + (1 - λ) l_v: λ = 1 is policy only, λ = 0 value only

A head that predicts outcomes has an l_v of its own, with z replaced by what the game ended in (sources: outcome head):

    outcome      3 · cross-entropy of the result + (amount - its target)², of the realised result's output alone
    categorical  cross-entropy of the outcome

So the gradient of each is a · ∇l_p + b · ∇l_v with numbers a and b (`Loss.mixture`), and one pass measures them all.
That is also what lets a batch be cut into parts: only a and b need to know the whole batch.
"""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from palaestra.base.errors import ConfigError
from palaestra.base.text import Grammar, Parts
from palaestra.base.user_code import call, in_words, is_code, load
from palaestra.learn.config import LOSSES, LearnConfig
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


class Loss:
    """What is minimised: `total` of two means over a batch, l_p and l_v.

    A loss of the user's own is a subclass, or a function of the two means, which then is its `total`. Means are those
    of rows, so that a batch may be cut into parts.
    """

    @classmethod
    def set_by(cls, config: LearnConfig) -> Loss:
        """The loss that a run's settings describe, for the built-in ones."""
        return cls()

    def policy(self, logits: Tensor, target: Tensor) -> Tensor:
        """l_p of logits [B, A] and the policies [B, A] of self-play; see `policy_loss`."""
        return policy_loss(logits, target)

    def value(self, head: str, answer: Tensor, target: Tensor) -> Tensor:
        """l_v of what a head of this name answered and of what `Head.targets` wants; see `head_loss`."""
        return head_loss(head, answer, target)

    def total(self, policy: Tensor, value: Tensor) -> Tensor:
        """What is minimised, of the means l_p and l_v over the whole batch."""
        raise NotImplementedError

    def mixture(self, policy: float, value: float) -> tuple[float, float]:
        """(a, b) such that a · ∇l_p + b · ∇l_v is the gradient of `total`, at l_p = policy and l_v = value."""
        means = [torch.tensor(mean, dtype=torch.float64, requires_grad=True) for mean in (policy, value)]
        with torch.enable_grad():
            found = torch.autograd.grad(self.total(*means), means, allow_unused=True)
        a, b = (0.0 if gradient is None else gradient.item() for gradient in found)
        return a, b


class Sum(Loss):
    """a · l_p + b · l_v."""

    def __init__(self, a: float, b: float) -> None:
        self.a, self.b = a, b

    @classmethod
    def set_by(cls, config: LearnConfig) -> Loss:
        return cls(config.policy_weight, config.value_weight)

    def mixture(self, policy: float, value: float) -> tuple[float, float]:
        return self.a, self.b


class Weighted(Sum):
    """λ l_p + (1 - λ) l_v."""

    @classmethod
    def set_by(cls, config: LearnConfig) -> Loss:
        return cls(config.loss_lambda, 1.0 - config.loss_lambda)


class Policy(Sum):
    """l_p alone."""

    @classmethod
    def set_by(cls, config: LearnConfig) -> Loss:
        return cls(1.0, 0.0)


class Value(Sum):
    """l_v alone."""

    @classmethod
    def set_by(cls, config: LearnConfig) -> Loss:
        return cls(0.0, 1.0)


class Product(Loss):
    """l_p · l_v."""

    def mixture(self, policy: float, value: float) -> tuple[float, float]:
        return value, policy


class OwnTotal(Loss):
    """A function of the user's own of l_p and l_v, with the arguments of its text."""

    def __init__(self, function: Callable[..., Tensor], parts: Parts) -> None:
        self.function, self.parts = function, parts

    def total(self, policy: Tensor, value: Tensor) -> Tensor:
        return self.function(policy, value, *self.parts.positional, **self.parts.keywords)


GRAMMAR = Grammar("loss", "my_losses:Huber(delta=1)", ConfigError)
WHOLE = "a loss is a palaestra.learn.losses.Loss, or a function of two tensors, the means of policy and value"


def make_loss(config: LearnConfig) -> Loss:
    """The loss that is set; ConfigError says in one line what is wrong with one of the user's own."""
    if not is_code(config.loss):
        module, _, attribute = LOSSES[config.loss].partition(":")
        kind: type[Loss] = getattr(importlib.import_module(module), attribute)
        return kind.set_by(config)
    parts = GRAMMAR.parse(config.loss)
    name = f"{parts.name}:{parts.subject}"
    made = load(name, ConfigError, "a loss of your own")
    if not (inspect.isclass(made) and issubclass(made, Loss)):
        probes = tuple(torch.tensor(mean, dtype=torch.float64, requires_grad=True) for mean in (1.5, 0.5))
        found = call(made, parts, probes, ConfigError, WHOLE)
        if not (isinstance(found, Tensor) and found.shape == () and found.requires_grad):
            raise ConfigError(f"{name} gave {found!r:.60}, not one number that follows from its tensors; {WHOLE}")
        return OwnTotal(made, parts)
    loss = call(made, parts, (), ConfigError, WHOLE)
    assert isinstance(loss, Loss)
    _check(name, loss)
    return loss


def _check(name: str, loss: Loss) -> None:
    """ConfigError unless its terms are differentiable means, whatever the head is."""
    logits = torch.linspace(-1, 1, 6).reshape(2, 3).requires_grad_()
    target = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, -1.0]])
    value = torch.tensor([0.5, -0.5], requires_grad=True)
    with in_words(name, ConfigError, "policy(logits, target) and value(head, answer, target) give means over rows"):
        terms = {"policy": loss.policy(logits, target), "value": loss.value(VALUE_HEAD, value, torch.ones(2))}
        for term, found in terms.items():
            if not (isinstance(found, Tensor) and found.shape == () and found.requires_grad and found.isfinite()):
                raise ConfigError(f"{name}.{term} gave {found!r:.60}, not the mean over the rows as one tensor")
        a, b = loss.mixture(1.5, 0.5)
    if not math.isfinite(a + b):
        raise ConfigError(f"{name}: the gradient of total at policy 1.5 and value 0.5 is {a:g} and {b:g}")
