"""Drawings of positions as SVG documents, made of plain shapes: no game's rules are known here."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from palaestra.base.printable import escape
from palaestra.base.types import Int8s

Point = tuple[float, float]

CELL = 40
MARGIN = 26  # around a grid, for the names of its rows and columns
DOT_STEP, DOTS_AROUND = CELL / 2, 2  # between the points of a lattice; steps from the outermost points to the edge
HEX_RADIUS, HEX_MARGIN = CELL * 0.6, 34.0
HEX_WIDTH = HEX_RADIUS * math.sqrt(3)
INK, PAPER, GRID = "#1f2430", "#fbf8f1", "#b9ad96"
LOOKS = {  # background, first player's stones, second player's stones, empty cells: holes of a colour, or only a grid
    "stones": ("#e9d8b4", "#20242c", "#fdfdfb", None),
    "discs": ("#2d6a4f", "#15181d", "#f4f4ef", None),
    "drop": ("#2f5fa8", "#e8c02c", "#d0432f", "#dfe8f5"),
}


@dataclass(frozen=True)
class Spot:
    """Where a drawing shows a move: the corners of an area, or the two ends of a line, and a place for a number."""

    outline: tuple[Point, ...]
    at: Point
    size: float = 12.0  # of the number's letters


def area_spot(x: float, y: float, width: float, height: float) -> Spot:
    """A rectangle by its top left corner."""
    corners = ((x, y), (x + width, y), (x + width, y + height), (x, y + height))
    return Spot(corners, (x + width / 2, y + height / 2))


def grid_spot(row: int, col: int) -> Spot:
    """A cell of `grid_document` or `pieces_document`."""
    return area_spot(MARGIN + col * CELL, MARGIN + row * CELL, CELL, CELL)


def hex_spot(row: int, col: int) -> Spot:
    """A cell of `hex_document`; corners in order from the top, clockwise."""
    x = HEX_MARGIN + HEX_WIDTH * (col + 0.5 + row / 2)
    y = HEX_MARGIN + HEX_RADIUS * (1 + 1.5 * row)
    turns = [k * math.pi / 3 for k in range(6)]
    return Spot(tuple((x + HEX_RADIUS * math.sin(turn), y - HEX_RADIUS * math.cos(turn)) for turn in turns), (x, y))


def document(width: float, height: float, body: list[str]) -> str:
    """A complete SVG file of the given size with the given elements on paper."""
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
    return "\n".join([head, f'<rect width="100%" height="100%" fill="{PAPER}"/>', *body, "</svg>"]) + "\n"


def label(x: float, y: float, text: str, size: float = 13, fill: str = INK) -> str:
    """Text centred on a point; not every program that shows SVG knows a baseline in the middle, all know dy."""
    return (
        f'<text x="{x:g}" y="{y:g}" dy="0.35em" font-family="sans-serif" font-size="{size:g}" text-anchor="middle" '
        f'fill="{fill}">{escape(text)}</text>'
    )


def grid_document(
    cells: Int8s, look: str = "stones", row_names: list[str] | None = None, col_names: list[str] | None = None
) -> str:
    """Stones on a grid with the names of columns and rows around it."""
    rows, cols = cells.shape
    background, first, second, hole = LOOKS[look]
    margin = MARGIN
    body = [
        f'<rect x="{margin}" y="{margin}" width="{cols * CELL}" height="{rows * CELL}" fill="{background}" rx="4"/>'
    ]
    for col in range(cols):
        name = col_names[col] if col_names else chr(ord("a") + col)
        body.append(label(margin + (col + 0.5) * CELL, margin / 2, name))
    for row in range(rows):
        name = row_names[row] if row_names else str(row + 1)
        body.append(label(margin / 2, margin + (row + 0.5) * CELL, name))
        for col in range(cols):
            x, y = margin + col * CELL, margin + row * CELL
            if hole is None:
                body.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="none" stroke="{GRID}"/>')
            fill = {1: first, -1: second}.get(int(cells[row, col]), hole)
            if fill:
                centre = f'cx="{x + CELL / 2:g}" cy="{y + CELL / 2:g}"'
                edge = "none" if fill == hole else INK
                body.append(f'<circle {centre} r="{CELL * 0.38:g}" fill="{fill}" stroke="{edge}"/>')
    return document(cols * CELL + 2 * margin, rows * CELL + 2 * margin, body)


def text_document(text: str) -> str:
    """A drawing in letters, for games that have no better one."""
    lines = text.splitlines() or [""]
    width = max(map(len, lines)) * 9.6 + 24
    style = f'font-family="monospace" font-size="16" xml:space="preserve" fill="{INK}"'
    spans = [f'<text x="12" y="{24 + 18 * i}" {style}>{escape(line)}</text>' for i, line in enumerate(lines)]
    return document(width, 18 * len(lines) + 24, spans)


@dataclass(frozen=True)
class Piece:
    """What stands on a square: a word, on a disc of the first (0) or the second (1) player's colour if it has one."""

    word: str
    side: int | None = None
    size: float = 0.5  # of its letters, as a share of the square


def letters_document(
    row_names: Sequence[str],
    col_names: Sequence[str],
    pieces: Mapping[tuple[int, int], Piece],
    below: Sequence[str] = (),
) -> str:
    """Squares with words on them, the names of rows and columns around them, and lines of text below."""
    rows, cols, margin = len(row_names), len(col_names), MARGIN
    width = max(cols * CELL + 2 * margin, 0.0)
    body = [
        label(margin + (col + 0.5) * CELL, margin / 2, name, _fitting(name, 13)) for col, name in enumerate(col_names)
    ]
    for row, name in enumerate(row_names):
        body.append(label(margin / 2, margin + (row + 0.5) * CELL, name, _fitting(name, 13)))
        for col in range(cols):
            x, y = margin + col * CELL, margin + row * CELL
            fill = "#d9c29a" if (row + col) % 2 else "#f2e6cc"
            body.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="{GRID}"/>')
            if (row, col) in pieces:
                body += _piece(x + CELL / 2, y + CELL / 2, pieces[row, col])
    lines = [part for line in below for part in textwrap.wrap(line, max(int(width / 6.2), 20))]
    top = rows * CELL + 2 * margin
    for number, line in enumerate(lines):
        style = f'font-family="sans-serif" font-size="11" fill="{INK}"'
        body.append(f'<text x="8" y="{top + 14 * number:g}" {style}>{escape(line)}</text>')
    return document(width, top + (14 * len(lines) + 2 if lines else 0), body)


def _piece(x: float, y: float, piece: Piece) -> list[str]:
    size = _fitting(piece.word, CELL * piece.size)
    if piece.side is None:
        return [label(x, y, piece.word, size)]
    disc, ink = [("#20242c", "#ffffff"), ("#fdfdfb", INK)][piece.side]
    circle = f'<circle cx="{x:g}" cy="{y:g}" r="{CELL * 0.42:g}" fill="{disc}" stroke="{INK}"/>'
    return [circle, label(x, y, piece.word, size, ink)]


def _fitting(word: str, size: float) -> float:
    """The size of letters at which a word fits into a square."""
    return min(size, 1.5 * CELL / max(len(word), 1))


def pieces_document(rows: int, cols: int, pieces: dict[tuple[int, int], str], row_names: list[str]) -> str:
    """Chess-like pieces by (row, column) on a chequered board with the names of columns below and rows beside it."""
    margin = MARGIN
    body = []
    for row in range(rows):
        body.append(label(margin / 2, margin + (row + 0.5) * CELL, row_names[row]))
        for col in range(cols):
            x, y = margin + col * CELL, margin + row * CELL
            fill = "#d9c29a" if (rows - 1 - row + col) % 2 == 0 else "#f2e6cc"
            body.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" fill="{fill}" stroke="{GRID}"/>')
            if (row, col) in pieces:
                body.append(label(x + CELL / 2, y + CELL / 2, pieces[row, col], size=CELL * 0.8))
    for col in range(cols):
        body.append(label(margin + (col + 0.5) * CELL, 1.5 * margin + rows * CELL, chr(ord("a") + col)))
    return document(cols * CELL + 2 * margin, rows * CELL + 2 * margin, body)


def hex_document(cells: Int8s) -> str:
    """Stones on a rhombus of hexagons; each player's two edges are drawn in the player's colour."""
    n = len(cells)
    colours = {1: "#c8442f", -1: "#2f5fa8"}
    radius, wide, margin = HEX_RADIUS, HEX_WIDTH, HEX_MARGIN
    body, edges = [], []
    for row in range(n):
        for col in range(n):
            outline = [f"{x:.2f},{y:.2f}" for x, y in hex_spot(row, col).outline]
            fill = colours.get(int(cells[row, col]), "#f2e6cc")
            body.append(f'<polygon points="{" ".join(outline)}" fill="{fill}" stroke="{GRID}"/>')
            sides = [  # an edge of the board runs over two sides of each cell along it
                (row == 0, 1, (5, 0, 1)),
                (row == n - 1, 1, (2, 3, 4)),
                (col == 0, -1, (3, 4, 5)),
                (col == n - 1, -1, (0, 1, 2)),
            ]
            for at_edge, player, way in sides:
                if at_edge:
                    line = " ".join(outline[k] for k in way)
                    edges.append(f'<polyline points="{line}" fill="none" stroke="{colours[player]}" stroke-width="4"/>')
        body.append(label(margin / 2 + wide * row / 2, margin + radius * (1 + 1.5 * row), str(row + 1)))
    for col in range(n):
        body.append(label(margin + wide * (col + 0.5), margin / 2, chr(ord("a") + col)))
    width = 2 * margin + wide * (1.5 * n - 0.5)
    return document(round(width, 1), round(2 * margin + radius * (1.5 * n + 0.5), 1), body + edges)


def dots_corner(points: list[tuple[int, int]]) -> tuple[int, int]:
    """Row and column in the top left corner of `dots_document`: there is room for a point beyond the outermost."""
    return min(row for row, _ in points) - DOTS_AROUND, min(col for _, col in points) - DOTS_AROUND


def dots_document(
    points: list[tuple[int, int]],
    lines: list[tuple[tuple[int, int], tuple[int, int]]],
    first: int,
    numbered: bool = False,
    made: int | None = None,
) -> str:
    """Points (row, column) of a lattice and straight lines between them; the first `first` points are drawn dark.

    With `numbered`, the other points are discs that hold the numbers 1, 2, … in the order in which they are given.
    With `made`, only so many of the lines are drawn, each with its point, and the last of them stands out: the drawing
    has room for all, so that drawings of one course of play lie on each other.
    """
    step = CELL * 0.7 if numbered else DOT_STEP
    top, left = dots_corner(points)
    bottom, right = (max(point[axis] for point in points) + DOTS_AROUND for axis in (0, 1))
    newest = -1 if made is None else made - 1
    if made is not None:
        points, lines = points[: first + made], lines[:made]
    width, height = (right - left) * step, (bottom - top) * step
    body = []
    for col in range(left, right + 1):
        x = (col - left) * step
        body.append(f'<line x1="{x:g}" y1="0" x2="{x:g}" y2="{height:g}" stroke="#ece4d2"/>')
    for row in range(top, bottom + 1):
        y = (row - top) * step
        body.append(f'<line x1="0" y1="{y:g}" x2="{width:g}" y2="{y:g}" stroke="#ece4d2"/>')
    for place, ((r1, c1), (r2, c2)) in enumerate(lines):
        ends = (
            f'{name}="{value * step:g}"'
            for name, value in zip(("x1", "y1", "x2", "y2"), (c1 - left, r1 - top, c2 - left, r2 - top), strict=True)
        )
        pen = 'stroke="#e8890c" stroke-width="4"' if place == newest else 'stroke="#2f5fa8" stroke-width="2"'
        body.append(f"<line {' '.join(ends)} {pen}/>")
    for number, (row, col) in enumerate(points):
        fill, radius = (INK, 4) if number < first else ("#c8442f", 9 if numbered else 4)
        x, y = (col - left) * step, (row - top) * step
        body.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius}" fill="{fill}"/>')
        if numbered and number >= first:
            body.append(label(x, y, str(number - first + 1), size=10, fill="#ffffff"))
    return document(width, height, body)
