"""`palaestra uci`: an engine for programs that speak UCI, on stdin and stdout."""

from __future__ import annotations

from typing import Annotated

import typer

from palaestra.cli import complete
from palaestra.cli.gtp import USUAL, write
from palaestra.cli.options import GAME_HELP, PLAYER_HELP, Seed, full_game_id


def uci(
    game: Annotated[
        str,
        typer.Option("--game", metavar="GAME", help=GAME_HELP, callback=full_game_id, autocompletion=complete.games),
    ] = "openspiel:chess",
    player: Annotated[
        str,
        typer.Option("--player", "-p", metavar="PLAYER", help=PLAYER_HELP, autocompletion=complete.players),
    ] = USUAL,
    seed: Seed = 0,
) -> None:
    """Play in a program that speaks UCI, such as Cute Chess or a chess GUI: commands on stdin, answers on stdout.

    For games whose moves go from a square to a square. The other program's clock stands in place of ms.
    """
    from palaestra.protocols.lines import Lines, standard_input
    from palaestra.protocols.uci import UciEngine, serve

    engine = UciEngine(game, player, write, seed)
    serve(engine, Lines(standard_input()))
