"""`palaestra bench`: how fast this machine runs games, networks and searches, each beside its limit."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from palaestra.cli.options import GameId, Json, Seed


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
    precision: Annotated[
        Literal["float32", "int8", "auto"],
        typer.Option(help="Of the network's convolutions; training is always in float32 here."),
    ] = "float32",
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
    from palaestra.cli.output import print_json, stdout
    from palaestra.games.registry import make_game
    from palaestra.live.speed import LIMITS, SpeedTest

    test = SpeedTest(make_game(game), net, simulations, games, batch, threads, seconds, cache, seed, precision)
    report = test.measure(what)
    if json:
        print_json(report)
        return
    del report["game"]  # which the user has just typed
    for key, value in report.items():
        if value is not None:  # random games cannot be told apart from the search that plays them
            stdout().print(f"{key.replace('_', ' '):>24}  {_shown(value)}")
    if what in LIMITS:
        stdout().print(f"The limit ratio is {LIMITS[what]}.", style="dim")


def _shown(value: str | int | float) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.3f}" if value < 100 else f"{value:,.0f}"
