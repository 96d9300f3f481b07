"""A larger network that plays exactly as a smaller one did: what was learned is not lost when a network grows.

The smaller network's numbers keep their places at the front of the larger one's. Kernels that make them read nothing
of what is new (zeros); kernels that make new numbers are those of a new network, so that training has something to
learn from. A new residual block adds nothing at first (sources: growing networks).
"""

from __future__ import annotations

import numpy as np

from palaestra.base.errors import ModelError
from palaestra.base.types import Int64s
from palaestra.nets.architecture import GameFacts, Net, Weights, parse_net, random_weights
from palaestra.nets.plan import Layer, Plan, Step

Kept = Int64s | None  # which channels, or which numbers of a row, hold what the smaller network had; None: none do


def grown_weights(old: str, new: str, facts: GameFacts, weights: Weights, rng: np.random.Generator) -> Weights:
    """Weights of the network `new` that compute what these ones of the network `old` do; ModelError if it cannot be."""
    net = parse_net(new)
    if type(parse_net(old)) is not type(net) or parse_net(old).head != net.head:
        raise ModelError(f"{old} cannot grow into {new}: that is another kind of network")
    return _Grower(old, net, facts, weights, rng).made


class _Grower:
    """Walks over the larger network's plan; `kept` of each step says where the smaller network's numbers are."""

    def __init__(self, old: str, net: Net, facts: GameFacts, weights: Weights, rng: np.random.Generator) -> None:
        self.failure = ModelError(f"{old} cannot grow into {net.name}: a network grows in blocks and channels")
        self.plan: Plan = net.plan(facts)
        self.given, self.made = weights, random_weights(net, facts, rng)
        self.kept: list[Kept] = []
        for step in self.plan.steps:
            self.kept.append(self._step(step))
        if strays := {name.rpartition(".")[0] for name in weights} - self.plan.layers.keys():
            raise ModelError(f"{old} cannot grow into {net.name}: that one has no {min(strays)}")

    def _step(self, step: Step) -> Kept:
        sources = [self.kept[source] for source in step.sources]
        if step.operation == "observation":
            return np.arange(step.shape[0])
        if step.layer is not None:
            return self._layer(step.layer, sources[0])
        if step.operation == "add":
            return self._sum(step)
        if any(kept is None for kept in sources):
            return None
        kept = [kept for kept in sources if kept is not None]
        shape = self.plan.steps[step.sources[0]].shape
        match step.operation:
            case "flatten":
                cells = int(np.prod(shape[1:]))
                return (kept[0][:, None] * cells + np.arange(cells)).ravel()
            case "pool" | "column_pool":
                parts = step.shape[0] // shape[0]
                return np.concatenate([part * shape[0] + kept[0] for part in range(parts)])
            case "join":
                return np.concatenate([kept[0], shape[0] + kept[1]])
            case "take" | "difference":  # of numbers that are the same in both: actions, planes
                return np.arange(step.shape[0])
        return kept[0]

    def _layer(self, layer: Layer, source: Kept) -> Kept:
        """Set a layer's weights; one that the smaller network does not have must begin by adding nothing."""
        weight, bias = f"{layer.name}.weight", f"{layer.name}.bias"
        if weight not in self.given:
            if layer.starts_at_zero:
                self.made[weight][:] = 0.0
            return None
        old = self.given[weight]
        if source is None or old.shape[1] != len(source) or old.shape[0] > layer.kernel[0]:
            raise self.failure
        self.made[weight][: len(old)] = 0.0
        self.made[weight][: len(old), source] = old
        self.made[bias][: len(old)] = self.given[bias]
        return np.arange(len(old))

    def _sum(self, step: Step) -> Kept:
        """A block's sum: of a new block, what it is added to."""
        added, kept = (self.kept[source] for source in step.sources)
        layer = self.plan.steps[step.sources[0]].layer
        if added is not None or kept is None:
            return added
        if layer is None or not layer.starts_at_zero:
            raise self.failure
        return kept
