"""Workers on Ray beside threads: games/s in turns, what a game and a network weigh, and the model held against both.

.venv/bin/python -m benchmarks.cluster --rounds 5 --json constants.json
"""

from __future__ import annotations

import argparse
import json
import pickle
import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.timing import ratio
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.lab.scale_model import Costs, Plan, simulate
from palaestra.learn.config import RunConfig
from palaestra.learn.pieces import play_piece
from palaestra.learn.presets import configure
from palaestra.learn.selfplay import play_games, settle
from palaestra.learn.training_speed import measure_training
from palaestra.learn.workforce import Workforce
from palaestra.nets.inference_speed import model_bytes
from palaestra.rewards.base import default_reward
from palaestra.work.jobs import Job
from palaestra.work.workers import make_workers

GAME, NET, GAMES = "connect_four-6x7", "b3c32", 400
EMPTY_JOBS = 400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--games", type=int, default=GAMES)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    text = json.dumps(Measured(given.games).all(given.rounds), indent=1)
    print(text)
    if given.json is not None:
        given.json.write_text(text + "\n", encoding="utf-8")


class Measured:
    """One game, network and setting, played by several kinds of workers."""

    def __init__(self, games: int) -> None:
        self.game: Game = make_game(GAME)
        model = model_bytes(self.game, NET)
        assert isinstance(model, bytes)
        self.model, self.games = model, games
        sets = (f"selfplay.games={games}", f"net={NET}")
        self.config: RunConfig = configure(GAME, "fast", sets, iterations=1, threads=2)

    def all(self, rounds: int) -> dict[str, Any]:
        two = self.in_turns(("threads:2", "processes:2", "ray:2"), rounds)
        one = self.in_turns(("threads:1", "ray:1"), rounds)
        costs = self.costs(1 / statistics.median(one["threads:1"]["games_per_second"]), two["ray:2"]["seconds_a_job"])
        model = {str(workers): simulate(costs, Plan(workers, self.games), training=False) for workers in (1, 2)}
        return {
            "game": GAME,
            "net": NET,
            "games": self.games,
            "measured": one | two,
            "ray over threads, 2 workers": asdict(_over(two, "ray:2", "threads:2")),
            "processes over threads, 2 workers": asdict(_over(two, "processes:2", "threads:2")),
            "ray over threads, 1 worker": asdict(_over(one, "ray:1", "threads:1")),
            "costs": asdict(costs),
            "model, games/s": {workers: speed.games_per_second for workers, speed in model.items()},
        }

    def in_turns(self, kinds: Sequence[str], rounds: int) -> dict[str, Any]:
        """Games/s of each kind of workers, and of a game the milliseconds in which no worker played."""
        found: dict[str, Any] = {kind: {"games_per_second": [], "overhead_ms": []} for kind in kinds}
        with ExitStack() as stack:
            all_workers = {kind: stack.enter_context(make_workers(kind)) for kind in kinds}
            forces = {kind: Workforce(workers) for kind, workers in all_workers.items()}
            for turn in range(rounds + 2):  # the first two compile, and measure how long games take
                for kind, force in forces.items():
                    began = time.perf_counter()
                    made = play_games(self.game, self.model, self.config, turn + 1, workforce=force)
                    wall = time.perf_counter() - began
                    if turn > 1:
                        found[kind]["games_per_second"].append(self.games / wall)
                        idle = wall - max(speed.seconds for speed in made.speeds)
                        found[kind]["overhead_ms"].append(1000 * idle / self.games)
            for kind, workers in all_workers.items():
                list(workers.run(Job(f"first {n}", pow, (n, 2)) for n in range(20)))
                began = time.perf_counter()
                list(workers.run(Job(f"nothing {n}", pow, (n, 2)) for n in range(EMPTY_JOBS)))
                found[kind]["seconds_a_job"] = (time.perf_counter() - began) / EMPTY_JOBS
        return found

    def costs(self, seconds_a_game: float, dispatch: float) -> Costs:
        """The constants of the model."""
        reward = default_reward(self.game)
        given = (self.game, self.model, self.config, 1)
        few, many = (play_piece(*given, range(count), False, reward) for count in (1, self.games))
        began = time.perf_counter()
        data = pickle.dumps(many)
        whole = settle([pickle.loads(data)], self.game, self.config, 1, False, reward)
        settling = time.perf_counter() - began
        speed = measure_training(self.game, NET, batch=self.config.learn.batch, threads=2, seconds=3.0)
        learn = self.config.learn
        assert learn.samples_per_position is not None
        return Costs(
            seconds_a_game=seconds_a_game,
            share_overhead=max(0.0, few.seconds - seconds_a_game),
            dispatch=dispatch,
            settle=settling / self.games,
            bytes_a_game=len(data) / self.games,
            bytes_a_network=len(self.model),
            samples_a_game=learn.samples_per_position * len(whole.examples) / self.games,
            samples_a_second=speed.samples_per_second,
        )


def _over(found: dict[str, Any], ours: str, theirs: str) -> Any:
    return ratio(found[ours]["games_per_second"], found[theirs]["games_per_second"])


if __name__ == "__main__":
    main()
