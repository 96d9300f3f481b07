"""What a network is made of: its name, the game facts it is shaped by, and the weights that follow from the two.

A network's weights are a plain dictionary of float32 arrays; their names and shapes are fixed here, and everything
else (building an ONNX file, drawing random weights, counting arithmetic) reads them from here. `b3c32` has 3 residual
blocks of 32 channels:

    observation ─ stem 3×3 ─ [ conv1 3×3 ─ conv2 3×3 ─ + ] × blocks ─┬─ policy head ── logits [N, A]
                                                                     └─ value head ─── value  [N]

    policy, actions are planes of cells    1×1 to `channels`, 1×1 to A / (H·W) planes; a pass: dense from the mean cell
    policy, any other actions              1×1 to 16 channels (fewer where A·H·W is large), dense to A
    value                                  1×1 to 8 channels, dense to 64, dense to 1, tanh

This module knows no file format and no game's rules, and imports no network library.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Self

import numpy as np

from palaestra.errors import ConfigError
from palaestra.games.base import Game
from palaestra.types import Float32s

Weights = dict[str, Float32s]

POLICY_CHANNELS = 16  # of the dense policy head; convolutions of up to 16 output channels cost the same
POLICY_WEIGHTS = 2**23  # most weights of the dense policy head, unless one channel needs more
VALUE_CHANNELS, VALUE_HIDDEN = 8, 64
MAX_BLOCKS, MAX_CHANNELS = 64, 1024


@dataclass(frozen=True)
class ResidualNet:
    """`bNcM`: N residual blocks of M channels, 3×3 convolutions, batch normalisation folded away."""

    blocks: int
    channels: int

    @property
    def name(self) -> str:
        return f"b{self.blocks}c{self.channels}"


def parse_net(name: str) -> ResidualNet:
    """The network with this name; ConfigError says how names are written."""
    match = re.fullmatch(r"b(\d{1,4})c(\d{1,4})", name)
    if match is None:
        raise ConfigError(f"unknown network {name!r}; write bBLOCKScCHANNELS, for example b3c32")
    blocks, channels = (int(number) for number in match.groups())
    if not 1 <= blocks <= MAX_BLOCKS or not 1 <= channels <= MAX_CHANNELS:
        raise ConfigError(
            f"{name!r} is out of range: 1 to {MAX_BLOCKS} blocks of 1 to {MAX_CHANNELS} channels, for example b3c32"
        )
    return ResidualNet(blocks, channels)


@dataclass(frozen=True)
class GameFacts:
    """All that a network has to know about a game."""

    id: str
    version: int
    observation_shape: tuple[int, int, int]
    num_actions: int

    @classmethod
    def of(cls, game: Game) -> Self:
        return cls(game.id, game.version, game.observation_shape, game.num_actions)

    @property
    def cells(self) -> int:
        return self.observation_shape[1] * self.observation_shape[2]

    @property
    def action_planes(self) -> int:
        """How many planes of cells the actions are (action = plane · cells + cell), or 0 if they are something else."""
        planes, rest = divmod(self.num_actions, self.cells)
        return planes if rest == 0 or self.has_pass else 0

    @property
    def has_pass(self) -> bool:
        """Whether one more action follows the planes of cells."""
        return self.cells > 1 and self.num_actions > self.cells and self.num_actions % self.cells == 1


def weight_shapes(net: ResidualNet, facts: GameFacts) -> dict[str, tuple[int, ...]]:
    """Names and shapes of all weights: convolutions [out, in, k, k], dense layers [out, in], biases [out]."""
    inputs, cells, channels = facts.observation_shape[0], facts.cells, net.channels
    kernels: dict[str, tuple[int, ...]] = {"stem": (channels, inputs, 3, 3)}
    for block in range(net.blocks):
        kernels[f"blocks.{block}.conv1"] = (channels, channels, 3, 3)
        kernels[f"blocks.{block}.conv2"] = (channels, channels, 3, 3)
    if facts.action_planes:
        kernels["policy.conv"] = (channels, channels, 1, 1)
        kernels["policy.planes"] = (facts.action_planes, channels, 1, 1)
        if facts.has_pass:
            kernels["policy.pass"] = (1, channels)
    else:
        narrow = max(1, min(POLICY_CHANNELS, POLICY_WEIGHTS // (facts.num_actions * cells)))
        kernels["policy.conv"] = (narrow, channels, 1, 1)
        kernels["policy.dense"] = (facts.num_actions, narrow * cells)
    kernels["value.conv"] = (VALUE_CHANNELS, channels, 1, 1)
    kernels["value.hidden"] = (VALUE_HIDDEN, VALUE_CHANNELS * cells)
    kernels["value.out"] = (1, VALUE_HIDDEN)
    shapes: dict[str, tuple[int, ...]] = {}
    for name, shape in kernels.items():
        shapes[f"{name}.weight"] = shape
        shapes[f"{name}.bias"] = shape[:1]
    return shapes


def random_weights(net: ResidualNet, facts: GameFacts, rng: np.random.Generator) -> Weights:
    """He-initialised weights, biases 0: signals keep their size through ReLU layers and through the sum of blocks."""
    linear = {"policy.planes", "policy.pass", "policy.dense", "value.out"}  # no ReLU follows, so no factor 2
    weights: Weights = {}
    for name, shape in weight_shapes(net, facts).items():
        layer, _, kind = name.rpartition(".")
        if kind == "bias":
            weights[name] = np.zeros(shape, dtype=np.float32)
            continue
        scale = math.sqrt((1.0 if layer in linear else 2.0) / math.prod(shape[1:]))
        if layer.endswith("conv2"):
            scale /= math.sqrt(net.blocks)  # each block adds its variance to the trunk's
        weights[name] = rng.standard_normal(shape, dtype=np.float32) * np.float32(scale)
    return weights


def multiply_adds(net: ResidualNet, facts: GameFacts) -> int:
    """Multiplications (each with an addition) of one evaluation, convolutions counted as if no cell were at an edge."""
    total = 0
    for shape in weight_shapes(net, facts).values():
        if len(shape) == 4:
            total += math.prod(shape) * facts.cells
        elif len(shape) == 2:
            total += math.prod(shape)
    return total
