"""Othello on boards too large for 64 bits: the rules of `palaestra.games.othello` on pairs of words.

A set of cells is a pair of words, cells 0 … 63 in the first and the others in the second, so that a shift carries from
one word to the other. A state is the header and three pairs: the first player's discs, the second player's, and the
cells where the mover may place. `palaestra.games.othello` chooses between the two; the tests hold both equal to rules
that go from cell to cell. p is described at `parameters`.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.jit import inlined, kernel
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s
from palaestra.games import bits
from palaestra.games.bit_board import list_bits, signed, word_of
from palaestra.games.kernel_game import Rules
from palaestra.games.rows import ONGOING, mover, set_mover

Pair = tuple[np.uint64, np.uint64]

DISCS, PLACES = 1, 5  # words: two for the first player's discs, two for the second's, two for the mover's places
SIZE, BOARD, INNER, FIRST_START, SECOND_START = 0, 1, 3, 5, 7  # places in p
STATE_BYTES = 48


def parameters(n: int) -> Int64s:
    """n; then pairs: all cells, all but the two edge columns, the two players' discs at the start."""
    half = n // 2
    cells = np.zeros((4, n, n), dtype=bool)
    cells[0] = True
    cells[1, :, 1:-1] = True
    cells[2, half - 1, half] = cells[2, half, half - 1] = True
    cells[3, half - 1, half - 1] = cells[3, half, half] = True
    words = [word_of(plane) for plane in cells]
    halves = [signed(part) for word in words for part in (word & (2**64 - 1), word >> 64)]
    return np.array([n, *halves], dtype=np.int64)


@inlined
def pair(p: Int64s, place: int) -> Pair:
    return np.uint64(p[place]), np.uint64(p[place + 1])


@inlined
def load(state: Int8s, place: int) -> Pair:
    return bits.load(state, place), bits.load(state, place + 1)


@inlined
def store(state: Int8s, place: int, cells: Pair) -> None:
    bits.store(state, place, cells[0])
    bits.store(state, place + 1, cells[1])


@inlined
def both(a: Pair, b: Pair) -> Pair:
    return a[0] & b[0], a[1] & b[1]


@inlined
def either(a: Pair, b: Pair) -> Pair:
    return a[0] | b[0], a[1] | b[1]


@inlined
def higher(a: Pair, step: np.uint64) -> Pair:
    """Every cell moved by `step` towards higher numbers, 0 < step < 64."""
    return a[0] << step, (a[1] << step) | (a[0] >> (np.uint64(64) - step))


@inlined
def lower(a: Pair, step: np.uint64) -> Pair:
    return (a[0] >> step) | (a[1] << (np.uint64(64) - step)), a[1] >> step


@inlined
def up(discs: Pair, through: Pair, step: np.uint64) -> Pair:
    """`discs` and the unbroken runs of `through` that follow them towards higher cells: up to 8 cells.

    Seven by doubling, as on small boards, and one more: on 10×10 a run that can be enclosed has at most eight.
    """
    narrow = through
    discs = either(discs, both(through, higher(discs, step)))
    through = both(through, higher(through, step))
    discs = either(discs, both(through, higher(discs, step + step)))
    through = both(through, higher(through, step + step))
    discs = either(discs, both(through, higher(discs, np.uint64(4) * step)))
    return either(discs, both(narrow, higher(discs, step)))


@inlined
def down(discs: Pair, through: Pair, step: np.uint64) -> Pair:
    """`up` towards lower cells."""
    narrow = through
    discs = either(discs, both(through, lower(discs, step)))
    through = both(through, lower(through, step))
    discs = either(discs, both(through, lower(discs, step + step)))
    through = both(through, lower(through, step + step))
    discs = either(discs, both(through, lower(discs, np.uint64(4) * step)))
    return either(discs, both(narrow, lower(discs, step)))


@inlined
def reach(own: Pair, through: Pair, step: np.uint64) -> Pair:
    """Cells just past a run of `through` that begins beside an own disc, both ways along one line."""
    ahead = both(up(own, through, step), through)
    behind = both(down(own, through, step), through)
    return either(higher(ahead, step), lower(behind, step))


@inlined
def places(own: Pair, other: Pair, p: Int64s) -> Pair:
    """Cells where `own` may place. A run never enters an edge column sideways: it could not be enclosed there."""
    n = np.uint64(p[SIZE])
    one = np.uint64(1)
    inner = both(other, pair(p, INNER))
    found = either(
        either(reach(own, inner, one), reach(own, other, n)),
        either(reach(own, inner, n + one), reach(own, inner, n - one)),
    )
    found = both(found, pair(p, BOARD))
    return found[0] & ~(own[0] | other[0]), found[1] & ~(own[1] | other[1])


@inlined
def enclosed(disc: Pair, own: Pair, through: Pair, step: np.uint64) -> Pair:
    """The runs of `through` between a new disc and own discs, both ways along one line."""
    ahead = both(up(disc, through, step), through)
    behind = both(down(disc, through, step), through)
    turned = (np.uint64(0), np.uint64(0))
    if not is_empty(both(higher(ahead, step), own)):
        turned = ahead
    if not is_empty(both(lower(behind, step), own)):
        turned = either(turned, behind)
    return turned


@inlined
def turned_by(disc: Pair, own: Pair, other: Pair, p: Int64s) -> Pair:
    """The opposing discs that turn when `disc` is placed."""
    n = np.uint64(p[SIZE])
    one = np.uint64(1)
    inner = both(other, pair(p, INNER))
    return either(
        either(enclosed(disc, own, inner, one), enclosed(disc, own, other, n)),
        either(enclosed(disc, own, inner, n + one), enclosed(disc, own, inner, n - one)),
    )


@inlined
def is_empty(cells: Pair) -> bool:
    return (cells[0] | cells[1]) == 0


@inlined
def count(cells: Pair) -> np.int64:
    return bits.popcount(cells[0]) + bits.popcount(cells[1])


@inlined
def cell_of(action: int) -> Pair:
    bit = np.uint64(1) << np.uint64(action & 63)
    return (bit, np.uint64(0)) if action < 64 else (np.uint64(0), bit)


@kernel
def start(state: Int8s, choice: int, p: Int64s) -> None:
    first, second = pair(p, FIRST_START), pair(p, SECOND_START)
    store(state, DISCS, first)
    store(state, DISCS + 2, second)
    store(state, PLACES, places(first, second, p))


@inlined
def play(state: Int8s, action: int, p: Int64s) -> np.int64:
    player = mover(state)
    own = load(state, DISCS + 2 * player)
    other = load(state, DISCS + 2 - 2 * player)
    if action < p[SIZE] * p[SIZE]:
        disc = cell_of(action)
        turned = turned_by(disc, own, other, p)
        own = either(own, either(disc, turned))
        other = (other[0] ^ turned[0], other[1] ^ turned[1])
        store(state, DISCS + 2 * player, own)
        store(state, DISCS + 2 - 2 * player, other)
    set_mover(state, 1 - player)
    following = places(other, own, p)
    store(state, PLACES, following)
    if not is_empty(following) or not is_empty(places(own, other, p)):
        return np.int64(ONGOING)
    margin = count(own) - count(other)
    return margin if player == 0 else -margin


@inlined
def legal(state: Int8s, actions: Int32s, p: Int64s) -> int:
    """The cells open to the mover, or the pass."""
    left = load(state, PLACES)
    if is_empty(left):
        actions[0] = p[SIZE] * p[SIZE]
        return 1
    low = list_bits(left[0], actions)
    total = low + list_bits(left[1], actions[low:])
    for i in range(low, total):
        actions[i] += 64
    return total


@kernel
def observe(state: Int8s, planes: Float32s, p: Int64s) -> None:
    """Planes: the mover's discs, the opponent's."""
    for plane in range(2):
        discs = load(state, DISCS + 2 * (mover(state) ^ plane))
        for row in range(planes.shape[1]):
            for col in range(planes.shape[2]):
                planes[plane, row, col] = np.float32(discs[0] & np.uint64(1))
                discs = lower(discs, np.uint64(1))


@inlined
def image(cells: Pair, to: Int32s) -> Pair:
    """The set whose members are to[i] for every cell i."""
    moved = (np.uint64(0), np.uint64(0))
    for half in range(2):
        left = cells[half]
        while left != 0:
            moved = either(moved, cell_of(to[64 * half + bits.lowest(left)]))
            left &= left - np.uint64(1)
    return moved


@kernel
def permute(state: Int8s, out: Int8s, cells: Int32s, actions: Int32s, swap: bool, p: Int64s) -> None:
    """The places belong to whoever moves, and with `swap` that player changes sides along with the discs."""
    for player in range(2):
        into = 1 - player if swap else player
        store(out, DISCS + 2 * into, image(load(state, DISCS + 2 * player), cells))
    store(out, PLACES, image(load(state, PLACES), cells))


@kernel
def score(state: Int8s, p: Int64s) -> np.int64:
    """The difference in discs."""
    return count(load(state, DISCS)) - count(load(state, DISCS + 2))


@kernel
def fill_places(state: Int8s, p: Int64s) -> None:
    """Complete a state whose header and discs are in place."""
    player = mover(state)
    store(state, PLACES, places(load(state, DISCS + 2 * player), load(state, DISCS + 2 - 2 * player), p))


RULES = Rules(start, play, legal, observe, permute, score)
