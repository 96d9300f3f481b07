"""Tables of figures, and the three forms in which they are given: Rich, Markdown and JSON.

A cell holds its number, not its text: JSON keeps the number, the other two show it in a few digits. This module
measures nothing.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table as RichTable

from benchmarks.timing import Ratio, ratio

Cell = str | int | float | Ratio | None


@dataclass
class Table:
    """Figures under one title; `note` says how they came about and what is not equal."""

    title: str
    columns: tuple[str, ...]
    note: str = ""
    rows: list[tuple[Cell, ...]] = field(default_factory=list)

    def add(self, *cells: Cell) -> None:
        if len(cells) != len(self.columns):
            raise ValueError(f"{self.title}: {len(cells)} cells for {len(self.columns)} columns")
        self.rows.append(cells)


AGAINST = ("what", "ours", "theirs", "beside", "ratio", "target", "reached")


def against(
    table: Table, what: str, ours: Sequence[float], theirs: Sequence[float], beside: str, target: float | None = None
) -> None:
    """Add a row to a table with the columns AGAINST, from the rounds of both; the target is for the median ratio."""
    found = ratio(ours, theirs)
    reached = None if target is None else "yes" if found.median >= target else "no"
    wanted = None if target is None else f"≥ {shown(target)}"
    table.add(what, statistics.median(ours), statistics.median(theirs), beside, found, wanted, reached)


def summary(tables: Sequence[Table]) -> Table:
    """All rows that have a target, in one table: the ratio, or whatever stands in the second column."""
    found = Table("Targets", ("table", "what", "figure", "target", "reached"))
    for table in tables:
        for row in table.rows:
            cells = dict(zip(table.columns, row, strict=True))
            if cells.get("target") is not None:
                found.add(table.title, row[0], cells.get("ratio", row[1]), cells["target"], cells["reached"])
    return found


def shown(cell: Cell) -> str:
    """A cell in a few digits: 1.24 M, 105 k, 3.2 k, 0.61, 5.2 (4.9–5.6)."""
    if cell is None:
        return ""
    if isinstance(cell, Ratio):
        return f"{_number(cell.median)} ({_number(cell.low)}–{_number(cell.high)})"
    return cell if isinstance(cell, str) else _number(cell)


def _number(value: float) -> str:
    if isinstance(value, int) and abs(value) < 10_000:
        return str(value)
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if abs(value) >= 0.9995 * size:
            return f"{_digits(value / size)}{unit}"
    return _digits(value)


def _digits(value: float) -> str:
    """Three significant digits without an exponent; small numbers keep them too."""
    if value == 0 or abs(value) >= 99.95:
        return f"{value:.0f}"
    places = 1 if abs(value) >= 9.995 else 2
    while abs(value) < 10.0 ** (1 - places) and places < 9:
        places += 1
    return f"{value:.{places}f}"


def rich_table(table: Table) -> RichTable:
    rich = RichTable(title=table.title, caption=table.note or None, title_justify="left", caption_justify="left")
    for index, column in enumerate(table.columns):
        rich.add_column(column, justify="right" if _numeric(table, index) else "left")
    for row in table.rows:
        rich.add_row(*map(shown, row))
    return rich


def markdown(table: Table) -> str:
    """A section with the table, ready to be pasted."""
    rule = ["---:" if _numeric(table, index) else "---" for index in range(len(table.columns))]
    lines = [table.columns, rule, *([shown(cell) for cell in row] for row in table.rows)]
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"### {table.title}\n\n{body}\n" + (f"\n{table.note}\n" if table.note else "")


def document(machine: Mapping[str, str], tables: Sequence[Table]) -> str:
    """All tables in Markdown, under one line that says when and where they were measured."""
    facts = " · ".join(f"{name} {value}" for name, value in machine.items())
    return "\n".join([f"Measured with `make bench`: {facts}.\n", *map(markdown, tables)])


def as_json(machine: Mapping[str, str], tables: Sequence[Table]) -> dict[str, Any]:
    """The same as plain data, with all digits."""
    return {"machine": dict(machine), "tables": [_plain(table) for table in tables]}


def _plain(table: Table) -> dict[str, Any]:
    rows = [dict(zip(table.columns, map(_value, row), strict=True)) for row in table.rows]
    return {"title": table.title, "note": table.note, "rows": rows}


def _value(cell: Cell) -> Any:
    return {"median": cell.median, "low": cell.low, "high": cell.high} if isinstance(cell, Ratio) else cell


def _numeric(table: Table, column: int) -> bool:
    cells = [row[column] for row in table.rows if row[column] is not None]
    return bool(cells) and not any(isinstance(cell, str) for cell in cells)
