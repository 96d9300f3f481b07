"""`palaestra export`: a run's network as one file that plays anywhere."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from palaestra.cli import complete
from palaestra.cli.options import Json, RunName, full_game_id


def export(
    run: RunName,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write; one that exists is replaced.")],
    network: Annotated[str, typer.Option(help="best, last, or an iteration.")] = "best",
    game: Annotated[
        str | None,
        typer.Option(
            metavar="GAME",
            help="Another game that the network can play: rNcM fits boards of every size.",
            show_default=False,
            callback=full_game_id,
            autocompletion=complete.games,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write a run's network as an ONNX file, and its SHA-256."""
    from palaestra.cli.output import command_name, print_json, stdout
    from palaestra.live.exported import export_network

    found = export_network(run, out, network, game)
    if json:
        print_json(found.document())
        return
    console, stored = stdout(), found.run
    console.print(
        f"{out}: network {found.iteration} of {stored.name}, reward {stored.reward}; {found.bytes:,} bytes, SHA-256"
        f" {found.sha256}",
        markup=False,
        soft_wrap=True,
    )
    if stored.is_learned():
        console.print(
            f"What {stored.reward} has learned stays in the run: 'run:{stored.name}' searches under it, the file under"
            " the game's own reward.",
            markup=False,
            soft_wrap=True,
        )
    console.print(
        f"Play it: {command_name()} play {quote(found.game)} --against '{found.player}'",
        markup=False,
        soft_wrap=True,
    )
