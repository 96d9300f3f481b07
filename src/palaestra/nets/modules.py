"""The networks of `palaestra.nets.architecture` as PyTorch modules: what training needs and playing does not.

A network is a trunk, a policy head and a value head. What the numbers of the value head mean is said by the end of the
network's name (`palaestra.nets.heads`); here heads differ only in how many numbers they give. Layers stand under the
names they have in the architecture (`trunk.` aside), so that folding a normalisation into the layer before it
(`palaestra.nets.export`) gives the weights of the file that plays.

Nothing here reads or moves PyTorch's global random state: weights come from the seed that is given, and dropout draws
from generators that `seed_dropout` sets. This module knows no game's rules, no loss and no optimizer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional

from palaestra.nets.architecture import (
    DenseNet,
    GameFacts,
    Layer,
    Net,
    ResidualNet,
    SchmidtNet,
    ThesisNet,
    parse_net,
)
from palaestra.nets.heads import VALUE_HEAD

NORM_EPSILON = 1e-3
# Share of the newest batch in running means. The thesis's networks keep 0.99 (sources: thesis network), which
# takes hundreds of steps to forget the start; ours export after some tens.
PAPER_MOMENTUM, NORM_MOMENTUM = 1.0 - 0.99, 0.1
OUTPUT_SCALE = 0.1  # of the last layers' first weights: a new network finds all moves almost equal and all games open


class Norm(nn.Module):
    """Batch normalisation of [B, C] or [B, C, H, W] over all but C."""

    mean: Tensor
    variance: Tensor

    def __init__(self, channels: int, momentum: float) -> None:
        super().__init__()
        self.momentum = momentum
        self.scale = nn.Parameter(torch.ones(channels))
        self.shift = nn.Parameter(torch.zeros(channels))
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("variance", torch.ones(channels))

    def forward(self, x: Tensor) -> Tensor:
        return functional.batch_norm(
            x, self.mean, self.variance, self.scale, self.shift, self.training, self.momentum, NORM_EPSILON
        )

    def affine(self) -> tuple[Tensor, Tensor]:
        """(scale, shift) float64[C] of what play does: x · scale + shift."""
        scale, shift, mean, variance = (
            tensor.detach().cpu().double() for tensor in (self.scale, self.shift, self.mean, self.variance)
        )
        scale = scale / torch.sqrt(variance + NORM_EPSILON)
        return scale, shift - mean * scale


class Unit(nn.Module):
    """A convolution or dense layer, normalised or not; what follows it (ReLU, sum, dropout) is the caller's.

    `plain` leaves the layer without a bias of its own, which a normalisation right after it would only take away.
    """

    def __init__(self, layer: Layer, norm: float | None, padded: bool = True, plain: bool = False) -> None:
        super().__init__()
        self.padding = layer.kernel[-1] // 2 if padded and len(layer.kernel) == 4 else 0
        self.weight = nn.Parameter(torch.zeros(layer.kernel))
        self.bias = None if plain else nn.Parameter(torch.zeros(layer.kernel[0]))
        self.norm = None if norm is None else Norm(layer.kernel[0], norm)

    def forward(self, x: Tensor) -> Tensor:
        x = self.linear(x)
        return x if self.norm is None else self.norm(x)

    def linear(self, x: Tensor) -> Tensor:
        """The layer without its normalisation."""
        if self.weight.dim() == 4:
            return functional.conv2d(x, self.weight, self.bias, padding=self.padding)
        return functional.linear(x, self.weight, self.bias)


class Dropout(nn.Module):
    """Dropout with a generator of its own, so that networks on several threads draw the same numbers every time."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share
        self.generator: torch.Generator | None = None

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.share == 0.0:
            return x
        if self.generator is None:
            raise RuntimeError("dropout in training needs seed_dropout first")
        kept = torch.empty_like(x).bernoulli_(1.0 - self.share, generator=self.generator)
        return x * kept.mul_(1.0 / (1.0 - self.share))


class Block(nn.Module):
    """x + two convolutions of x."""

    def __init__(self, conv1: Layer, conv2: Layer, norm: float) -> None:
        super().__init__()
        self.conv1, self.conv2 = Unit(conv1, norm, plain=True), Unit(conv2, norm, plain=True)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu_(self.conv2(torch.relu_(self.conv1(x))).add_(x))


class ResidualTrunk(nn.Module):
    """[B, C, H, W] to [B, channels, H, W]."""

    def __init__(self, net: ResidualNet, layers: dict[str, Layer], norm: float) -> None:
        super().__init__()
        self.stem = Unit(layers["stem"], norm, plain=True)
        names = [f"blocks.{number}" for number in range(net.blocks)]
        self.blocks = nn.ModuleList(Block(layers[f"{name}.conv1"], layers[f"{name}.conv2"], norm) for name in names)

    def forward(self, planes: Tensor) -> Tensor:
        x = torch.relu_(self.stem(planes))
        for block in self.blocks:
            x = block(x)
        return x


class CellPolicy(nn.Module):
    """Logits [B, A] of actions that are planes of cells, or some of their cells, and of a pass if there is one."""

    def __init__(self, layers: dict[str, Layer], norm: float, places: tuple[int, ...] | None) -> None:
        super().__init__()
        self.places = None if places is None else torch.tensor(places)
        self.conv = Unit(layers["policy.conv"], norm, plain=True)
        self.planes = Unit(layers["policy.planes"], None)
        if "policy.pass" in layers:
            self.add_module("pass", Unit(layers["policy.pass"], None))

    def forward(self, trunk: Tensor) -> Tensor:
        features = torch.relu_(self.conv(trunk))
        cells = self.planes(features).flatten(1)
        if self.places is not None:
            return cells.index_select(1, self.places.to(cells.device))
        for name, unit in self.named_children():
            if name == "pass":
                return torch.cat((cells, unit(features.mean(dim=(2, 3)))), dim=1)
        return cells


class DensePolicy(nn.Module):
    """Logits [B, A] of any actions from a board of features."""

    def __init__(self, layers: dict[str, Layer], norm: float) -> None:
        super().__init__()
        self.conv = Unit(layers["policy.conv"], norm, plain=True)
        self.dense = Unit(layers["policy.dense"], None)

    def forward(self, trunk: Tensor) -> Tensor:
        return self.dense(torch.relu_(self.conv(trunk)).flatten(1))


class BoardValue(nn.Module):
    """The value head's raw outputs [B, K] from a board of features."""

    def __init__(self, layers: dict[str, Layer], norm: float, dropout: float) -> None:
        super().__init__()
        self.conv = Unit(layers["value.conv"], norm, plain=True)
        self.hidden, self.out = Unit(layers["value.hidden"], None), Unit(layers["value.out"], None)
        self.dropout = Dropout(dropout)

    def forward(self, trunk: Tensor) -> Tensor:
        features = torch.relu_(self.conv(trunk)).flatten(1)
        return self.out(self.dropout(torch.relu_(self.hidden(features))))


class DenseTrunk(nn.Module):
    """[B, …] through dense layers, each normalised, with dropout after its ReLU; the convolutions of `thesis` before.

    Biases stay where the normalisation makes them idle: the published parameter counts include them.
    """

    def __init__(self, layers: dict[str, Layer], norm: float, dropout: float) -> None:
        super().__init__()
        for name, layer in layers.items():
            if name.startswith("conv"):
                self.add_module(name, Unit(layer, norm, padded=name in ("conv1", "conv2")))
            elif name.startswith("dense"):
                self.add_module(name, Unit(layer, norm))
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        for name, unit in self.named_children():
            if name.startswith("conv"):
                x = torch.relu_(unit(x))
            elif name.startswith("dense"):
                x = self.dropout(torch.relu_(unit(x.flatten(1))))
        return x


class FlatPolicy(nn.Module):
    """Logits [B, A] from features [B, F]."""

    def __init__(self, layers: dict[str, Layer]) -> None:
        super().__init__()
        self.out = Unit(layers["policy.out"], None)

    def forward(self, features: Tensor) -> Tensor:
        return self.out(features)


class FlatValue(nn.Module):
    """The value head's raw outputs [B, K] from features [B, F]."""

    def __init__(self, layers: dict[str, Layer]) -> None:
        super().__init__()
        self.out = Unit(layers["value.out"], None)

    def forward(self, features: Tensor) -> Tensor:
        return self.out(features)


class LateUnit(Unit):
    """A convolution, its ReLU, and only then the normalisation (sources: Schmidt network)."""

    def __init__(self, layer: Layer) -> None:
        super().__init__(layer, PAPER_MOMENTUM)

    def forward(self, x: Tensor) -> Tensor:
        assert self.norm is not None
        return self.norm(torch.relu_(self.linear(x)))


class SchmidtTrunk(nn.Module):
    """[B, C, H, W] to [B, 16, H, W]."""

    def __init__(self, layers: dict[str, Layer]) -> None:
        super().__init__()
        self.conv1, self.conv2, self.conv3 = (LateUnit(layers[name]) for name in ("conv1", "conv2", "conv3"))

    def forward(self, planes: Tensor) -> Tensor:
        return self.conv3(self.conv2(self.conv1(planes)))


class SchmidtPolicy(nn.Module):
    """Logits [B, A]."""

    def __init__(self, layers: dict[str, Layer]) -> None:
        super().__init__()
        self.conv, self.dense = LateUnit(layers["policy.conv"]), Unit(layers["policy.dense"], None)

    def forward(self, trunk: Tensor) -> Tensor:
        return self.dense(self.conv(trunk).flatten(1))


class SchmidtValue(nn.Module):
    """The value head's raw outputs [B, K]."""

    def __init__(self, layers: dict[str, Layer], dropout: float) -> None:
        super().__init__()
        self.hidden, self.out = Unit(layers["value.hidden"], None), Unit(layers["value.out"], None)
        self.dropout = Dropout(dropout)

    def forward(self, trunk: Tensor) -> Tensor:
        return self.out(self.dropout(torch.relu_(self.hidden(trunk.flatten(1)))))


class Network(nn.Module):
    """planes float32[B, C, H, W] → logits [B, A] and the value [B] or outcomes [B, K], all for the player to move."""

    def __init__(self, net: Net, trunk: nn.Module, policy: nn.Module, value: nn.Module) -> None:
        super().__init__()
        self.net = net
        self.trunk, self.policy, self.value = trunk, policy, value

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        features = self.trunk(planes)
        logits, raw = self.policy(features), self.value(features)
        return logits, torch.tanh(raw).squeeze(1) if self.net.head == VALUE_HEAD else raw

    def units(self) -> Iterator[tuple[str, Unit]]:
        """(name in the architecture, unit) of every layer."""
        for name, module in self.named_modules():
            if isinstance(module, Unit):
                yield name.removeprefix("trunk."), module

    def hidden_units(self) -> Iterator[Unit]:
        """The layers whose outputs are features, not yet logits or values."""
        ends = ("policy.planes", "policy.pass", "policy.dense", "policy.out", "value.out")
        return (unit for name, unit in self.units() if name not in ends)


def make_module(net: str, facts: GameFacts, dropout: float, seed: int) -> Network:
    """A new network, in the state for play; ConfigError for an unknown name or a game it does not fit.

    `dropout` is the share of each hidden dense layer that is dropped in training.
    """
    kind = parse_net(net)
    layers = kind.layers(facts)
    module = Network(kind, *_parts(kind, facts, layers, dropout))
    _initialise(module, layers, torch.Generator().manual_seed(seed))
    return module.eval()


def _parts(
    net: Net, facts: GameFacts, layers: dict[str, Layer], dropout: float
) -> tuple[nn.Module, nn.Module, nn.Module]:
    """Trunk, policy head and value head."""
    match net:
        case ResidualNet():
            cells = "policy.planes" in layers
            places, norm = facts.action_places, NORM_MOMENTUM
            policy = CellPolicy(layers, norm, places) if cells else DensePolicy(layers, norm)
            return ResidualTrunk(net, layers, norm), policy, BoardValue(layers, norm, dropout)
        case ThesisNet() | DenseNet():
            norm = PAPER_MOMENTUM if isinstance(net, ThesisNet) else NORM_MOMENTUM
            return DenseTrunk(layers, norm, dropout), FlatPolicy(layers), FlatValue(layers)
        case SchmidtNet():
            return SchmidtTrunk(layers), SchmidtPolicy(layers), SchmidtValue(layers, dropout)
    raise TypeError(f"no module for {net!r}")


def _initialise(module: Network, layers: dict[str, Layer], generator: torch.Generator) -> None:
    """He's normal weights and biases 0. The second half of a block starts at 0: every block begins as the identity.

    The papers' own networks keep the first weights that their library gives (Glorot, uniform) in every layer.
    """
    papers = isinstance(module.net, ThesisNet | SchmidtNet)
    with torch.no_grad():
        for name, unit in module.units():
            layer = layers[name]
            area = math.prod(layer.kernel[2:])
            fan_in, fan_out = layer.kernel[1] * area, layer.kernel[0] * area
            if papers:
                limit = math.sqrt(6.0 / (fan_in + fan_out))
                unit.weight.uniform_(-limit, limit, generator=generator)
                continue
            scale = math.sqrt(2.0 / fan_in) if layer.relu else OUTPUT_SCALE / math.sqrt(fan_in)
            unit.weight.normal_(0.0, scale, generator=generator)
            if name.endswith("conv2") and unit.norm is not None:
                unit.norm.scale.zero_()


def seed_dropout(module: nn.Module, seed: int, device: torch.device | str = "cpu") -> None:
    """Make all dropout of a module draw from one new generator, which lives where the module does."""
    generator = torch.Generator(device).manual_seed(seed)
    for part in module.modules():
        if isinstance(part, Dropout):
            part.generator = generator


def count_parameters(module: nn.Module) -> int:
    """Trainable numbers; running means and variances are not."""
    return sum(parameter.numel() for parameter in module.parameters())
