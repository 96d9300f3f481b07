"""What every family of networks has: a name, a head, and a plan for each game."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Self

from palaestra.base.errors import ConfigError
from palaestra.nets.facts import GameFacts
from palaestra.nets.heads import VALUE_HEAD, Head, make_head
from palaestra.nets.plan import Node, Plan


class Net(ABC):
    """A network of any size that its name states: subclasses are frozen dataclasses of their sizes and the head.

    One of the user's own needs nothing but `plan`: it is written `module:attribute`, with its sizes as arguments.
    """

    pattern: ClassVar[str]  # of a name without its head; the groups are what `parse` is given
    form: ClassVar[str]  # how names are written, for people
    examples: ClassVar[tuple[str, ...]]
    any_board: ClassVar[bool] = False  # whether its weights fit boards of every size

    @property
    @abstractmethod
    def head(self) -> str:
        """What its second output is: one of the names of `palaestra.nets.heads`."""

    @classmethod
    def parse(cls, *sizes: str) -> Self:
        """The network of these sizes, as they stand in the name; ConfigError if one is out of range."""
        return cls(*map(int, sizes))

    @property
    def body(self) -> str:
        """The name without its head."""
        return type(self).__name__

    @abstractmethod
    def plan(self, facts: GameFacts) -> Plan:
        """The network for one game; ConfigError if it does not fit the game."""

    @property
    def name(self) -> str:
        return self.body if self.head == VALUE_HEAD else f"{self.body}-{self.head}"

    def head_for(self, facts: GameFacts) -> Head:
        """The second head for one game; ConfigError if the game's outcomes do not fit it."""
        return make_head(self.head, facts.space, f"{self.name} does not fit {facts.id}")


def flat_heads(net: Net, facts: GameFacts, plan: Plan, features: Node) -> Plan:
    """Both heads right after one row of features."""
    plan.logits(plan.dense("policy.out", features, facts.num_actions, ends=True))
    plan.answer(plan.dense("value.out", features, net.head_for(facts).outputs, ends=True))
    return plan


def checked_sizes(name: str, sizes: tuple[int, ...], limits: tuple[int, ...], words: str, example: str) -> None:
    """ConfigError if a size is out of range; `words` say what the sizes are."""
    if not all(1 <= size <= limit for size, limit in zip(sizes, limits, strict=True)):
        raise ConfigError(f"{name!r} is out of range: 1 to {words.format(*limits)}, for example {example}")
