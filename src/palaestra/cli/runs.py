"""`palaestra runs`: which runs there are, how far they came, and how strong they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.cli.options import Json

if TYPE_CHECKING:
    from palaestra.runs.overview import RunRow, Strength


def runs(
    folder: Annotated[
        str | None,
        typer.Argument(metavar="FOLDER", help="Where the runs are; ./runs by default.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """List runs, the newest first: game, minutes, iterations, strength at the last evaluation, state."""
    from pathlib import Path

    from palaestra.cli.output import print_json, say
    from palaestra.runs.overview import list_runs
    from palaestra.runs.places import RUNS

    root = RUNS if folder is None else Path(folder)
    rows = [] if folder is None and not root.exists() else list_runs(root)
    if json:
        print_json([row.to_json() for row in rows])
    elif not rows:
        say(f"No runs in {root}. To make one: palaestra train connect_four-6x7 --minutes 30 --out first-try")
    else:
        _print(rows)


def _print(rows: list[RunRow]) -> None:
    import time

    from rich.table import Table
    from rich.text import Text

    from palaestra.cli.output import stdout

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("run", "game", "min", "iter", "strength", "state", "changed"):
        right = name in ("min", "iter")
        table.add_column(
            name, justify="right" if right else "left", overflow="fold", no_wrap=name not in ("run", "game")
        )
    now = time.time()
    for row in rows:
        table.add_row(
            Text(row.name),
            Text(row.game or "–"),
            "–" if row.minutes is None else f"{row.minutes:.1f}",
            "–" if row.iterations is None else str(row.iterations),
            strength_in_words(row.strength),
            Text(row.state, style={"running": "green", "damaged": "red"}.get(row.state, "")),
            ago(now - row.changed),
        )
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


def strength_in_words(strength: Strength | None) -> str:
    """ "+636 ±290", ">+412" where it has no upper end, "61.3 ±1.2" for a score; "–" if it was never measured."""
    if strength is None:
        return "–"
    signed = "+.0f" if strength.against is not None else ".1f"
    if strength.value is None or strength.low is None or strength.high is None:
        if strength.low is not None:
            return f">{strength.low:{signed}}"
        if strength.high is not None:
            return f"<{strength.high:{signed}}"
        return "–" if strength.value is None else f"{strength.value:{signed}}"
    margin = max(strength.high - strength.value, strength.value - strength.low)
    words = f"{strength.value:{signed}} ±{margin:{signed[-3:]}}"
    return words if strength.against in (None, "random") else f"{words} on {strength.against}"


def ago(seconds: float) -> str:
    """ "now", "5 min", "3 h", "12 days" ago."""
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size or (size == 60 and seconds >= size):
            return f"{seconds // size:.0f} {unit}"
    return "now"
