"""Texts of players: the grammar of `palaestra.base.text` with the words of players in its complaints."""

from __future__ import annotations

from palaestra.base.errors import PlayerError
from palaestra.base.text import Grammar, Parts

PLAYERS = Grammar("player", "uct(simulations=200)", PlayerError, subject_example="run:NAME@best(simulations=100)")


def parse_player(text: str) -> Parts:
    """Take a player text apart; PlayerError says in one line where it cannot be read."""
    return PLAYERS.parse(text)
