"""The same game on another board, or with another komi: what controllers of GTP ask for before they begin."""

from __future__ import annotations

import re

from palaestra.base.errors import GameError
from palaestra.games.base import Game
from palaestra.games.board import BoardGame
from palaestra.games.registry import make_game
from palaestra.players.engines_gtp import is_go, komi_of, size_of

_SIZED = re.compile(r"([a-z_]+)-\d+x\d+(.*)")
_LIBRARY = re.compile(r"(openspiel:[a-z_0-9]+)(?:\((.*)\))?")


def resized(game: Game, rows: int, cols: int) -> Game:
    """The game on so many rows and columns, the same object where it is that already; GameError if there is none."""
    if isinstance(game, BoardGame):
        if (game.rows, game.cols) == (rows, cols):
            return game
        if (named := _SIZED.fullmatch(game.id)) is not None:
            return make_game(f"{named[1]}-{rows}x{cols}{named[2]}")
    elif rows == cols and _LIBRARY.fullmatch(game.id):
        return game if size_of(game) == rows else _changed(game, "board_size", str(rows))
    raise GameError(f"{game.id} has no board of {rows}x{cols}")


def with_komi(game: Game, komi: float) -> Game | None:
    """The game with these points for White; None if it has none to give and some are wanted."""
    if not is_go(game):
        return game if komi == 0 else None
    return game if komi_of(game) == komi else _changed(game, "komi", f"{komi:.1f}")


def _changed(game: Game, name: str, value: str) -> Game:
    named = _LIBRARY.fullmatch(game.id)
    assert named is not None
    parameters = {**dict(_parameters(named[2])), name: value}
    return make_game(f"{named[1]}({','.join(f'{key}={text}' for key, text in parameters.items())})")


def _parameters(text: str | None) -> list[tuple[str, str]]:
    pieces = (piece.partition("=") for piece in (text or "").split(",") if piece.strip())
    return [(key.strip(), value.strip()) for key, _, value in pieces]
