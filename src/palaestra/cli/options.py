"""Arguments and options that several verbs share, so that they read the same everywhere."""

from __future__ import annotations

from typing import Annotated

import typer

GameId = Annotated[
    str, typer.Argument(metavar="GAME", help="A game's id such as connect_four-6x7, or module:attribute for your own.")
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Random numbers are a function of this.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout and nothing else there.")]
Moves = Annotated[
    str,
    typer.Option(
        "--moves", "-m", metavar="MOVES", help="Moves from the start, in the game's notation; @K first picks start K."
    ),
]
PLAYER_HELP = "A player such as random, alphabeta(depth=6) or uct(simulations=200)."
