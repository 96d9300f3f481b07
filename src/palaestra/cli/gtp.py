"""`palaestra gtp`: an engine for programs that speak the Go Text Protocol, on stdin and stdout."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from palaestra.cli import complete
from palaestra.cli.options import PLAYER_HELP, GameId, Seed

USUAL = "uct(ms=1000)"


def gtp(
    game: GameId,
    player: Annotated[
        str,
        typer.Option("--player", "-p", metavar="PLAYER", help=PLAYER_HELP, autocompletion=complete.players),
    ] = USUAL,
    seed: Seed = 0,
) -> None:
    """Play in a program that speaks GTP, such as Sabaki or GoGui: commands on stdin, answers on stdout.

    For games whose moves are points of a board. The clock of the other program, if it sends one, stands in place of ms.
    """
    from palaestra.protocols.gtp import GtpEngine, serve
    from palaestra.protocols.lines import Lines, standard_input

    lines = Lines(standard_input())
    serve(GtpEngine(game, player, write, lines.waiting, seed), lines)


def write(text: str) -> None:
    """To the other program, at once."""
    sys.stdout.write(text)
    sys.stdout.flush()
