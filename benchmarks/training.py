"""Training beside a plain PyTorch loop: the same network, optimizer and batch size, on as many threads.

The loop is what one would write first: channels-last, `loss.backward()`, batches that are already tensors in memory and
nothing checked. The trainer draws its batches from a replay window. CPU time is counted beside the clock, because a
busy machine slows PyTorch's threads, which wait for each other in every layer, more than it slows the trainer's.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from itertools import cycle

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.table import Table
from benchmarks.timing import alternate, ratio
from palaestra.base.cores import usable_cores
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.learn.config import LearnConfig, RunConfig
from palaestra.learn.replay import Replay
from palaestra.learn.trainer import Trainer
from palaestra.learn.training_speed import POSITIONS, random_examples

GAME, NET, BLOCKS, CHANNELS = "connect_four-6x7", "b3c32", 3, 32
BATCHES = (256, 1024)
KINDS = (("adamw", "float32"), ("muon", "float32"), ("muon", "auto"))  # optimizer and precision of the trainer
KEPT = 16  # batches that the plain loop goes through
WARM_UP = 3  # steps
STEPS = 20  # of one call: the trainer keeps its state at the beginning of each, as in a run

Turn = tuple[float, float]  # samples a second, CPU seconds for 1,000 samples


class PlainNet(nn.Module):
    """b3c32 as PyTorch's own modules."""

    def __init__(self, planes: int, cells: int, actions: int) -> None:
        super().__init__()
        self.stem = _unit(planes, CHANNELS, 3)
        self.blocks = nn.ModuleList(
            nn.ModuleList([_unit(CHANNELS, CHANNELS, 3), _unit(CHANNELS, CHANNELS, 3)]) for _ in range(BLOCKS)
        )
        self.policy, self.logits = _unit(CHANNELS, 32, 1), nn.Linear(32 * cells, actions)
        self.value, self.hidden, self.answer = _unit(CHANNELS, 32, 1), nn.Linear(32 * cells, 64), nn.Linear(64, 1)

    def forward(self, planes: Tensor) -> tuple[Tensor, Tensor]:
        x = functional.relu(self.stem(planes))
        for first, second in self.blocks:  # type: ignore[misc]
            x = functional.relu(second(functional.relu(first(x))) + x)
        logits = self.logits(functional.relu(self.policy(x)).flatten(1))
        hidden = functional.relu(self.hidden(functional.relu(self.value(x)).flatten(1)))
        return logits, torch.tanh(self.answer(hidden)).squeeze(1)


def _unit(inputs: int, outputs: int, size: int) -> nn.Module:
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False), nn.BatchNorm2d(outputs))


def run(rounds: int, seconds: float) -> Table:
    game, threads = make_game(GAME), usable_cores()
    beside = ("plain loop, samples/s", "ratio", "CPU s/1,000", "plain loop, CPU s/1,000")
    table = Table(
        f"Training, {NET} on {GAME}, {threads} threads",
        ("batch", "optimizer", "layers in", "samples/s", *beside),
        "Beside a plain channels-last PyTorch loop with AdamW in float32 on batches in memory, measured in turn. CPU"
        " seconds are those of all threads; waiting threads of the plain loop spin.",
    )
    for batch in BATCHES:
        plain = _plain_loop(game, batch, threads)
        for optimizer, precision in KINDS:
            trainer, steps = _trainer(game, batch, threads, optimizer, precision)
            turns = alternate(
                _turns(steps, batch, seconds),
                _turns(plain, batch, seconds),
                rounds,
            )
            (ours, our_cost), (theirs, their_cost) = (zip(*side, strict=True) for side in turns)
            medians = (statistics.median(side) for side in (our_cost, their_cost))
            kind = (batch, optimizer, "bfloat16" if trainer.lowered else "float32")
            table.add(*kind, statistics.median(ours), statistics.median(theirs), ratio(ours, theirs), *medians)
    return table


def _turns(steps: Callable[[int], object], batch: int, seconds: float) -> Callable[[], Turn]:
    """One turn of about so many seconds."""
    steps(WARM_UP)

    def turn() -> Turn:
        done, began, spent = 0, time.perf_counter(), time.process_time()
        while time.perf_counter() - began < seconds:
            steps(STEPS)
            done += STEPS * batch
        return done / (time.perf_counter() - began), 1000 * (time.process_time() - spent) / done

    return turn


def _trainer(
    game: Game, batch: int, threads: int, optimizer: str, precision: str
) -> tuple[Trainer, Callable[[int], object]]:
    learn = LearnConfig.model_validate(
        {"batch": batch, "optimizer": optimizer, "precision": precision, "lr": 1e-3, "average": 0.99, "dropout": 0.0}
    )
    trainer = Trainer(game, RunConfig(game=game.id, net=NET, iterations=1, threads=threads, learn=learn))
    replay, rng = Replay(1), np.random.default_rng(0)
    replay.add(1, random_examples(game, POSITIONS, rng))
    drawn = replay.batches(game, learn, rng)
    return trainer, lambda steps: trainer.train(drawn, steps, progress=0.0)


def _plain_loop(game: Game, batch: int, threads: int) -> Callable[[int], object]:
    replay, rng = Replay(1), np.random.default_rng(0)
    replay.add(1, random_examples(game, POSITIONS, rng))
    drawn = replay.batches(game, LearnConfig(batch=batch), rng)
    kept = [
        (
            torch.from_numpy(one.planes).contiguous(memory_format=torch.channels_last),
            torch.from_numpy(one.policy),
            torch.from_numpy(one.value),
        )
        for one, _ in zip(drawn, range(KEPT), strict=False)
    ]
    planes, rows, cols = game.observation_shape
    module = PlainNet(planes, rows * cols, game.num_actions).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3)
    batches = cycle(kept)

    def steps(count: int) -> None:
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        for _ in range(count):
            boards, policy, value = next(batches)
            logits, answer = module(boards)
            loss = functional.cross_entropy(logits, policy) + functional.mse_loss(answer, value)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        torch.set_num_threads(before)

    return steps
