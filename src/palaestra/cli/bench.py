"""`palaestra bench`: how fast this machine runs games, networks and searches, each beside its limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from palaestra.base.cores import usable_cores
from palaestra.cli.options import GameId, Json, Seed

if TYPE_CHECKING:
    from palaestra.games.base import Game


# What is divided by what, for people.
LIMITS = {
    "search": "simulations over the evaluations of the evaluator alone",
    "selfplay": "simulations over the evaluations of the network alone",
    "train": "samples over those of forward and backward passes alone",
    "inference": "gflops over those of matrix products alone",
}


def bench(
    what: Annotated[
        Literal["search", "rollouts", "inference", "train", "selfplay"], typer.Argument(help="What is measured.")
    ],
    game: GameId = "connect_four-6x7",
    net: Annotated[
        str | None, typer.Option(help="A network such as b3c32, or an ONNX file; none: random games.")
    ] = None,
    simulations: Annotated[int, typer.Option(min=1, max=10**7, help="Simulations a move.")] = 100,
    games: Annotated[int, typer.Option(min=1, max=10**5, help="Games of one thread.")] = 128,
    batch: Annotated[
        int | None,
        typer.Option(min=1, max=65536, help="Positions a batch, of inference and train; by default as --games."),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, max=1024, help="Threads; by default one a core.")] = None,
    seconds: Annotated[float, typer.Option(min=0.01, max=3600, help="For how long.")] = 5.0,
    cache: Annotated[int, typer.Option(min=0, max=2**28, help="Positions a thread remembers from its network.")] = 0,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Measure speed: a search, self-play, random games, training, or a network alone. Searches print a signature.

    The limit is what one part alone reaches on as many threads:
    random games or the network (search, selfplay), forward and backward
    passes (train), matrix products (inference).

    The limit ratio is the speed over that limit: 1 means that nothing else
    costs time. A search can pass 1: leaves where the game is over, or that
    are remembered, need no evaluation.
    """
    from palaestra.games.registry import make_game

    rules = make_game(game)
    threads = threads or usable_cores()
    if what == "rollouts":
        report = _rollouts(rules, games, seconds, seed)
    elif what == "inference":
        report = _inference(rules, net or "b3c32", batch or games, threads, seconds)
    elif what == "train":
        report = _train(rules, net or "b3c32", batch or games, threads, seconds, seed)
    elif what == "selfplay":
        report = _selfplay(rules, net or "b3c32", simulations, games, threads, seconds, cache, seed)
    else:
        report = _search(rules, net, simulations, games, threads, seconds, cache, seed)
    if json:
        from palaestra.cli.output import print_json

        print_json({"game": rules.id, **report})
        return
    from palaestra.cli.output import stdout

    for key, value in report.items():
        if value is not None:  # random games cannot be told apart from the search that plays them
            stdout().print(f"{key.replace('_', ' '):>24}  {_shown(value)}")
    if what in LIMITS:
        stdout().print(f"The limit ratio is {LIMITS[what]}.", style="dim")


def _shown(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.3f}" if value < 100 else f"{value:,.0f}"


def _search(
    game: Game, net: str | None, simulations: int, games: int, threads: int, seconds: float, cache: int, seed: int
) -> dict[str, Any]:
    from palaestra.rewards.base import default_reward
    from palaestra.search.config import SearchConfig
    from palaestra.search.evaluator import Evaluator, Rollout
    from palaestra.search.search_speed import measure_search
    from palaestra.search.signature import signature

    model: str | bytes | None = None
    if net is not None:
        from palaestra.nets.inference_speed import model_bytes

        model = model_bytes(game, net)

    def evaluator() -> Evaluator:
        if model is None:
            return Rollout(game, default_reward(game))
        from palaestra.nets.cache import Cached
        from palaestra.nets.evaluator import OnnxEvaluator

        return Cached(OnnxEvaluator(game, model), game, cache) if cache else OnnxEvaluator(game, model)

    config = SearchConfig(rule="uct" if net is None else "puct", simulations=simulations)
    speed = measure_search(game, evaluator, config, games, threads, seconds, seed)
    return {
        "evaluator": net or "random games",
        "threads": threads,
        "moves_per_second": speed.moves / speed.seconds,
        "simulations_per_second": speed.simulations_per_second,
        "evaluations_per_second": speed.evaluations_per_second,
        "limit_per_second": speed.limit,
        "limit_ratio": speed.limit_ratio,
        "network_share": speed.evaluator_share,
        "signature": signature(),
    }


def _selfplay(
    game: Game, net: str, simulations: int, slots: int, threads: int, seconds: float, cache: int, seed: int
) -> dict[str, Any]:
    from palaestra.learn.config import RunConfig, SelfPlayConfig
    from palaestra.learn.selfplay_speed import measure_selfplay
    from palaestra.search.config import SearchConfig
    from palaestra.search.signature import signature

    search = SearchConfig(simulations=simulations)
    settings = SelfPlayConfig(search=search, slots=slots, cache=cache)
    config = RunConfig(game=game.id, iterations=1, threads=threads, seed=seed, selfplay=settings)
    speed = measure_selfplay(game, net, config, seconds)
    return {
        "net": net,
        "threads": threads,
        "games_per_second": speed.games / speed.seconds,
        "positions_per_second": speed.positions / speed.seconds,
        "simulations_per_second": speed.simulations_per_second,
        "evaluations_per_second": speed.evaluations / speed.seconds,
        "limit_per_second": speed.limit,
        "limit_ratio": speed.limit_ratio,
        "network_share": speed.network_share,
        "signature": signature(),
    }


def _train(game: Game, net: str, batch: int, threads: int, seconds: float, seed: int) -> dict[str, Any]:
    from palaestra.learn.training_speed import measure_training

    speed = measure_training(game, net, batch, threads, seconds, seed)
    return {
        "net": net,
        "batch": batch,
        "threads": threads,
        "samples_per_second": speed.samples_per_second,
        "fixed_batch_per_second": speed.fixed_batch_per_second,
        "limit_per_second": speed.limit,
        "limit_ratio": speed.limit_ratio,
    }


def _rollouts(game: Game, games: int, seconds: float, seed: int) -> dict[str, Any]:
    from palaestra.search.search_speed import measure_rollouts

    speed = measure_rollouts(game, games, seconds, seed)
    return {
        "playouts_per_second": speed.playouts_per_second,
        "plies_per_second": speed.plies_per_second,
        "steps_per_second": speed.steps_per_second,
    }


def _inference(game: Game, net: str, batch: int, threads: int, seconds: float) -> dict[str, Any]:
    from palaestra.nets.inference_speed import matmul_gflops, measure

    speed = measure(game, net, batch, threads, seconds)
    limit = matmul_gflops(threads)
    report: dict[str, Any] = {
        "net": net,
        "batch": batch,
        "threads": threads,
        "evaluations_per_second": speed.evaluations_per_second,
        "limit_gflops": limit,
    }
    if speed.gflops is not None:
        report |= {"gflops": speed.gflops, "limit_ratio": speed.gflops / limit}
    return report
