"""Games as a page finds and names them."""

from __future__ import annotations

from palaestra.base.errors import GameError
from palaestra.games.base import RULES, Game
from palaestra.games.registry import full_id
from palaestra.live.position import Position
from palaestra.web.house import House


def find_game(house: House, text: str) -> Game | None:
    """The game that a browser names, ready to be drawn; None if its rules, in GDL, are not played in turn.

    May take long: rules are read and compiled code is loaded.
    """
    if text in house.for_roles:
        return None
    try:
        game = house.allowed.game(text)
    except GameError:
        if not text.startswith(RULES) or text not in house.own_games:
            raise
        house.for_roles.add(text)
        return None
    position = Position.at_start(game)
    position.after(next(iter(position.legal.values()))).svg()  # loads what the first move would wait for
    return game


def canonical(house: House, text: str) -> str:
    """The text by which processes are told of a game."""
    return text if text in house.own_games else full_id(text)


def title(text: str) -> str:
    """ "Connect Four 6×7" for connect_four-6x7, as people write it."""
    if text.startswith(RULES):
        name = text.removeprefix(RULES).rpartition("/")[2].removesuffix(".kif")
        return f"{name} (GDL)"
    if ":" in text:
        return text
    family, _, size = text.partition("-")
    return " ".join([family.replace("_", " ").title(), *(_size(part) for part in size.split("-") if part)])


def _size(part: str) -> str:
    first, x, second = part.partition("x")
    if x and first.isdigit() and second.isdigit():
        return f"{first}×{second}"
    return part.upper() if part[:1].isdigit() and not part.isdigit() else part
