"""Games as a page finds and names them."""

from __future__ import annotations

import asyncio

from nicegui import background_tasks

from palaestra.base.errors import GameError
from palaestra.games.base import RULES, Game
from palaestra.games.registry import full_id
from palaestra.live.position import Position
from palaestra.web import thoughts
from palaestra.web.house import House

SHORT = {"tsp": "Travelling salesman"}  # families whose names are no words
PATIENCE = 2.0  # seconds that a page waits for a process that gets ready


def find_game(house: House, text: str) -> Game | None:
    """The game that a browser names; None if its rules, in GDL, are not played in turn. Reads files."""
    if text in house.for_roles:
        return None
    try:
        return house.allowed.game(text)
    except GameError:
        if not text.startswith(RULES) or text not in house.own_games:
            raise
        house.for_roles.add(text)
        return None


async def make_ready(house: House, text: str, game: Game) -> None:
    """Load what the first move of a game would wait for.

    What has to be compiled is compiled by another process, if that does not take too long: here it would slow all down.
    """
    if text in house.ready:
        return
    warm = background_tasks.create(house.moves.ask(thoughts.warm, text), name="warm", handle_exceptions=False)
    await asyncio.wait({warm}, timeout=PATIENCE)
    await asyncio.to_thread(_play_one_move, game)
    house.ready.add(text)


def _play_one_move(game: Game) -> None:
    position = Position.at_start(game)
    position.after(next(iter(position.legal.values()))).svg()


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
    name = SHORT.get(family, family.replace("_", " ").title())
    return " ".join([name, *(_size(part) for part in size.split("-") if part)])


def _size(part: str) -> str:
    first, x, second = part.partition("x")
    if x and first.isdigit() and second.isdigit():
        return f"{first}×{second}"
    return part.upper() if part[:1].isdigit() and not part.isdigit() else part
