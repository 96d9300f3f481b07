"""The games that can be played, as a list."""

from __future__ import annotations

from typing import TypedDict

from palaestra.games.base import Game
from palaestra.games.registry import example_ids, make_game


class GameListEntry(TypedDict):
    """One game as JSON."""

    id: str
    players: int
    num_actions: int
    max_plies: int
    max_legal: int
    num_starts: int
    tiebreak: str
    version: int


def example_games() -> list[Game]:
    """Every size that is listed; other sizes work too."""
    return [make_game(id) for id in example_ids()]


def list_games() -> list[GameListEntry]:
    """The games that are listed: players, actions, the longest game.

    >>> next(game["max_plies"] for game in list_games() if game["id"] == "connect_four-6x7")
    42
    """
    return [
        {
            "id": game.id,
            "players": game.players,
            "num_actions": game.num_actions,
            "max_plies": game.max_plies,
            "max_legal": game.max_legal,
            "num_starts": game.num_starts,
            "tiebreak": game.tiebreak,
            "version": game.version,
        }
        for game in example_games()
    ]
