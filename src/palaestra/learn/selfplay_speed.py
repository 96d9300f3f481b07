"""How fast self-play runs on this machine, beside the network alone: numbers for `palaestra bench selfplay`.

Nothing here prints, and nothing is learned.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from palaestra.games.base import Game
from palaestra.learn.config import RunConfig
from palaestra.learn.pieces import make_table, plans_of
from palaestra.nets.evaluator import BATCH, OnnxEvaluator
from palaestra.nets.inference_speed import measure, model_bytes
from palaestra.nets.int8 import takes_int8
from palaestra.rewards.base import default_reward
from palaestra.search.search_speed import Timed, repeat_side_by_side


@dataclass(frozen=True)
class SelfPlaySpeed:
    """Throughput of self-play with every slot always taken."""

    games: int  # finished
    positions: int
    simulations: int
    evaluations: int
    seconds: float
    network_seconds: float  # summed over the threads
    threads: int
    limit: float  # evaluations/s of the network alone, on as many threads, in batches of the same size

    @property
    def simulations_per_second(self) -> float:
        return self.simulations / self.seconds

    @property
    def network_share(self) -> float:
        """Share of the threads' time inside the network: the rest is rules, search and bookkeeping."""
        return self.network_seconds / (self.seconds * self.threads)

    @property
    def limit_ratio(self) -> float:
        """Simulations for each evaluation that the network alone could make; a cache can lift it above 1."""
        return self.simulations_per_second / self.limit


def measure_selfplay(game: Game, net: str, config: RunConfig, seconds: float) -> SelfPlaySpeed:
    """Let every thread play games without end for `seconds`; `net` is a name (random weights are drawn) or a file."""
    model, threads = model_bytes(game, net), config.threads
    plans = plans_of(config, iteration=1, switched=True)
    int8 = takes_int8(config.selfplay.precision)
    networks = [Timed(OnnxEvaluator(game, model, int8=int8)) for _ in range(threads)]
    tables = [
        make_table(game, network, plans, config, 1, count(thread, threads), default_reward(game))
        for thread, network in enumerate(networks)
    ]
    finished_before = 0

    def reset() -> None:
        nonlocal finished_before
        finished_before = sum(len(table.outcomes) for table in tables)
        for table, network in zip(tables, networks, strict=True):
            table.simulations = table.positions = network.leaves = 0
            network.seconds = 0.0

    _, elapsed = repeat_side_by_side([table.move for table in tables], seconds, reset)
    batch = min(BATCH, config.selfplay.slots)
    return SelfPlaySpeed(
        games=sum(len(table.outcomes) for table in tables) - finished_before,
        positions=sum(table.positions for table in tables),
        simulations=sum(table.simulations for table in tables),
        evaluations=sum(network.leaves for network in networks),
        seconds=elapsed,
        network_seconds=sum(network.seconds for network in networks),
        threads=threads,
        limit=measure(game, net, batch, threads, seconds / 3, int8=int8).evaluations_per_second,
    )
