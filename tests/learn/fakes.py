"""Stages that take no time but depend on everything that real ones depend on: seed, iteration, network, settings."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from palaestra.arena.match import GameRecord, MatchResult, Running
from palaestra.games.base import Game
from palaestra.learn.batch import Batch
from palaestra.learn.config import RunConfig
from palaestra.learn.evaluation import AnchorResult
from palaestra.learn.examples import Examples
from palaestra.learn.gate import GateResult
from palaestra.learn.presets import configure
from palaestra.learn.selfplay import Record, SelfPlay
from palaestra.learn.stages import Stages


def number_of(*things: object) -> int:
    """A number that changes when anything in `things` does."""
    return int.from_bytes(hashlib.sha256(repr(things).encode()).digest()[:4], "big")


@dataclass(frozen=True)
class Report:
    policy: float
    value: float
    sum: float
    product: float
    steps: int
    lr: float
    stopped: str | None = None


class FakeTrainer:
    """One array of weights and one of "optimizer"; the learning rate and the progress leave their mark on both."""

    def __init__(self, game: Game, config: RunConfig) -> None:
        self.config = config
        self.weights = np.full(3, float(config.seed), dtype=np.float64)
        self.momentum = np.zeros(3)

    def train(self, batches: Iterator[Batch], steps: int, progress: float, listen: Any = None) -> Report:
        lr = self.config.learn.lr * (1 - progress)
        for step, batch in enumerate(islice(batches, steps)):
            seen = np.array([batch.planes.sum(), batch.policy.argmax(1).sum(), batch.value.sum()])
            self.momentum = 0.9 * self.momentum + seen
            self.weights = self.weights + lr * self.momentum
            if listen is not None:
                listen(step + 1, steps)
        return Report(*(float(number) for number in (*self.weights, self.weights.sum())), steps, lr)

    def onnx(self) -> bytes:
        return self.weights.tobytes()

    def state(self) -> dict[str, np.ndarray[Any, Any]]:
        return {"weights": self.weights.copy(), "momentum": self.momentum.copy()}

    def load_state(self, state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self.weights, self.momentum = state["weights"].copy(), state["momentum"].copy()


def play_games(
    game: Game, model: bytes, config: RunConfig, iteration: int, listen: Any = None, *, switched: bool = False
) -> SelfPlay:
    """Random games, drawn from (network, seed, iteration)."""
    began = time.perf_counter()
    rng = np.random.default_rng(number_of(model, config.seed, iteration, config.selfplay.temperature))
    games = config.selfplay.games
    states = game.initial(games, rng)
    streams = rng.integers(0, 2**64, size=games, dtype=np.uint64)
    ends = game.rollout(states, streams, trace=True)
    assert ends.lengths is not None and ends.moves is not None
    records = tuple(
        Record(
            i, 0, tuple(ends.moves[i, : ends.lengths[i]].tolist()), 0, int(ends.outcomes[i]), "self-play", "self-play"
        )
        for i in range(games)
    )
    policy = np.zeros((games, game.max_legal), dtype=np.float32)
    policy[np.arange(games), rng.integers(game.max_legal, size=games)] = 1
    numbers = np.arange(games, dtype=np.int32)
    examples = Examples(states, policy, rng.uniform(-1, 1, games).astype(np.float32), numbers, np.zeros_like(numbers))
    if listen is not None:
        listen(games, games)
    return SelfPlay(examples, records, time.perf_counter() - began, 1e-6, 2, games, games, games, None)


def judge(
    game: Game, candidate: bytes, best: bytes, config: RunConfig, iteration: int, listen: Any = None
) -> GateResult:
    accepted = number_of(candidate, best, iteration) % 3 > 0
    wins = 3 if accepted else 1
    first = (1 + number_of(best) % 2 if accepted else 1, 0, 1)
    return GateResult(accepted, wins, 0, 4 - wins, "as chance wants", time.perf_counter(), 4, 4, first)


def evaluate(game: Game, model: bytes, config: RunConfig, seed: int, listen: Any = None) -> list[AnchorResult]:
    elo = float(number_of(model, seed) % 1000)
    return [
        AnchorResult(anchor, 1, 1, 0, 1, 0.5, (0.0, 1.0), (elo, elo - 1, None), 2, 2, time.perf_counter())
        for anchor in config.evaluation.anchors
    ]


def meet(
    game: Game, model: bytes, earlier: bytes, config: RunConfig, iteration: int, listen: Any = None
) -> MatchResult:
    points = [number_of(model, earlier, iteration, number) % 3 / 2 for number in range(config.evaluation.history)]
    records = tuple(GameRecord(number, 0, (), 0, point, 1) for number, point in enumerate(points))
    match = MatchResult(game.id, "network", "earlier", records, 0, time.perf_counter(), (0.0, 0.0))
    if listen is not None:
        listen(Running(match.wins, match.draws, match.losses, match.games))
    return match


FAKES = Stages(FakeTrainer, play_games, judge, evaluate, meet)


def tiny(*sets: str, iterations: int | None = 4, **settings: Any) -> RunConfig:
    """A run of a few quick iterations with a gate and evaluations."""
    base = ("selfplay.games=6", "learn.batch=4", "learn.window=2", "evaluation.every=2", "evaluation.games=2")
    return configure("tic_tac_toe-3x3", "thesis-small", (*base, *sets), iterations=iterations, net="b1c8", **settings)


def tree_of(folder: Path) -> dict[str, bytes]:
    """Every file of a run but the lock, with what a clock decides taken out."""
    import json

    from palaestra.learn.measures import TIMES

    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "lock":
            found[str(path.relative_to(folder))] = path.read_bytes()
    lines = [json.loads(line) for line in found["metrics.jsonl"].splitlines()]
    for line in lines:
        for name in TIMES:
            del line[name]
    found["metrics.jsonl"] = json.dumps(lines).encode()
    manifest = json.loads(found["manifest.json"])
    for name in ("seconds", "metrics_bytes", "check"):  # the length of metrics.jsonl is that of the times in it, too
        del manifest[name]
    found["manifest.json"] = json.dumps(manifest).encode()
    return found
