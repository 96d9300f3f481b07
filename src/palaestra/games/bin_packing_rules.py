"""The compiled rules of bin packing and the layout of its states; `palaestra.games.bin_packing` tells the game.

    bytes 8–39      words 1 to 4: a bit for every free cell, 16 bits a row, cell (row, column) is bit 16·row + column
    bytes 40–139    how many items h×w are left to place, at 10·(h-1) + (w-1); an item counts both ways round
    bytes 140–364   on the top left cell of every placed item 1 + 10·(h-1) + (w-1), elsewhere 0

Column 15 and row 15 lie outside the bench and are never free, so that no shift of the bits needs a mask. The free top
left cells of an h×w item follow from those of smaller ones by one shift: F(h, w) = F(h, w-1) ∩ F(h, w-1) moved left by
one. All of it follows from the set of placed items and the set of those left, so equal positions have equal bytes.
p = (number of items).
"""

from __future__ import annotations

import numpy as np

from palaestra.base.jit import allocating, inlined, kernel
from palaestra.base.streams import below, mix
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s
from palaestra.games import bits
from palaestra.games.kernel_game import Rules, state_bytes
from palaestra.games.rows import HEADER, ONGOING, ply

SQUARE = 10  # side of the square that the items are cut from, and the longest side of an item
BENCH = 15
CELLS = BENCH * BENCH
SHAPES = SQUARE * SQUARE
WORST = 2 * BENCH  # length + width of the largest box
FREE = 1  # word
LEFT = HEADER + 32
PLACED = LEFT + SHAPES
STATE_SIZE = state_bytes(PLACED + CELLS - HEADER)
OCCUPIED_PLANE, BOX_PLANE, LEFT_PLANE, SIDES_PLANE = range(4)
PLANES = SIDES_PLANE + SQUARE

Cells = tuple[np.uint64, np.uint64, np.uint64, np.uint64]  # a set of cells, laid out as the words of a state

_1, _16, _48 = np.uint64(1), np.uint64(16), np.uint64(48)


@inlined
def free_cells(state: Int8s) -> Cells:
    return bits.load(state, FREE), bits.load(state, FREE + 1), bits.load(state, FREE + 2), bits.load(state, FREE + 3)


@inlined
def is_empty(cells: Cells) -> bool:
    return (cells[0] | cells[1] | cells[2] | cells[3]) == np.uint64(0)


@inlined
def also_below(f: Cells) -> Cells:
    """The cells that are in the set together with the cell below them."""
    return (
        f[0] & ((f[0] >> _16) | (f[1] << _48)),
        f[1] & ((f[1] >> _16) | (f[2] << _48)),
        f[2] & ((f[2] >> _16) | (f[3] << _48)),
        f[3] & (f[3] >> _16),
    )


@inlined
def also_right(f: Cells) -> Cells:
    """The cells that are in the set together with the cell to their right."""
    return f[0] & (f[0] >> _1), f[1] & (f[1] >> _1), f[2] & (f[2] >> _1), f[3] & (f[3] >> _1)


@inlined
def corners(f: Cells) -> Cells:
    """The cells of the set whose left and upper neighbours are not in it: an item there can slide neither way."""
    return (
        f[0] & ~((f[0] << _1) | (f[0] << _16)),
        f[1] & ~((f[1] << _1) | (f[1] << _16) | (f[0] >> _48)),
        f[2] & ~((f[2] << _1) | (f[2] << _16) | (f[1] >> _48)),
        f[3] & ~((f[3] << _1) | (f[3] << _16) | (f[2] >> _48)),
    )


@inlined
def list_word(word: np.uint64, first_row: int, shape: int, actions: Int32s, count: int) -> np.int64:
    """Append the actions that place a shape on the cells of one word, which begins at `first_row`."""
    while word != np.uint64(0):
        bit = bits.lowest(word)
        actions[count] = shape * CELLS + (first_row + (bit >> 4)) * BENCH + (bit & 15)
        count += 1
        word &= word - _1
    return np.int64(count)


@kernel
def legal(state: Int8s, actions: Int32s, p: Int64s) -> np.int64:
    count = np.int64(0)
    tall = free_cells(state)  # where an item of this height and width 1 fits
    for row in range(SQUARE):
        if row > 0:
            tall = also_below(tall)
        fits = tall
        for col in range(SQUARE):
            if col > 0:
                fits = also_right(fits)
            shape = SQUARE * row + col
            if state[LEFT + shape] > 0:
                found = corners(fits)
                count = list_word(found[0], 0, shape, actions, count)
                count = list_word(found[1], 4, shape, actions, count)
                count = list_word(found[2], 8, shape, actions, count)
                count = list_word(found[3], 12, shape, actions, count)
    return count


@kernel
def can_go_on(state: Int8s) -> bool:
    """Whether some item that is left fits somewhere: then it also has a corner to slide into."""
    tall = free_cells(state)
    for row in range(SQUARE):
        if row > 0:
            tall = also_below(tall)
        fits = tall
        for col in range(SQUARE):
            if col > 0:
                fits = also_right(fits)
            if state[LEFT + SQUARE * row + col] > 0 and not is_empty(fits):
                return True
    return False


@inlined
def put(state: Int8s, action: int) -> np.int64:
    """Place an item without taking it from those left; returns its shape."""
    shape, cell = action // CELLS, action % CELLS
    top, left = cell // BENCH, cell % BENCH
    strip = ((_1 << np.uint64(shape % SQUARE + 1)) - _1) << np.uint64(left)
    for row in range(top, top + shape // SQUARE + 1):
        word = FREE + (row >> 2)
        bits.store(state, word, bits.load(state, word) & ~(strip << np.uint64((row & 3) << 4)))
    state[PLACED + cell] = np.int8(shape + 1)
    return np.int64(shape)


@inlined
def is_occupied(state: Int8s, row: int, col: int) -> bool:
    word = bits.load(state, FREE + (row >> 2))
    return (word >> np.uint64(((row & 3) << 4) + col)) & _1 == np.uint64(0)


@kernel
def box(state: Int8s) -> tuple[np.int64, np.int64]:
    """Rows and columns of the smallest box from the top left corner that holds all placed items."""
    rows, cols = np.int64(0), np.int64(0)
    for row in range(BENCH):
        for col in range(BENCH):
            if is_occupied(state, row, col):
                rows, cols = np.int64(row + 1), max(cols, np.int64(col + 1))
    return rows, cols


@kernel
def score(state: Int8s, p: Int64s) -> np.int64:
    """What the game would be worth if the box stayed as it is."""
    rows, cols = box(state)
    return np.int64(WORST + 1 - rows - cols)


@inlined
def play(state: Int8s, action: int, p: Int64s) -> np.int64:
    shape = put(state, action)
    row, col = shape // SQUARE, shape % SQUARE
    state[LEFT + shape] -= np.int8(1)
    if row != col:
        state[LEFT + SQUARE * col + row] -= np.int8(1)
    if ply(state) == p[0]:
        return np.int64(score(state, p))
    return np.int64(ONGOING) if can_go_on(state) else np.int64(0)


@kernel
def clear(state: Int8s) -> None:
    """Make the bench of a zeroed state free."""
    row = np.uint64((1 << BENCH) - 1)
    word = row | (row << np.uint64(16)) | (row << np.uint64(32)) | (row << np.uint64(48))
    for number in range(3):
        bits.store(state, FREE + number, word)
    bits.store(state, FREE + 3, word >> np.uint64(16))


@allocating
def start(state: Int8s, choice: int, p: Int64s) -> None:
    """Cut the square: every cut is drawn uniformly from all the lines between cells, of all pieces, along which one
    can be cut in two.
    """
    streams = np.empty(1, dtype=np.uint64)
    streams[0] = mix(np.uint64(choice))
    heights, widths = np.full(p[0], SQUARE, dtype=np.int64), np.full(p[0], SQUARE, dtype=np.int64)
    for pieces in range(1, p[0]):
        lines = 0
        for i in range(pieces):
            lines += heights[i] + widths[i] - 2
        line = below(streams, 0, lines)
        i = 0
        while line >= heights[i] + widths[i] - 2:
            line -= heights[i] + widths[i] - 2
            i += 1
        heights[pieces], widths[pieces] = heights[i], widths[i]
        if line < heights[i] - 1:
            heights[pieces] -= line + 1
            heights[i] = line + 1
        else:
            line -= heights[i] - 1
            widths[pieces] -= line + 1
            widths[i] = line + 1
    clear(state)
    for i in range(p[0]):
        row, col = heights[i] - 1, widths[i] - 1
        state[LEFT + SQUARE * row + col] += np.int8(1)
        if row != col:
            state[LEFT + SQUARE * col + row] += np.int8(1)


@kernel
def observe(state: Int8s, planes: Float32s, p: Int64s) -> None:
    """Planes: occupied cells; the box; the items left as a picture, how many h×w at row h, column w; then ten even
    planes, how many sides of length 1, 2, … 10 the items left have, per item of the game.
    """
    rows, cols = box(state)
    for row in range(BENCH):
        for col in range(BENCH):
            planes[OCCUPIED_PLANE, row, col] = np.float32(is_occupied(state, row, col))
            planes[BOX_PLANE, row, col] = np.float32(row < rows and col < cols)
    for row in range(SQUARE):
        sides = np.int64(0)
        for col in range(SQUARE):
            left = np.int64(state[LEFT + SQUARE * row + col])
            planes[LEFT_PLANE, row, col] = np.float32(left)
            sides += 2 * left if row == col else left
        planes[SIDES_PLANE + row] = np.float32(sides) / np.float32(p[0])


@kernel
def permute(state: Int8s, out: Int8s, cells: Int32s, actions: Int32s, swap: bool, p: Int64s) -> None:
    """The image is placed anew; the items left look the same both ways round."""
    clear(out)
    for shape in range(SHAPES):
        out[LEFT + shape] = state[LEFT + shape]
    for cell in range(CELLS):
        if state[PLACED + cell] > 0:
            put(out, actions[(state[PLACED + cell] - 1) * CELLS + cell])


RULES = Rules(start, play, legal, observe, permute, score)
