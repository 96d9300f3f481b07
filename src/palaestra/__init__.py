"""Palaestra: a self-play laboratory for board games.

>>> import palaestra
>>> game = palaestra.make_game("connect_four-5x5")
>>> player = palaestra.make_player("uct(simulations=200)", game)
>>> config = palaestra.configure("connect_four-5x5", "fast", minutes=2)
>>> summary = palaestra.train(config)  # doctest: +SKIP

Importing this package loads nothing else; the functions do when they are first used. Code that a text names
(`my_file:NAME`) is imported by the functions here, because whoever calls them has written the text; see
`palaestra.base.user_code`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes longer to import than all that stands here
if TYPE_CHECKING:
    from typing import Any

    from palaestra.games.registry import make_game as make_game
    from palaestra.learn.loop import resume as resume
    from palaestra.learn.loop import train as train
    from palaestra.learn.presets import configure as configure
    from palaestra.players.registry import make_player as make_player

__version__ = "0.1.0"
__all__ = ["__version__", "configure", "make_game", "make_player", "resume", "train"]

_HOMES = {
    "configure": "palaestra.learn.presets",
    "make_game": "palaestra.games.registry",
    "make_player": "palaestra.players.registry",
    "resume": "palaestra.learn.loop",
    "train": "palaestra.learn.loop",
}


_TYPED = ("make_game", "make_player")  # their first argument is a text that the caller has written


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        function = getattr(import_module(_HOMES[name]), name)
        return _trusting(function) if name in _TYPED else function
    raise AttributeError(f"module 'palaestra' has no attribute {name!r}")


def _trusting(function: Any) -> Any:
    from functools import wraps

    from palaestra.base.user_code import trust

    @wraps(function)
    def typed(text: str, *arguments: Any, **named: Any) -> Any:
        trust(text)
        return function(text, *arguments, **named)

    return typed


def __dir__() -> list[str]:
    return __all__
