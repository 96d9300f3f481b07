"""The cross table for people: who scored what against whom, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from palaestra.arena.crosstable import Crosstable

SCORE = 18  # characters of "100.0 (95.3–100.0)"


def crosstable(table: Crosstable, width: int = 80) -> Table:
    """Scores in percent, players from best to worst, in `width` columns.

    Long names take several lines. Where they still have too little room, players get no column each, only their score.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from palaestra.cli.output import at_words, least_room

    order = table.standings()
    needed = least_room(table.players)
    decimals = 1 if _room(width, 6 * len(order)) >= needed else 0
    columns = order if _room(width, 4 * len(order)) >= needed else []
    room = _room(width, (6 if decimals else 4) * len(columns))
    shown = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 0), show_edge=False)
    shown.add_column("", justify="right", style="dim")
    shown.add_column("player", overflow="fold")
    for place in range(len(columns)):
        shown.add_column(f"{'vs ' if decimals else ''}{place + 1}", justify="right", min_width=5 if decimals else 3)
    shown.add_column("score (95 %)", justify="right", min_width=SCORE, no_wrap=True)
    for place, row in enumerate(order, start=1):
        low, high = table.interval(row)
        cells = [_cell(table, row, column, decimals) for column in columns]
        score = Text.assemble((f"{100 * table.score(row):.1f}", "bold"), f" ({100 * low:.1f}–{100 * high:.1f})")
        name = at_words(table.players[row], room)
        shown.add_row(str(place), name, *cells, score if any(table.total(row)) else "")
    return shown


def _room(width: int, cells: int) -> int:
    """What is left for names beside the rank, these cells, the score and the gaps."""
    return width - 3 - cells - SCORE - 1


def _cell(table: Crosstable, row: int, column: int, decimals: int) -> str | Text:
    from rich.text import Text

    from palaestra.arena.statistics import score_of

    if row == column:
        return Text("·", "dim")
    tally = table.tallies.get((row, column))
    return "" if tally is None else f"{100 * score_of(*tally):.{decimals}f}"
