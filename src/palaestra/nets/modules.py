"""Plans of networks as PyTorch modules: what training needs and playing does not.

A module is the steps of a plan. Its layers stand under the names they have in the plan, those of the trunk below
`trunk`, so that folding a normalisation into the layers beside it (`palaestra.nets.export`) gives the weights of the
file that plays. What the numbers of the value head mean is said by the end of the network's name
(`palaestra.nets.heads`); here heads differ only in how many numbers they give.

Nothing here reads or moves PyTorch's global random state: weights come from the seed that is given, and dropout draws
from generators that `seed_dropout` sets. This module knows no game's rules, no loss and no optimizer.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from palaestra.nets.architecture import GameFacts, Net, parse_net
from palaestra.nets.heads import VALUE_HEAD
from palaestra.nets.own import TorchNet
from palaestra.nets.plan import Layer, Plan, Step, growth

NORM_EPSILON = 1e-3
MOST_SCALE, MOST_SHIFT = 3.0, 5.0  # of a correction towards the running means (sources: renormalisation)
OUTPUT_SCALE = 0.1  # of the last layers' first weights: a new network finds all moves almost equal and all games open


class Norm(nn.Module):
    """Batch normalisation of [B, C] or [B, C, H, W] over all but C."""

    mean: Tensor
    variance: Tensor

    def __init__(self, channels: int, momentum: float, renormalised: bool = False) -> None:
        super().__init__()
        self.momentum, self.renormalised = momentum, renormalised
        self.scale = nn.Parameter(torch.ones(channels))
        self.shift = nn.Parameter(torch.zeros(channels))
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("variance", torch.ones(channels))

    def forward(self, x: Tensor) -> Tensor:
        scale, shift = self._corrected(x) if self.renormalised and self.training else (self.scale, self.shift)
        return functional.batch_norm(
            x, self.mean, self.variance, scale, shift, self.training, self.momentum, NORM_EPSILON
        )

    def _corrected(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Scale and shift with which a batch comes out as if the running means had normalised it, within limits.

        So batches of boards of several sizes, or of several games, are learned as they will be played.
        """
        with torch.no_grad():
            # Seven times as fast as torch.var_mean, which took a fifth of a step; what it normalises is not needed.
            # The running means, which a momentum of 0 leaves alone, make both numbers float32 where x is bfloat16.
            known = (self.mean, self.variance)
            _, mean, inverse = torch.native_batch_norm(x, None, None, *known, True, 0.0, NORM_EPSILON)
            running = torch.sqrt(self.variance + NORM_EPSILON)
            by = (1.0 / (inverse * running)).clamp_(1.0 / MOST_SCALE, MOST_SCALE)
            to = ((mean - self.mean) / running).clamp_(-MOST_SHIFT, MOST_SHIFT)
        return self.scale * by, self.scale * to + self.shift

    def together(self, boards: Sequence[Tensor]) -> list[Tensor]:
        """Several batches, of boards of any size, as one.

        Each by itself, they would have means of their own, and those of several games are so far apart that a network
        learned all of them badly (docs/notebook.md).
        """
        if len(boards) == 1:
            return [self(boards[0])]
        cells = [x.movedim(1, -1) for x in boards]  # channels last
        rows = [x.reshape(-1, x.shape[-1]) for x in cells]
        normalised = self(torch.cat(rows)).split([len(x) for x in rows])
        # A copy each: what follows overwrites it.
        return [y.clone().reshape(x.shape).movedim(-1, 1) for x, y in zip(cells, normalised, strict=True)]

    def affine(self) -> tuple[Tensor, Tensor]:
        """(scale, shift) float64[C] of what play does: x · scale + shift."""
        scale, shift, mean, variance = (
            tensor.detach().cpu().double() for tensor in (self.scale, self.shift, self.mean, self.variance)
        )
        scale = scale / torch.sqrt(variance + NORM_EPSILON)
        return scale, shift - mean * scale


class Unit(nn.Module):
    """A layer with its normalisation; what follows it (ReLU, sum, dropout) is another step's.

    One that is normalised after its ReLU includes that.
    """

    def __init__(self, layer: Layer, momentum: float, renormalised: bool) -> None:
        super().__init__()
        self.layer = layer
        self.weight = nn.Parameter(torch.zeros(layer.kernel))
        self.bias = nn.Parameter(torch.zeros(layer.kernel[0])) if layer.biased else None
        self.norm = None if layer.normalised == "no" else Norm(layer.kernel[0], momentum, renormalised)

    def forward(self, x: Tensor) -> Tensor:
        return self.together([x])[0]

    def together(self, boards: Sequence[Tensor]) -> list[Tensor]:
        """Of several batches, which are normalised as one."""
        made = [self._product(x) for x in boards]
        if self.norm is None:
            return made
        return self.norm.together([torch.relu_(x) for x in made] if self.layer.normalised == "after" else made)

    def _product(self, x: Tensor) -> Tensor:
        if self.weight.dim() == 4:
            return functional.conv2d(x, self.weight, self.bias, padding=self.layer.padding)
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


class Take(nn.Module):
    """Some numbers of every row."""

    def __init__(self, places: tuple[int, ...]) -> None:
        super().__init__()
        self.places = torch.tensor(places)

    def forward(self, x: Tensor) -> Tensor:
        return x.index_select(1, self.places.to(x.device))


class Trained(nn.Module, ABC):
    """planes float32[B, C, H, W] → logits [B, A] and the value [B] or outcomes [B, K], all for the player to move."""

    net: Net
    memory_format: ClassVar[torch.memory_format]  # of planes and weights in training

    def together(self, boards: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
        """The answers to several batches, which may be of boards of different sizes, learned from in one step."""
        return [self(planes) for planes in boards]

    @abstractmethod
    def hidden_kernels(self) -> Iterator[nn.Parameter]:
        """The weights of layers whose outputs are features, not yet logits or values."""


class Network(Trained):
    """The steps of a plan."""

    memory_format = torch.channels_last

    def __init__(self, net: Net, plan: Plan, dropout: float) -> None:
        super().__init__()
        self.net, self.plan, self.dtype = net, plan, torch.float32
        self.trunk, self.policy, self.value = nn.Module(), nn.Module(), nn.Module()
        self._steps = [(self._operation(step, dropout), step.sources) for step in plan.steps[1:]]

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        return self.together([planes])[0]

    def together(self, boards: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
        results = [[planes.to(self.dtype) for planes in boards]]
        for operation, sources in self._steps:
            given = [results[source] for source in sources]
            if isinstance(operation, Unit) and len(boards) > 1:
                results.append(operation.together(given[0]))
            else:
                results.append([operation(*each) for each in zip(*given, strict=True)])
        ends = zip(results[self.plan.ends["logits"]], results[self.plan.ends["answer"]], strict=True)
        if self.net.head == VALUE_HEAD:
            return [(logits.float(), torch.tanh(raw.float()).squeeze(1)) for logits, raw in ends]
        return [(logits.float(), answer.float()) for logits, answer in ends]

    def lower(self) -> None:
        """Compute in bfloat16 from now on, half as many bytes; means, variances and the answers stay float32."""
        self.dtype = torch.bfloat16
        for _, unit in self.units():
            unit.weight = nn.Parameter(unit.weight.detach().bfloat16())
            if unit.bias is not None:
                unit.bias = nn.Parameter(unit.bias.detach().bfloat16())

    def units(self) -> Iterator[tuple[str, Unit]]:
        """(name in the plan, unit) of every layer."""
        return ((module.layer.name, module) for module in self.modules() if isinstance(module, Unit))

    def hidden_kernels(self) -> Iterator[nn.Parameter]:
        return (unit.weight for _, unit in self.units() if not unit.layer.ends)

    def _operation(self, step: Step, dropout: float) -> Callable[..., Tensor]:
        if step.layer is not None:
            unit = Unit(step.layer, self.plan.momentum, self.plan.renormalised)
            self._place(step.layer.name, unit)
            return unit
        if step.operation == "dropout":
            return self._kept(Dropout(dropout))
        if step.operation == "take":
            return self._kept(Take(step.places))
        return _OPERATIONS[step.operation]

    def _kept(self, module: nn.Module) -> nn.Module:
        """A part without weights, known to the module by its number."""
        self.add_module(f"part{len(self._modules)}", module)
        return module

    def _place(self, name: str, unit: Unit) -> None:
        """Put a unit where its name says: blocks.0.conv1 below trunk, policy.conv below policy."""
        *path, last = (name if name.startswith(("policy.", "value.")) else f"trunk.{name}").split(".")
        parent: nn.Module = self
        for part in path:
            if part not in parent._modules:
                parent.add_module(part, nn.Module())
            parent = parent.get_submodule(part)
        parent.add_module(last, unit)


def _mean_cell(x: Tensor) -> Tensor:
    return x.mean(dim=(2, 3))


def _pool(x: Tensor) -> Tensor:
    mean = x.mean(dim=(2, 3))
    return torch.cat((mean, x.amax(dim=(2, 3)), mean * growth(x.shape[2], x.shape[3])), dim=1)


def _column_pool(x: Tensor) -> Tensor:
    return torch.cat((x.mean(dim=2, keepdim=True), x.amax(dim=2, keepdim=True)), dim=1)


def _join(one: Tensor, other: Tensor) -> Tensor:
    return torch.cat((one, other), dim=1)


def _difference(x: Tensor) -> Tensor:
    return x[:, :1] - x[:, 1:]


class _Flatten(torch.autograd.Function):
    """[B, C, H, W] → [B, C·H·W]; its gradient lies in memory as its input does.

    Without that, what comes before it reads one tensor along and the other across, which takes 20 times as long.
    """

    @staticmethod
    def forward(context: Any, x: Tensor) -> Tensor:
        last = x.dim() == 4 and x.is_contiguous(memory_format=torch.channels_last)
        context.lies_as, context.shape = torch.channels_last if last else torch.contiguous_format, x.shape
        return x.flatten(1)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> Tensor:
        return gradient.reshape(context.shape).contiguous(memory_format=context.lies_as)


def _flatten(x: Tensor) -> Tensor:
    flat: Tensor = _Flatten.apply(x)  # type: ignore[no-untyped-call]
    return flat


# In place where nothing else reads what is overwritten: the result of a layer, or of the sum of two.
_OPERATIONS: dict[str, Callable[..., Tensor]] = {
    "relu": torch.relu_,
    "add": Tensor.add_,
    "flatten": _flatten,
    "mean_cell": _mean_cell,
    "pool": _pool,
    "column_pool": _column_pool,
    "join": _join,
    "difference": _difference,
}


def make_module(net: str, facts: GameFacts, dropout: float, seed: int) -> Trained:
    """A new network, in the state for play; ConfigError for an unknown name or a game it does not fit.

    `dropout` is the share of each hidden dense layer that is dropped in training; a torch module of the user's own has
    its own.
    """
    kind = parse_net(net)
    if isinstance(kind, TorchNet):
        from palaestra.nets.torch_net import OwnModule

        return OwnModule(kind, facts, seed)
    module = Network(kind, kind.plan(facts), dropout)
    _initialise(module, torch.Generator().manual_seed(seed))
    return module.eval()


def _initialise(module: Network, generator: torch.Generator) -> None:
    """He's normal weights and biases 0. The second half of a block starts at 0: every block begins as the identity.

    The papers' own networks keep the first weights that their library gives (Glorot, uniform) in every layer.
    """
    with torch.no_grad():
        for _, unit in module.units():
            layer = unit.layer
            area = math.prod(layer.kernel[2:])
            fan_in, fan_out = layer.kernel[1] * area, layer.kernel[0] * area
            if module.plan.first_weights == "glorot":
                limit = math.sqrt(6.0 / (fan_in + fan_out))
                unit.weight.uniform_(-limit, limit, generator=generator)
                continue
            scale = OUTPUT_SCALE / math.sqrt(fan_in) if layer.ends else math.sqrt(2.0 / fan_in)
            unit.weight.normal_(0.0, scale, generator=generator)
            if layer.starts_at_zero and unit.norm is not None:
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
