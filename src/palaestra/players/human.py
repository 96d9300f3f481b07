"""A person as a player: asked for every move on the terminal, in the game's own notation.

The board and the questions go to stderr, so that a match with a person in it can still print JSON.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

from palaestra.base.errors import MoveError, PlayerError
from palaestra.base.printable import printable
from palaestra.base.streams import Rng
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.base import Game
from palaestra.players.base import Player


def ask_terminal(prompt: str) -> str:
    """One line from stdin; EOFError when there is none."""
    print(printable(prompt), end="", file=sys.stderr, flush=True)
    if not (line := sys.stdin.readline()):
        print(file=sys.stderr)  # whatever is said next begins a line of its own
        raise EOFError
    return line.strip()


class HumanPlayer(Player):
    """`ask(prompt)` returns what the person types, and raises EOFError when nothing more will come."""

    def __init__(self, game: Game, text: str, ask: Callable[[str], str] = ask_terminal) -> None:
        super().__init__(game, text)
        self.ask = ask

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        """Ask about one state after the other."""
        return np.array([self._ask_one(state) for state in states], dtype=np.int32)

    def _ask_one(self, state: Int8s) -> int:
        side = ("first", "second")[int(state[0])]
        prompt = f"\n{self.game.render(state)}\n{side} player, your move: "
        while True:
            try:
                return self.game.text_to_action(state, self.ask(prompt))
            except MoveError as error:
                prompt = f"{error}\nyour move: "
            except EOFError:
                raise PlayerError("a person was asked for a move, but the input has ended") from None
