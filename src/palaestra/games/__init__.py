"""Rules as array kernels: one file a game, the registry, symmetries and the laws that every game obeys.

What the author of a game needs can be imported from here: `from palaestra.games import KernelGame, Rules, ...`.
"""

from __future__ import annotations

from palaestra.games.base import Game, Playouts
from palaestra.games.board import BoardGame, cell_symmetries, permute_cells
from palaestra.games.kernel_game import KernelGame, Rules, state_bytes
from palaestra.games.python_game import PlainRules, PythonGame
from palaestra.games.registry import example_ids, make_game
from palaestra.games.rows import FIRST, HEADER, ONGOING, SECOND, mover, ply, set_mover, win_by_plies
from palaestra.games.symmetry import Symmetry, cell_map, identity, rectangle_maps, square_maps

__all__ = [
    "FIRST",
    "HEADER",
    "ONGOING",
    "SECOND",
    "BoardGame",
    "Game",
    "KernelGame",
    "PlainRules",
    "Playouts",
    "PythonGame",
    "Rules",
    "Symmetry",
    "cell_map",
    "cell_symmetries",
    "example_ids",
    "identity",
    "make_game",
    "mover",
    "permute_cells",
    "ply",
    "rectangle_maps",
    "set_mover",
    "square_maps",
    "state_bytes",
    "win_by_plies",
]
