"""Networks by name, and the weights that they play with.

`b3c32` is a network of 3 residual blocks of 32 channels, `r3c32` the same for boards of every size, `thesis256`,
`thesis512` and `schmidt` are those of the works, `mlp128x2` has two dense layers of 128. What the second head says is
the end of a name: `b3c32` gives a value, `b3c32-outcome` and `b3c32-categorical` outcomes (`palaestra.nets.heads`).
What a network is made of stands in its plan (`palaestra.nets.plan`), which its family writes
(`palaestra.nets.families`).

Weights are a plain dictionary of float32 arrays. They are the weights that play: batch normalisation, which only
training knows, is folded into them. This module knows no file format and no game's rules, and imports no network
library.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np

from palaestra.base.errors import ConfigError
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import refuse_long
from palaestra.base.types import Float32s
from palaestra.base.user_code import is_code
from palaestra.nets.facts import GameFacts as GameFacts
from palaestra.nets.families.base import Net as Net
from palaestra.nets.families.boardless import BoardlessNet
from palaestra.nets.families.dense import DenseNet
from palaestra.nets.families.residual import ResidualNet
from palaestra.nets.families.schmidt import SchmidtNet
from palaestra.nets.families.thesis import ThesisNet
from palaestra.nets.heads import OUTCOME_HEADS, VALUE_HEAD
from palaestra.nets.own import TorchNet as TorchNet
from palaestra.nets.own import parse_own

Weights = dict[str, Float32s]
MOST_NAME = 100  # characters
FAMILIES: tuple[type[Net], ...] = (ResidualNet, BoardlessNet, ThesisNet, SchmidtNet, DenseNet)


def parse_net(name: str) -> Net:
    """The network with this name; ConfigError says how names are written."""
    refuse_long(name, "the name of a network", ConfigError, MOST_NAME)
    body, head = split_head(name)
    if is_code(body):
        return parse_own(body, head)
    for family in FAMILIES:
        if match := re.fullmatch(family.pattern, body, flags=re.ASCII):
            return replace(family.parse(*match.groups()), head=head)  # type: ignore[type-var]
    hint = did_you_mean(body, [example for family in FAMILIES for example in family.examples])
    raise ConfigError(
        f"unknown network {name!r}{hint}; write {', or '.join(family.form for family in FAMILIES)};"
        " -outcome or -categorical at the end names another head; your own is module:attribute"
    )


def split_head(name: str) -> tuple[str, str]:
    """A network's name without the ending that says what its second head is, and that head. No code is loaded."""
    for head in OUTCOME_HEADS:
        if name.endswith(f"-{head}"):
            return name.removesuffix(f"-{head}"), head
    return name, VALUE_HEAD


def weight_shapes(net: Net, facts: GameFacts) -> dict[str, tuple[int, ...]]:
    """Names and shapes of all weights: kernels [out, in, k, k] or [out, in], biases [out] or [out, H, W]."""
    shapes: dict[str, tuple[int, ...]] = {}
    for name, layer in net.plan(facts).layers.items():
        shapes[f"{name}.weight"] = layer.kernel
        shapes[f"{name}.bias"] = layer.bias
    return shapes


def random_weights(net: Net, facts: GameFacts, rng: np.random.Generator) -> Weights:
    """He-initialised weights, biases 0: signals keep their size through ReLU layers and through the sum of blocks."""
    weights: Weights = {}
    for name, layer in net.plan(facts).layers.items():
        scale = math.sqrt((1.0 if layer.ends else 2.0) / math.prod(layer.kernel[1:])) / math.sqrt(layer.branches)
        weights[f"{name}.weight"] = rng.standard_normal(layer.kernel, dtype=np.float32) * np.float32(scale)
        weights[f"{name}.bias"] = np.zeros(layer.bias, dtype=np.float32)
    return weights


def multiply_adds(net: Net, facts: GameFacts) -> int:
    """Multiplications (each with an addition) of one evaluation, convolutions counted as if no cell were at an edge."""
    return sum(math.prod(layer.kernel) * layer.cells for layer in net.plan(facts).layers.values())
