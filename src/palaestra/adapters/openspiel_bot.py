"""Any of our players as a bot of OpenSpiel, for its own matches and evaluations.

    game = pyspiel.load_game("breakthrough(rows=6,columns=6)")
    bots = [make_bot("uct(simulations=200)", game), pyspiel.make_uniform_random_bot(1, 7)]
    pyspiel.evaluate_bots(game.new_initial_state(), bots, 0)

A bot plays whichever side it is asked to move for. The game has to be one of those that `openspiel:NAME` makes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from palaestra.adapters.openspiel import OpenSpielGame, make
from palaestra.adapters.openspiel_catalogue import library
from palaestra.base.user_code import trust, trust_commands
from palaestra.players.registry import make_player

if TYPE_CHECKING:
    from palaestra.players.base import Player


def make_bot(text: str, game: Any, seed: int = 0) -> Any:
    """The player of a text as a `pyspiel.Bot` for a game of OpenSpiel, or for the text of one."""
    trust(text)
    trust_commands(text)
    own = make(f"openspiel:{game}")
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
            row = self.game.from_spiel(state)
            return int(self.player.act(row[None], self._rng, self._slot)[0])

    return PlayerBot
