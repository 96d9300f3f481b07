"""The compiled rules of bin packing in three dimensions; `palaestra.games.packing_3d` tells the game.

    bytes 8–232     how high the pile is on each cell of the bench, row after row
    bytes 233–452   how many items of each size are left; a size is three sides a ≤ b ≤ c, numbered as in `SIZES`
    bytes 453–455   width, depth and height of the item that was chosen and not placed yet; 0 without one
    bytes 456–      five bytes for every placed item, in their order: column, row, width, depth, height

p = (number of items).
"""

from __future__ import annotations

import numpy as np

from palaestra.base.jit import allocating, inlined, kernel
from palaestra.base.streams import below, mix
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s
from palaestra.games.kernel_game import Rules, state_bytes
from palaestra.games.rows import HEADER, ONGOING, ply

CUBE = 10  # side of the cube that the items are cut from, and the longest side of an item
BENCH = 15  # most columns, rows and layers
CELLS = BENCH * BENCH
SHAPES = CUBE**3  # sizes of items as they stand: width, depth, height
WORST = 3 * CELLS  # LW + WH + HL of the largest box
SIZES = tuple((a, b, c) for a in range(1, CUBE + 1) for b in range(a, CUBE + 1) for c in range(b, CUBE + 1))
PILE = HEADER
LEFT = PILE + CELLS
CHOSEN = LEFT + len(SIZES)
PLACED = CHOSEN + 3
ITEM = 5  # bytes of a placed item
PILE_PLANE, BOX_PLANE, TOP_PLANE, CHOSEN_PLANE, ENDS_PLANE, MIDDLES_PLANE, SIDES_PLANE = range(7)
PLANES = SIDES_PLANE + CUBE


def _numbers() -> Int32s:
    """int32[1000]: the number of the size that each shape has, whichever way it stands."""
    numbers = np.empty(SHAPES, dtype=np.int32)
    for shape in range(SHAPES):
        sides = (shape // 100 + 1, shape // 10 % 10 + 1, shape % 10 + 1)
        numbers[shape] = SIZES.index(tuple(sorted(sides)))
    return numbers


SIZE_OF = _numbers()
SIDES = np.array(SIZES, dtype=np.int64)


def state_size(items: int) -> int:
    return state_bytes(PLACED - HEADER + ITEM * items)


@inlined
def shape_of(width: int, depth: int, height: int) -> np.int64:
    return np.int64(100 * (width - 1) + 10 * (depth - 1) + height - 1)


@inlined
def highest(state: Int8s, row: int, col: int, rows: int, cols: int) -> np.int64:
    """The top of the pile within a rectangle of the bench."""
    top = np.int64(0)
    for r in range(row, row + rows):
        for c in range(col, col + cols):
            top = max(top, np.int64(state[PILE + BENCH * r + c]))
    return top


@inlined
def is_place(state: Int8s, row: int, col: int, width: int, depth: int, height: int) -> bool:
    """Whether an item let down here stays below the ceiling and can slide neither left nor back by one cell."""
    floor = highest(state, row, col, depth, width)
    if floor + height > BENCH:
        return False
    if col > 0 and highest(state, row, col - 1, depth, 1) <= floor:
        return False
    return not (row > 0 and highest(state, row - 1, col, 1, width) <= floor)


@kernel
def places(state: Int8s, actions: Int32s, most: int) -> np.int64:
    """The first `most` places of the chosen item as actions, and how many there are of them."""
    width, depth, height = state[CHOSEN], state[CHOSEN + 1], state[CHOSEN + 2]
    count = np.int64(0)
    for row in range(BENCH - depth + 1):
        for col in range(BENCH - width + 1):
            if is_place(state, row, col, width, depth, height):
                actions[count] = SHAPES + BENCH * row + col
                count += 1
                if count == most:
                    return count
    return count


@kernel
def legal(state: Int8s, actions: Int32s, p: Int64s) -> np.int64:
    if state[CHOSEN] > 0:
        return np.int64(places(state, actions, CELLS))
    count = np.int64(0)
    for shape in range(SHAPES):
        if state[LEFT + SIZE_OF[shape]] > 0:
            actions[count] = shape
            count += 1
    return count


@kernel
def box(state: Int8s) -> tuple[np.int64, np.int64, np.int64]:
    """Columns, rows and layers of the smallest box from the corner that holds the pile."""
    cols, rows, layers = np.int64(0), np.int64(0), np.int64(0)
    for row in range(BENCH):
        for col in range(BENCH):
            if state[PILE + BENCH * row + col] > 0:
                cols, rows = max(cols, np.int64(col + 1)), np.int64(row + 1)
                layers = max(layers, np.int64(state[PILE + BENCH * row + col]))
    return cols, rows, layers


@kernel
def score(state: Int8s, p: Int64s) -> np.int64:
    """What the game would be worth if the box stayed as it is."""
    cols, rows, layers = box(state)
    return np.int64(WORST + 1 - cols * rows - rows * layers - layers * cols)


@inlined
def put(state: Int8s, row: int, col: int, number: int) -> None:
    """Let the chosen item down here as the one with this number, from 0."""
    width, depth, height = np.int64(state[CHOSEN]), np.int64(state[CHOSEN + 1]), np.int64(state[CHOSEN + 2])
    top = highest(state, row, col, depth, width) + height
    for r in range(row, row + depth):
        for c in range(col, col + width):
            state[PILE + BENCH * r + c] = np.int8(top)
    at = PLACED + ITEM * number
    state[at], state[at + 1] = np.int8(col), np.int8(row)
    for side in range(3):
        state[at + 2 + side] = state[CHOSEN + side]
        state[CHOSEN + side] = np.int8(0)


@inlined
def choose(state: Int8s, shape: int) -> None:
    state[LEFT + SIZE_OF[shape]] -= np.int8(1)
    state[CHOSEN] = np.int8(shape // 100 + 1)
    state[CHOSEN + 1] = np.int8(shape // 10 % 10 + 1)
    state[CHOSEN + 2] = np.int8(shape % 10 + 1)


@allocating
def play(state: Int8s, action: int, p: Int64s) -> np.int64:
    if action < SHAPES:
        choose(state, action)
        first = np.empty(1, dtype=np.int32)
        return np.int64(ONGOING) if places(state, first, 1) > 0 else np.int64(0)
    cell = np.int64(action - SHAPES)
    placed = np.int64(ply(state)) // 2  # the header has counted this move
    put(state, cell // BENCH, cell % BENCH, placed - 1)
    return np.int64(score(state, p)) if placed == p[0] else np.int64(ONGOING)


@allocating
def start(state: Int8s, choice: int, p: Int64s) -> None:
    """Cut the cube: every cut is drawn uniformly from all the planes between cells, of all pieces, along which one can
    be cut in two.
    """
    streams = np.empty(1, dtype=np.uint64)
    streams[0] = mix(np.uint64(choice))
    sides = np.full((p[0], 3), CUBE, dtype=np.int64)
    for pieces in range(1, p[0]):
        cuts = np.int64(0)
        for i in range(pieces):
            cuts += sides[i, 0] + sides[i, 1] + sides[i, 2] - 3
        cut = below(streams, 0, cuts)
        i = 0
        while cut >= sides[i, 0] + sides[i, 1] + sides[i, 2] - 3:
            cut -= sides[i, 0] + sides[i, 1] + sides[i, 2] - 3
            i += 1
        axis = 0
        while cut >= sides[i, axis] - 1:
            cut -= sides[i, axis] - 1
            axis += 1
        for other in range(3):
            sides[pieces, other] = sides[i, other]
        sides[pieces, axis] -= cut + 1
        sides[i, axis] = cut + 1
    for i in range(p[0]):
        state[LEFT + SIZE_OF[shape_of(sides[i, 0], sides[i, 1], sides[i, 2])]] += np.int8(1)


@allocating  # arithmetic with whole planes
def observe(state: Int8s, planes: Float32s, p: Int64s) -> None:
    """Planes: the pile; the floor of its box; its top; the chosen item's height on its floor; of the items left how
    many have their shortest and longest sides at row and column, and how many their middle and longest; then ten even
    planes, how many sides of length 1, 2, … 10 the items left have.
    """
    cols, rows, layers = box(state)
    planes[:] = np.float32(0)
    for row in range(BENCH):
        for col in range(BENCH):
            planes[PILE_PLANE, row, col] = np.float32(state[PILE + BENCH * row + col]) / np.float32(CUBE)
            planes[BOX_PLANE, row, col] = np.float32(row < rows and col < cols)
            if row < state[CHOSEN + 1] and col < state[CHOSEN]:
                planes[CHOSEN_PLANE, row, col] = np.float32(state[CHOSEN + 2]) / np.float32(CUBE)
    planes[TOP_PLANE] = np.float32(layers) / np.float32(CUBE)
    share = np.float32(1.0) / np.float32(p[0])
    for size in range(SIDES.shape[0]):
        left = np.float32(state[LEFT + size])
        if left > 0:
            short, middle, long = SIDES[size, 0] - 1, SIDES[size, 1] - 1, SIDES[size, 2] - 1
            planes[ENDS_PLANE, short, long] += left
            planes[MIDDLES_PLANE, middle, long] += left
            if short != long:
                planes[ENDS_PLANE, long, short] += left
            if middle != long:
                planes[MIDDLES_PLANE, long, middle] += left
            for side in range(3):
                planes[SIDES_PLANE + SIDES[size, side] - 1] += left * share


@kernel
def permute(state: Int8s, out: Int8s, cells: Int32s, actions: Int32s, swap: bool, p: Int64s) -> None:
    """The image of every item is placed anew, in the same order; what is left stays as it is."""
    for size in range(LEFT, CHOSEN):
        out[size] = state[size]
    placed = np.int64(ply(state)) // 2
    for number in range(placed):
        at = PLACED + ITEM * number
        shape = actions[shape_of(np.int64(state[at + 2]), np.int64(state[at + 3]), np.int64(state[at + 4]))]
        cell = np.int64(cells[BENCH * np.int64(state[at + 1]) + np.int64(state[at])])
        out[CHOSEN], out[CHOSEN + 1] = np.int8(shape // 100 + 1), np.int8(shape // 10 % 10 + 1)
        out[CHOSEN + 2] = np.int8(shape % 10 + 1)
        put(out, cell // BENCH, cell % BENCH, number)
    if state[CHOSEN] > 0:
        shape = actions[shape_of(np.int64(state[CHOSEN]), np.int64(state[CHOSEN + 1]), np.int64(state[CHOSEN + 2]))]
        out[CHOSEN], out[CHOSEN + 1] = np.int8(shape // 100 + 1), np.int8(shape // 10 % 10 + 1)
        out[CHOSEN + 2] = np.int8(shape % 10 + 1)


RULES = Rules(start, play, legal, observe, permute, score)
