"""Boards read off text, of a library or of a game of one's own, as SVG, and the cells that a move's text names.

    8bbbbbbbb      19 +++++++++      . . .        rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1
    7........       2 ++X++++++       . x .
     abcdefgh         ABCDEFGHJ        . . o

A board is a block of lines with equally many cells of one character each, with or without spaces between them, row
names in front and column names above or below; lines that begin further and further right are rows of hexagons; a FEN
is read as it is defined. Text without such a block has no board. Knows no rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from palaestra.base.types import Int8s
from palaestra.games.svg import (
    CELL,
    MARGIN,
    Piece,
    Spot,
    area_spot,
    grid_document,
    grid_spot,
    hex_document,
    hex_spot,
    letters_document,
)

STONES = {  # letters that are stones, by the set of both: the first player's, the second player's
    frozenset("xo"): "xo", frozenset("XO"): "XO", frozenset("bw"): "bw", frozenset("BW"): "BW",
    frozenset("@O"): "O@", frozenset("12"): "12",
}  # fmt: skip
EMPTY = ".+-0"  # which of them stands for an empty cell: the first that occurs
CHESSMEN = dict(zip("KQRBNPkqrbnp", "♔♕♖♗♘♙♚♛♜♝♞♟", strict=True))

_LINE = re.compile(
    r"(?P<lead> *)(?:(?P<name>\d{1,2}) ?)?(?P<cells>[^\s\d](?:[^\s\d]*| [^\s\d](?: [^\s\d])*))(?: \d{1,2})? *"
)
_DIGITS = re.compile(r"(?P<lead>)(?P<name>)(?P<cells>[01]{3,})")
_NAMES = re.compile(r" *(?:[A-Za-z]+|[A-Za-z](?: [A-Za-z])+) *")
_FEN = re.compile(r"[A-Za-z0-9+~]+(?:/[A-Za-z0-9+~]+){2,}(?:\[[A-Za-z]*\])? [wb] .*")
_CELL = re.compile(r"(?<![A-Za-z])[a-z]\d{1,2}|[a-z]\d{1,2}(?![a-z])|\d[a-z]|\(?\d+, ?\d+\)?")


@dataclass(frozen=True)
class TextBoard:
    """Cells from the top, each a short text or empty, with the names of rows and columns."""

    cells: tuple[tuple[str, ...], ...]
    rows: tuple[str, ...]
    cols: tuple[str, ...]
    leans: bool = False  # a rhombus of hexagons
    others: tuple[str, ...] = ()  # lines of the text that are not the board

    def find(self, name: str) -> tuple[int, int] | None:
        """Row and column of a cell by its name: a1, or 1a where columns have numbers."""
        name = name.lower()
        for row, row_name in enumerate(self.rows):
            for col, col_name in enumerate(self.cols):
                if name == f"{col_name}{row_name}".lower():
                    return row, col
        return None

    def spot(self, places: list[tuple[int, int]]) -> Spot | None:
        """One place, or the way between the last two; None where there is none."""
        one = hex_spot if self.leans else grid_spot
        if not places:
            return None
        if len(places) == 1 or places[-1] == places[-2]:
            return one(*places[-1])
        begin, end = one(*places[-2]).at, one(*places[-1]).at
        return Spot((begin, end), ((begin[0] + 3 * end[0]) / 4, (begin[1] + 3 * end[1]) / 4))

    def spot_of(self, move: str) -> Spot | None:
        """Where a move's text points: at its column, at the one cell that it names, or the way between two."""
        if move in self.cols:
            return area_spot(MARGIN + self.cols.index(move) * CELL, MARGIN, CELL, len(self.rows) * CELL)
        return self.spot([place for name in cell_names(move) if (place := self.find(name)) is not None])

    def svg(self) -> str:
        """A complete SVG document."""
        stones = self._stones()
        if stones is None or self.others:
            return self._lettered()
        if self.leans and len(self.rows) == len(self.cols):
            return hex_document(stones)
        return grid_document(stones, "stones", list(self.rows), list(self.cols))

    def _stones(self) -> Int8s | None:
        """+1 and -1 for both players' stones, where all pieces are stones."""
        found = {cell for row in self.cells for cell in row if cell}
        for letters, pair in STONES.items():
            if found <= letters:
                signs = {"": 0, pair[0]: 1, pair[1]: -1}
                return np.array([[signs[cell] for cell in row] for row in self.cells], dtype=np.int8)
        return None

    def _lettered(self) -> str:
        """A grid with letters on chequered cells."""
        pieces = {
            (row, col): Piece(cell, _side(cell), 0.8 if cell in CHESSMEN.values() else 0.5)
            for row, cells in enumerate(self.cells)
            for col, cell in enumerate(cells)
            if cell
        }
        return letters_document(self.rows, self.cols, pieces, self.others)

    def text(self) -> str:
        """The board for a terminal, with the names around it."""
        wide = max(map(len, self.rows))
        lines = [
            f"{name:>{wide}} {' '.join(f'{cell or chr(46):>2}' for cell in row)}"
            for name, row in zip(self.rows, self.cells, strict=True)
        ]
        return "\n".join([*lines, f"{'':{wide}} {' '.join(f'{name:>2}' for name in self.cols)}"])


def read_board(text: str) -> TextBoard | None:
    """The board that a text shows; None where it shows none."""
    lines = text.splitlines()
    if len(lines) == 1 and _FEN.fullmatch(text.strip()):
        return read_fen(text)
    matches = [_LINE.fullmatch(line) or _DIGITS.fullmatch(line) for line in lines]
    best: tuple[int, int] = (0, 0)
    for begin in range(len(lines)):
        end = begin
        while end < len(lines) and _fits(matches[begin], matches[end]):
            end += 1
        if end - begin > best[1] - best[0]:
            best = begin, end
    block = [match for match in matches[slice(*best)] if match is not None]
    if len(block) < 2 or len(_cells(block[0])) < 2:
        return None
    cells = [_cells(match) for match in block]
    leads = [len(match["lead"]) for match in block]
    leans = all(match["name"] is None for match in block) and leads == list(range(len(block)))
    empty = next((one for one in EMPTY if any(one in row for row in cells)), "")
    around = [at for at in (best[1], best[0] - 1) if 0 <= at < len(lines)]
    head = next((at for at in around if _are_names(lines[at], len(cells[0]))), None)
    others = (line.strip() for at, line in enumerate(lines) if not best[0] <= at < best[1] and at != head)
    return TextBoard(
        tuple(tuple("" if cell == empty else cell for cell in row) for row in cells),
        tuple(match["name"] or str(row) for row, match in enumerate(block, start=1)),
        _column_names(None if head is None else lines[head], len(cells[0])),
        leans,
        tuple(filter(None, others)),
    )


def read_fen(fen: str) -> TextBoard:
    """The board of a FEN: digits are empty cells, + stands before a promoted piece."""
    rows = []
    for part in fen.split()[0].partition("[")[0].split("/"):
        row: list[str] = []
        for piece in re.findall(r"\d+|\+?[A-Za-z]", part):
            row += [""] * int(piece) if piece.isdigit() else [piece]
        rows.append(row)
    is_shogi = len(rows) == 9
    if not is_shogi:
        rows = [[CHESSMEN.get(cell, cell) for cell in row] for row in rows]
    letters, numbers = [chr(97 + i) for i in range(len(rows))], [str(len(rows) - i) for i in range(len(rows))]
    return TextBoard(
        tuple(map(tuple, rows)), tuple(letters if is_shogi else numbers), tuple(numbers if is_shogi else letters)
    )


def cell_names(text: str) -> list[str]:
    """What may be names of cells in a move's text: a2a3 names two, x(0,1) names (0,1)."""
    return [name.strip("()").replace(" ", "") for name in _CELL.findall(text)]


def _fits(first: re.Match[str] | None, other: re.Match[str] | None) -> bool:
    if first is None or other is None:
        return False
    same_names = (first["name"] is None) == (other["name"] is None)
    return same_names and len(_cells(first)) == len(_cells(other))


def _cells(match: re.Match[str]) -> str:
    return match["cells"].replace(" ", "")


def _are_names(line: str, count: int) -> bool:
    """Whether a line above or below a board names its columns."""
    names = line.replace(" ", "").lower()
    return bool(_NAMES.fullmatch(line)) and len(names) == count and list(names) == sorted(set(names))


def _column_names(line: str | None, count: int) -> tuple[str, ...]:
    if line is not None:
        return tuple(line.replace(" ", "").lower())
    return tuple(chr(97 + col) if count <= 26 else str(col + 1) for col in range(count))


def _side(cell: str) -> int | None:
    """Whose piece it is, where it is a stone; the first player's are 0."""
    for pair in STONES.values():
        if cell in pair:
            return pair.index(cell)
    return None
