"""One player draws lines of k points on a lattice, each through one new point (sources: Morpion solitaire).

           . . . o o o o . . .
           . . . o . . o . . .       A move adds one point and draws a line through it and k - 1 points that are
           . . . o . . o . . .       there already: k in a row to the east, south, south-east or south-west. All k
           o o o o . . o o o o       present and nothing to add is no move. Two lines of one direction share no
           o . . . . . . . . o       point (5D, 4D) or at most an end point (5T, 4T); lines of different directions
           o . . . . . . . . o       never conflict. The score, and the outcome, is the number of moves.
           o o o o . . o o o o
           . . . o . . o . . .       A point is written column letters, row number, from the top left of the grid; a
           . . . o . . o . . .       move is its line's start and direction: `n11e`, `k14se`. The new point is the one
           . . . o o o o . . .       that is missing.

Actions are the lines that fit on the grid, numbered by direction (east, south, south-east, south-west), then by the
row and column of the start. The games 4D and 4T start from the 24-point cross with arms of three points.

The grid. `SIDES` holds its side for every variant. How many moves it takes to get e columns beyond the cross can be
bounded by counting: in a D game a point lies on at most three lines that are not vertical, and each column is entered
by such lines, so the points needed per column grow towards the cross. As an integer program over columns (repeated in
tests/games/test_morpion.py) this gives at least 86 moves for 11 columns in 5D, where play ends after 84, and 38 for 13
columns in 4D, where it ends after 35: the margins of 10 and 12 cannot be crossed. For the T games counting gives no
bound of a useful size, and the margin of 12 rests on experience: 200,000 random games and a search that tried only to
go far reached 5 columns beyond the cross, in 4T as in 5T. In any case no move can leave the grid or write outside it,
because a line that does not fit on the grid is no action. Smaller boards, as the thesis has them (Ch7: 16×16, 20×20 and
22×22), are other games: `morpion-5d-22x22`.

The rules themselves and the layout of a state are in `palaestra.games.morpion_rules`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from string import ascii_lowercase

import numpy as np

from palaestra.base.errors import GameError, MoveError
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.kernel_game import KernelGame, state_bytes
from palaestra.games.morpion_rules import DRAWN, HALF, LINE_OF, LINES, PLANES, RULES, TABLES
from palaestra.games.rows import HEADER
from palaestra.games.svg import DOT_STEP, Spot, dots_corner, dots_document
from palaestra.games.symmetry import Symmetry, square_maps

DIRECTIONS = {"e": (0, 1), "s": (1, 0), "se": (1, 1), "sw": (1, -1)}  # (rows, columns) of a step, in order of actions

# Proven: moves of the longest game (for 5D and 5T upper bounds; sources: records of Morpion). Play ends there.
MAX_PLIES = {"4d": 35, "4t": 62, "5d": 84, "5t": 485}
SIDES = {"4d": 31, "4t": 31, "5d": 30, "5t": 34}
MOST_SIDE = 40


@dataclass(frozen=True, eq=False, kw_only=True)
class MorpionGame(KernelGame):
    """Text and pictures of points and lines. Points are (row, column) on the grid from here on."""

    k: int
    side: int

    @cached_property
    def lines(self) -> list[tuple[int, int, str]]:
        """(row, column, direction) of every action."""
        return list(_lines(self.k, self.side))

    def points_of(self, action: int) -> list[tuple[int, int]]:
        """The k points of a line, the start first."""
        row, col, name = self.lines[action]
        d_row, d_col = DIRECTIONS[name]
        return [(row + i * d_row, col + i * d_col) for i in range(self.k)]

    def drawn(self, state: Int8s) -> list[int]:
        """The lines of a position, ascending."""
        lines = self.params[self.params[LINE_OF] :][: self.num_actions]
        return np.flatnonzero(state[lines & HALF] & DRAWN).tolist()

    def points(self, state: Int8s) -> list[tuple[int, int]]:
        """The points of a position: the cross, then the others."""
        cross = _cross(self.k, self.side)
        added = {point for action in self.drawn(state) for point in self.points_of(action)} - set(cross)
        return cross + sorted(added)

    def action_to_text(self, state: Int8s, action: int) -> str:
        row, col, name = self.lines[action]
        return f"{_column(col)}{row + 1}{name}"

    def state_to_text(self, state: Int8s) -> str:
        """The lines drawn, joined by commas, or - for none."""
        return ",".join(self.action_to_text(state, action) for action in self.drawn(state)) or "-"

    def state_from_text(self, text: str) -> Int8s:
        """The position with these lines, in whatever order they are given.

        They are played as they become legal. That finds an order if there is one: the points added so far are always
        those that the same lines add in any order that works, so no line is ever spoilt by another.
        """
        state = self.start(np.zeros(1, dtype=np.int64))[0]
        waiting = set(text.strip().split(",")) - {"-"}
        while waiting:
            counts, actions = self.legal(state[None])
            playable = (a for a in actions[0, : counts[0]].tolist() if self.action_to_text(state, a) in waiting)
            action = next(playable, None)
            if action is None:
                example = self.action_to_text(state, int(self.legal(self.start(np.zeros(1, dtype=np.int64)))[1][0, 0]))
                raise MoveError(
                    f"{text!r} is not a position of {self.id}: lines joined by commas are, for example {example!r}; "
                    f"cannot be drawn: {', '.join(sorted(waiting))}"
                )
            waiting.discard(self.action_to_text(state, action))
            state = self.advance(state[None], np.array([action], dtype=np.int32))[0]
        return state

    def render(self, state: Int8s) -> str:
        """The occupied part of the grid: o cross, * added points, and the lines between them."""
        points = self.points(state)
        first = len(_cross(self.k, self.side))
        (top, left), (bottom, right) = np.min(points, axis=0), np.max(points, axis=0)
        canvas = [[" "] * (2 * (right - left) + 1) for _ in range(2 * (bottom - top) + 1)]
        for action in self.drawn(state):
            chain = self.points_of(action)
            glyph = dict(zip(DIRECTIONS, "-|\\/", strict=True))[self.lines[action][2]]
            for (r1, c1), (r2, c2) in pairwise(chain):
                row, col = r1 + r2 - 2 * top, c1 + c2 - 2 * left
                canvas[row][col] = glyph if canvas[row][col] == " " else "X"
        for row in range(top, bottom + 1):
            for col in range(left, right + 1):
                canvas[2 * (row - top)][2 * (col - left)] = "."
        for number, (row, col) in enumerate(points):
            canvas[2 * (row - top)][2 * (col - left)] = "o" if number < first else "*"
        names = [_column(col) for col in range(left, right + 1)]
        tall = max(map(len, names))  # names of two letters stand upright over their column
        heads = ["    " + " ".join(name.rjust(tall)[i] for name in names) for i in range(tall)]
        labels = [f"{row // 2 + top + 1:3d} " if row % 2 == 0 else "    " for row in range(len(canvas))]
        lines = [label + "".join(row) for label, row in zip(labels, canvas, strict=True)]
        return "\n".join(line.rstrip() for line in [*heads, *lines])

    def svg(self, state: Int8s) -> str:
        chains = [self.points_of(action) for action in self.drawn(state)]
        cross = len(_cross(self.k, self.side))
        return dots_document(self.points(state), [(chain[0], chain[-1]) for chain in chains], first=cross)

    def spot(self, state: Int8s, action: int, drawn: Int8s) -> Spot | None:
        """The line, with its number at the point that it adds."""
        top, left = dots_corner(self.points(drawn))
        chain, known = self.points_of(action), set(self.points(state))
        added = next((point for point in chain if point not in known), chain[0])
        (x, y), *ends = (((col - left) * DOT_STEP, (row - top) * DOT_STEP) for row, col in (added, chain[0], chain[-1]))
        return Spot(tuple(ends), (x, y), size=7.5)


def make(parts: tuple[str | int, ...]) -> MorpionGame:
    """`morpion-5d`, `5t`, `4d` or `4t`, or one of them on another board: `morpion-5d-22x22`."""
    variant, *sides = parts
    if not isinstance(variant, str) or variant not in SIDES:
        raise GameError(f"morpion-{variant}: there are {', '.join(SIDES)}, for example morpion-5d")
    k, id = int(variant[0]), "-".join([f"morpion-{variant}", *(["x".join(map(str, sides))] if sides else [])])
    if not sides:
        return make_morpion(id, k, variant[1] == "t", SIDES[variant], MAX_PLIES[variant])
    rows, cols = map(int, sides)
    least = 3 * k - 5  # the cross itself
    if rows != cols or not least <= rows <= MOST_SIDE:
        raise GameError(f"{id}: a board is square, from {least}x{least} to {MOST_SIDE}x{MOST_SIDE}; for example 22x22")
    return make_morpion(id, k, variant[1] == "t", rows, MAX_PLIES[variant])


def make_morpion(id: str, k: int, touching: bool, side: int, max_plies: int) -> MorpionGame:
    """Lines of k points on a side×side grid with the cross in the middle."""
    most = _most_legal(k, touching, max_plies)
    lines = list(_lines(k, side))
    return MorpionGame(
        id=id,
        rules=RULES,
        params=_params(k, touching, side, max_plies),
        k=k,
        side=side,
        num_actions=len(lines),
        max_plies=max_plies,
        max_legal=most,
        state_size=state_bytes(LINES - HEADER + 5 * side * side + 4 + 4 * most),
        observation_shape=(PLANES, side, side),
        action_places=tuple((list(DIRECTIONS).index(name) * side + row) * side + col for row, col, name in lines),
        players=1,
        tiebreak="score",
        goal=f"Draw as many lines of {k} points as you can; each goes through one new point.",
        symmetries=tuple(_symmetry(name, cells, k, side) for name, cells in square_maps(side)),
    )


def _most_legal(k: int, touching: bool, max_plies: int) -> int:
    """A bound on the number of legal moves, by counting what the points still have to give.

    D: a point can be on one line of each direction, so m moves leave 4 (cross + m) - k m such chances; a legal line
    needs k - 1 of them, and each serves at most k lines. T: a point has eight sides for unit segments, so m moves leave
    8 (cross + m) - 2 (k - 1) m; a legal line needs at least 2 (k - 1) - 2 on points that are there (the new point may
    bring two), and each serves at most k - 1 lines.
    """
    cross = len(_cross(k, 2 * k))
    each, used, needed, serves = (8, 2 * k - 2, 2 * k - 4, k - 1) if touching else (4, k, k - 1, k)
    left = max(each * (cross + m) - used * m for m in (0, max_plies))
    return serves * left // needed


def _cross(k: int, side: int) -> list[tuple[int, int]]:
    """The points of the initial cross, whose arms are k - 1 points wide, in the middle of the grid."""
    a, b, w = k - 2, 2 * (k - 2), 3 * (k - 2)
    corner = (side - w) // 2
    frame = [(x, y) for x in range(w + 1) for y in range(w + 1)]
    kept = [
        (x, y)
        for x, y in frame
        if (y in (0, w) and a <= x <= b)
        or (x in (0, w) and a <= y <= b)
        or (x in (a, b) and not a < y < b)
        or (y in (a, b) and not a < x < b)
    ]
    return [(corner + x, corner + y) for x, y in kept]


def _lines(k: int, side: int) -> Iterator[tuple[int, int, str]]:
    """All lines of k points on the grid in the order of actions."""
    for name, (d_row, d_col) in DIRECTIONS.items():
        for row in range(side - (k - 1) * d_row):
            for col in range((k - 1) * (d_col < 0), side - (k - 1) * (d_col > 0)):
                yield row, col, name


def _params(k: int, touching: bool, side: int, max_plies: int) -> Int64s:
    """What the rules need to know, in the order that `palaestra.games.morpion_rules` names."""
    cells = side * side
    rows, cols = np.divmod(np.arange(cells), side)
    along = {  # where a cell stands in the block of each direction
        "e": rows * side + cols,
        "s": cols * side + rows,
        "se": (cols - rows) % side * side + rows,
        "sw": (cols + rows) % side * side + rows,
    }
    starts = {name: LINES + number * cells + along[name] for number, name in enumerate(DIRECTIONS)}
    lines = [
        int(starts[name][row * side + col]) | (row * side + col) << 16 | (d_row * side + d_col) << 32
        for row, col, name in _lines(k, side)
        for d_row, d_col in (DIRECTIONS[name],)
    ]
    action_of = np.full(LINES + 4 * cells, -1, dtype=np.int64)
    action_of[[line & HALF for line in lines]] = np.arange(len(lines))
    words = np.sum([(starts[name] - (k - 1)) << (16 * number) for number, name in enumerate(DIRECTIONS)], axis=0)
    cross = [row * side + col for row, col in _cross(k, side)]
    reach = k - 1 - touching
    masks = [_bytes(1, k), _bytes(k - 1, k), _bytes(0x80, k), _bytes(0x80, min(8, 2 * reach + 1))]
    at_lines = TABLES + len(cross)
    at_actions = at_lines + len(lines)
    sizes = [k, reach, side, cells, max_plies, TABLES, at_lines, at_actions, at_actions + len(action_of), *masks]
    return np.array([*sizes, *cross, *lines, *action_of, *words], dtype=np.int64)


def _bytes(value: int, count: int) -> int:
    """A word whose lowest bytes have this value, as int64."""
    return int.from_bytes(bytes([value] * count).ljust(8, b"\0"), "little", signed=True)


def _symmetry(name: str, cells: Int32s, k: int, side: int) -> Symmetry:
    """A symmetry of the square as a map of lines and of the planes that stand for directions."""
    steps = np.array([DIRECTIONS[line[2]] for line in _lines(k, side)])
    starts = np.array([line[:2] for line in _lines(k, side)])
    number = np.array([side, 1])
    first, last = starts @ number, (starts + (k - 1) * steps) @ number

    def key(one: Int64s, other: Int64s) -> Int64s:
        return np.minimum(one, other).astype(np.int64) * side * side + np.maximum(one, other)

    known = key(first, last)
    order = np.argsort(known)
    actions = order[np.searchsorted(known, key(cells[first], cells[last]), sorter=order)]
    ways = [way for sign in (1, -1) for way in ((sign * r, sign * c) for r, c in DIRECTIONS.values())]
    centre = side + 1
    origin = divmod(int(cells[centre]), side)
    ends = [divmod(int(cells[centre + row * side + col]), side) for row, col in ways]
    planes = [0, *(1 + ways.index((row - origin[0], col - origin[1])) for row, col in ends)]
    return Symmetry(name, cells, actions.astype(np.int32), np.array(planes, dtype=np.int32))


def _column(col: int) -> str:
    """Column names: a to z, then aa, ab, …"""
    return ascii_lowercase[col] if col < 26 else ascii_lowercase[col // 26 - 1] + ascii_lowercase[col % 26]
