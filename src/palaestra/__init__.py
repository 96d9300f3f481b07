"""Palaestra: a self-play laboratory for board games.

>>> import palaestra
>>> game = palaestra.make_game("connect_four-5x5")
>>> player = palaestra.make_player("uct(simulations=200)", game)

Importing this package loads nothing else; the two functions do when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from palaestra.games.registry import make_game as make_game
    from palaestra.players.registry import make_player as make_player

__version__ = "0.1.0"
__all__ = ["__version__", "make_game", "make_player"]

_HOMES = {"make_game": "palaestra.games.registry", "make_player": "palaestra.players.registry"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'palaestra' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
