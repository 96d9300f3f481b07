"""Othello from cell to cell, one byte a cell: the slow, obvious rules that both kinds of bit boards equal.

p is described at `parameters`.
"""

from __future__ import annotations

from dataclasses import fields
from typing import cast

import numpy as np

from palaestra.base.jit import inlined, kernel
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s
from palaestra.games.board import BoardGame, permute_cells
from palaestra.games.kernel_game import Rules, state_bytes
from palaestra.games.othello import Passing
from palaestra.games.registry import make_game
from palaestra.games.rows import HEADER, ONGOING, mover, set_mover

DIRECTIONS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
STEPS, ROOMS = 1, 9  # places in p


def parameters(n: int) -> Int64s:
    """n; for each direction the distance between neighbours; for each cell and direction the cells before the edge."""
    steps = [d_row * n + d_col for d_row, d_col in DIRECTIONS]
    rooms = [
        min(room(row, d_row, n), room(col, d_col, n))
        for row in range(n)
        for col in range(n)
        for d_row, d_col in DIRECTIONS
    ]
    return np.array([n, *steps, *rooms], dtype=np.int64)


def room(place: int, step: int, n: int) -> int:
    """How many times `step` leads from `place` to another place in 0 … n-1 (n for a step of 0)."""
    return n if step == 0 else place if step < 0 else n - 1 - place


@kernel
def start(state: Int8s, choice: int, p: Int64s) -> None:
    n = p[0]
    corner = HEADER + (n // 2 - 1) * n + n // 2 - 1  # top left of the four discs
    state[corner], state[corner + 1], state[corner + n], state[corner + n + 1] = -1, 1, 1, -1


@inlined
def run_length(state: Int8s, cell: int, direction: int, own: int, p: Int64s) -> int:
    """How many opposing discs stand between a cell and the next own disc in one direction; 0 if none comes."""
    step = p[STEPS + direction]
    place = HEADER + cell
    for length in range(p[ROOMS + 8 * cell + direction]):
        place += step
        if state[place] == own:
            return length
        if state[place] == 0:
            return 0
    return 0


@inlined
def is_place(state: Int8s, cell: int, own: int, p: Int64s) -> bool:
    """Whether `own` may place on a cell."""
    if state[HEADER + cell] != 0:
        return False
    for direction in range(8):
        if run_length(state, cell, direction, own, p) > 0:
            return True
    return False


@inlined
def has_place(state: Int8s, own: int, p: Int64s) -> bool:
    """Whether `own` may place anywhere."""
    for cell in range(p[0] * p[0]):
        if is_place(state, cell, own, p):
            return True
    return False


@kernel
def play(state: Int8s, action: int, p: Int64s) -> np.int64:
    n = p[0]
    player = mover(state)
    own = 1 - 2 * player
    if action < n * n:
        for direction in range(8):
            for distance in range(1, run_length(state, action, direction, own, p) + 1):
                state[HEADER + action + distance * p[STEPS + direction]] = own
        state[HEADER + action] = own
    set_mover(state, 1 - player)
    if has_place(state, -own, p) or has_place(state, own, p):
        return np.int64(ONGOING)
    return score(state, p)


@kernel
def legal(state: Int8s, actions: Int32s, p: Int64s) -> int:
    """The cells open to the mover, or the pass."""
    own = 1 - 2 * mover(state)
    count = 0
    for cell in range(p[0] * p[0]):
        if is_place(state, cell, own, p):
            actions[count] = cell
            count += 1
    if count == 0:
        actions[0] = p[0] * p[0]
        return 1
    return count


@kernel
def observe(state: Int8s, planes: Float32s, p: Int64s) -> None:
    """Planes: the mover's discs, the opponent's."""
    n = p[0]
    own = 1 - 2 * mover(state)
    for row in range(n):
        for col in range(n):
            disc = state[HEADER + row * n + col]
            planes[0, row, col] = disc == own
            planes[1, row, col] = disc == -own


@kernel
def score(state: Int8s, p: Int64s) -> np.int64:
    """The difference in discs."""
    margin = np.int64(0)
    for cell in range(p[0] * p[0]):
        margin += state[HEADER + cell]
    return margin


RULES = Rules(start, play, legal, observe, permute_cells, score)


def othello_in_bytes(n: int) -> BoardGame:
    """The game as the registry makes it, but for its rules and its states."""
    fast = cast(BoardGame, make_game(f"othello-{n}x{n}"))
    shared = {field.name: getattr(fast, field.name) for field in fields(Passing) if field.init}
    return Passing(**{**shared, "rules": RULES, "params": parameters(n), "state_size": state_bytes(n * n)})
