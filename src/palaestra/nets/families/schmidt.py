"""`schmidt`: three 3×3 convolutions of 16 channels, normalised after their ReLU, two heads (sources: Schmidt network).

A normalisation that follows the ReLU adds a constant to every cell of the board but none to the padding around it.
Folded into the next convolution, that is a bias which differs from cell to cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from palaestra.nets.facts import GameFacts
from palaestra.nets.families.base import Net
from palaestra.nets.heads import VALUE_HEAD
from palaestra.nets.plan import PAPER_MOMENTUM, Node, Plan

CHANNELS, POLICY_CHANNELS, HIDDEN = 16, 32, 64


@dataclass(frozen=True)
class SchmidtNet(Net):
    pattern: ClassVar[str] = "schmidt"
    form: ClassVar[str] = "schmidt"
    examples: ClassVar[tuple[str, ...]] = ("schmidt",)

    head: str = VALUE_HEAD

    @classmethod
    def parse(cls, *sizes: str) -> SchmidtNet:
        return cls()

    @property
    def body(self) -> str:
        return "schmidt"

    def plan(self, facts: GameFacts) -> Plan:
        plan = Plan(facts.observation_shape, momentum=PAPER_MOMENTUM, first_weights="glorot")

        def late(name: str, source: Node, channels: int) -> Node:
            return plan.conv(name, source, channels, normalised="after", biased=True)

        x = plan.observation
        for name in ("conv1", "conv2", "conv3"):
            x = late(name, x, CHANNELS)
        features = plan.flatten(late("policy.conv", x, POLICY_CHANNELS))
        plan.logits(plan.dense("policy.dense", features, facts.num_actions, ends=True))
        hidden = plan.dropout(plan.relu(plan.dense("value.hidden", plan.flatten(x), HIDDEN)))
        plan.answer(plan.dense("value.out", hidden, self.head_for(facts).outputs, ends=True))
        return plan
