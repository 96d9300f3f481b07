"""Any of our players as a bot of OpenSpiel, for its own matches and evaluations.

    game = pyspiel.load_game("breakthrough(rows=6,columns=6)")
    bots = [make_bot("uct(simulations=200)", game), pyspiel.make_uniform_random_bot(1, 7)]
    pyspiel.evaluate_bots(game.new_initial_state(), bots, 0)

A bot plays whichever side it is asked to move for. The game has to be one of those that `openspiel:NAME` makes; beyond
the plies after which such a game is a draw, the bot moves at random.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from palaestra.adapters.openspiel import OpenSpielGame, make
from palaestra.adapters.openspiel_catalogue import library
from palaestra.base.user_code import trust, trust_commands
from palaestra.players.registry import make_player

if TYPE_CHECKING:
    from palaestra.players.base import Player

_COLOURS = r"(?<=\()ansi_color_output=\w+,?|,ansi_color_output=\w+"  # a parameter that only changes the text of boards


def make_bot(text: str, game: Any, seed: int = 0) -> Any:
    """The player of a text as a `pyspiel.Bot` for a game of OpenSpiel, or for the text of one."""
    trust(text)
    trust_commands(text)
    own = make(f"openspiel:{re.sub(_COLOURS, '', str(game))}")
    return _bot_class()(make_player(text, own), own, seed)


def _bot_class() -> Any:
    """The class, made when it is first needed: its base is OpenSpiel's."""
    spiel = library()

    class PlayerBot(spiel.Bot):  # type: ignore[misc,name-defined]  # a class that is known when the program runs
        """Asks a player; one game at a time."""

        def __init__(self, player: Player, game: OpenSpielGame, seed: int) -> None:
            spiel.Bot.__init__(self)
            self.player, self.game = player, game
            self._rng = np.random.default_rng(seed)
            self._slot = np.zeros(1, dtype=np.int64)

        def restart(self) -> None:
            self.player.forget()

        def restart_at(self, state: Any) -> None:
            self.player.forget()

        def provides_policy(self) -> bool:
            return False

        def step(self, state: Any) -> int:
            if state.move_number() >= self.game.max_plies:  # a draw to the player, though OpenSpiel plays on
                return int(self._rng.choice(state.legal_actions()))
            row = self.game.from_spiel(state)
            return int(self.player.act(row[None], self._rng, self._slot)[0])

    return PlayerBot
