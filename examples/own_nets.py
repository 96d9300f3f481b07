"""Two networks: one as a plan, one as a torch module."""

from dataclasses import dataclass

import torch
from torch import nn

from palaestra.nets.families.base import Net, flat_heads
from palaestra.nets.heads import VALUE_HEAD
from palaestra.nets.plan import Plan


@dataclass(frozen=True)
class Wide(Net):
    """One layer that sees size × size cells: `own_nets:Wide(channels=16, size=5)`."""

    channels: int = 16
    size: int = 5
    head: str = VALUE_HEAD

    def plan(self, facts):
        plan = Plan(facts.observation_shape)
        x = plan.relu(plan.conv("stem", plan.observation, self.channels, self.size))
        return flat_heads(self, facts, plan, plan.flatten(x))


class Attention(nn.Module):
    """Every cell looks at every other: `own_nets:Attention(width=16)`."""

    def __init__(self, facts, outputs, width=16):
        super().__init__()
        planes, rows, cols = facts.observation_shape
        self.stem = nn.Conv2d(planes, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.look = nn.MultiheadAttention(width, 2, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.policy = nn.Linear(width * rows * cols, facts.num_actions)
        self.answer = nn.Linear(width * rows * cols, outputs)

    def forward(self, observation):  # [B, C, H, W]
        x = torch.relu(self.norm(self.stem(observation))).flatten(2).transpose(1, 2)
        x = self.drop(x + self.look(x, x, x, need_weights=False)[0]).flatten(1)
        return self.policy(x), self.answer(x)  # [B, A] and [B, outputs], both raw
