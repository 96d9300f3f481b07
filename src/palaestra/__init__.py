"""Palaestra: a self-play laboratory for board games. What the command does, from Python, with the same defaults.

>>> import palaestra as pl
>>> game = pl.make_game("connect_four-5x5")
>>> pl.analyse(game, "3 3", "uct(simulations=200)").position.legal_moves
['1', '2', '3', '4', '5']
>>> pl.match(game, "uct(simulations=50)", "random", games=10).score > 0.5
True
>>> run = pl.train(pl.configure(game, minutes=2), progress=True)  # doctest: +SKIP

Importing this package loads nothing else; the functions do when they are first used. Code that a text names
(`my_file:NAME`) is imported by the functions here, because whoever calls them has written the text; see
`palaestra.base.user_code`. docs/python.md is the guide.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes longer to import than all that stands here
if TYPE_CHECKING:
    from typing import Any

    from palaestra.api import make_network as make_network
    from palaestra.api import resume as resume
    from palaestra.api import train as train
    from palaestra.games.base import Game as Game
    from palaestra.games.registry import make_game as make_game
    from palaestra.learn.presets import configure as configure
    from palaestra.live.analysis import PositionAnalysis as PositionAnalysis
    from palaestra.live.analysis import analyse as analyse
    from palaestra.live.analysis import analyse_live as analyse_live
    from palaestra.live.evaluation import evaluate as evaluate
    from palaestra.live.game_in_play import GameInPlay as GameInPlay
    from palaestra.live.game_list import list_games as list_games
    from palaestra.live.match import match as match
    from palaestra.live.position import Position as Position
    from palaestra.live.ratings import rate as rate
    from palaestra.live.review import review as review
    from palaestra.live.run import Run as Run
    from palaestra.live.run import list_runs as list_runs
    from palaestra.live.run import load_run as load_run
    from palaestra.live.solving import solve as solve
    from palaestra.live.tournament import tournament as tournament
    from palaestra.players.base import Player as Player
    from palaestra.players.registry import make_player as make_player
    from palaestra.rewards.base import Reward as Reward
    from palaestra.rewards.registry import make_reward as make_reward
    from palaestra.search.config import SearchConfig as SearchConfig
    from palaestra.search.driver import Search as Search

__version__ = "0.1.0"

_HOMES = {
    "Game": "palaestra.games.base",
    "GameInPlay": "palaestra.live.game_in_play",
    "Player": "palaestra.players.base",
    "Position": "palaestra.live.position",
    "PositionAnalysis": "palaestra.live.analysis",
    "Reward": "palaestra.rewards.base",
    "Run": "palaestra.live.run",
    "Search": "palaestra.search.driver",
    "SearchConfig": "palaestra.search.config",
    "analyse": "palaestra.live.analysis",
    "analyse_live": "palaestra.live.analysis",
    "configure": "palaestra.learn.presets",
    "evaluate": "palaestra.live.evaluation",
    "list_games": "palaestra.live.game_list",
    "list_runs": "palaestra.live.run",
    "load_run": "palaestra.live.run",
    "make_game": "palaestra.games.registry",
    "make_network": "palaestra.api",
    "make_player": "palaestra.players.registry",
    "make_reward": "palaestra.rewards.registry",
    "match": "palaestra.live.match",
    "rate": "palaestra.live.ratings",
    "resume": "palaestra.api",
    "review": "palaestra.live.review",
    "solve": "palaestra.live.solving",
    "tournament": "palaestra.live.tournament",
    "train": "palaestra.api",
}
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        found = getattr(import_module(_HOMES[name]), name)
        globals()[name] = found if isinstance(found, type) else _trusting(found)
        return globals()[name]
    raise AttributeError(f"module 'palaestra' has no attribute {name!r}")


def _trusting(function: Any) -> Any:
    """The function, after the code that its texts name has been trusted: the caller has written them."""
    from functools import wraps

    from palaestra.base.user_code import trust, trust_commands

    @wraps(function)
    def typed(*given: Any, **named: Any) -> Any:
        for value in (*given, *named.values()):
            texts = [text for text in (value if isinstance(value, list | tuple) else [value]) if isinstance(text, str)]
            trust(*texts)
            trust_commands(*texts)
        return function(*given, **named)

    return typed


def __dir__() -> list[str]:
    return __all__
