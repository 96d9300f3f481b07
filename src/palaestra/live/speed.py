"""How fast this machine runs games, networks and searches, each beside its limit, as JSON.

Imports what a measure needs when it is asked for: most need no PyTorch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from palaestra.base.cores import usable_cores

if TYPE_CHECKING:
    from palaestra.games.base import Game
    from palaestra.search.evaluator import Evaluator

Precision = Literal["float32", "int8", "auto"]
What = Literal["search", "rollouts", "inference", "train", "selfplay"]
SpeedDocument = dict[str, str | int | float | None]

# What is divided by what, for people.
LIMITS = {
    "search": "simulations over the evaluations of the evaluator alone",
    "selfplay": "simulations over the evaluations of the network alone",
    "train": "samples over those of forward and backward passes alone",
    "inference": "gflops over those of matrix products alone",
}
NETWORK = "b3c32"  # where a network is needed and none is named


@dataclass(frozen=True)
class SpeedTest:
    """What is measured, for how long, and on how much at once."""

    game: Game
    net: str | None = None  # a kind of network or an ONNX file; None: random games in a search, else NETWORK
    simulations: int = 100  # a move
    games: int = 128  # of one thread
    batch: int | None = None  # positions, of inference and train; None: as many as games
    threads: int | None = None  # None: one a core
    seconds: float = 5.0
    cache: int = 0  # positions that a thread remembers from its network
    seed: int = 0
    precision: Precision = "float32"  # of the network, but in training

    def measure(self, what: What) -> SpeedDocument:
        """The speeds, and where one part alone sets a limit, the ratio to it."""
        measures = {
            "search": self._search,
            "rollouts": self._rollouts,
            "inference": self._inference,
            "train": self._train,
            "selfplay": self._selfplay,
        }
        return {"game": self.game.id, **measures[what]()}

    @property
    def _threads(self) -> int:
        return self.threads or usable_cores()

    def _search(self) -> SpeedDocument:
        from palaestra.rewards.base import default_reward
        from palaestra.search.config import SearchConfig
        from palaestra.search.evaluator import Rollout
        from palaestra.search.search_speed import measure_search
        from palaestra.search.signature import signature

        game, model, int8 = self.game, None, False
        if self.net is not None:
            from palaestra.nets.inference_speed import model_bytes
            from palaestra.nets.int8 import takes_int8

            model, int8 = model_bytes(game, self.net), takes_int8(self.precision)

        def evaluator() -> Evaluator:
            if model is None:
                return Rollout(game, default_reward(game))
            from palaestra.nets.cache import Cached
            from palaestra.nets.evaluator import OnnxEvaluator

            network = OnnxEvaluator(game, model, int8=int8)
            return Cached(network, game, self.cache) if self.cache else network

        config = SearchConfig(rule="uct" if self.net is None else "puct", simulations=self.simulations)
        speed = measure_search(game, evaluator, config, self.games, self._threads, self.seconds, self.seed)
        return {
            "evaluator": self.net or "random games",
            "threads": self._threads,
            "moves_per_second": speed.moves / speed.seconds,
            "simulations_per_second": speed.simulations_per_second,
            "evaluations_per_second": speed.evaluations_per_second,
            "limit_per_second": speed.limit,
            "limit_ratio": speed.limit_ratio,
            "network_share": speed.evaluator_share,
            "signature": signature(),
        }

    def _selfplay(self) -> SpeedDocument:
        from palaestra.learn.config import RunConfig, SelfPlayConfig
        from palaestra.learn.selfplay_speed import measure_selfplay
        from palaestra.search.config import SearchConfig
        from palaestra.search.signature import signature

        net = self.net or NETWORK
        search = SearchConfig(simulations=self.simulations)
        settings = SelfPlayConfig(search=search, slots=self.games, cache=self.cache, precision=self.precision)
        config = RunConfig(game=self.game.id, iterations=1, threads=self._threads, seed=self.seed, selfplay=settings)
        speed = measure_selfplay(self.game, net, config, self.seconds)
        return {
            "net": net,
            "threads": self._threads,
            "games_per_second": speed.games / speed.seconds,
            "positions_per_second": speed.positions / speed.seconds,
            "simulations_per_second": speed.simulations_per_second,
            "evaluations_per_second": speed.evaluations / speed.seconds,
            "limit_per_second": speed.limit,
            "limit_ratio": speed.limit_ratio,
            "network_share": speed.network_share,
            "signature": signature(),
        }

    def _train(self) -> SpeedDocument:
        from palaestra.learn.training_speed import measure_training

        net, batch = self.net or NETWORK, self.batch or self.games
        speed = measure_training(self.game, net, batch, self._threads, self.seconds, self.seed)
        return {
            "net": net,
            "batch": batch,
            "threads": self._threads,
            "samples_per_second": speed.samples_per_second,
            "fixed_batch_per_second": speed.fixed_batch_per_second,
            "limit_per_second": speed.limit,
            "limit_ratio": speed.limit_ratio,
        }

    def _rollouts(self) -> SpeedDocument:
        from palaestra.search.search_speed import measure_rollouts

        speed = measure_rollouts(self.game, self.games, self.seconds, self.seed)
        return {
            "playouts_per_second": speed.playouts_per_second,
            "plies_per_second": speed.plies_per_second,
            "steps_per_second": speed.steps_per_second,
        }

    def _inference(self) -> SpeedDocument:
        from palaestra.nets.inference_speed import matmul_gflops, measure
        from palaestra.nets.int8 import takes_int8

        net, batch = self.net or NETWORK, self.batch or self.games
        speed = measure(self.game, net, batch, self._threads, self.seconds, int8=takes_int8(self.precision))
        limit = matmul_gflops(self._threads)
        report: SpeedDocument = {
            "net": net,
            "batch": batch,
            "threads": self._threads,
            "evaluations_per_second": speed.evaluations_per_second,
            "limit_gflops": limit,
        }
        if speed.gflops is not None:
            report |= {"gflops": speed.gflops, "limit_ratio": speed.gflops / limit}
        return report
