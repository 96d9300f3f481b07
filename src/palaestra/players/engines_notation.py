"""How moves are written to other programs: as vertices of a board (GTP), as squares from and to (UCI).

GTP's board has columns A to Z without I and counts rows from the bottom. A family of games is written so, unless
programs for it agree on something else; `FAMILIES` says which is which:

    C4        GTP: gobang, tic_tac_toe, connect_four (the cell that the stone falls into), go
    c4        as the game writes it, I included, rows from the top: othello, hex, and games of other libraries

Knows no program and no protocol's commands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from string import ascii_uppercase

import numpy as np

from palaestra.base.errors import GameError
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.board import BoardGame

GTP_LETTERS = ascii_uppercase.replace("I", "")
PASS = "PASS"

VERTEX = re.compile(r"[A-Z][1-9][0-9]?")  # any point, wherever it may lie
UCI_MOVE = re.compile(r"[a-l][1-9][0-9]?[a-l][1-9][0-9]?[a-z]?")

OWN = "as the game writes them"
GRID = "as GTP counts them"
FAMILIES = {  # what programs for these games agree on; a board that is not here is written as its game writes it
    "tic_tac_toe": GRID,
    "gobang": GRID,
    "connect_four": GRID,
    "othello": OWN,
    "hex": OWN,
}


@dataclass(frozen=True)
class Vertices:
    """The moves of one game as vertices."""

    game: Game

    def __post_init__(self) -> None:
        game = self.game
        if game.players != 2:
            raise GameError(f"{game.id} has one player, and GTP is for two; for example othello-8x8")
        if isinstance(game, BoardGame) and max(game.rows, game.cols) > len(GTP_LETTERS):
            raise GameError(
                f"{game.id} is larger than GTP's board of {len(GTP_LETTERS)} lines; for example gobang-19x19"
            )
        start = game.start(np.zeros(1, dtype=np.int64))[0]
        for text in self.legal(start):
            if text != PASS and not VERTEX.fullmatch(text):
                raise GameError(
                    f"the moves of {game.id} are not points of a board ({text.lower()!r}), and GTP has no others;"
                    " for example othello-8x8, hex-11x11, gobang-15x15-5 or connect_four-6x7"
                )

    @property
    def is_grid(self) -> bool:
        return isinstance(self.game, BoardGame) and FAMILIES.get(self.game.id.partition("-")[0]) == GRID

    def vertex(self, state: Int8s, action: int) -> str:
        """Where an action of `state` puts its stone; PASS where it puts none."""
        game = self.game
        text = game.action_to_text(state, action)
        if text.lower() == "pass" or not self.is_grid:
            return text.upper()
        assert isinstance(game, BoardGame)
        if game.num_actions == game.cols:  # an action is a column, in which the stone falls
            row, column = int(np.count_nonzero(game.cells(state)[:, action] == 0)) - 1, action
        else:
            row, column = divmod(action, game.cols)
        return f"{GTP_LETTERS[column]}{game.rows - row}"

    def legal(self, state: Int8s) -> dict[str, int]:
        """The legal moves of a state as vertices, and their actions."""
        counts, actions = self.game.legal(state[None])
        return {self.vertex(state, int(action)): int(action) for action in actions[0, : counts[0]]}

    def drawing(self, state: Int8s) -> str:
        """The board with the vertices' letters and numbers at its sides; the game's own drawing where they agree."""
        game = self.game
        if not self.is_grid:
            return game.render(state)
        assert isinstance(game, BoardGame)
        glyphs = {1: game.glyphs[0], -1: game.glyphs[1], 0: "."}
        letters = "    " + " ".join(GTP_LETTERS[: game.cols])
        rows = (
            f"{game.rows - row:3d} " + " ".join(glyphs[int(stone)] for stone in stones)
            for row, stones in enumerate(game.cells(state))
        )
        return "\n".join([letters, *rows])


@dataclass(frozen=True)
class UciMoves:
    """The moves of one game as UCI writes them: e2e4, e7e8q."""

    game: Game

    def __post_init__(self) -> None:
        game = self.game
        if game.players != 2:
            raise GameError(f"{game.id} has one player, and UCI is for two; for example openspiel:chess")
        start = game.start(np.zeros(1, dtype=np.int64))[0]
        for text in self.legal(start):
            if not UCI_MOVE.fullmatch(text):
                raise GameError(
                    f"the moves of {game.id} do not go from a square to a square ({text!r}), and UCI has no others;"
                    " for example openspiel:chess"
                )

    def text(self, state: Int8s, action: int) -> str:
        return self.game.action_to_text(state, action)

    def legal(self, state: Int8s) -> dict[str, int]:
        """The legal moves of a state, and their actions."""
        counts, actions = self.game.legal(state[None])
        return {self.text(state, int(action)): int(action) for action in actions[0, : counts[0]]}
