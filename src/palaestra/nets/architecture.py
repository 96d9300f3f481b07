"""What a network is made of: its name, the game facts it is shaped by, and the layers that follow from the two.

A network's weights are a plain dictionary of float32 arrays; their names and shapes are fixed here, and everything
else (building an ONNX file, drawing random weights, counting arithmetic, training) reads them from here. They are the
weights that play: batch normalisation, which only training knows, is folded into them. `b3c32` has 3 residual
blocks of 32 channels:

    observation ─ stem 3×3 ─ [ conv1 3×3 ─ conv2 3×3 ─ + ] × blocks ─┬─ policy head ── logits [N, A]
                                                                     └─ value head ─── value  [N] or outcome [N, K]

    policy, actions are planes of cells    1×1 to `channels`, 1×1 to A / (H·W) planes; a pass: dense from the mean cell
    policy, actions are some of those      1×1 to `channels`, 1×1 to the planes, of which the actions are taken (lines)
    policy, any other actions              1×1 to 32 channels (fewer where A·H·W is large), dense to A
    value                                  1×1 to 32 channels, dense to 64, dense to 1, tanh
    value, head `outcome`, `categorical`   the same, but dense to K and no tanh

`thesis256` and `thesis512` are the four convolutions and two dense layers of the thesis, `schmidt` the three small
convolutions of Schmidt et al., and `mlp128x2` two dense layers of 128, for games without a board. What the value head
says is the end of a name: `b3c32` gives a value, `b3c32-outcome` and `b3c32-categorical` outcomes
(`palaestra.nets.heads`).

This module knows no file format and no game's rules, and imports no network library.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from palaestra.errors import ConfigError
from palaestra.games.base import Game
from palaestra.nets.heads import OUTCOME_HEADS, VALUE_HEAD, Head, make_head
from palaestra.rewards.outcomes import OutcomeSpace
from palaestra.types import Float32s

Weights = dict[str, Float32s]

POLICY_CHANNELS = 32  # of the dense policy head
POLICY_WEIGHTS = 2**23  # most weights of the dense policy head, unless one channel needs more
VALUE_CHANNELS, VALUE_HIDDEN = 32, 64  # narrower heads cost little less and learn clearly worse (docs/notebook.md)
MAX_BLOCKS, MAX_CHANNELS = 64, 1024

THESIS_CHANNELS = (256, 512)  # the author's copy and the original framework (sources: thesis network)
THESIS_HIDDEN = (1024, 512)
THESIS_LEAST_SIDE = 5  # two convolutions without padding take four cells from each side
SCHMIDT_CHANNELS, SCHMIDT_POLICY, SCHMIDT_HIDDEN = 16, 32, 64
MAX_WIDTH, MAX_LAYERS = 8192, 16

WIN_DRAW_LOSS = OutcomeSpace(tiebreak="none", max_plies=1, lowest=-1, highest=1)


@dataclass(frozen=True)
class GameFacts:
    """All that a network has to know about a game."""

    id: str
    version: int
    observation_shape: tuple[int, int, int]
    num_actions: int
    action_places: tuple[int, ...] | None = None  # plane · cells + cell of each action, if they are only some of those
    space: OutcomeSpace = WIN_DRAW_LOSS

    @classmethod
    def of(cls, game: Game) -> Self:
        space = OutcomeSpace.of(game)
        return cls(game.id, game.version, game.observation_shape, game.num_actions, game.action_places, space)

    @property
    def cells(self) -> int:
        return self.observation_shape[1] * self.observation_shape[2]

    @property
    def action_planes(self) -> int:
        """How many planes of cells the actions are (action = plane · cells + cell), or 0 if they are something else."""
        if self.action_places is not None:
            return max(self.action_places) // self.cells + 1
        planes, rest = divmod(self.num_actions, self.cells)
        return planes if rest == 0 or self.has_pass else 0

    @property
    def has_pass(self) -> bool:
        """Whether one more action follows the planes of cells."""
        if self.action_places is not None:
            return False
        return self.cells > 1 and self.num_actions > self.cells and self.num_actions % self.cells == 1


@dataclass(frozen=True)
class Layer:
    """One convolution or dense layer of a network as it plays."""

    kernel: tuple[int, ...]  # [out, in, k, k] of a convolution, [out, in] of a dense layer
    cells: int = 1  # for how many cells it is computed
    relu: bool = True  # whether a ReLU follows
    branches: int = 1  # how many such layers add their results to one sum
    bias_map: tuple[int, int] | None = None  # H×W where every cell has a bias of its own

    @property
    def bias(self) -> tuple[int, ...]:
        return (*self.kernel[:1], *(self.bias_map or ()))


class Net(Protocol):
    """A kind of network, of any size that its name states."""

    @property
    def name(self) -> str: ...

    @property
    def head(self) -> str:
        """What its second output is: one of the names of `palaestra.nets.heads`."""

    def layers(self, facts: GameFacts) -> dict[str, Layer]:
        """The layers for one game, in the order of evaluation; ConfigError if the network does not fit the game."""


@dataclass(frozen=True)
class ResidualNet:
    """`bNcM`: N residual blocks of M channels, 3×3 convolutions."""

    blocks: int
    channels: int
    head: str = VALUE_HEAD

    @property
    def name(self) -> str:
        return f"b{self.blocks}c{self.channels}{_ending(self)}"

    def layers(self, facts: GameFacts) -> dict[str, Layer]:
        inputs, cells, channels = facts.observation_shape[0], facts.cells, self.channels
        layers = {"stem": Layer((channels, inputs, 3, 3), cells)}
        for block in range(self.blocks):
            layers[f"blocks.{block}.conv1"] = Layer((channels, channels, 3, 3), cells)
            layers[f"blocks.{block}.conv2"] = Layer((channels, channels, 3, 3), cells, branches=self.blocks)
        if facts.action_planes:
            layers["policy.conv"] = Layer((channels, channels, 1, 1), cells)
            layers["policy.planes"] = Layer((facts.action_planes, channels, 1, 1), cells, relu=False)
            if facts.has_pass:
                layers["policy.pass"] = Layer((1, channels), relu=False)
        else:
            narrow = max(1, min(POLICY_CHANNELS, POLICY_WEIGHTS // (facts.num_actions * cells)))
            layers["policy.conv"] = Layer((narrow, channels, 1, 1), cells)
            layers["policy.dense"] = Layer((facts.num_actions, narrow * cells), relu=False)
        layers["value.conv"] = Layer((VALUE_CHANNELS, channels, 1, 1), cells)
        layers["value.hidden"] = Layer((VALUE_HIDDEN, VALUE_CHANNELS * cells))
        layers["value.out"] = Layer((head_of(self, facts).outputs, VALUE_HIDDEN), relu=False)
        return layers


@dataclass(frozen=True)
class ThesisNet:
    """`thesis256`, `thesis512`: four 3×3 convolutions, two without padding, two dense (sources: thesis network)."""

    channels: int
    head: str = VALUE_HEAD

    @property
    def name(self) -> str:
        return f"thesis{self.channels}{_ending(self)}"

    def layers(self, facts: GameFacts) -> dict[str, Layer]:
        inputs, rows, cols = facts.observation_shape
        if min(rows, cols) < THESIS_LEAST_SIDE:
            raise ConfigError(
                f"{self.name} does not fit the {rows}×{cols} board of {facts.id}: two of its convolutions have no"
                f" padding, so boards are at least {THESIS_LEAST_SIDE}×{THESIS_LEAST_SIDE}; take b3c32, for example"
            )
        channels, (first, second) = self.channels, THESIS_HIDDEN
        left = (rows - 4) * (cols - 4)
        return {
            "conv1": Layer((channels, inputs, 3, 3), rows * cols),
            "conv2": Layer((channels, channels, 3, 3), rows * cols),
            "conv3": Layer((channels, channels, 3, 3), (rows - 2) * (cols - 2)),
            "conv4": Layer((channels, channels, 3, 3), left),
            "dense1": Layer((first, channels * left)),
            "dense2": Layer((second, first)),
            "policy.out": Layer((facts.num_actions, second), relu=False),
            "value.out": Layer((head_of(self, facts).outputs, second), relu=False),
        }


@dataclass(frozen=True)
class SchmidtNet:
    """`schmidt`: three 3×3 convolutions, normalised after their ReLU, and two heads (sources: Schmidt network).

    A normalisation that follows the ReLU adds a constant to every cell of the board but none to the padding around
    it. Folded into the next convolution, that is a bias which differs from cell to cell.
    """

    head: str = VALUE_HEAD

    @property
    def name(self) -> str:
        return f"schmidt{_ending(self)}"

    def layers(self, facts: GameFacts) -> dict[str, Layer]:
        inputs, rows, cols = facts.observation_shape
        cells, board, channels = rows * cols, (rows, cols), SCHMIDT_CHANNELS
        return {
            "conv1": Layer((channels, inputs, 3, 3), cells),
            "conv2": Layer((channels, channels, 3, 3), cells, bias_map=board),
            "conv3": Layer((channels, channels, 3, 3), cells, bias_map=board),
            "policy.conv": Layer((SCHMIDT_POLICY, channels, 3, 3), cells, bias_map=board),
            "policy.dense": Layer((facts.num_actions, SCHMIDT_POLICY * cells), relu=False),
            "value.hidden": Layer((SCHMIDT_HIDDEN, channels * cells)),
            "value.out": Layer((head_of(self, facts).outputs, SCHMIDT_HIDDEN), relu=False),
        }


@dataclass(frozen=True)
class DenseNet:
    """`mlpWxL`: L dense layers of W, for observations that are no board."""

    width: int
    depth: int
    head: str = VALUE_HEAD

    @property
    def name(self) -> str:
        return f"mlp{self.width}x{self.depth}{_ending(self)}"

    def layers(self, facts: GameFacts) -> dict[str, Layer]:
        inputs = math.prod(facts.observation_shape)
        layers = {}
        for number in range(1, self.depth + 1):
            layers[f"dense{number}"] = Layer((self.width, inputs))
            inputs = self.width
        layers["policy.out"] = Layer((facts.num_actions, inputs), relu=False)
        layers["value.out"] = Layer((head_of(self, facts).outputs, inputs), relu=False)
        return layers


def head_of(net: Net, facts: GameFacts) -> Head:
    """The second head of a network for one game; ConfigError if the game's outcomes do not fit it."""
    return make_head(net.head, facts.space, f"{net.name} does not fit {facts.id}")


def _ending(net: Net) -> str:
    return "" if net.head == VALUE_HEAD else f"-{net.head}"


def parse_net(name: str) -> Net:
    """The network with this name; ConfigError says how names are written."""
    for head in OUTCOME_HEADS:
        if name.endswith(f"-{head}"):
            return replace(_parse_body(name, name.removesuffix(f"-{head}")), head=head)
    return _parse_body(name, name)


def _parse_body(whole: str, name: str) -> ResidualNet | ThesisNet | SchmidtNet | DenseNet:
    """The network whose name, without its head, is `name`."""
    if name == "thesis":
        return ThesisNet(THESIS_CHANNELS[0])
    if name == "schmidt":
        return SchmidtNet()
    if match := re.fullmatch(r"b(\d{1,4})c(\d{1,4})", name, flags=re.ASCII):
        return _sized(name, ResidualNet(int(match[1]), int(match[2])))
    if match := re.fullmatch(r"mlp(\d{1,5})x(\d{1,3})", name, flags=re.ASCII):
        return _sized(name, DenseNet(int(match[1]), int(match[2])))
    for channels in THESIS_CHANNELS:
        if name == f"thesis{channels}":
            return ThesisNet(channels)
    raise ConfigError(
        f"unknown network {whole!r}; write bBLOCKScCHANNELS, for example b3c32, or thesis256, thesis512, schmidt,"
        " or mlpWIDTHxLAYERS, for example mlp128x2; -outcome or -categorical at the end names another head"
    )


def _sized(name: str, net: ResidualNet | DenseNet) -> ResidualNet | DenseNet:
    """`net` as it is; ConfigError if a size is out of range."""
    if isinstance(net, ResidualNet):
        sizes, limits, words = (net.blocks, net.channels), (MAX_BLOCKS, MAX_CHANNELS), "{} blocks of 1 to {} channels"
        example = "b3c32"
    else:
        sizes, limits, words = (net.depth, net.width), (MAX_LAYERS, MAX_WIDTH), "{} layers of a width of 1 to {}"
        example = "mlp128x2"
    if not all(1 <= size <= limit for size, limit in zip(sizes, limits, strict=True)):
        raise ConfigError(f"{name!r} is out of range: 1 to {words.format(*limits)}, for example {example}")
    return net


def weight_shapes(net: Net, facts: GameFacts) -> dict[str, tuple[int, ...]]:
    """Names and shapes of all weights: kernels [out, in, k, k] or [out, in], biases [out] or [out, H, W]."""
    shapes: dict[str, tuple[int, ...]] = {}
    for name, layer in net.layers(facts).items():
        shapes[f"{name}.weight"] = layer.kernel
        shapes[f"{name}.bias"] = layer.bias
    return shapes


def random_weights(net: Net, facts: GameFacts, rng: np.random.Generator) -> Weights:
    """He-initialised weights, biases 0: signals keep their size through ReLU layers and through the sum of blocks."""
    weights: Weights = {}
    for name, layer in net.layers(facts).items():
        scale = math.sqrt((2.0 if layer.relu else 1.0) / math.prod(layer.kernel[1:])) / math.sqrt(layer.branches)
        weights[f"{name}.weight"] = rng.standard_normal(layer.kernel, dtype=np.float32) * np.float32(scale)
        weights[f"{name}.bias"] = np.zeros(layer.bias, dtype=np.float32)
    return weights


def multiply_adds(net: Net, facts: GameFacts) -> int:
    """Multiplications (each with an addition) of one evaluation, convolutions counted as if no cell were at an edge."""
    return sum(math.prod(layer.kernel) * layer.cells for layer in net.layers(facts).values())
