"""Exact play of Connect Four: the one solver that knows its game, some hundred times faster there than the general one.

Alpha-beta on bits after P. Pons, "Solving Connect Four" (2019): moves that lose at once are never made, those that make
the most threats come first, a table holds bounds, and the score is found by questions with windows of one. Boards whose
bits fit into a word, as `palaestra.games.connect_four` keeps them: there stands how cells are numbered.

A score is for the player to move. A win that ends the game at ply e of N is worth (N + 2 - e) // 2, a loss as much
below 0, a draw 0. What a table holds is proven, so that it may stay from one position to the next: later proofs are
cheaper, never other ones.
"""

from __future__ import annotations

import math
import threading

import numpy as np

from palaestra.base.jit import inlined, kernel
from palaestra.base.types import Int8s, Int64s, UInt64s
from palaestra.games.base import Game
from palaestra.games.bits import popcount
from palaestra.games.connect_four import STONES, BitConnectFour
from palaestra.games.rows import ONGOING
from palaestra.search.solver import DEFAULT_NODES, Solution, Solver

TABLE_SHIFT = 64 - 23  # 2^23 entries of the table: 75 MB, taken as they are used
SPREAD = 0x9E3779B97F4A7C15  # an odd number whose high bits of a product look random
AT_LEAST, LARGEST = 64, 32  # a bound from below is stored with this added; more than every score
UNDECIDED = 127
MIRRORED = 12  # plies up to which a position and its mirror image are one
NODES, MOST_NODES, STOPPED = 0, 1, 2  # of the counters
STEP, ROWS, COLS, BOTTOM, BOARD = range(5)  # of the geometry
FALLBACK_SECONDS = 1.0  # for the general solver's view of what is not proven


@inlined
def along(stones: np.uint64, step: np.uint64) -> np.uint64:
    """Cells that would make four with stones `step` bits apart, whether they are free or not."""
    three = (stones << step) & (stones << (step + step))
    cells = (three & (stones << (step + step + step))) | (three & (stones >> step))
    three = (stones >> step) & (stones >> (step + step))
    return cells | (three & (stones << step)) | (three & (stones >> (step + step + step)))


@inlined
def winning_cells(stones: np.uint64, taken: np.uint64, geometry: UInt64s) -> np.uint64:
    """Free cells that would make four for a player with these stones."""
    one, step = np.uint64(1), geometry[STEP]
    upright = (stones << one) & (stones << np.uint64(2)) & (stones << np.uint64(3))
    cells = upright | along(stones, step) | along(stones, step - one) | along(stones, step + one)
    return cells & (geometry[BOARD] ^ taken)


@inlined
def key_of(mine: np.uint64, taken: np.uint64, moves: int, geometry: UInt64s) -> np.uint64:
    """A number above 0 that says all of a position, in each column's bits its own part; early ones share it with their
    mirror image."""
    key = mine + taken + geometry[BOTTOM]
    if moves <= MIRRORED:
        cols, step = np.int64(geometry[COLS]), geometry[STEP]
        column = (np.uint64(1) << step) - np.uint64(1)
        image = np.uint64(0)
        for col in range(cols):
            image |= ((key >> (np.uint64(col) * step)) & column) << (np.uint64(cols - 1 - col) * step)
        key = min(key, image)
    return key


@inlined
def certain(moves: np.int64, possible: np.uint64, cells: np.int64) -> np.int64:
    """The score where two stones end the game or lose it, else UNDECIDED; `possible` are moves that do not lose."""
    if possible == 0:
        return -((cells - moves) // 2)
    return np.int64(0) if moves >= cells - 2 else np.int64(UNDECIDED)


@inlined
def safe_moves(taken: np.uint64, dangers: np.uint64, geometry: UInt64s) -> np.uint64:
    """Where a stone may fall without losing at once; `dangers` are cells with which the other side would win."""
    one = np.uint64(1)
    possible = (taken + geometry[BOTTOM]) & geometry[BOARD]
    forced = possible & dangers
    if forced:
        possible = forced if forced & (forced - one) == 0 else np.uint64(0)  # of two threats one stays
    return possible & ~(dangers >> one)  # nor below a threat


@inlined
def by_threats(
    mine: np.uint64, taken: np.uint64, possible: np.uint64, geometry: UInt64s, order: UInt64s, drafts: UInt64s,
    threats: Int64s,
) -> np.int64:  # fmt: skip
    """Fill `drafts` with the possible moves, those first that make the most threats; returns their number."""
    count = np.int64(0)
    for number in range(len(order)):
        move = possible & order[number]
        if move == 0:
            continue
        made = popcount(winning_cells(mine | move, taken, geometry))
        at = int(count)
        while at > 0 and threats[at - 1] < made:
            drafts[at], threats[at] = drafts[at - 1], threats[at - 1]
            at -= 1
        drafts[at], threats[at] = move, made
        count += 1
    return count


@kernel
def search(
    mine: np.uint64, taken: np.uint64, first: np.int64, alpha: np.int64, beta: np.int64, geometry: UInt64s,
    keys: UInt64s, bounds: Int8s, order: UInt64s, words: UInt64s, numbers: Int64s, drafts: UInt64s,
    threats: Int64s, counters: Int64s,
) -> np.int64:  # fmt: skip
    """The score of a position after `first` plies, or a bound on it outside of the window; no stone wins at once.

    `keys` and `bounds` are the table, `order` has a mask of every column, the middle first. The other arrays hold what
    is to be done at each ply. When a counter says stop, what is returned means nothing.
    """
    cells = np.int64(geometry[ROWS] * geometry[COLS])
    shift = np.uint64(TABLE_SHIFT)
    moves, value, entered = first, np.int64(0), True
    while True:
        if entered:
            counters[NODES] += 1
            if counters[NODES] > counters[MOST_NODES] or counters[STOPPED]:
                counters[STOPPED] = 1
                return np.int64(0)
            dangers = winning_cells(mine ^ taken, taken, geometry)
            possible = safe_moves(taken, dangers, geometry)
            value = certain(moves, possible, cells)
            entered = value == UNDECIDED
        if entered:
            alpha = max(alpha, -((cells - 2 - moves) // 2))
            beta = min(beta, (cells - 1 - moves) // 2)
            key = key_of(mine, taken, moves, geometry)
            place = (key * np.uint64(SPREAD)) >> shift
            if keys[place] == key:
                bound = np.int64(bounds[place])
                if bound >= AT_LEAST - LARGEST:
                    alpha = max(alpha, bound - AT_LEAST)
                else:
                    beta = min(beta, bound)
            if alpha >= beta:
                value, entered = alpha, False
        if entered:  # and has moves to be tried
            words[moves, 0], words[moves, 1], words[moves, 2], words[moves, 3] = mine, taken, key, place
            numbers[moves, 0], numbers[moves, 1], numbers[moves, 2] = alpha, beta, 0
            numbers[moves, 3] = by_threats(mine, taken, possible, geometry, order, drafts[moves], threats[moves])
        else:
            while True:  # the value goes up until there is something left to try
                if moves == first:
                    return value
                moves -= 1
                value = -value
                place = words[moves, 3]
                if value >= numbers[moves, 1]:
                    keys[place], bounds[place] = words[moves, 2], np.int8(value + AT_LEAST)
                    continue
                numbers[moves, 0] = max(numbers[moves, 0], value)
                numbers[moves, 2] += 1
                if numbers[moves, 2] < numbers[moves, 3]:
                    break
                value = numbers[moves, 0]
                keys[place], bounds[place] = words[moves, 2], np.int8(value)
            mine, taken, alpha, beta = words[moves, 0], words[moves, 1], numbers[moves, 0], numbers[moves, 1]
        stone = drafts[moves, numbers[moves, 2]]
        mine, taken, alpha, beta = mine ^ taken, taken | stone, -beta, -alpha
        moves += 1
        entered = True


class ConnectFourSolver(Solver):
    """Solves positions of one board; where its budget does not suffice, it says what the general solver sees."""

    game: BitConnectFour

    def __init__(self, game: BitConnectFour, nodes: int = DEFAULT_NODES) -> None:
        super().__init__(game, nodes)
        rows, cols, step = game.rows, game.cols, game.rows + 1
        bottom = sum(1 << (step * col) for col in range(cols))
        self._geometry = np.array([step, rows, cols, bottom, bottom * ((1 << rows) - 1)], dtype=np.uint64)
        columns = sorted(range(cols), key=lambda col: abs(2 * col - cols + 1))
        self._order = np.array([((1 << rows) - 1) << (step * col) for col in columns], dtype=np.uint64)
        entries, plies = 2 ** (64 - TABLE_SHIFT), rows * cols + 1
        self._table = np.zeros(entries, dtype=np.uint64), np.zeros(entries, dtype=np.int8)
        self._words, self._numbers = np.zeros((plies, 4), dtype=np.uint64), np.zeros((plies, 4), dtype=np.int64)
        self._drafts, self._threats = np.zeros((plies, cols), dtype=np.uint64), np.zeros((plies, cols), dtype=np.int64)
        self._counters = np.zeros(3, dtype=np.int64)
        self._ask(0, 0, 0, self._winning(0, 0))  # compiles, before any clock runs; no node is allowed

    def attempt(self, state: Int8s, exact: bool = True, seconds: float = math.inf) -> Solution:
        """The value and the best moves; not proven, as the general solver sees it, when the budget does not suffice."""
        self._counters[:] = 0, self.nodes, 0
        alarm = threading.Timer(seconds, self._stop) if math.isfinite(seconds) else None
        if alarm is not None:
            alarm.daemon = True
            alarm.start()
        try:
            found = self._solve(state, exact)
        finally:
            if alarm is not None:
                alarm.cancel()
        if found is not None:
            return found
        return super().attempt(state, exact, min(seconds, FALLBACK_SECONDS))

    def line(self, state: Int8s, solution: Solution, seconds: float = math.inf) -> list[int] | None:
        """Best play to the end, the first of the best moves each time; None when a budget does not suffice."""
        pv: list[int] = []
        while solution.proven:
            pv.append(solution.actions[0])
            state = self.game.advance(state[None], np.array(pv[-1:], dtype=np.int32))[0]
            if self.game.outcome(state[None])[0] != ONGOING:
                return pv
            solution = self.attempt(state, seconds=seconds)
        return None

    def _stop(self) -> None:
        self._counters[STOPPED] = 1

    def _solve(self, state: Int8s, exact: bool) -> Solution | None:
        """None when a counter said stop."""
        moves, side = int(self.game.plies(state[None])[0]), 1 - 2 * int(state[0])
        words = [int(word) for word in np.ascontiguousarray(state).view(np.uint64)[STONES : STONES + 2]]
        mine, taken = words[int(state[0])], words[0] | words[1]
        stones = self._stones(taken)
        wins = self._winning(mine, taken)
        if won := [action for action, stone in stones.items() if stone & wins]:
            return self._solution(won, moves, side, self._win_at(moves + 1), exact)
        best = self._score(mine, taken, moves, exact)
        reaching = [
            action
            for action, stone in stones.items()
            if (best < 0 and not exact) or self._reaches(mine ^ taken, taken | stone, moves + 1, best)
        ]
        return None if self._counters[STOPPED] else self._solution(reaching, moves, side, best, exact)

    def _stones(self, taken: int) -> dict[int, int]:
        """The bit that a stone would set, for every column that is not full."""
        rows, cols, step = self.game.rows, self.game.cols, self.game.rows + 1
        found = {col: (taken + (1 << step * col)) & (((1 << rows) - 1) << step * col) for col in range(cols)}
        return {col: stone for col, stone in found.items() if stone}

    def _winning(self, mine: int, taken: int) -> int:
        return int(winning_cells(np.uint64(mine), np.uint64(taken), self._geometry))

    def _win_at(self, end: int) -> int:
        """The score of a win that ends the game at a ply."""
        return (self.game.max_plies + 2 - end) // 2

    def _score(self, mine: int, taken: int, moves: int, exact: bool) -> int:
        """Of a position whose mover cannot win with the next stone; its sign where that is enough."""
        low, high = (-self._win_at(moves + 2), self._win_at(moves + 3)) if exact else (-1, 1)
        while low < high and not self._counters[STOPPED]:
            middle = low + (high - low) // 2
            # Questions near 0 are the cheapest, and most scores are there.
            if middle <= 0 and low // 2 < middle:
                middle = low // 2
            elif middle >= 0 and high // 2 > middle:
                middle = high // 2
            found = self._ask(mine, taken, moves, middle)
            low, high = (low, min(high, found)) if found <= middle else (max(low, min(high, found)), high)
        return low

    def _reaches(self, mine: int, taken: int, moves: int, goal: int) -> bool:
        """Whether the position after a move, whose mover has the stones `mine`, is worth `goal` to who made it."""
        if moves == self.game.max_plies:
            return goal <= 0
        if any(stone & self._winning(mine, taken) for stone in self._stones(taken).values()):
            return -self._win_at(moves + 1) >= goal
        return -self._ask(mine, taken, moves, -goal) >= goal

    def _ask(self, mine: int, taken: int, moves: int, score: int) -> int:
        """A number above `score` if the position's score is, otherwise one that is not."""
        return int(
            search(
                np.uint64(mine), np.uint64(taken), np.int64(moves), np.int64(score), np.int64(score + 1),
                self._geometry, *self._table, self._order, self._words, self._numbers, self._drafts, self._threats,
                self._counters,
            )
        )  # fmt: skip

    def _solution(self, actions: list[int], moves: int, side: int, score: int, exact: bool) -> Solution:
        outcome = side * int(np.sign(score))
        depth = self.game.max_plies - moves
        if score and exact:
            # Of the two plies that a score may stand for, the one at which the winner has just moved.
            end = self.game.max_plies + 2 - 2 * abs(score)
            if (end - moves) % 2 != (score > 0):
                end -= 1
            outcome *= self.game.max_plies + 1 - end
            depth = end - moves
        return Solution(outcome, sorted(actions), exact, depth, int(self._counters[NODES]))


def solver_for(game: Game, nodes: int = DEFAULT_NODES) -> Solver:
    """The fastest solver for a game."""
    return ConnectFourSolver(game, nodes) if isinstance(game, BitConnectFour) else Solver(game, nodes)
