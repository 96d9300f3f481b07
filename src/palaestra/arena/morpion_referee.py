"""The rules of Morpion solitaire a second time, in plain Python, so that a solution can be verified by other code than
that which found it (sources: Morpion solitaire). Slow, on an endless lattice, and it imports nothing of this project.

A point is (row, column), counted from 0 at the top left; it is written column letters, row number: (10, 13) is `n11`.
A line is its first point and a direction, `n11e`; in the game kD or kT it has k points, of which exactly one is new.
Lines of one direction share no point in a D game, and at most one in a T game. Any number of lines of different
directions may cross.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

Point = tuple[int, int]

STEPS = {"e": (0, 1), "s": (1, 0), "se": (1, 1), "sw": (1, -1)}
CROSS = {
    5: "...oooo... ...o..o... ...o..o... oooo..oooo o........o o........o oooo..oooo ...o..o... ...o..o... ...oooo...",
    4: "..ooo.. ..o.o.. ooo.ooo o.....o ooo.ooo ..o.o.. ..ooo..",
}
CORNER = {"5d": 10, "5t": 12, "4d": 12, "4t": 12}  # row and column of the picture's top left corner on the grid
_ID = re.compile(r"morpion-([45][dt])(?:-([0-9]{1,2})x\2)?")
_WRITTEN = re.compile(r"([a-z]{1,2})([1-9][0-9]{0,2})(e|s|se|sw)")


class Wrong(Exception):
    """A line that cannot be drawn; the text says why."""


@dataclass(frozen=True)
class Line:
    """A line with the new point that it brought."""

    text: str
    direction: str
    points: tuple[Point, ...]
    new: Point


@dataclass
class Grid:
    """A position: the points of the cross, and the lines drawn so far in their order."""

    k: int
    touching: bool
    cross: list[Point]
    side: int | None = None  # of the board, where it has an edge
    lines: list[Line] = field(default_factory=list)

    @property
    def points(self) -> list[Point]:
        """The cross, then the point of each line."""
        return self.cross + [line.new for line in self.lines]

    def draw(self, text: str) -> None:
        """Draw the line that is written here; Wrong if the rules forbid it."""
        direction, points = self._read(text)
        if self._leaves(points):
            raise Wrong(f"it leaves the board of {self.side}×{self.side} points")
        there = set(self.points)
        missing = [point for point in points if point not in there]
        if not missing:
            raise Wrong(f"all its {self.k} points are there already, and a line brings a new one")
        if len(missing) > 1:
            raise Wrong(f"{_listed(missing)} are missing, and a line brings only one new point")
        if problem := self._conflict(direction, points):
            raise Wrong(problem)
        self.lines.append(Line(text, direction, points, missing[0]))

    def legal(self) -> list[str]:
        """Every line that can be drawn now."""
        there = set(self.points)
        around = {(row + i, col + j) for row, col in there for i in range(-1, 2) for j in range(-1, 2)}
        found = set[str]()
        for new in around - there:
            for direction, (d_row, d_col) in STEPS.items():
                for back in range(self.k):
                    start = new[0] - back * d_row, new[1] - back * d_col
                    points = self._line(start, direction)
                    present = sum(point in there for point in points)
                    if present < self.k - 1 or self._leaves(points) or self._conflict(direction, points):
                        continue
                    found.add(write_point(start) + direction)
        return sorted(found)

    def _leaves(self, points: tuple[Point, ...]) -> bool:
        return self.side is not None and not all(0 <= x < self.side for point in points for x in point)

    def _conflict(self, direction: str, points: tuple[Point, ...]) -> str | None:
        """Why lines of the same direction forbid this one."""
        for number, line in enumerate(self.lines, start=1):
            shared = [point for point in points if line.direction == direction and point in line.points]
            if len(shared) > int(self.touching):
                most = "at most one point" if self.touching else "no point"
                return f"it shares {_listed(shared)} with line {number}, {line.text}; such lines may share {most}"
        return None

    def _read(self, text: str) -> tuple[str, tuple[Point, ...]]:
        match = _WRITTEN.fullmatch(text.lower())
        if match is None:
            raise Wrong("this is not a line; a line is a point and e, s, se or sw, for example n11e")
        letters, number, direction = match.groups()
        column = 0
        for letter in letters:
            column = 26 * column + ord(letter) - ord("a") + 1
        return direction, self._line((int(number) - 1, column - 1), direction)

    def _line(self, start: Point, direction: str) -> tuple[Point, ...]:
        d_row, d_col = STEPS[direction]
        return tuple((start[0] + i * d_row, start[1] + i * d_col) for i in range(self.k))


def knows(game: str) -> bool:
    """Whether a game's id is that of a Morpion solitaire."""
    return _ID.fullmatch(game) is not None


def start(game: str) -> Grid:
    """The cross of a game that `knows`, in the middle of its board."""
    match = _ID.fullmatch(game)
    assert match is not None
    variant, side = match.group(1), None if match.group(2) is None else int(match.group(2))
    k = int(variant[0])
    picture = CROSS[k].split()
    corner = CORNER[variant] if side is None else (side - len(picture) + 1) // 2
    cross = [
        (corner + row, corner + col)
        for row, glyphs in enumerate(picture)
        for col, glyph in enumerate(glyphs)
        if glyph == "o"
    ]
    return Grid(k, variant[1] == "t", cross, side)


def write_point(point: Point) -> str:
    """(10, 13) is n11; columns are a to z, then aa, ab, …"""
    row, col = point
    letters = chr(ord("a") + col % 26)
    return f"{letters if col < 26 else chr(ord('a') + col // 26 - 1) + letters}{row + 1}"


def _listed(points: list[Point]) -> str:
    return ", ".join(map(write_point, points))
