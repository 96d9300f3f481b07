"""How fast the network learns on this machine, and how fast it could: numbers for `palaestra bench train`.

Measured is the trainer on batches drawn from a replay window, as in a run. Beside it stand the same trainer on one
batch that is already there, which shows what drawing costs, and as the limit the network's forward and backward pass
alone: on every thread a copy of the network that learns nothing and waits for nobody. All three take turns, so that a
machine that is busy with something else slows them alike. Nothing here prints, and what is learned means nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import torch

from palaestra.games.base import Game
from palaestra.learn.config import LearnConfig, RunConfig
from palaestra.learn.examples import Examples
from palaestra.learn.learner import Batch
from palaestra.learn.losses import head_loss, policy_loss
from palaestra.learn.replay import Replay
from palaestra.learn.trainer import Trainer, one_thread_each
from palaestra.nets.architecture import GameFacts
from palaestra.nets.modules import make_module, seed_dropout
from palaestra.search.search_speed import repeat_side_by_side, scattered

POSITIONS = 8192  # in the replay window; more would only fill memory
ROUNDS = 8  # in which the three measurements take turns: many, for loads come and go
LIMIT_SHARE = 1 / 3  # of the time, for each of the two that it is compared with


@dataclass(frozen=True)
class TrainingSpeed:
    """Positions a second that go into updates of the network."""

    samples_per_second: float  # of the trainer, batches drawn from a replay window
    fixed_batch_per_second: float  # of the trainer on one batch in memory
    limit: float  # forward and backward alone

    @property
    def limit_ratio(self) -> float:
        return self.samples_per_second / self.limit


def measure_training(
    game: Game, net: str, batch: int = 64, threads: int = 1, seconds: float = 1.0, seed: int = 0
) -> TrainingSpeed:
    """Train a new network for about `seconds`; `net` is a name such as b3c32."""
    config = RunConfig(
        game=game.id, net=net, iterations=1, threads=threads, seed=seed % 2**63, learn=LearnConfig(batch=batch)
    )
    trainer = Trainer(game, config)
    rng = np.random.default_rng(seed)
    replay = Replay(window=1)
    replay.add(1, random_examples(game, POSITIONS, rng))
    drawn = replay.batches(game, config.learn, rng)
    fixed = next(drawn)
    clocks = (
        _Clock(lambda steps: trainer.train(drawn, steps, progress=0.0).steps),
        _Clock(lambda steps: trainer.train(repeat(fixed), steps, progress=0.0).steps),
    )
    rows = batch // len(trainer.copies)  # as the trainer cuts its batches
    passes = [_pass(game, config, fixed, rows) for _ in range(threads)]
    samples, spent = 0, 0.0
    for _ in range(ROUNDS):
        for clock, share in zip(clocks, (1.0, LIMIT_SHARE), strict=True):
            clock.run(share * seconds / ROUNDS)
        with one_thread_each(1):  # gives PyTorch's setting back, which the passes change
            calls, elapsed = repeat_side_by_side(passes, LIMIT_SHARE * seconds / ROUNDS)
        samples, spent = samples + rows * sum(calls), spent + elapsed
    real, kept = (batch * clock.steps / clock.seconds for clock in clocks)
    return TrainingSpeed(real, kept, samples / spent)


def random_examples(game: Game, count: int, rng: np.random.Generator) -> Examples:
    """Positions of random games, ends included, with uniform policies and random values: as much work as real ones."""
    states = scattered(game, count, rng)
    counts, _ = game.legal(states)
    policy = (np.arange(game.max_legal) < counts[:, None]) / counts[:, None].astype(np.float32)
    value = rng.uniform(-1.0, 1.0, count).astype(np.float32)
    none = np.zeros(count, dtype=np.int32)
    outcome = game.rollout(states, rng.integers(2**64, size=count, dtype=np.uint64)).outcomes
    return Examples(states, policy.astype(np.float32), value, none, game.plies(states), outcome)


class _Clock:
    """Counts steps and their time; `work(steps)` makes that many, or fewer, and says how many it made."""

    def __init__(self, work: Callable[[int], int]) -> None:
        self.work = work
        self.steps, self.seconds = 0, 0.0
        for steps in (1, 2):  # the first ones compile and allocate, and are not counted
            self._pace = self._time(steps)[1] / steps  # seconds a step, as it was last

    def run(self, seconds: float) -> None:
        """About `seconds`, at least one step."""
        made, spent = self._time(max(1, round(seconds / self._pace)))
        self.steps, self.seconds, self._pace = self.steps + made, self.seconds + spent, spent / max(made, 1)

    def _time(self, steps: int) -> tuple[int, float]:
        began = time.perf_counter()
        made = self.work(steps)
        return made, time.perf_counter() - began


def _pass(game: Game, config: RunConfig, batch: Batch, rows: int) -> Callable[[], object]:
    """One forward and backward pass over the first rows of a batch, by a network of its own on the calling thread."""
    facts = GameFacts.of(game)
    module = make_module(config.net, facts, config.learn.dropout, config.seed).train()
    target = module.net.head_for(facts).targets(batch.value, batch.outcome, batch.ply, batch.mover)
    module.to(memory_format=module.memory_format)  # type: ignore[call-overload]
    seed_dropout(module, config.seed, torch.device("cpu"))
    planes = torch.from_numpy(batch.planes[:rows]).contiguous(memory_format=module.memory_format)
    policy, wanted = torch.from_numpy(batch.policy[:rows]), torch.from_numpy(target[:rows])
    weights = list(module.parameters())

    def both() -> object:
        torch.set_num_threads(1)
        logits, answer = module(planes)
        losses = policy_loss(logits, policy) + head_loss(module.net.head, answer, wanted)
        return torch.autograd.grad(losses, weights)

    return both
