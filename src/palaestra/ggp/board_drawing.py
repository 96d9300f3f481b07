"""The board of a game in GDL as a drawing: squares with what is on them, and where a move stands.

The first axis runs down, as in the text drawing, unless the rules hint at what people expect: letters on the first
axis and numbers on the second, or moves such as (drop 3) that name a place on the first axis alone. Then it runs
across, and the second one upwards.
A piece has the colour of the role whose name it begins like: wp of white, x of xplayer. Knows no states.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from palaestra.games.svg import CELL, MARGIN, Piece, Spot, area_spot, grid_spot, letters_document
from palaestra.ggp.board_layout import BLANKS, Board, is_number, natural_order
from palaestra.ggp.terms import Term, arguments, name_of, term_text


@dataclass(frozen=True)
class BoardDrawing:
    """`across`: whether the board's first axis runs across, and the second one upwards."""

    board: Board
    across: bool
    lines_of_first: bool  # whether a move that names one place means one on the first axis
    roles: tuple[str, ...]

    def svg(self, facts: Iterable[Term]) -> str:
        """The squares with what is on them, and all other facts below them."""
        words: dict[tuple[int, int], list[str]] = {}
        others = []
        for fact in sorted(facts, key=natural_order):
            place = self.board.place(fact)
            if place is None:
                others.append(term_text(fact))
                continue
            content = " ".join(map(term_text, arguments(place.key))) or name_of(place.key)
            if content.lower() not in BLANKS:
                words.setdefault(self._square(*divmod(place.cell, len(self.board.columns))), []).append(content)
        pieces = {square: Piece("/".join(some), self._side(some[0])) for square, some in words.items()}
        rows, columns = self.board.rows, self.board.columns
        down, across = (tuple(reversed(columns)), rows) if self.across else (rows, columns)
        return letters_document(down, across, pieces, [" ".join(others)] if others else ())

    def spot(self, move: Term) -> Spot | None:
        """The last square that a move names; its line of squares where it names but one axis; None if neither."""
        inside = [part for part in arguments(move) if isinstance(part, str)]
        rows, columns = self.board.rows, self.board.columns
        if len(arguments(move)) == 1:
            return self._line(inside[0]) if inside else None
        at, found = 0, None
        while at + 1 < len(inside):
            if inside[at] in rows and inside[at + 1] in columns:
                found = rows.index(inside[at]), columns.index(inside[at + 1])
                at += 1
            at += 1
        return None if found is None else grid_spot(*self._square(*found))

    def _line(self, name: str) -> Spot | None:
        """All squares of a place on one axis."""
        axis, other = self.board.rows, self.board.columns
        if not self.lines_of_first:
            axis, other = other, axis
        if name not in axis:
            return None
        places = (axis.index(name), 0) if self.lines_of_first else (0, axis.index(name))
        down, right = self._square(*places)
        if self.lines_of_first == self.across:  # a column of the drawing
            return area_spot(MARGIN + right * CELL, MARGIN, CELL, CELL * len(other))
        return area_spot(MARGIN, MARGIN + down * CELL, CELL * len(other), CELL)

    def _square(self, first: int, second: int) -> tuple[int, int]:
        """Row and column of the drawing."""
        return (len(self.board.columns) - 1 - second, first) if self.across else (first, second)

    def _side(self, content: str) -> int | None:
        """The role that a piece is of, where two roles' names begin differently."""
        initials = [role[0].lower() for role in self.roles]
        if len(initials) != 2 or initials[0] == initials[1] or content[0].lower() not in initials:
            return None
        side = initials.index(content[0].lower())
        white = next((number for number, role in enumerate(self.roles) if role.lower() == "white"), 1)
        return side if white else 1 - side


def draw_board(board: Board | None, roles: Sequence[str], moves: Iterable[Term]) -> BoardDrawing | None:
    """How a board is drawn; None if there is none."""
    if board is None:
        return None
    single = {part for move in moves if len(arguments(move)) == 1 for part in arguments(move)}
    on_first = len(single) > 1 and not single <= set(board.columns) and single <= set(board.rows)
    lettered = not any(map(is_number, board.rows)) and all(map(is_number, board.columns))
    return BoardDrawing(board, on_first or lettered, on_first, tuple(roles))
