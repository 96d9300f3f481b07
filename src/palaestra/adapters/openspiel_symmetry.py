"""Symmetries of OpenSpiel's games, where they are known: maps of the board, and what each action becomes.

OpenSpiel does not say them. Here stands which maps of the board leave a game's rules as they are and how its actions
are numbered; a map under which the initial position looks different, because of a parameter, is left out. A state is
the moves that led to it, so its image is the images of these moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from palaestra.base.types import Int32s
from palaestra.games.base import Game
from palaestra.games.symmetry import Symmetry, identity, rectangle_maps

HALF_TURN, MIRROR = "rotate 180", "mirror left-right"
DIAGONALS = ("transpose", "transpose other diagonal")
ALL = (HALF_TURN, MIRROR, "rotate 90", "rotate 270", "mirror top-bottom", *DIAGONALS)

Actions = Callable[[Int32s, tuple[int, int], int], Int32s]  # images of cells, the board, how many actions -> theirs


def _cells(cells: Int32s, board: tuple[int, int], count: int) -> Int32s:
    """An action is a cell; those after the cells, such as a pass, stay what they are."""
    rest = np.arange(len(cells), count, dtype=np.int32)
    return np.concatenate([cells, rest])


def _columns(cells: Int32s, board: tuple[int, int], count: int) -> Int32s:
    """An action is a column."""
    return cells[:count] % board[1]


def _steps(cells: Int32s, board: tuple[int, int], count: int) -> Int32s:
    """Breakthrough: a cell, one of three directions for each player, and whether it captures, in this order."""
    cell, direction, captures = np.unravel_index(np.arange(count), (len(cells), 6, 2))
    mirrored = 3 * (direction // 3) + 2 - direction % 3
    return np.asarray((cells[cell] * 6 + mirrored) * 2 + captures, dtype=np.int32)


KNOWN: dict[str, tuple[tuple[str, ...], Actions]] = {
    "amazons": ((MIRROR,), _cells),
    "breakthrough": ((MIRROR,), _steps),
    "connect_four": ((MIRROR,), _columns),
    "go": (ALL, _cells),
    "gomoku": (ALL, _cells),
    "mnk": (ALL, _cells),
    "othello": ((HALF_TURN, *DIAGONALS), _cells),
    "tic_tac_toe": (ALL, _cells),
}


def symmetries_of(game: Game, name: str) -> tuple[Symmetry, ...]:
    """The symmetries of OpenSpiel's game of this name, identity first."""
    _, rows, cols = game.observation_shape
    same = identity(rows * cols, game.num_actions)
    return (same, *_others(game, name)) if name in KNOWN else (same,)


def _others(game: Game, name: str) -> Iterator[Symmetry]:
    maps, actions = KNOWN[name]
    board = game.observation_shape[1:]
    first = game.observe(game.initial(1))
    counts, legal = game.legal(game.initial(1))
    begin = {*legal[0, : counts[0]].tolist()}
    for map_name, cells in rectangle_maps(*board):
        if map_name not in maps:
            continue
        found = Symmetry(map_name, cells, actions(cells, board, game.num_actions))
        if np.array_equal(found.planes(first), first) and {*found.actions[sorted(begin)].tolist()} == begin:
            yield found
