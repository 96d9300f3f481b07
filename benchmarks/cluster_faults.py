"""How fast self-play is again after a fault: games/s before and after, on a cluster of three nodes of this machine.

    .venv/bin/python -m benchmarks.cluster_faults

Faults: a worker killed, then one killed every 10 s; a node killed; a worker stopped, so that it hangs. The rate is
that of the last 5 seconds; back means 90 % of the rate before the fault. Three nodes of one core each share the
machine's cores, so that two of them can play as fast as three.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

from palaestra.games.registry import make_game
from palaestra.learn.presets import configure
from palaestra.learn.selfplay import play_games
from palaestra.learn.workforce import Workforce
from palaestra.nets.inference_speed import model_bytes
from palaestra.work.ray_workers import RayWorkers
from palaestra.work.workers import make_workers

GAME, NET, GAMES = "connect_four-6x7", "b3c32", 96
CALM, WATCHED, WINDOW = 20.0, 45.0, 5.0


def main() -> None:
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    settings = {"health_check_period_ms": 1000, "health_check_failure_threshold": 3}
    head = {"num_cpus": 0, "include_dashboard": False, "_system_config": settings}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [cluster.add_node(num_cpus=1) for _ in range(3)]
    workers = make_workers(f"ray:{cluster.address}")
    assert isinstance(workers, RayWorkers)
    with workers:
        played = Played(workers)
        found = {
            "a worker killed": played.after(lambda: kill(workers, signal.SIGKILL)),
            "a worker killed every 10 s": played.after(lambda: kill(workers, signal.SIGKILL), every=10.0),
            "a worker that hangs": played.after(lambda: kill(workers, signal.SIGSTOP)),
            "a node killed": played.after(lambda: cluster.remove_node(nodes[0], allow_graceful=False)),
        }
        played.over.set()
        played.thread.join()
    cluster.shutdown()
    print(json.dumps({**found, "games": played.games, "iterations": played.iterations}, indent=1))


class Played:
    """Self-play that goes on and on, and when each of its games ended."""

    def __init__(self, workers: RayWorkers) -> None:
        self.over, self.ended = threading.Event(), list[tuple[float, int]]()
        self.games = self.iterations = 0
        self.thread = threading.Thread(target=self.play, args=(workers,), daemon=True)
        self.thread.start()
        while self.iterations < 3:  # compiles
            time.sleep(0.1)

    def play(self, workers: RayWorkers) -> None:
        game = make_game(GAME)
        model = model_bytes(game, NET)
        assert isinstance(model, bytes)
        config = configure(GAME, "fast", (f"selfplay.games={GAMES}", f"net={NET}"), iterations=1)
        force = Workforce(workers)
        while not self.over.is_set():
            before = 0

            def heard(done: int, total: int | None = None) -> None:
                nonlocal before
                self.ended.append((time.monotonic(), done - before))
                before = done

            made = play_games(game, model, config, self.iterations + 1, heard, workforce=force)
            assert [record.number for record in made.records] == list(range(GAMES))  # none lost, none twice
            self.games += len(made.records)
            self.iterations += 1

    def rate(self, at: float, window: float = WINDOW) -> float:
        return sum(games for when, games in list(self.ended) if at - window < when <= at) / window

    def after(self, harm: Callable[[], Any], every: float | None = None) -> dict[str, Any]:
        """The rate before, the lowest since, and seconds until it was 90 % of what it had been."""
        time.sleep(CALM)
        before = self.rate(time.monotonic(), CALM)
        harm()
        began = last = time.monotonic()
        rates, back = list[float](), None
        while (now := time.monotonic()) - began < WATCHED:
            time.sleep(0.5)
            if every is not None and now - last >= every:
                harm()
                last = now
            if now - began >= WINDOW:
                rates.append(self.rate(now))
                if back is None and rates[-1] >= 0.9 * before:
                    back = now - began
        return {"before": before, "lowest": min(rates), "back after s": back, "median since": statistics.median(rates)}


def kill(workers: RayWorkers, number: int) -> None:
    """Send a signal to one of the workers that play."""
    playing = [hand for hand in list(workers._hands) if hand.job is not None]
    if playing:
        os.kill(int(playing[0].name.rpartition(":")[2]), number)


if __name__ == "__main__":
    main()
