"""`palaestra runs`: which runs there are, how far they came, and how strong they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.cli.options import Json

if TYPE_CHECKING:
    from palaestra.live.run import RunList


def runs(
    folder: Annotated[
        str | None,
        typer.Argument(metavar="FOLDER", help="Where the runs are; ./runs by default.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """List runs, the newest first: game, minutes, iterations, strength at the last evaluation, state."""
    from palaestra.cli.output import print_json, say
    from palaestra.live.run import list_runs

    rows = list_runs(folder)
    if json:
        print_json(rows.document())
    elif not rows:
        where = folder or "runs"
        say(f"No runs in {where}. To make one: palaestra train connect_four-6x7 --minutes 30 --out first-try")
    else:
        _print(rows)


def _print(rows: RunList) -> None:
    from rich.table import Table
    from rich.text import Text

    from palaestra.cli.output import stdout

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("run", "game", "min", "iter", "strength", "state", "changed"):
        right = name in ("min", "iter")
        table.add_column(
            name, justify="right" if right else "left", overflow="fold", no_wrap=name not in ("run", "game")
        )
    for name, game, minutes, iterations, strength, state, changed in rows.rows():
        shown = Text(state, style={"running": "green", "damaged": "red"}.get(state, ""))
        table.add_row(Text(name), Text(game), minutes, iterations, strength, shown, changed)
    console = stdout()
    console.print(table)
    if any(row.strength is not None for row in rows):
        console.print(
            Text(
                "Strength is Elo above random, or the mean score of one player, ± 95 %. Changed: how long ago.",
                style="dim",
            )
        )
    for row in rows:
        if row.problem is not None:
            console.print(
                Text(f"{row.name}: {row.problem}", style="red" if row.state == "damaged" else "dim"), soft_wrap=True
            )
