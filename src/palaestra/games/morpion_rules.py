"""The compiled rules of Morpion solitaire and the layout of its states; `palaestra.games.morpion` tells the game.

The state is fast rather than small (sources: prototype of Morpion).
Every cell of a frame, k - 1 rows and columns larger than the grid,
starts four lines, one byte each: in bits 0-2 how many points of the line are present, bit 6 if it was drawn, bit 7 if
it cannot be drawn any more or leaves the grid. A line is legal exactly if its byte is k - 1. Then one byte a point,
then the number of legal lines and their sorted numbers, two bytes each. All of it follows from the set of lines
drawn, so equal positions have equal bytes.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.jit import inlined, kernel
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s
from palaestra.games.kernel_game import Rules
from palaestra.games.rows import HEADER, ONGOING, ply

BLOCKED, DRAWN = -128, 64
PLANES = 9

# Where p keeps what: the line length, whether lines may touch, sizes, then four steps and the tables.
K, TOUCHING, SIDE, STRIDE, CELLS, MOST_PLIES, CROSS, LINE_OF, ACTION_OF, STEP = range(10)
TABLES = STEP + 4


@inlined
def legal_count_at(p: Int64s) -> np.int64:
    """Where in a state the number of legal lines stands; the list follows it."""
    return HEADER + 5 * p[CELLS]


@inlined
def listed(state: Int8s, place: int) -> np.int64:
    """The line number in two bytes of the list."""
    return np.int64(np.uint8(state[place])) | (np.int64(state[place + 1]) << 8)


@inlined
def put_listed(state: Int8s, place: int, line: int) -> None:
    state[place] = np.int8(line & 255)
    state[place + 1] = np.int8(line >> 8)


@inlined
def add_point(state: Int8s, cell: int, p: Int64s) -> None:
    """Put a point on a cell of the frame: every line through it has one more."""
    k, cells = p[K], p[CELLS]
    state[HEADER + 4 * cells + cell] = 1
    for direction in range(4):
        step = p[STEP + direction]
        line = HEADER + direction * cells + cell
        for _ in range(k):
            state[line] += np.int8(1)
            line -= step


@inlined
def draw(state: Int8s, line: int, step: int, p: Int64s) -> None:
    """Mark a line as drawn and close all lines that share too much of it, itself included."""
    reach = p[K] - 1 - p[TOUCHING]
    for other in range(HEADER + line - reach * step, HEADER + line + reach * step + 1, step):
        state[other] |= np.int8(BLOCKED)
    state[HEADER + line] |= np.int8(DRAWN)


@inlined
def direction_of(line: int, cells: int) -> np.int64:
    """The direction of a line: lines of one direction fill one block of `cells` bytes."""
    return np.int64(line >= cells) + np.int64(line >= 2 * cells) + np.int64(line >= 3 * cells)


@inlined
def drop_dead(state: Int8s, p: Int64s) -> np.int64:
    """Remove from the list what is legal no more; returns how many lines stay. Freed bytes are left to the caller."""
    at = legal_count_at(p)
    count = np.int64(np.uint8(state[at]))
    full = p[K] - 1
    kept = np.int64(0)
    for i in range(count):
        line = listed(state, at + 2 + 2 * i)
        put_listed(state, at + 2 + 2 * kept, line)
        kept += state[HEADER + line] == full
    for i in range(kept, count):
        put_listed(state, at + 2 + 2 * i, 0)
    return kept


@inlined
def list_new(state: Int8s, cell: int, count: int, p: Int64s) -> np.int64:
    """Insert the lines through a new point that became legal by it into the list of `count`; returns the new count."""
    at = legal_count_at(p)
    k, cells = p[K], p[CELLS]
    for direction in range(4):
        step = p[STEP + direction]
        line = direction * cells + cell
        for _ in range(k):
            if state[HEADER + line] == k - 1:
                place = at + 2 + 2 * count
                while place > at + 2 and listed(state, place - 2) > line:
                    state[place] = state[place - 2]
                    state[place + 1] = state[place - 1]
                    place -= 2
                put_listed(state, place, line)
                count += 1
            line -= step
    state[at] = np.int8(count)
    return np.int64(count)


@inlined
def play(state: Int8s, action: int, p: Int64s) -> np.int64:
    cells = p[CELLS]
    line = p[p[LINE_OF] + action]
    direction = direction_of(line, cells)
    step = p[STEP + direction]
    draw(state, line, step, p)
    new = line - direction * cells
    while state[HEADER + 4 * cells + new] != 0:
        new += step
    add_point(state, new, p)
    count = list_new(state, new, drop_dead(state, p), p)
    return ply(state) if count == 0 or ply(state) == p[MOST_PLIES] else np.int64(ONGOING)


@inlined
def legal(state: Int8s, actions: Int32s, p: Int64s) -> np.int64:
    at = legal_count_at(p)
    action_of = p[ACTION_OF]
    count = np.int64(np.uint8(state[at]))
    for i in range(count):
        actions[i] = p[action_of + listed(state, at + 2 + 2 * i)]
    return count


@kernel
def lay_out(state: Int8s, p: Int64s) -> None:
    """Close the lines that leave the grid."""
    for line in range(4 * p[CELLS]):
        if p[p[ACTION_OF] + line] < 0:
            state[HEADER + line] = BLOCKED


@kernel
def list_all(state: Int8s, p: Int64s) -> None:
    """Write the list of legal lines into a state that has none yet."""
    at = legal_count_at(p)
    count = 0
    for line in range(4 * p[CELLS]):
        if state[HEADER + line] == p[K] - 1:
            put_listed(state, at + 2 + 2 * count, line)
            count += 1
    state[at] = np.int8(count)


@kernel
def start(state: Int8s, choice: int, p: Int64s) -> None:
    lay_out(state, p)
    for i in range(p[CROSS], p[LINE_OF]):
        add_point(state, p[i], p)
    list_all(state, p)


@kernel
def observe(state: Int8s, planes: Float32s, p: Int64s) -> None:
    """Planes: points; then points that a drawn line leaves towards E, S, SE, SW, and towards W, N, NW, NE."""
    side, stride, cells = p[SIDE], p[STRIDE], p[CELLS]
    corner = (stride - side) * stride
    for row in range(side):
        for col in range(side):
            cell = corner + row * stride + col
            planes[0, row, col] = state[HEADER + 4 * cells + cell]
            for direction in range(4):
                if state[HEADER + direction * cells + cell] & DRAWN:
                    d_row = 0 if direction == 0 else 1
                    d_col = 1 - direction if direction < 2 else 5 - 2 * direction
                    for i in range(p[K] - 1):
                        planes[1 + direction, row + i * d_row, col + i * d_col] = 1.0
                        planes[5 + direction, row + (i + 1) * d_row, col + (i + 1) * d_col] = 1.0


@kernel
def permute(state: Int8s, out: Int8s, cells: Int32s, actions: Int32s, swap: bool, p: Int64s) -> None:
    """The image is drawn anew: points, lines, then the list."""
    side, stride = p[SIDE], p[STRIDE]
    corner = (stride - side) * stride
    lay_out(out, p)
    for place in range(side * side):
        if state[HEADER + 4 * p[CELLS] + corner + place // side * stride + place % side]:
            add_point(out, corner + cells[place] // side * stride + cells[place] % side, p)
    for action in range(actions.shape[0]):
        if state[HEADER + p[p[LINE_OF] + action]] & DRAWN:
            image = p[p[LINE_OF] + actions[action]]
            draw(out, image, p[STEP + direction_of(image, p[CELLS])], p)
    list_all(out, p)


@kernel
def score(state: Int8s, p: Int64s) -> np.int64:
    """Moves made and moves in sight."""
    return np.int64(ply(state) + np.int64(np.uint8(state[legal_count_at(p)])))


RULES = Rules(start, play, legal, observe, permute, score)
