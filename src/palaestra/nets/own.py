"""Networks of the user's own, `module:attribute(arguments)`, if wanted with the ending of a head: `my:Tiny-outcome`.

The attribute is either a family as the built-in ones are (`families.base.Net`), made with the arguments of the text, or
a class or function that gives a torch module (`torch_net`). This module imports no network library.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from palaestra.base.errors import ConfigError
from palaestra.base.text import Grammar, Parts
from palaestra.base.user_code import call, in_words, load
from palaestra.nets.facts import GameFacts
from palaestra.nets.families.base import Net
from palaestra.nets.heads import VALUE_HEAD
from palaestra.nets.plan import Plan

GRAMMAR = Grammar("network", "my_nets:Tiny(width=16)", ConfigError)


@dataclass(frozen=True)
class OwnNet(Net):
    """A family of the user's own, of the sizes in its text."""

    parts: Parts
    inner: Net
    head: str = VALUE_HEAD

    @property
    def body(self) -> str:
        return str(self.parts)

    def plan(self, facts: GameFacts) -> Plan:
        """Its plan, in which both ends have the right shapes."""
        expected = f"plan(facts) gives a Plan with logits [{facts.num_actions}] and an answer"
        with in_words(self.body, ConfigError, expected):
            plan = self.inner.plan(facts)
        if not isinstance(plan, Plan):
            raise ConfigError(f"{self.body}: plan gave {type(plan).__name__}, not a palaestra.nets.plan.Plan")
        wanted = {"logits": (facts.num_actions,), "answer": (self.head_for(facts).outputs,)}
        for end, shape in wanted.items():
            found = plan.steps[plan.ends[end]].shape if end in plan.ends else None
            if found != shape:
                raise ConfigError(
                    f"{self.name} for {facts.id}: its plan has {end} of the shape {found and list(found)}, not"
                    f" {list(shape)}"
                )
        return plan


@dataclass(frozen=True)
class TorchNet(Net):
    """A torch module of the user's own, which `torch_net.OwnModule` makes for a game: it has no plan."""

    parts: Parts
    made: Any  # the class or function
    head: str = VALUE_HEAD

    @property
    def body(self) -> str:
        return str(self.parts)

    def plan(self, facts: GameFacts) -> Plan:
        raise ConfigError(f"{self.name} is a torch module: what is in it is not known in advance")


def parse_own(body: str, head: str) -> Net:
    """The network that a text names, without its head; ConfigError if it is none, or not to be imported."""
    parts = GRAMMAR.parse(body)
    name = f"{parts.name}:{parts.subject}"
    made = load(name, ConfigError, "a network of your own")
    if not (inspect.isclass(made) and issubclass(made, Net)):
        if not callable(made):
            raise ConfigError(f"{name} is {type(made).__name__}; expected: a Net, or what gives a torch.nn.Module")
        return TorchNet(parts, made, head)
    expected = f"{name}(…, head=…) gives a palaestra.nets.families.base.Net"
    given = Parts(parts.name, parts.subject, parts.positional, {**parts.keywords, "head": head})
    return OwnNet(parts, call(made, given, (), ConfigError, expected), head)
