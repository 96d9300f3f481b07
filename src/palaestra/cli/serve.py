"""`palaestra serve`: the page in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from palaestra.base.errors import ConfigError, GameError
from palaestra.cli import complete


def serve(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where the page is.")] = 8800,
    host: Annotated[
        str,
        typer.Option(metavar="HOST", help="127.0.0.1 is this machine alone; others need the token that is printed."),
    ] = "127.0.0.1",
    open_it: Annotated[bool, typer.Option("--open", help="Open a browser.")] = False,
    runs: Annotated[str, typer.Option(metavar="FOLDER", help="Where runs are.")] = "runs",
    game: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GAME",
            help="A game of your own, my_game:GAME or gdl:FILE.kif; may be repeated.",
            show_default=False,
            autocompletion=complete.games,
        ),
    ] = None,
    searches: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Searches at once; as many as cores by default.", show_default=False),
    ] = None,
) -> None:
    """Play, analyse, watch and compare in the browser. Ctrl-C ends it; runs that were started there go on."""
    import importlib.util

    if importlib.util.find_spec("nicegui") is None:
        raise ConfigError("the page needs NiceGUI: pip install 'palaestra[web]'")
    from palaestra.cli.output import say
    from palaestra.games.base import RULES
    from palaestra.games.registry import make_game
    from palaestra.live.role_play import rules_of
    from palaestra.web.server import serve as start

    for text in game or ():
        try:
            make_game(text)
        except GameError:
            if not text.startswith(RULES):
                raise
            rules_of(text)  # rules that are not played in turn have a page, too

    def ready(address: str) -> None:
        say(f"Palaestra is at {address}  (Ctrl-C ends it)")
        if open_it:
            import webbrowser

            webbrowser.open(address)

    start(host, port, Path(runs), own_games=tuple(game or ()), searches=searches, ready=ready)
