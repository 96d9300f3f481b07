"""`mlpWxL`: L dense layers of W, for observations that are no board."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from palaestra.nets.facts import GameFacts
from palaestra.nets.families.base import Net, checked_sizes, flat_heads
from palaestra.nets.heads import VALUE_HEAD
from palaestra.nets.plan import Plan

MAX_WIDTH, MAX_LAYERS = 8192, 16


@dataclass(frozen=True)
class DenseNet(Net):
    pattern: ClassVar[str] = r"mlp(\d{1,5})x(\d{1,3})"
    form: ClassVar[str] = "mlpWIDTHxLAYERS, for example mlp128x2"
    examples: ClassVar[tuple[str, ...]] = ("mlp128x2",)

    width: int = 128
    depth: int = 2
    head: str = VALUE_HEAD

    @classmethod
    def parse(cls, *sizes: str) -> DenseNet:
        net = cls(int(sizes[0]), int(sizes[1]))
        limits = (MAX_LAYERS, MAX_WIDTH)
        checked_sizes(net.body, (net.depth, net.width), limits, "{} layers of a width of 1 to {}", "mlp128x2")
        return net

    @property
    def body(self) -> str:
        return f"mlp{self.width}x{self.depth}"

    def plan(self, facts: GameFacts) -> Plan:
        plan = Plan(facts.observation_shape)
        x = plan.flatten(plan.observation)
        for number in range(1, self.depth + 1):
            x = plan.dropout(plan.relu(plan.dense(f"dense{number}", x, self.width, normalised="before")))
        return flat_heads(self, facts, plan, x)
