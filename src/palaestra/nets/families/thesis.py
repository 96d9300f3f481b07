"""`thesis256`, `thesis512`: four 3×3 convolutions, two dense layers, two heads (sources: thesis network).

`thesis256-signed` reads one plane of -1, 0 and 1, one's own stones minus the other's, as the released code does.
The last two convolutions have no padding. Biases stay where the normalisation makes them idle: the published counts of
parameters include them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from palaestra.base.errors import ConfigError
from palaestra.nets.facts import GameFacts
from palaestra.nets.families.base import Net, flat_heads
from palaestra.nets.heads import VALUE_HEAD
from palaestra.nets.plan import PAPER_MOMENTUM, Plan

DEFAULT_CHANNELS = 256  # of the released code; the framework has 512
HIDDEN = (1024, 512)
LEAST_SIDE = 5  # two convolutions without padding take four cells from each side


@dataclass(frozen=True)
class ThesisNet(Net):
    pattern: ClassVar[str] = r"thesis(256|512)?(-signed)?"
    form: ClassVar[str] = "thesis256, thesis512, thesis256-signed"
    examples: ClassVar[tuple[str, ...]] = ("thesis256", "thesis512", "thesis256-signed")

    channels: int = DEFAULT_CHANNELS
    signed: bool = False
    head: str = VALUE_HEAD

    @classmethod
    def parse(cls, *sizes: str) -> ThesisNet:
        return cls(int(sizes[0] or DEFAULT_CHANNELS), bool(sizes[1]))

    @property
    def body(self) -> str:
        return f"thesis{self.channels}{'-signed' if self.signed else ''}"

    def plan(self, facts: GameFacts) -> Plan:
        planes, rows, cols = facts.observation_shape
        if self.signed and planes != 2:
            raise ConfigError(
                f"{self.name} takes the other's stones from one's own, and {facts.id} has {planes} planes, not those"
                f" two; take thesis{self.channels}, for example"
            )
        if min(rows, cols) < LEAST_SIDE:
            raise ConfigError(
                f"{self.name} does not fit the {rows}×{cols} board of {facts.id}: two of its convolutions have no"
                f" padding, so boards are at least {LEAST_SIDE}×{LEAST_SIDE}; take b3c32, for example"
            )
        plan = Plan(facts.observation_shape, momentum=PAPER_MOMENTUM, first_weights="glorot")
        x = plan.difference(plan.observation) if self.signed else plan.observation
        for name, padded in (("conv1", True), ("conv2", True), ("conv3", False), ("conv4", False)):
            x = plan.relu(plan.conv(name, x, self.channels, padded=padded, biased=True))
        x = plan.flatten(x)
        for number, width in enumerate(HIDDEN, start=1):
            x = plan.dropout(plan.relu(plan.dense(f"dense{number}", x, width, normalised="before")))
        return flat_heads(self, facts, plan, x)
