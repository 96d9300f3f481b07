"""A network as a list of steps: the one description from which everything else about it follows.

A family of networks (`palaestra.nets.families`) writes its plan once, for one game:

    x = plan.relu(plan.conv("stem", plan.observation, 32))
    plan.logits(plan.dense("policy.out", plan.flatten(x), facts.num_actions, ends=True))

and the rest reads it: names and shapes of weights (`architecture`), the ONNX file that plays (`graph`), the PyTorch
module that is trained (`modules`) and how the second becomes the first (`export`). Layers whose names begin with
`policy.` or `value.` are heads, all others the trunk.

This module knows no game's rules, no file format and no network library.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Operation = Literal[
    "observation",
    "layer",
    "relu",
    "add",
    "flatten",
    "mean_cell",
    "pool",
    "column_pool",
    "take",
    "join",
    "dropout",
    "difference",
]
Normalised = Literal["no", "before", "after"]  # whether, and before or after the ReLU
Node = int  # the number of a step, which stands for its result

# Share of the newest batch in the running means. The papers' networks keep 0.99 of the old ones
# (sources: thesis network), which takes hundreds of steps to forget the start; ours export after some tens.
PAPER_MOMENTUM, NORM_MOMENTUM = 1.0 - 0.99, 0.1
POOLS, COLUMN_POOLS = 3, 2  # numbers that pooling makes of a channel
USUAL_SIDE = 8  # of a board: there the mean that grows with the side is 0


@dataclass(frozen=True)
class Layer:
    """One convolution or dense layer."""

    name: str
    kernel: tuple[int, ...]  # [out, in, k, k] of a convolution, [out, in] of a dense layer
    cells: int = 1  # for how many cells it is computed
    padding: int = 0
    ends: bool = False  # whether its outputs are logits or values; otherwise a ReLU follows
    normalised: Normalised = "no"
    biased: bool = True  # a normalisation right after a layer would only take its bias away
    branches: int = 1  # how many such layers add their results to one sum
    starts_at_zero: bool = False  # whether the normalisation first lets nothing through
    bias_map: tuple[int, int] | None = None  # in play: H×W where every cell has a bias of its own

    @property
    def bias(self) -> tuple[int, ...]:
        """The shape of the bias in play."""
        return (*self.kernel[:1], *(self.bias_map or ()))


@dataclass(frozen=True)
class Step:
    """One operation on the results of earlier steps. A layer that is normalised "after" includes its ReLU."""

    operation: Operation
    sources: tuple[Node, ...]
    shape: tuple[int, ...]  # of one row of the result
    layer: Layer | None = None
    places: tuple[int, ...] = ()  # of take: which numbers of a row


def growth(rows: int, cols: int) -> float:
    """How much larger than usual a board is, as a share of the usual side (sources: pooling)."""
    return math.sqrt(rows * cols) / USUAL_SIDE - 1.0


class Plan:
    """The steps of one network for one game, in the order of evaluation."""

    def __init__(
        self,
        observation: tuple[int, int, int],
        *,
        momentum: float = NORM_MOMENTUM,
        first_weights: Literal["he", "glorot"] = "he",
        renormalised: bool = False,
    ) -> None:
        self.momentum, self.first_weights = momentum, first_weights
        self.renormalised = (
            renormalised  # training normalises by running means, as play does (sources: renormalisation)
        )
        self.steps = [Step("observation", (), observation)]
        self.observation: Node = 0
        self.ends: dict[Literal["logits", "answer"], Node] = {}

    # What a family uses.

    def conv(
        self,
        name: str,
        source: Node,
        channels: int,
        size: int = 3,
        *,
        padded: bool = True,
        normalised: Normalised = "before",
        biased: bool = False,
        ends: bool = False,
        branches: int = 1,
        starts_at_zero: bool = False,
    ) -> Node:
        """A convolution; padded, it keeps the board's size."""
        inputs, rows, cols = self.steps[source].shape
        lost = 0 if padded else size - 1
        rows, cols = rows - lost, cols - lost
        layer = Layer(
            name,
            (channels, inputs, size, size),
            rows * cols,
            size // 2 if padded else 0,
            ends,
            normalised,
            biased,
            branches,
            starts_at_zero,
            None if self.late_source(source) is None else (rows, cols),
        )
        return self._add(Step("layer", (source,), (channels, rows, cols), layer))

    def dense(self, name: str, source: Node, width: int, *, normalised: Normalised = "no", ends: bool = False) -> Node:
        """A dense layer with a bias, from rows of numbers."""
        (inputs,) = self.steps[source].shape
        layer = Layer(name, (width, inputs), ends=ends, normalised=normalised)
        return self._add(Step("layer", (source,), (width,), layer))

    def relu(self, source: Node) -> Node:
        return self._like("relu", source)

    def add(self, one: Node, other: Node) -> Node:
        return self._like("add", one, other)

    def dropout(self, source: Node) -> Node:
        """Drops a share of the numbers in training, nothing in play."""
        return self._like("dropout", source)

    def flatten(self, source: Node) -> Node:
        return self._add(Step("flatten", (source,), (math.prod(self.steps[source].shape),)))

    def mean_cell(self, source: Node) -> Node:
        """The mean over the board of each channel."""
        return self._add(Step("mean_cell", (source,), self.steps[source].shape[:1]))

    def pool(self, source: Node) -> Node:
        """Of each channel the mean over the board, the largest number, and the mean times `growth` of the board."""
        return self._add(Step("pool", (source,), (POOLS * self.steps[source].shape[0],)))

    def column_pool(self, source: Node) -> Node:
        """Of each channel the mean and the largest number of every column, as a board of one row."""
        channels, _, cols = self.steps[source].shape
        return self._add(Step("column_pool", (source,), (COLUMN_POOLS * channels, 1, cols)))

    def difference(self, source: Node) -> Node:
        """The first of two planes minus the second, as one plane."""
        _, rows, cols = self.steps[source].shape
        return self._add(Step("difference", (source,), (1, rows, cols)))

    def take(self, source: Node, places: Sequence[int]) -> Node:
        """Some numbers of a row."""
        return self._add(Step("take", (source,), (len(places),), places=tuple(places)))

    def join(self, one: Node, other: Node) -> Node:
        """One row after the other."""
        (first,), (second,) = self.steps[one].shape, self.steps[other].shape
        return self._add(Step("join", (one, other), (first + second,)))

    def logits(self, source: Node) -> None:
        """This is what the network says about moves."""
        self.ends["logits"] = source

    def answer(self, source: Node) -> None:
        """This is what the network says about the outcome: raw outputs of its second head."""
        self.ends["answer"] = source

    # What reads it.

    @property
    def layers(self) -> dict[str, Layer]:
        """By name, in the order of evaluation."""
        return {step.layer.name: step.layer for step in self.steps if step.layer is not None}

    def late_source(self, node: Node) -> Layer | None:
        """The layer whose result this is, possibly in another shape, if it is normalised after its ReLU."""
        step = self.steps[node]
        while step.operation == "flatten":
            step = self.steps[step.sources[0]]
        return step.layer if step.layer is not None and step.layer.normalised == "after" else None

    def _like(self, operation: Operation, *sources: Node) -> Node:
        return self._add(Step(operation, sources, self.steps[sources[0]].shape))

    def _add(self, step: Step) -> Node:
        self.steps.append(step)
        return len(self.steps) - 1
