"""Who plays against a person and who is asked, when nobody is named: the agent of the package where there is one."""

from __future__ import annotations

from palaestra.games.base import Game
from palaestra.live.defaults import ADVISER, LEVEL, OPPONENT, SOLO_ADVISER
from palaestra.players.shipped import LevelName, agent_text


def usual_opponent(game: Game, level: LevelName = LEVEL) -> str:
    """Of a person."""
    return agent_text(game, level) or OPPONENT


def usual_adviser(game: Game) -> str:
    """Who is asked about a position."""
    return agent_text(game, "hard") or (ADVISER if game.players == 2 else SOLO_ADVISER)
