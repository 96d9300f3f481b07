"""Training: batches in, better weights out. It knows the network and the losses, not where batches come from.

On the CPU a batch is cut into one part for each thread. Every part goes forward and backward on its own copy of the
network, whose weights are the same memory, and the gradients are added in order: PyTorch's own threads meet after
every layer, and as soon as something else keeps a core busy they wait for each other most of the time (b3c32 on two
cores that others used too: 200 to 2,000 samples/s, with parts 3,000 to 5,000; undisturbed both give 9,400). Each part
normalises by its own mean and variance; the running ones are averaged over the parts. Results are repeatable bit for
bit for one number of threads, and all that training continues from is in `state`.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import Parameter

from palaestra.base.errors import ConfigError, ModelError
from palaestra.base.memory import keep_freed_memory
from palaestra.base.progress import ProgressListener
from palaestra.base.types import Array, Arrays, Float32s
from palaestra.games.base import Game
from palaestra.learn.config import RunConfig
from palaestra.learn.course import make_course
from palaestra.learn.learner import Batch, Batches, Losses, MixedBatch, TrainReport
from palaestra.learn.losses import Loss, make_loss
from palaestra.learn.optimizers import learning_rate, make_optimizer, new_moments
from palaestra.learn.precision import takes_bfloat16
from palaestra.nets.adopt import adopt
from palaestra.nets.architecture import Weights
from palaestra.nets.export import export_onnx
from palaestra.nets.heads import VALUE_HEAD
from palaestra.nets.modules import Network, Trained, make_module, seed_dropout
from palaestra.nets.torch_net import OwnModule

PART = 32  # fewest positions of a part: smaller ones are normalised badly and gain no time
SNAPSHOT = 100  # steps between the weights to go back to when a loss is not finite

Pools = list[ThreadPoolExecutor]
Rows = tuple[Tensor, Tensor, Tensor]  # planes, policy, the head's target
T = TypeVar("T")


class Trainer:
    """The network in training, its optimizer, and the averaged weights that play."""

    def __init__(self, game: Game, config: RunConfig) -> None:
        if config.learn.batch < 2:
            raise ConfigError("learn.batch is 1: batch normalisation needs at least 2 positions, for example 64")
        course = make_course(config, game)
        self.config, self.learn, self.facts = config, config.learn, course.facts(course.own)
        self.device, self.loss = find_device(config.device), make_loss(config.learn)
        dropout = 0.0 if config.defects.idle_dropout else self.learn.dropout
        self.module = make_module(config.net, self.facts, dropout, config.seed)
        self.heads = [self.module.net.head_for(course.facts(number)) for number in range(len(course.games))]
        if self.heads[0].name != VALUE_HEAD and config.selfplay.value_target != "z":
            raise ConfigError(
                f"selfplay.value_target is {config.selfplay.value_target}: {config.net} learns what games ended in and"
                " would not read it; set selfplay.value_target=z, or take a network without a head of outcomes"
            )
        self.module.to(self.device, memory_format=self.module.memory_format)  # type: ignore[call-overload]
        parts = min(config.threads, max(1, self.learn.batch // PART))
        self.copies = self._share(parts if self.device.type == "cpu" else 1)
        self.averaged = copy.deepcopy(self.module) if self.learn.average else None
        self.optimizer = make_optimizer(self.module, self.learn, fused=self.device.type != "mps")
        # Modules search themselves for parameters at every question, which takes as long as a small network's step.
        self.weights = list(self.module.parameters())
        self.parameters = [list(module.parameters()) for module in self.copies]
        pairs = [pair for pair in zip(self.parameters[0], self.weights, strict=True) if pair[0].dtype != pair[1].dtype]
        self.lowered, self.exact = [low.data for low, _ in pairs], [exact.data for _, exact in pairs]
        self.buffers = [_numbers(module) for module in self.copies]
        self.tensors = _tensors(self.module)
        self.averages = [] if self.averaged is None else _tensors(self.averaged)
        self.steps = 0  # since the run began
        if isinstance(self.module, OwnModule):
            self.onnx()  # what cannot be played is refused before a run leaves anything behind

    def train(
        self, batches: Batches, steps: int, progress: float, listen: ProgressListener | None = None
    ) -> TrainReport:
        """Make `steps` updates at a point of the run between 0 and 1, which decides the learning rate.

        A loss or gradient that is not finite ends the call, and everything goes back to the last good weights.
        """
        began, lr = time.perf_counter(), learning_rate(self.learn, progress)
        keep_freed_memory()
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self._seed_dropout()
        measured: list[tuple[float, float]] = []
        first, samples, stopped = self.steps, 0, None
        good = self.state()
        with one_thread_each(len(self.copies)) as pools:
            for step in range(steps):
                batch = next(batches)
                latest = self.state() if step and step % SNAPSHOT == 0 else good
                losses = self._gradients(batch, pools)
                if losses is None:
                    stopped = f"a loss or gradient was not finite at step {step + 1} of {steps}"
                    break
                good = latest  # its weights have just given finite losses and gradients
                self._update()
                measured.append(losses)
                samples += len(batch)
                if listen is not None:
                    listen(step + 1, steps)
        if stopped is None and not self._finite():
            stopped = f"a weight was not finite after step {steps} of {steps}"
        if stopped is not None:
            self.load_state(good)
            stopped += f"; the weights went back to those of step {self.steps - first}"
        epoch = steps if self.learn.epochs is None else math.ceil(steps / self.learn.epochs)
        means = _by_epoch(measured, max(epoch, 1))
        return TrainReport(means, self.steps - first, samples, time.perf_counter() - began, lr, stopped)

    def onnx(self) -> bytes:
        """The network that plays: the averaged weights if there are any."""
        return export_onnx(self.averaged or self.module, self.facts)

    def adopt(self, weights: Weights, planes: Float32s, steps: int = 0) -> None:
        """Start from the weights of a network that plays; `planes` are observations of some positions of the game.

        `steps` is how many it has behind it in this run: averages of old weights forget slowly.
        """
        self.steps = steps
        adopt(self.module, self.facts, weights, planes)
        if self.averaged is not None:
            self.averaged.load_state_dict(self.module.state_dict())
        self._refresh_copies()

    # The state.

    def state(self) -> Arrays:
        """Copies of everything that training continues from."""
        arrays: dict[str, Array] = {"steps": np.array(self.steps, dtype=np.int64)}
        arrays |= {name: _array(tensor) for name, tensor in self._loaded().items()}
        for name, parameter in self.module.named_parameters():
            for key, tensor in self.optimizer.state.get(parameter, {}).items():
                if tensor is not None:
                    arrays[f"optimizer.{name}.{key}"] = _array(tensor)
        return arrays

    def load_state(self, state: Arrays) -> None:
        """Go on from `state`; ModelError, and no change, if it is not one of this network and optimizer.

        Weights are averaged if this run averages, whether that of the state did or not: from the state's average on,
        or else from its weights.
        """
        given = {name: array for name, array in state.items() if self.averaged or not name.startswith("averaged.")}
        if self.averaged and not any(name.startswith("averaged.") for name in given):
            weights = [name for name in given if name.startswith("weights.")]
            given |= {"averaged." + name.removeprefix("weights."): given[name] for name in weights}
        moments = self._moments() if any(name.startswith("optimizer.") for name in given) else {}
        loaded = self._loaded()
        self._check_state(
            given, {"steps": ()} | {name: tuple(tensor.shape) for name, tensor in (loaded | moments).items()}
        )
        for name, tensor in (loaded | moments).items():
            tensor.copy_(torch.from_numpy(given[name]))
        self.steps = int(given["steps"])
        self._refresh_copies()
        self.optimizer.state.clear()
        parameters = dict(self.module.named_parameters())
        for name, tensor in moments.items():
            parameter, _, key = name.removeprefix("optimizer.").rpartition(".")
            self.optimizer.state[parameters[parameter]][key] = tensor

    def _loaded(self) -> dict[str, Tensor]:
        """The networks' own tensors by their names in a state."""
        modules = [("weights", self.module), *([("averaged", self.averaged)] if self.averaged else [])]
        return {f"{kind}.{name}": tensor for kind, module in modules for name, tensor in module.state_dict().items()}

    def _moments(self) -> dict[str, Tensor]:
        """New tensors for what the optimizer remembers, by their names in a state."""
        counter = torch.zeros((), device="cpu" if self.device.type == "mps" else self.device)  # as fused ones keep it
        return {f"optimizer.{name}": tensor for name, tensor in new_moments(self.module, self.learn, counter).items()}

    def _check_state(self, given: Arrays, shapes: Mapping[str, tuple[int, ...]]) -> None:
        kind = f"{self.config.net} for {self.facts.id}, trained with {self.learn.optimizer}"
        if stray := sorted(shapes.keys() ^ given.keys()):
            verb = "has" if stray[0] in given else "lacks"
            raise ModelError(f"the saved state {verb} {stray[0]!r}: it is not one of {kind}")
        for name, shape in shapes.items():
            if given[name].shape != shape:
                found = list(given[name].shape)
                raise ModelError(
                    f"the saved state has {name!r} of shape {found}, not {list(shape)}: it is not one of {kind}"
                )

    # One step.

    def _gradients(self, batch: Batch | MixedBatch, pools: Pools) -> tuple[float, float] | None:
        """Set the gradients of one batch; returns its l_p and l_v, or None if anything is not finite."""
        parts = self._cut(batch)
        answers = _side_by_side(pools, [partial(_forward, self.loss, *part) for part in parts])
        shares = [_rows(boards) / len(batch) for _, boards in parts]
        policy = math.fsum(share * answer[0].item() for share, answer in zip(shares, answers, strict=True))
        value = math.fsum(share * answer[1].item() for share, answer in zip(shares, answers, strict=True))
        if not math.isfinite(policy + value):
            return None
        a, b = self.loss.mixture(policy, value)
        calls = [
            partial(_backward, parameters, *answer, share * a, share * b)
            for parameters, answer, share in zip(self.parameters[: len(parts)], answers, shares, strict=True)
        ]
        total, *others = _side_by_side(pools, calls)
        for other in others:
            torch._foreach_add_(total, other)
        for parameter, gradient in zip(self.weights, total, strict=True):
            parameter.grad = gradient
        norm = torch.nn.utils.get_total_norm(total)
        if not math.isfinite(norm.item()):
            return None
        if self.learn.clip is not None:
            torch.nn.utils.clip_grads_with_norm_(self.weights, self.learn.clip, norm)
        self._average_buffers(len(parts))
        return policy, value

    def _cut(self, batch: Batch | MixedBatch) -> list[tuple[Trained, list[Rows]]]:
        """(network, its rows, by size of board) of each part, on the device."""
        games = batch.parts if isinstance(batch, MixedBatch) else (batch,)
        count = max(1, min(len(self.copies), len(batch) // PART, *map(len, games)))
        by_game = [self._cut_game(one, count) for one in games]
        return [(module, _joined(part)) for module, *part in zip(self.copies[:count], *by_game, strict=True)]

    def _cut_game(self, batch: Batch, count: int) -> list[Rows]:
        """(planes, policy, the head's target) of each part of one game's rows."""
        planes = torch.from_numpy(batch.planes).to(self.device, memory_format=self.module.memory_format)
        target = self.heads[batch.game].targets(batch.value, batch.outcome, batch.ply, batch.mover)
        others = (torch.from_numpy(array).to(self.device) for array in (batch.policy, target))
        return list(zip(*(tensor.tensor_split(count) for tensor in (planes, *others)), strict=True))

    def _update(self) -> None:
        self.optimizer.step()
        self._lower()
        self.steps += 1
        if self.averaged is not None:
            # Young averages forget faster, so that the untrained weights are soon gone.
            decay = min(self.learn.average, (1 + self.steps) / (10 + self.steps))
            torch._foreach_lerp_(self.averages, self.tensors, 1.0 - decay)

    def _finite(self) -> bool:
        return all(bool(torch.isfinite(tensor).all()) for tensor in self._loaded().values())

    # Copies.

    def _share(self, count: int) -> list[Trained]:
        """Networks that compute gradients: the same weights in memory, their own gradients and running means.

        The first is the module itself, or one in bfloat16 that has its running means.
        """
        self.module.train()
        usual = isinstance(self.module, Network) and self.device.type == "cpu"
        first = self._lowered() if takes_bfloat16(self.learn.precision, usual) else self.module
        copies = [copy.deepcopy(first) for _ in range(count - 1)]
        for other in copies:
            for mine, theirs in zip(first.parameters(), other.parameters(), strict=True):
                theirs.data = mine.data
        return [first, *copies]

    def _lowered(self) -> Trained:
        """The module in bfloat16; what stays float32 is the module's own memory."""
        assert isinstance(self.module, Network), "takes_bfloat16 allows no other"
        low = copy.deepcopy(self.module)
        low.lower()
        for mine, theirs in zip(_all(self.module), _all(low), strict=True):
            if theirs.dtype == mine.dtype:
                theirs.data = mine.data
        return low

    def _lower(self) -> None:
        """The weights in bfloat16 become those of now."""
        if self.lowered:
            torch._foreach_copy_(self.lowered, self.exact)

    def _refresh_copies(self) -> None:
        """The module has other weights and means now."""
        self._lower()
        self._copy_buffers()

    def _average_buffers(self, used: int) -> None:
        """Running means and variances become those of all parts together."""
        own = self.buffers[0]
        for other in self.buffers[1:used]:
            torch._foreach_add_(own, other)
        if used > 1:
            torch._foreach_mul_(own, 1.0 / used)
        self._copy_buffers()

    def _copy_buffers(self) -> None:
        for other in self.buffers[1:]:
            torch._foreach_copy_(other, self.buffers[0])

    def _seed_dropout(self) -> None:
        """Dropout draws from (run's seed, steps so far, part), so that a resumed run drops the same."""
        for part, module in enumerate(self.copies):
            seeds = np.random.SeedSequence([self.config.seed, self.steps, part])
            seed_dropout(module, int(seeds.generate_state(1, np.uint64)[0]), self.device)


def _joined(games: list[Rows]) -> list[Rows]:
    """Games on boards of one size put together: one large product is faster than several small ones."""
    sizes: dict[torch.Size, list[Rows]] = {}
    for rows in games:
        sizes.setdefault(rows[0].shape[1:], []).append(rows)
    return [same[0] if len(same) == 1 else _stacked(same) for same in sizes.values()]


def _stacked(games: list[Rows]) -> Rows:
    planes, policies, targets = zip(*games, strict=True)
    return torch.cat(planes), torch.cat(policies), torch.cat(targets)


def _rows(boards: list[Rows]) -> int:
    return sum(len(planes) for planes, _, _ in boards)


def _forward(loss: Loss, module: Trained, boards: list[Rows]) -> tuple[Tensor, Tensor]:
    """l_p and l_v of one part, with what their gradients need."""
    answers = module.together([planes for planes, _, _ in boards])
    means = []
    for (logits, answer), (planes, policy, target) in zip(answers, boards, strict=True):
        share = len(planes) / _rows(boards)
        means.append((share * loss.policy(logits, policy), share * loss.value(module.net.head, answer, target)))
    policies, values = zip(*means, strict=True)
    return sum(policies[1:], policies[0]), sum(values[1:], values[0])


def _backward(parameters: list[Parameter], policy: Tensor, value: Tensor, a: float, b: float) -> list[Tensor]:
    """The gradient of a · l_p + b · l_v in the order of the parameters."""
    return [gradient.float() for gradient in torch.autograd.grad(a * policy + b * value, parameters)]


def _side_by_side(pools: Pools, calls: Sequence[Callable[[], T]]) -> list[T]:
    """The results in order; the first call is made here, each of the others by a thread of its own."""
    waiting = [pool.submit(call) for pool, call in zip(pools, calls[1:], strict=False)]
    return [calls[0](), *(future.result() for future in waiting)]


@contextmanager
def one_thread_each(count: int) -> Iterator[Pools]:
    """`count` - 1 threads beside this one, PyTorch confined to one thread in each; undone at the end."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with ExitStack() as stack:
            set_one = partial(torch.set_num_threads, 1)
            yield [stack.enter_context(ThreadPoolExecutor(1, initializer=set_one)) for _ in range(count - 1)]
    finally:
        torch.set_num_threads(before)


def find_device(name: str) -> torch.device:
    """The device with this name; ConfigError if this machine or this PyTorch does not have it."""
    there = ["cpu"]
    there += ["cuda", *(f"cuda:{number}" for number in range(torch.cuda.device_count()))] * torch.cuda.is_available()
    there += ["mps"] * torch.backends.mps.is_available()
    if name not in there:
        raise ConfigError(f"device {name!r} is not there; this machine has {', '.join(there)}, for example device=cpu")
    return torch.device(name)


def _all(module: Trained) -> list[Tensor]:
    return [*module.parameters(), *module.buffers()]


def _tensors(module: Trained) -> list[Tensor]:
    return [*(parameter.data for parameter in module.parameters()), *_numbers(module)]


def _numbers(module: Trained) -> list[Tensor]:
    """The buffers that have a mean: modules of the user's own may also count in whole numbers."""
    return [buffer for buffer in module.buffers() if buffer.is_floating_point()]


def _array(tensor: Tensor) -> Array:
    return np.array(tensor.detach().cpu().numpy(), order="C")


def _by_epoch(measured: list[tuple[float, float]], epoch: int) -> tuple[Losses, ...]:
    """The mean losses of each epoch of so many batches; the last epoch is whole, the first may not be."""
    starts = range(len(measured) % epoch - epoch if len(measured) % epoch else 0, len(measured), epoch)
    parts = [measured[max(start, 0) : start + epoch] for start in starts]
    return tuple(_mean_losses(part) for part in parts or [[]])


def _mean_losses(measured: list[tuple[float, float]]) -> Losses:
    """The mean of each of the four losses over some batches; not a number if there are none."""
    if not measured:
        return Losses(math.nan, math.nan, math.nan, math.nan)
    each = [Losses.of(policy, value) for policy, value in measured]

    def mean(name: str) -> float:
        return math.fsum(getattr(losses, name) for losses in each) / len(each)

    return Losses(mean("policy"), mean("value"), mean("sum"), mean("product"))
