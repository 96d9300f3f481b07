"""The compiled rules of Morpion solitaire and the layout of its states; `palaestra.games.morpion` tells the game.

The state is fast rather than small (sources: prototype of Morpion). Every cell of the grid starts four lines, one byte
each: in bits 0-2 how many points of the line are present, bit 6 if it was drawn, bit 7 if it cannot be drawn any more
or leaves the grid. A line is legal exactly if its byte is k - 1.

Each direction has a block of bytes, in which the starts of lines follow one another along that direction:

    east    row · side + column        south-east    ((column - row) mod side) · side + row
    south   column · side + row        south-west    ((column + row) mod side) · side + row

So the k lines of a direction through a cell are k neighbouring bytes, the last of them the line that starts there: a
point is four additions of a word. The lines that start in the last k - 1 cells of a row, column or diagonal leave the
grid, so a word that reaches back across a beginning touches only bytes that are closed for good.

After the lines comes one byte a point, then the number of legal lines, and these in ascending order of their actions;
four bytes each, the action in the upper two and the place of the line's byte in the lower two. All of it follows from
the set of lines drawn, so equal positions have equal bytes.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.jit import inlined, kernel
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s
from palaestra.games.bits import load_four, load_word, lowest, store_four, store_word
from palaestra.games.kernel_game import Rules
from palaestra.games.rows import HEADER, ONGOING, ply

BLOCKED, DRAWN = -128, 64
PLANES = 9
LINES = HEADER + 8  # the first byte of the lines: a word that ends there begins behind the header

# Where p keeps what: the line length, how many starts to each side a drawn line closes, sizes, the cross, the tables,
# and four words that have one byte for each of the k lines: 1, k - 1, the highest bit, and that of the lines closed.
K, REACH, SIDE, CELLS, MOST_PLIES, CROSS, LINE_OF, ACTION_OF, WORDS_OF, ONES, FULL, TOPS, SHUT = range(13)
TABLES = 13

HALF = 0xFFFF
_LOW = np.uint64(0x7F7F7F7F7F7F7F7F)
_NONE, _ONE = np.uint64(0), np.uint64(1)


@inlined
def points_at(p: Int64s) -> np.int64:
    """Where in a state the points begin."""
    return LINES + 4 * p[CELLS]


@inlined
def legal_count_at(p: Int64s) -> np.int64:
    """Where in a state the number of legal lines stands; the list follows it."""
    return LINES + 5 * p[CELLS]


@inlined
def place_of(action: int, p: Int64s) -> np.int64:
    """Where in a state the byte of a line is."""
    return p[p[LINE_OF] + action] & HALF


@inlined
def add_point(state: Int8s, cell: int, p: Int64s) -> None:
    """Put a point on a cell of the grid: every line through it has one more."""
    state[points_at(p) + cell] = 1
    ones, words = np.uint64(p[ONES]), p[p[WORDS_OF] + cell]
    for direction in range(4):
        at = (words >> (16 * direction)) & HALF
        store_word(state, at, load_word(state, at) + ones)


@inlined
def draw(state: Int8s, place: int, p: Int64s) -> None:
    """Mark a line as drawn and close all lines that share too much of it, itself included."""
    reach = p[REACH]
    store_word(state, place - reach, load_word(state, place - reach) | np.uint64(p[SHUT]))
    state[place + reach] |= np.int8(BLOCKED)  # the ninth, where a word does not hold them all
    state[place] |= np.int8(DRAWN)


@inlined
def drop_dead(state: Int8s, p: Int64s) -> np.int64:
    """Remove from the list what is legal no more; returns how many lines stay. Freed bytes are left to the caller."""
    at = legal_count_at(p)
    count, full = load_four(state, at), p[K] - 1
    kept = at + 4
    for i in range(count):
        listed = load_four(state, at + 4 + 4 * i)
        store_four(state, kept, listed)
        kept += 4 * (state[listed & HALF] == full)
    for place in range(kept, at + 4 + 4 * count, 4):
        store_four(state, place, 0)
    return np.int64((kept - at) // 4 - 1)


@inlined
def list_new(state: Int8s, cell: int, count: int, p: Int64s) -> np.int64:
    """Insert the lines through a new point that became legal by it into the list of `count`; returns the new count."""
    at = legal_count_at(p)
    action_of, words, full, tops = p[ACTION_OF], p[p[WORDS_OF] + cell], np.uint64(p[FULL]), np.uint64(p[TOPS])
    for direction in range(4):
        begin = (words >> (16 * direction)) & HALF
        differ = load_word(state, begin) ^ full
        equal = ~(((differ & _LOW) + _LOW) | differ | _LOW) & tops  # the highest bit of each byte that is k - 1
        while equal != _NONE:
            line = begin + (lowest(equal) >> 3)
            new = (p[action_of + line] << 16) | line
            place = at + 4 + 4 * count
            while place > at + 4 and load_four(state, place - 4) > new:
                store_four(state, place, load_four(state, place - 4))
                place -= 4
            store_four(state, place, new)
            count += 1
            equal &= equal - _ONE
    store_four(state, at, count)
    return np.int64(count)


@inlined
def play(state: Int8s, action: int, p: Int64s) -> np.int64:
    line = p[p[LINE_OF] + action]
    draw(state, line & HALF, p)
    points, new, step = points_at(p), (line >> 16) & HALF, line >> 32
    while state[points + new] != 0:
        new += step
    add_point(state, new, p)
    count = list_new(state, new, drop_dead(state, p), p)
    return ply(state) if count == 0 or ply(state) == p[MOST_PLIES] else np.int64(ONGOING)


@inlined
def legal(state: Int8s, actions: Int32s, p: Int64s) -> np.int64:
    at = legal_count_at(p)
    count = load_four(state, at)
    for i in range(count):
        actions[i] = load_four(state, at + 4 + 4 * i) >> 16
    return count


@kernel
def lay_out(state: Int8s, p: Int64s) -> None:
    """Close the lines that leave the grid."""
    for place in range(LINES, points_at(p)):
        if p[p[ACTION_OF] + place] < 0:
            state[place] = BLOCKED


@kernel
def list_all(state: Int8s, p: Int64s) -> None:
    """Write the list of legal lines into a state that has none yet."""
    at = legal_count_at(p)
    count = 0
    for action in range(p[ACTION_OF] - p[LINE_OF]):
        place = place_of(action, p)
        if state[place] == p[K] - 1:
            store_four(state, at + 4 + 4 * count, (action << 16) | place)
            count += 1
    store_four(state, at, count)


@kernel
def start(state: Int8s, choice: int, p: Int64s) -> None:
    lay_out(state, p)
    for i in range(p[CROSS], p[LINE_OF]):
        add_point(state, p[i], p)
    list_all(state, p)


@kernel
def observe(state: Int8s, planes: Float32s, p: Int64s) -> None:
    """Planes: points; then points that a drawn line leaves towards E, S, SE, SW, and towards W, N, NW, NE."""
    side, cells = p[SIDE], p[CELLS]
    for cell in range(cells):
        planes[0, cell // side, cell % side] = state[points_at(p) + cell]
    for place in range(LINES, points_at(p)):
        if state[place] & DRAWN:
            line = p[p[LINE_OF] + p[p[ACTION_OF] + place]]
            cell, step, direction = (line >> 16) & HALF, line >> 32, (place - LINES) // cells
            for _ in range(p[K] - 1):
                planes[1 + direction, cell // side, cell % side] = 1.0
                cell += step
                planes[5 + direction, cell // side, cell % side] = 1.0


@kernel
def permute(state: Int8s, out: Int8s, cells: Int32s, actions: Int32s, swap: bool, p: Int64s) -> None:
    """The image is drawn anew: points, lines, then the list."""
    lay_out(out, p)
    for cell in range(p[CELLS]):
        if state[points_at(p) + cell]:
            add_point(out, cells[cell], p)
    for place in range(LINES, points_at(p)):
        if state[place] & DRAWN:
            draw(out, place_of(actions[p[p[ACTION_OF] + place]], p), p)
    list_all(out, p)


@kernel
def score(state: Int8s, p: Int64s) -> np.int64:
    """Moves made and moves in sight."""
    return np.int64(ply(state) + load_four(state, legal_count_at(p)))


RULES = Rules(start, play, legal, observe, permute, score)
