"""Othello on n×n, n = 4 … 10 (sources: Othello), odd sizes with the start off centre.

        a b c d e f           action = row · n + column, written as column letter and row number;
     1  . . . . . .           pass = n², legal only when no disc can be placed
     2  . . . . . .
     3  . . O X . .           bit = action:   0  1  2  3  4  5
     4  . . X O . .                           6  7  8  …
     5  . . . . . .
     6  . . . . . .

A disc is placed where it encloses opposing discs in at least one of eight directions; all enclosed ones turn. Play ends
as soon as neither side can place; the outcome is the difference in discs, empty cells count for nobody.

A state is the header and three words: the first player's discs, the second player's, and the cells where the mover may
place. The last is what `play` finds out anyway when it asks whether play goes on. p is described at `parameters`.
Boards of 9×9 and 10×10 have two words where these have one (`palaestra.games.othello_large`).
"""

from __future__ import annotations

import numpy as np

from palaestra.base.errors import GameError
from palaestra.base.jit import inlined, kernel
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games import bits, othello_large
from palaestra.games.bit_board import (
    STONES,
    BitBoardGame,
    image,
    list_bits,
    observe_bits,
    permute_bits,
    signed,
    word_of,
)
from palaestra.games.board import BoardGame, cell_symmetries
from palaestra.games.kernel_game import Rules, state_bytes
from palaestra.games.rows import ONGOING, mover, set_mover
from palaestra.games.symmetry import square_maps

SMALLEST, LARGEST, LARGEST_OF_ONE_WORD = 4, 10, 8
DISCS, PLACES = STONES, STONES + 2  # words: discs of the first player, of the second, and the mover's places
SIZE, BOARD, INNER, FIRST_START, SECOND_START = 0, 1, 2, 3, 4  # places in p


def parameters(n: int) -> Int64s:
    """n; masks of all cells and of all but the two edge columns; the two players' discs at the start."""
    half = n // 2
    cells = np.zeros((5, n, n), dtype=bool)
    cells[BOARD] = True
    cells[INNER, :, 1:-1] = True
    cells[FIRST_START, half - 1, half] = cells[FIRST_START, half, half - 1] = True
    cells[SECOND_START, half - 1, half - 1] = cells[SECOND_START, half, half] = True
    p = [signed(word_of(plane)) for plane in cells]
    p[SIZE] = n
    return np.array(p, dtype=np.int64)


@inlined
def up(discs: np.uint64, through: np.uint64, step: np.uint64) -> np.uint64:
    """`discs` and the unbroken runs of `through` that follow them towards higher bits: up to 7 cells by doubling."""
    discs |= through & (discs << step)
    through &= through << step
    discs |= through & (discs << (step + step))
    through &= through << (step + step)
    return discs | (through & (discs << (np.uint64(4) * step)))


@inlined
def down(discs: np.uint64, through: np.uint64, step: np.uint64) -> np.uint64:
    """`up` towards lower bits."""
    discs |= through & (discs >> step)
    through &= through >> step
    discs |= through & (discs >> (step + step))
    through &= through >> (step + step)
    return discs | (through & (discs >> (np.uint64(4) * step)))


@inlined
def reach(own: np.uint64, through: np.uint64, step: np.uint64) -> np.uint64:
    """Cells just past a run of `through` that begins beside an own disc, both ways along one line."""
    ahead = up(own, through, step) & through
    behind = down(own, through, step) & through
    return (ahead << step) | (behind >> step)


@inlined
def places(own: np.uint64, other: np.uint64, p: Int64s) -> np.uint64:
    """Cells where `own` may place. A run never enters an edge column sideways: it could not be enclosed there."""
    n = np.uint64(p[SIZE])
    one = np.uint64(1)
    inner = other & np.uint64(p[INNER])
    found = reach(own, inner, one) | reach(own, other, n) | reach(own, inner, n + one) | reach(own, inner, n - one)
    return found & np.uint64(p[BOARD]) & ~(own | other)


@inlined
def enclosed(disc: np.uint64, own: np.uint64, through: np.uint64, step: np.uint64) -> np.uint64:
    """The runs of `through` between a new disc and own discs, both ways along one line."""
    ahead = up(disc, through, step) & through
    behind = down(disc, through, step) & through
    turned = np.uint64(0)
    if ((ahead << step) & own) != 0:
        turned |= ahead
    if ((behind >> step) & own) != 0:
        turned |= behind
    return turned


@inlined
def turned_by(disc: np.uint64, own: np.uint64, other: np.uint64, p: Int64s) -> np.uint64:
    """The opposing discs that turn when `disc` is placed."""
    n = np.uint64(p[SIZE])
    one = np.uint64(1)
    inner = other & np.uint64(p[INNER])
    return (
        enclosed(disc, own, inner, one)
        | enclosed(disc, own, other, n)
        | enclosed(disc, own, inner, n + one)
        | enclosed(disc, own, inner, n - one)
    )


@kernel
def start(state: Int8s, choice: int, p: Int64s) -> None:
    first, second = np.uint64(p[FIRST_START]), np.uint64(p[SECOND_START])
    bits.store(state, DISCS, first)
    bits.store(state, DISCS + 1, second)
    bits.store(state, PLACES, places(first, second, p))


@inlined
def play(state: Int8s, action: int, p: Int64s) -> np.int64:
    player = mover(state)
    own = bits.load(state, DISCS + player)
    other = bits.load(state, DISCS + 1 - player)
    if action < p[SIZE] * p[SIZE]:
        disc = np.uint64(1) << np.uint64(action)
        turned = turned_by(disc, own, other, p)
        own |= disc | turned
        other ^= turned
        bits.store(state, DISCS + player, own)
        bits.store(state, DISCS + 1 - player, other)
    set_mover(state, 1 - player)
    following = places(other, own, p)
    bits.store(state, PLACES, following)
    if following != 0 or places(own, other, p) != 0:
        return np.int64(ONGOING)
    margin = bits.popcount(own) - bits.popcount(other)
    return margin if player == 0 else -margin


@inlined
def legal(state: Int8s, actions: Int32s, p: Int64s) -> int:
    """The cells open to the mover, or the pass."""
    left = bits.load(state, PLACES)
    if left == 0:
        actions[0] = p[SIZE] * p[SIZE]
        return 1
    return list_bits(left, actions)


@kernel
def permute(state: Int8s, out: Int8s, cells: Int32s, actions: Int32s, swap: bool, p: Int64s) -> None:
    """The places belong to whoever moves, and with `swap` that player changes sides along with the discs."""
    permute_bits(state, out, cells, actions, swap, p)
    bits.store(out, PLACES, image(bits.load(state, PLACES), cells))


@kernel
def score(state: Int8s, p: Int64s) -> int:
    """The difference in discs."""
    return bits.popcount(bits.load(state, DISCS)) - bits.popcount(bits.load(state, DISCS + 1))


@kernel
def fill_places(state: Int8s, p: Int64s) -> None:
    """Complete a state whose header and discs are in place."""
    player = mover(state)
    bits.store(state, PLACES, places(bits.load(state, DISCS + player), bits.load(state, DISCS + 1 - player), p))


BIT_RULES = Rules(start, play, legal, observe_bits, permute, score)


class Passing(BoardGame):
    """Text: the last action is the pass."""

    def action_to_text(self, state: Int8s, action: int) -> str:
        return "pass" if action == self.num_actions - 1 else self.cell_name(action)


class BitOthello(Passing, BitBoardGame):
    """A word holds the board."""

    def put_cells(self, state: Int8s, cells: Int8s) -> None:
        super().put_cells(state, cells)
        fill_places(state, self.params)


class PairOthello(Passing):
    """Two words hold the board."""

    def cells(self, state: Int8s) -> Int8s:
        planes = np.zeros(self.observation_shape, dtype=np.float32)
        othello_large.observe(state, planes, self.params)
        mine = (planes[0] - planes[1]).astype(np.int8)
        return mine if mover(state) == 0 else -mine

    def put_cells(self, state: Int8s, cells: Int8s) -> None:
        for player, stone in enumerate((1, -1)):
            word, first = word_of(cells == stone), 8 * (othello_large.DISCS + 2 * player)
            state[first : first + 16] = np.frombuffer(word.to_bytes(16, "little"), dtype=np.int8)
        othello_large.fill_places(state, self.params)


def make(sizes: tuple[int, ...]) -> BoardGame:
    """`othello-NxN`."""
    n, cols = sizes
    if n != cols or not SMALLEST <= n <= LARGEST:
        raise GameError(
            f"'othello-{n}x{cols}': boards are square, {SMALLEST}x{SMALLEST} to {LARGEST}x{LARGEST}, "
            "for example othello-6x6"
        )
    return build(n, one_word=n <= LARGEST_OF_ONE_WORD)


def build(n: int, one_word: bool) -> BoardGame:
    """The same game with its board in one word (n ≤ 8) or in two."""
    maker = BitOthello if one_word else PairOthello
    symmetries = cell_symmetries(square_maps(n), extra_actions=1)
    placements = n * n - 4
    return maker(
        id=f"othello-{n}x{n}",
        version=1 if one_word else 2,  # 1 kept a byte a cell, and a run keeps states
        rules=BIT_RULES if one_word else othello_large.RULES,
        params=parameters(n) if one_word else othello_large.parameters(n),
        rows=n,
        cols=n,
        look="discs",
        num_actions=n * n + 1,
        action_layout="cells",
        # Every pass stands between two placements: the first ply places, a pass that met no placement would have been
        # the end, and so would a pass after the last one.
        max_plies=2 * placements - 1,
        max_legal=placements,
        state_size=state_bytes(24 if one_word else othello_large.STATE_BYTES),
        observation_shape=(2, n, n),
        tiebreak="margin",
        largest_outcome=n * n,
        symmetries=symmetries,
        exchange=symmetries[0],
        goal="Enclose opposing discs between your own to turn them; who has more discs at the end wins.",
    )
