"""The compiled rules of the tour and the layout of its states; `palaestra.games.tsp` tells the game.

    bytes 8–39      words 1 to 4: a bit for every city that was not visited; cell (row, column) is bit 16·row + column
    bytes 40–47     word 5: length of the path so far
    bytes 48–       the cells of the cities that were visited, in their order, as uint8; 0 after the last

p = (number of cities).
"""

from __future__ import annotations

import math

import numpy as np

from palaestra.base.jit import allocating, inlined, kernel
from palaestra.base.streams import below, mix
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s
from palaestra.games import bits
from palaestra.games.kernel_game import Rules, state_bytes
from palaestra.games.rows import HEADER, ONGOING, ply

SIDE = 16  # of the lattice
CELLS = SIDE * SIDE
STEP = 10  # length of the way between neighbouring cells
LONGEST = round(STEP * math.hypot(SIDE - 1, SIDE - 1))
WAITING = 1  # word
LENGTH = 5  # word
PATH = HEADER + 40
WAITING_PLANE, HERE_PLANE, FIRST_PLANE, VISITED_PLANE, NEAR_PLANE, BACK_PLANE = range(6)
PLANES = 6

_1 = np.uint64(1)


def state_size(cities: int) -> int:
    return state_bytes(PATH - HEADER + cities)


@inlined
def way(one: int, other: int) -> np.int64:
    """The length of the way between two cells: ten times their distance, rounded (sources: travelling salesman)."""
    rows, cols = (one >> 4) - (other >> 4), (one & 15) - (other & 15)
    return np.int64(np.rint(STEP * math.sqrt(rows * rows + cols * cols)))


@inlined
def visited(state: Int8s, number: int) -> np.int64:
    """The cell of the city that was visited as this one, from 0."""
    return np.int64(np.uint8(state[PATH + number]))


@inlined
def path_length(state: Int8s) -> np.int64:
    return np.int64(bits.load(state, LENGTH))


@inlined
def visit(state: Int8s, cell: int, number: int) -> None:
    word = WAITING + (cell >> 6)
    bits.store(state, word, bits.load(state, word) & ~(_1 << np.uint64(cell & 63)))
    state[PATH + number] = np.int8(np.uint8(cell))


@allocating
def start(state: Int8s, choice: int, p: Int64s) -> None:
    """Cities on different cells, uniformly; the tour begins at the one that was drawn first."""
    streams = np.empty(1, dtype=np.uint64)
    streams[0] = mix(np.uint64(choice))
    drawn, first = 0, np.int64(-1)
    while drawn < p[0]:
        cell = below(streams, 0, CELLS)
        word, bit = WAITING + (cell >> 6), _1 << np.uint64(cell & 63)
        there = bits.load(state, word)
        if there & bit == np.uint64(0):
            bits.store(state, word, there | bit)
            first = cell if drawn == 0 else first
            drawn += 1
    visit(state, first, 0)


@kernel
def legal(state: Int8s, actions: Int32s, p: Int64s) -> np.int64:
    count = np.int64(0)
    for number in range(4):
        word = bits.load(state, WAITING + number)
        while word != np.uint64(0):
            actions[count] = 64 * number + bits.lowest(word)
            count += 1
            word &= word - _1
    return count


@inlined
def play(state: Int8s, action: int, p: Int64s) -> np.int64:
    number = np.int64(ply(state))  # the header has counted this move
    length = path_length(state) + way(visited(state, number - 1), np.int64(action))
    visit(state, np.int64(action), number)
    if number == p[0] - 1:
        length += way(np.int64(action), visited(state, 0))
    bits.store(state, LENGTH, np.uint64(length))
    return np.int64(ONGOING) if number < p[0] - 1 else np.int64(LONGEST * p[0] - length)


@kernel
def score(state: Int8s, p: Int64s) -> np.int64:
    """What the game would be worth if no more way were needed: so that `greedy` goes to the nearest city."""
    return np.int64(LONGEST * p[0]) - path_length(state)


@kernel
def observe(state: Int8s, planes: Float32s, p: Int64s) -> None:
    """Planes: cities that wait; where the salesman is; where the tour began; all cities that were visited; and of those
    that wait, how near they are to the salesman and to the beginning: 10 / way.
    """
    planes[:] = np.float32(0)
    number = np.int64(ply(state))
    here, first = visited(state, number), visited(state, 0)
    for cell in range(CELLS):
        if (bits.load(state, WAITING + (cell >> 6)) >> np.uint64(cell & 63)) & _1 != np.uint64(0):
            planes[WAITING_PLANE, cell >> 4, cell & 15] = np.float32(1)
            planes[NEAR_PLANE, cell >> 4, cell & 15] = np.float32(STEP) / np.float32(way(here, cell))
            planes[BACK_PLANE, cell >> 4, cell & 15] = np.float32(STEP) / np.float32(way(first, cell))
    for i in range(number + 1):
        cell = visited(state, i)
        planes[VISITED_PLANE, cell >> 4, cell & 15] = np.float32(1)
        if i == 0:
            planes[FIRST_PLANE, cell >> 4, cell & 15] = np.float32(1)
        if i == number:
            planes[HERE_PLANE, cell >> 4, cell & 15] = np.float32(1)


@kernel
def permute(state: Int8s, out: Int8s, cells: Int32s, actions: Int32s, swap: bool, p: Int64s) -> None:
    """The image of every city; lengths do not change."""
    for cell in range(CELLS):
        if (bits.load(state, WAITING + (cell >> 6)) >> np.uint64(cell & 63)) & _1 != np.uint64(0):
            image = np.int64(cells[cell])
            word = WAITING + (image >> 6)
            bits.store(out, word, bits.load(out, word) | (_1 << np.uint64(image & 63)))
    bits.store(out, LENGTH, bits.load(state, LENGTH))
    for i in range(np.int64(ply(state)) + 1):
        out[PATH + i] = np.int8(np.uint8(cells[visited(state, i)]))


RULES = Rules(start, play, legal, observe, permute, score)
