"""Bin packing in three dimensions a second time, in plain Python and cell by cell, so that a packing can be verified by
other code than that which found it (sources: bin packing). It imports nothing of this project but the other referee.

Moves come in pairs: an item as it stands, `4x3x2` (width, depth, height), and the cell over which its back left corner
is let down, `c5` (column letter, row number).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from palaestra.arena.tour_referee import words_of

Cell = tuple[int, int, int]  # column, row, layer
Sides = tuple[int, int, int]  # width, depth, height

CUBE, BENCH = 10, 15
_ID = re.compile(r"bin_packing-3d(?:-([0-9]{1,2}))?")
_ITEM = re.compile(r"([1-9]|10)x([1-9]|10)x([1-9]|10)")
_PLACE = re.compile(r"([a-o])([1-9]|1[0-5])")


class Wrong(Exception):
    """Moves that are no packing; the text says why."""


def knows(game: str) -> bool:
    return _ID.fullmatch(game) is not None


def judge(game: str, start: int, moves: Sequence[str]) -> int:
    """The score of a packing of initial position `start`: 676 less the half surface of its box; 0 if not all fits."""
    match = _ID.fullmatch(game)
    left = Counter(tuple(sorted(item)) for item in instance(int((match and match[1]) or 10), start))
    filled: set[Cell] = set()
    for number in range(0, len(moves), 2):
        sides = _sides(moves[number])
        size = tuple(sorted(sides))
        if not left[size]:
            raise Wrong(f"{moves[number][:20]} is not among the items that are left")
        left[size] -= 1
        if number + 1 == len(moves):
            return _fits_nowhere(sides, filled)
        filled |= _let_down(sides, moves[number + 1], filled)
    if +left:
        raise Wrong(f"{left.total()} items are left")
    length, depth, height = (max(cell[axis] for cell in filled) + 1 for axis in range(3))
    return 676 - (length * depth + depth * height + height * length)


def instance(count: int, start: int) -> list[Sides]:
    """The items of an initial position: the pieces of a cube after count - 1 cuts."""
    words = words_of(start)
    pieces: list[Sides] = [(CUBE, CUBE, CUBE)]
    while len(pieces) < count:
        cuts = [
            (number, axis, at)
            for number, sides in enumerate(pieces)
            for axis in range(3)
            for at in range(1, sides[axis])
        ]
        number, axis, at = cuts[((next(words) >> 32) * len(cuts)) >> 32]
        one, other = list(pieces[number]), list(pieces[number])
        one[axis], other[axis] = at, one[axis] - at
        pieces[number] = (one[0], one[1], one[2])
        pieces.append((other[0], other[1], other[2]))
    return pieces


def _let_down(sides: Sides, place: str, filled: set[Cell]) -> set[Cell]:
    """The cells that the item fills."""
    match = _PLACE.fullmatch(place.lower())
    if match is None:
        raise Wrong(f"{place[:20]!r} is no place: they are written a1 to o15")
    corner = (ord(match[1]) - ord("a"), int(match[2]) - 1)
    found = _rest(sides, corner, filled)
    if found is None:
        raise Wrong(f"the item does not fit on the bench at {place}")
    for name, way in (("left", (-1, 0, 0)), ("back", (0, -1, 0))):
        moved = {(x + way[0], y + way[1], z) for x, y, z in found}
        if min(min(x, y) for x, y, _ in moved) >= 0 and not _covered(moved - found, filled):
            raise Wrong(f"the item at {place} could slide {name}")
    return found


def _rest(sides: Sides, corner: tuple[int, int], filled: set[Cell]) -> set[Cell] | None:
    """Where an item comes to rest that is let down from above; None if it sticks out anywhere."""
    columns = [(corner[0] + x, corner[1] + y) for x in range(sides[0]) for y in range(sides[1])]
    if any(max(column) >= BENCH for column in columns):
        return None
    tops = {(x, y): z + 1 for x, y, z in sorted(filled, key=lambda cell: cell[2])}
    floor = max(tops.get(column, 0) for column in columns)
    if floor + sides[2] > BENCH:
        return None
    return {(x, y, z) for x, y in columns for z in range(floor, floor + sides[2])}


def _covered(cells: set[Cell], filled: set[Cell]) -> bool:
    """Whether something lies in these cells or above them: what is below an overhang cannot be reached."""
    floor = min(z for _, _, z in cells)
    columns = {(x, y) for x, y, _ in cells}
    return any((x, y) in columns and z >= floor for x, y, z in filled)


def _fits_nowhere(sides: Sides, filled: set[Cell]) -> int:
    if any(_rest(sides, (x, y), filled) is not None for x in range(BENCH) for y in range(BENCH)):
        raise Wrong("the last item was chosen and not placed")
    return 0


def _sides(text: str) -> Sides:
    match = _ITEM.fullmatch(text.lower())
    if match is None:
        raise Wrong(f"{text[:20]!r} is no item: they are written WIDTHxDEPTHxHEIGHT, for example 4x3x2")
    return int(match[1]), int(match[2]), int(match[3])
