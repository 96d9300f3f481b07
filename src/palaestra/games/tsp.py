"""The travelling salesman: one player visits every city once and comes back (sources: travelling salesman).

         a b c d … p      Initial position k puts N cities on different cells of a lattice of 16×16, uniformly. The tour
      1  . o . .          begins at one of them. A move goes to a city that was not visited, written as its cell; after
      2  . . 1 .          the last one the way back is added by itself. The way between two cells is ten times their
      3  2 . . o          distance, rounded to a whole number: d1 to d2 is 10, d1 to e2 is 14.

The outcome is 212·N - length: 212 is the longest way there is, so that no tour is worth less than 0, and every unit of
length is one unit of outcome.

Actions are cells, 16·row + column: the number of actions is the same for all N, so that a network may serve all of
them; a convolutional policy speaks of places, not of names of cities; and all eight symmetries of the square are
symmetries of the game. What an action does not say is where the salesman comes from. NRPA, whose codes are actions,
learns an order of the cities, not which follows which.

`greedy` goes to the nearest city, `two_opt` improves whole tours. The body of a state and the rules are in
`palaestra.games.tsp_rules`.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np

from palaestra.base.errors import GameError, MoveError
from palaestra.base.types import Int8s, Int32s
from palaestra.games.kernel_game import KernelGame
from palaestra.games.rows import ONGOING
from palaestra.games.svg import CELL, INK, MARGIN, Spot, area_spot, document, label
from palaestra.games.symmetry import Symmetry, square_maps
from palaestra.games.tsp_rules import CELLS, LENGTH, LONGEST, PATH, PLANES, RULES, SIDE, STEP, WAITING, state_size, way

CITIES = (4, 100)  # fewest and most
NUM_STARTS = 100_000
_STEP = CELL * 0.8  # between the points of the drawing


@dataclass(frozen=True, eq=False, kw_only=True)
class TspGame(KernelGame):
    """Text and pictures of a tour."""

    num_cities: int

    def lengths(self, outcomes: Int32s) -> Int32s:
        """int32: of the tours with these outcomes."""
        return np.asarray(LONGEST * self.num_cities - outcomes, dtype=np.int32)

    def visited(self, state: Int8s) -> list[int]:
        """The cells of the cities in the order in which they were visited."""
        number = int(self.plies(state[None])[0]) + 1
        return state[PATH : PATH + number].view(np.uint8).tolist()

    def waiting(self, state: Int8s) -> list[int]:
        """The cells of the other cities, ascending."""
        there = np.unpackbits(state[8 * WAITING : 8 * WAITING + CELLS // 8].view(np.uint8), bitorder="little")
        return np.flatnonzero(there).tolist()

    def length(self, state: Int8s) -> int:
        """Of the path so far, and when play is over of the whole tour."""
        return int(np.ascontiguousarray(state[8 * LENGTH : 8 * LENGTH + 8]).view(np.int64)[0])

    # Text.

    def action_to_text(self, state: Int8s, action: int) -> str:
        return _name(action)

    def state_to_text(self, state: Int8s) -> str:
        """The visited cities joined by hyphens, a slash, the others joined by commas."""
        return f"{'-'.join(map(_name, self.visited(state)))}/{','.join(map(_name, self.waiting(state)))}"

    def state_from_text(self, text: str) -> Int8s:
        """The position with these cities, after this path."""
        try:
            before, after = text.strip().split("/")
            path, others = (
                [_cell(word) for word in part] for part in (before.split("-"), after.split(",") * bool(after))
            )
            cities = {*path, *others}
            if len(cities) != self.num_cities or len(cities) != len(path) + len(others):
                raise ValueError(text)
        except ValueError:
            example = self.state_to_text(self.start(np.zeros(1, dtype=np.int64))[0])
            raise MoveError(
                f"{text[:80]!r} is not a position of {self.id}: visited cities joined by -, a slash, the others joined"
                f" by commas, {self.num_cities} different ones; an initial one is {example!r}"
            ) from None
        state = np.zeros((1, self.state_size), dtype=np.int8)
        state[0, 4:8] = np.array([ONGOING], dtype=np.int32).view(np.int8)
        there = np.zeros(CELLS, dtype=np.uint8)
        there[[cell for cell in cities if cell != path[0]]] = 1
        state[0, 8 * WAITING : 8 * WAITING + CELLS // 8] = np.packbits(there, bitorder="little").view(np.int8)
        state[0, PATH] = np.uint8(path[0]).view(np.int8)
        for cell in path[1:]:
            state = self.advance(state, np.array([cell], dtype=np.int32))
        return state[0]

    # Drawings.

    def render(self, state: Int8s) -> str:
        """The lattice with the visited cities as numbers, the others as o."""
        cells = [" ."] * CELLS
        for cell in self.waiting(state):
            cells[cell] = " o"
        for number, cell in enumerate(self.visited(state), start=1):
            cells[cell] = f"{number % 100:2d}"
        lines = ["     " + "  ".join(ascii_lowercase[:SIDE])]
        lines += [f"{row + 1:3d} " + " ".join(cells[row * SIDE : (row + 1) * SIDE]) for row in range(SIDE)]
        return "\n".join([*lines, self._words(state)])

    def _words(self, state: Int8s) -> str:
        over = int(self.outcome(state[None])[0]) != ONGOING
        return f"{'tour' if over else 'path'} of length {self.length(state):,}" + (
            "" if over else f"; {len(self.waiting(state))} cities to visit"
        )

    def spot(self, state: Int8s, action: int, drawn: Int8s) -> Spot | None:
        """A square around the city."""
        x, y = _point(action)
        return area_spot(x - _STEP / 2, y - _STEP / 2, _STEP, _STEP)

    def svg(self, state: Int8s) -> str:
        """A map: the path so far, the city where it began filled, those that wait as rings."""
        side = (SIDE - 1) * _STEP
        path = self.visited(state)
        over = int(self.outcome(state[None])[0]) != ONGOING
        body = [
            f'<path d="M{MARGIN + i * _STEP:g} {MARGIN:g}v{side:g}M{MARGIN:g} {MARGIN + i * _STEP:g}h{side:g}"'
            ' stroke="#ece4d2"/>'
            for i in range(SIDE)
        ]
        for i in range(SIDE):
            body.append(label(MARGIN + i * _STEP, MARGIN / 2.5, ascii_lowercase[i], 11))
            body.append(label(MARGIN / 2.5, MARGIN + i * _STEP, str(i + 1), 11))
        line = "L".join(f"{x:g} {y:g}" for x, y in map(_point, path))
        fill = ' fill="#2f5fa8" fill-opacity="0.08"' if over else ' fill="none"'
        body.append(
            f'<path d="M{line}{"Z" if over else ""}"{fill} stroke="#2f5fa8" stroke-width="3" stroke-linejoin="round"/>'
        )
        for x, y in map(_point, self.waiting(state)):
            body.append(f'<circle cx="{x:g}" cy="{y:g}" r="6" fill="#fbf8f1" stroke="{INK}" stroke-width="1.5"/>')
        for x, y in map(_point, path[1:]):
            body.append(f'<circle cx="{x:g}" cy="{y:g}" r="5" fill="{INK}"/>')
        if not over:
            x, y = _point(path[-1])
            body.append(f'<circle cx="{x:g}" cy="{y:g}" r="8" fill="#e8890c" stroke="{INK}"/>')
        x, y = _point(path[0])
        body.append(f'<rect x="{x - 6:g}" y="{y - 6:g}" width="12" height="12" fill="#c8442f" stroke="{INK}"/>')
        size = side + 2 * MARGIN
        return document(size, size + MARGIN / 2, [*body, label(size / 2, size, self._words(state))])


def _name(cell: int) -> str:
    return f"{ascii_lowercase[cell % SIDE]}{cell // SIDE + 1}"


def _cell(text: str) -> int:
    """The cell written so; ValueError if there is none."""
    col, row = ascii_lowercase[:SIDE].index(text[:1].lower() or "?"), int(text[1:]) if text[1:].isascii() else 0
    if not (1 <= row <= SIDE and text[1:].isdigit()):
        raise ValueError(text)
    return (row - 1) * SIDE + col


def _point(cell: int) -> tuple[float, float]:
    return MARGIN + cell % SIDE * _STEP, MARGIN + cell // SIDE * _STEP


def ways(cells: list[int]) -> Int32s:
    """int32[n, n]: the lengths of the ways between these cells."""
    return np.array([[way(one, other) for other in cells] for one in cells], dtype=np.int32)


def make(parts: tuple[int | str, ...]) -> TspGame:
    """`tsp-N` with N cities."""
    cities = int(parts[0])
    least, most = CITIES
    if not least <= cities <= most:
        raise GameError(f"tsp-{cities}: there are {least} to {most} cities, for example tsp-20")
    return TspGame(
        id=f"tsp-{cities}",
        rules=RULES,
        params=np.array([cities], dtype=np.int64),
        num_cities=cities,
        num_actions=CELLS,
        max_plies=cities - 1,
        max_legal=cities - 1,
        state_size=state_size(cities),
        observation_shape=(PLANES, SIDE, SIDE),
        players=1,
        tiebreak="score",
        goal=f"Visit every city once on the shortest tour; the way between neighbouring points has length {STEP}.",
        largest_outcome=LONGEST * cities,
        symmetries=tuple(Symmetry(name, cells, cells) for name, cells in square_maps(SIDE)),
        num_starts=NUM_STARTS,
    )
