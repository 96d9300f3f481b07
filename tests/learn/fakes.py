"""Stages that take no time but depend on everything that real ones do: seed, iteration, network, settings, reward."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from palaestra.arena.match import MatchResult, Running
from palaestra.base.progress import ProgressListener
from palaestra.base.types import Float32s
from palaestra.games.base import Game
from palaestra.learn.config import RunConfig
from palaestra.learn.examples import Examples
from palaestra.learn.gate import GateResult
from palaestra.learn.learner import Batches, Losses, MixedBatch, TrainReport
from palaestra.learn.presets import configure
from palaestra.learn.scores import AGENT, Scored, score_of
from palaestra.learn.selfplay import SelfPlay
from palaestra.learn.stages import Stages
from palaestra.rewards.base import Reward
from palaestra.runs.game_record import GameRecord, points_of
from palaestra.runs.metrics import AnchorResult, Demerits
from tests.arena.fakes import counted


def number_of(*things: object) -> int:
    """A number that changes when anything in `things` does."""
    return int.from_bytes(hashlib.sha256(repr(things).encode()).digest()[:4], "big")


def worth(reward: Reward) -> list[float]:
    """What a reward says now."""
    values: list[float] = reward.value(np.arange(-9, 10, dtype=np.int32)).tolist()
    return values


class FakeTrainer:
    """One array of weights and one of "optimizer"; the learning rate and the progress leave their mark on both."""

    def __init__(self, game: Game, config: RunConfig) -> None:
        self.config, self.steps = config, 0
        self.weights = np.full(3, float(config.seed), dtype=np.float64)
        self.momentum = np.zeros(3)

    def adopt(self, weights: dict[str, Float32s], planes: Float32s, steps: int = 0) -> None:
        self.steps = steps
        self.weights = self.weights + float(sum(array.sum() for array in weights.values()))

    def train(
        self, batches: Batches, steps: int, progress: float, listen: ProgressListener | None = None
    ) -> TrainReport:
        lr = self.config.learn.lr * (1 - progress)
        for step, batch in enumerate(islice(batches, steps)):
            for part in batch.parts if isinstance(batch, MixedBatch) else (batch,):
                seen = np.array([part.planes.sum(), part.policy.argmax(1).sum(), part.value.sum()])
                self.momentum = 0.9 * self.momentum + seen
            self.weights = self.weights + lr * self.momentum
            if listen is not None:
                listen(step + 1, steps)
        losses = (float(number % 1.0) for number in (*self.weights, self.weights.sum()))  # as small as real ones
        return TrainReport((Losses(*losses),), steps, steps, 0.0, lr)

    def onnx(self) -> bytes:
        return self.weights.tobytes()

    def state(self) -> dict[str, np.ndarray[Any, Any]]:
        return {"weights": self.weights.copy(), "momentum": self.momentum.copy()}

    def load_state(self, state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        self.weights, self.momentum = state["weights"].copy(), state["momentum"].copy()


def play_games(
    game: Game,
    model: bytes,
    config: RunConfig,
    iteration: int,
    listen: Any = None,
    *,
    reward: Reward,
    switched: bool = False,
    older: bytes | None = None,
) -> SelfPlay:
    """Random games, drawn from (network, seed, iteration) and what outcomes are worth, which the reward then learns."""
    began = time.perf_counter()
    rng = np.random.default_rng(number_of(model, config.seed, iteration, config.selfplay.temperature, worth(reward)))
    games = config.selfplay.games
    starts = np.arange(games) % game.num_starts
    states = game.start(starts)
    streams = rng.integers(0, 2**64, size=games, dtype=np.uint64)
    ends = game.rollout(states, streams, trace=True)
    assert ends.lengths is not None and ends.moves is not None
    records = tuple(
        GameRecord(
            number=i,
            start=int(starts[i]),
            moves=tuple(ends.moves[i, : ends.lengths[i]].tolist()),
            opening_plies=0,
            outcome=int(ends.outcomes[i]),
            points=points_of(int(ends.outcomes[i])) if game.players == 2 else None,
            first="self-play",
            second="self-play",
        )
        for i in range(games)
    )
    policy = np.zeros((games, game.max_legal), dtype=np.float32)
    policy[np.arange(games), rng.integers(game.max_legal, size=games)] = 1
    numbers = np.arange(games, dtype=np.int32)
    settled = reward.settle(ends.outcomes, rng)
    examples = Examples(states, policy, settled, numbers, np.zeros_like(numbers), ends.outcomes)
    if listen is not None:
        listen(games, games)
    return SelfPlay(examples, records, time.perf_counter() - began, 1e-6, 2, games, games, games, None)


def judge(
    game: Game,
    candidate: bytes,
    best: bytes,
    config: RunConfig,
    iteration: int,
    listen: Any = None,
    *,
    reward: Reward,
) -> GateResult:
    accepted = number_of(candidate, best, iteration, worth(reward)) % 3 > 0
    wins = 3 if accepted else 1
    first = (1 + number_of(best) % 2 if accepted else 1, 0, 1)
    return GateResult(accepted, wins, 0, 4 - wins, "as chance wants", 4, 4, first)


def evaluate(
    game: Game, model: bytes, config: RunConfig, seed: int, listen: Any = None, *, reward: Reward
) -> list[AnchorResult]:
    elo = float(number_of(model, seed, worth(reward)) % 1000)
    return [
        AnchorResult(anchor, 1, 1, 0, 1, 0.5, (0.0, 1.0), (elo, elo - 1, None), 2, 2)
        for anchor in config.evaluation.anchors
    ]


def meet(
    game: Game,
    model: bytes,
    earlier: bytes,
    config: RunConfig,
    iteration: int,
    listen: Any = None,
    *,
    reward: Reward,
) -> MatchResult:
    drawn = number_of(model, earlier, iteration, worth(reward))
    points = [number_of(drawn, number) % 3 / 2 for number in range(config.evaluation.history)]
    records = tuple(counted(number, point) for number, point in enumerate(points))
    match = MatchResult(game.id, "network", "earlier", records, 0, time.perf_counter(), (0.0, 0.0))
    if listen is not None:
        listen(Running(match.wins, match.draws, match.losses, match.games))
    return match


def demerits(
    game: Game, model: bytes, config: RunConfig, iteration: int, listen: Any = None, *, reward: Reward
) -> Demerits:
    given = number_of(model, iteration, worth(reward)) % 18
    return Demerits(float(given), 18 - given, 0, given, 20.0)


def score(
    game: Game, model: bytes, config: RunConfig, seed: int, listen: Any = None, *, reward: Reward
) -> list[Scored]:
    """Random games of the agent and of each anchor; the agent's depend on the network."""
    found = []
    for player in ("agent", *config.evaluation.anchors):
        rng = np.random.default_rng(number_of(player, model, seed, worth(reward)))
        starts = rng.integers(game.num_starts, size=config.evaluation.games)
        ends = game.rollout(game.start(starts), rng.integers(0, 2**63, size=len(starts)).astype(np.uint64), trace=True)
        assert ends.lengths is not None and ends.moves is not None
        lines = [tuple(row[:length].tolist()) for row, length in zip(ends.moves, ends.lengths, strict=True)]
        games = zip(starts.tolist(), lines, ends.outcomes.tolist(), strict=True)
        records = tuple(
            GameRecord(number, start, moves, 0, end, first=AGENT) for number, (start, moves, end) in enumerate(games)
        )
        found.append(Scored(score_of(player, records), records))
        if listen is not None:
            listen(player, len(records))
    return found


FAKES = Stages(FakeTrainer, play_games, judge, evaluate, meet, demerits, score)


def tiny(*sets: str, game: str = "tic_tac_toe-3x3", iterations: int | None = 4, **settings: Any) -> RunConfig:
    """A run of a few quick iterations with a gate and evaluations."""
    base = ("selfplay.games=6", "learn.batch=4", "learn.window=2", "evaluation.every=2", "evaluation.games=2")
    return configure(
        game, "thesis-small", (*base, *sets), iterations=iterations, net="b1c8", **{"threads": 2, **settings}
    )


SOLO = (
    "gate.kind=off", "reward=ranked(tau=0.5, window=8)", 'evaluation.anchors=["random"]', "solo.every=2",
    "solo.games=2", "solo.simulations=64", "solo.patience=1",
)  # fmt: skip


def tree_of(folder: Path) -> dict[str, bytes]:
    """Every file of a run but the lock, with what a clock decides taken out."""
    import json

    from palaestra.runs.metrics import TIMES

    found: dict[str, bytes] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != "lock":
            found[str(path.relative_to(folder))] = path.read_bytes()
    lines = [json.loads(line) for line in found["metrics.jsonl"].splitlines()]
    for line in lines:
        for name in TIMES:
            del line[name]
    found["metrics.jsonl"] = json.dumps(lines).encode()
    for name in found:
        if name == "manifest.json" or name.startswith("generations/"):
            manifest = json.loads(found[name])
            for key in ("seconds", "metrics_bytes", "check"):  # the length of metrics.jsonl depends on times, too
                del manifest[key]
            del manifest["files"]["metrics.jsonl"]
            found[name] = json.dumps(manifest).encode()
    return found
