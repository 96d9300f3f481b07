"""`bNcM`: N residual blocks of M channels, for boards. `b3c32` has 3 blocks of 32 channels:

observation ─ stem 3×3 ─ [ conv1 3×3 ─ conv2 3×3 ─ + ] × blocks ─┬─ policy head ── logits [N, A]
                                                                 └─ value head ─── value  [N] or outcome [N, K]

policy, actions are planes of cells    1×1 to `channels`, 1×1 to A / (H·W) planes; a pass: dense from the mean cell
policy, actions are some of those      1×1 to `channels`, 1×1 to the planes, of which the actions are taken (lines)
policy, any other actions              1×1 to 32 channels (fewer where A·H·W is large), dense to A
value                                  1×1 to 32 channels, dense to 64, dense to the outputs of the head
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from palaestra.nets.facts import GameFacts
from palaestra.nets.families.base import Net, checked_sizes
from palaestra.nets.heads import VALUE_HEAD
from palaestra.nets.plan import Node, Plan

POLICY_CHANNELS = 32  # of the dense policy head
POLICY_WEIGHTS = 2**23  # most weights of the dense policy head, unless one channel needs more
VALUE_CHANNELS, VALUE_HIDDEN = 32, 64  # narrower heads cost little less and learn clearly worse (docs/notebook.md)
MAX_BLOCKS, MAX_CHANNELS = 64, 1024


@dataclass(frozen=True)
class ResidualNet(Net):
    pattern: ClassVar[str] = r"b(\d{1,4})c(\d{1,4})"
    form: ClassVar[str] = "bBLOCKScCHANNELS, for example b3c32"
    examples: ClassVar[tuple[str, ...]] = ("b3c32",)
    letter: ClassVar[str] = "b"

    blocks: int = 3
    channels: int = 32
    head: str = VALUE_HEAD

    @classmethod
    def parse(cls, *sizes: str) -> Self:
        net = cls(int(sizes[0]), int(sizes[1]))
        limits = (MAX_BLOCKS, MAX_CHANNELS)
        checked_sizes(net.body, (net.blocks, net.channels), limits, "{} blocks of 1 to {} channels", cls.examples[0])
        return net

    @property
    def body(self) -> str:
        return f"{self.letter}{self.blocks}c{self.channels}"

    def plan(self, facts: GameFacts) -> Plan:
        plan = Plan(facts.observation_shape)
        x = self.trunk(plan)
        self._policy(plan, facts, x)
        features = plan.flatten(plan.relu(plan.conv("value.conv", x, VALUE_CHANNELS, 1)))
        hidden = plan.dropout(plan.relu(plan.dense("value.hidden", features, VALUE_HIDDEN)))
        plan.answer(plan.dense("value.out", hidden, self.head_for(facts).outputs, ends=True))
        return plan

    def trunk(self, plan: Plan) -> Node:
        """The features of every cell."""
        x = plan.relu(plan.conv("stem", plan.observation, self.channels))
        for block in range(self.blocks):
            inner = plan.relu(plan.conv(f"blocks.{block}.conv1", x, self.channels))
            added = plan.conv(f"blocks.{block}.conv2", inner, self.channels, branches=self.blocks, starts_at_zero=True)
            x = plan.relu(plan.add(added, x))
        return x

    def _policy(self, plan: Plan, facts: GameFacts, trunk: Node) -> None:
        if not facts.action_planes:
            narrow = max(1, min(POLICY_CHANNELS, POLICY_WEIGHTS // (facts.num_actions * facts.cells)))
            features = plan.relu(plan.conv("policy.conv", trunk, narrow, 1))
            plan.logits(plan.dense("policy.dense", plan.flatten(features), facts.num_actions, ends=True))
            return
        cell_logits(plan, facts, plan.relu(plan.conv("policy.conv", trunk, self.channels, 1)))


def cell_logits(plan: Plan, facts: GameFacts, features: Node) -> None:
    """Logits of actions that are cells, or some of them, from the features of every cell; a pass from their mean."""
    planes = plan.conv("policy.planes", features, facts.action_planes, 1, normalised="no", biased=True, ends=True)
    if facts.action_places is not None:
        plan.logits(plan.take(plan.flatten(planes), facts.action_places))
    elif facts.has_pass:
        mean = plan.mean_cell(features)
        cells = plan.flatten(planes)
        plan.logits(plan.join(cells, plan.dense("policy.pass", mean, 1, ends=True)))
    else:
        plan.logits(plan.flatten(planes))
