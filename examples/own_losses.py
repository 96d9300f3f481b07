"""Two losses: a function of the means of policy and value; and one with a value term of its own."""

from torch.nn import functional

from palaestra.learn.losses import Loss
from palaestra.nets.heads import VALUE_HEAD


def squared(policy, value, weight=1.0):
    """The worse the values are, the more they count: `own_losses:squared(weight=0.5)`."""
    return policy + weight * value**2


class Huber(Loss):
    """Values that are far off pull no harder than others: `own_losses:Huber(delta=0.5)`."""

    def __init__(self, delta=1.0):
        self.delta = delta

    def value(self, head, answer, target):
        if head != VALUE_HEAD:  # outcome and categorical keep their cross-entropies
            return super().value(head, answer, target)
        return functional.huber_loss(answer, target, delta=self.delta)

    def total(self, policy, value):
        return policy + value
