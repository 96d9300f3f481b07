"""`rNcM`: N residual blocks of M channels whose weights fit boards of every size. `r3c32` has 3 blocks of 32 channels:

observation ─ stem 3×3 ─ [ conv1 3×3 ─ conv2 3×3 ─ + ] × blocks ─┬─ policy head ── logits [N, A]
                                                                 └─ value head ─── value  [N] or outcome [N, K]

policy, actions are cells (or some)    1×1 to `channels`, 1×1 to a plane or more; a pass: dense from the mean cell
policy, actions are columns            1×1 to `channels`, mean and maximum of every column, 1×1 to one number
policy, actions lie nowhere            1×1 to `channels`, pooled over the board, dense to A
value                                  1×1 to 64 channels, pooled over the board, dense to 64, dense to the outputs

Pooled are the mean, the maximum, and the mean times how large the board is: none of them grows by itself with the
board, and the network still sees its size (sources: pooling). The game declares what actions are
(`Game.action_layout`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from palaestra.base.errors import ConfigError
from palaestra.nets.facts import GameFacts
from palaestra.nets.families.residual import VALUE_HIDDEN, ResidualNet, cell_logits
from palaestra.nets.plan import Node, Plan

VALUE_CHANNELS = 64  # twice those of bNcM: of each cell's features only three sums are left


@dataclass(frozen=True)
class BoardlessNet(ResidualNet):
    pattern: ClassVar[str] = r"r(\d{1,4})c(\d{1,4})"
    form: ClassVar[str] = "rBLOCKScCHANNELS for boards of every size, for example r3c32"
    examples: ClassVar[tuple[str, ...]] = ("r3c32",)
    letter: ClassVar[str] = "r"
    any_board: ClassVar[bool] = True

    def plan(self, facts: GameFacts) -> Plan:
        plan = Plan(facts.observation_shape, renormalised=True)
        x = self.trunk(plan)
        self._policy(plan, facts, x)
        features = plan.pool(plan.relu(plan.conv("value.conv", x, VALUE_CHANNELS, 1)))
        hidden = plan.dropout(plan.relu(plan.dense("value.hidden", features, VALUE_HIDDEN)))
        plan.answer(plan.dense("value.out", hidden, self.head_for(facts).outputs, ends=True))
        return plan

    def _policy(self, plan: Plan, facts: GameFacts, trunk: Node) -> None:
        if not facts.layout:
            raise ConfigError(
                f"{self.name} does not fit {facts.id}: its {facts.num_actions} actions are neither cells nor columns,"
                f" and a game of one's own says otherwise by action_layout; take b{self.blocks}c{self.channels}"
            )
        features = plan.relu(plan.conv("policy.conv", trunk, self.channels, 1))
        if facts.layout == "global":
            plan.logits(plan.dense("policy.out", plan.pool(features), facts.num_actions, ends=True))
        elif facts.layout == "columns":
            columns = plan.column_pool(features)
            logits = plan.conv("policy.columns", columns, 1, 1, normalised="no", biased=True, ends=True)
            plan.logits(plan.flatten(logits))
        else:
            cell_logits(plan, facts, features)
