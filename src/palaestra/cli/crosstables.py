"""The cross table for people: who scored what against whom, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from palaestra.arena.crosstable import Crosstable

WIDEST = 12  # more players get a column no more: the score alone
NAME = 24  # characters of a player's text that are always shown


def crosstable(table: Crosstable) -> Table:
    """Scores in percent, players from best to worst; at most 100 columns wide."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    order = table.standings()
    columns = order if len(order) <= WIDEST else []
    decimals = 1 if len(order) <= 6 else 0
    shown = Table(box=SIMPLE_HEAD, header_style="bold", padding=(0, 0), show_edge=False)
    shown.add_column("", justify="right", style="dim")
    shown.add_column("player", min_width=min(max(map(len, table.players)), NAME), overflow="ellipsis", no_wrap=True)
    for place in range(len(columns)):
        shown.add_column(f"{'vs ' if decimals else ''}{place + 1}", justify="right", min_width=5 if decimals else 3)
    shown.add_column("score (95 %)", justify="right", min_width=18, no_wrap=True)
    for place, row in enumerate(order, start=1):
        low, high = table.interval(row)
        cells = [_cell(table, row, column, decimals) for column in columns]
        score = Text.assemble((f"{100 * table.score(row):.1f}", "bold"), f" ({100 * low:.1f}–{100 * high:.1f})")
        shown.add_row(str(place), table.players[row], *cells, score if any(table.total(row)) else "")
    return shown


def _cell(table: Crosstable, row: int, column: int, decimals: int) -> str | Text:
    from rich.text import Text

    from palaestra.arena.statistics import score_of

    if row == column:
        return Text("·", "dim")
    tally = table.tallies.get((row, column))
    return "" if tally is None else f"{100 * score_of(*tally):.{decimals}f}"
