"""Small tables in HTML for notebooks. Every text is escaped; styles stand in the elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from palaestra.base.printable import escape

CELL = "padding:1px 8px;text-align:"


def heading(text: str) -> str:
    return f"<div><b>{escape(text)}</b></div>"


def note(text: str) -> str:
    return f'<div style="opacity:.7">{escape(text)}</div>' if text else ""


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The first column is a name, the others are numbers."""
    head = "".join(f'<th style="{CELL}{_side(place)}">{escape(title)}</th>' for place, title in enumerate(titles))
    body = "".join(
        "<tr>"
        + "".join(f'<td style="{CELL}{_side(place)}">{escape(cell)}</td>' for place, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return f'<table style="border-collapse:collapse"><tr>{head}</tr>{body}</table>'


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Names and what they are, a line each."""
    lines = (f'<tr><td style="{CELL}left;opacity:.7">{escape(a)}</td><td style="{CELL}left">{escape(b)}</td></tr>'
             for a, b in rows)  # fmt: skip
    return f'<table style="border-collapse:collapse">{"".join(lines)}</table>'


def beside(*parts: str) -> str:
    """Parts next to each other, below each other where there is no room."""
    cells = "".join(f"<div>{part}</div>" for part in parts)
    return f'<div style="display:flex;flex-wrap:wrap;gap:16px;align-items:flex-start">{cells}</div>'


def drawing(svg: str, width: int = 260) -> str:
    """A picture of its own size, bounded; its styles and ids are its own, so that several share a page."""
    from base64 import b64encode

    data = b64encode(svg.encode()).decode()
    return f'<img alt="" style="max-width:{width}px;width:100%" src="data:image/svg+xml;base64,{data}">'


def _side(place: int) -> str:
    return "left" if place == 0 else "right"
