"""`two_opt`: whole tours of the travelling salesman, improved by 2-opt (sources: travelling salesman)."""

from __future__ import annotations

import threading

import numpy as np

from palaestra.base.errors import PlayerError
from palaestra.base.stopping import stop_if_asked
from palaestra.base.types import Int8s, Int64s, UInt64s
from palaestra.games.base import Game
from palaestra.games.tsp import TspGame, ways
from palaestra.players.nested import NestedPlayer
from palaestra.search.nested import Found
from palaestra.search.two_opt import improve, nearest_way, random_way


class TwoOptPlayer(NestedPlayer):
    """The best of `starts` ≥ 1 tours: the first begins as that of the nearest neighbour, the others at random.

    What was travelled already stays as it is.
    """

    def __init__(self, game: Game, text: str, starts: int = 1) -> None:
        if not isinstance(game, TspGame):
            raise PlayerError(f"{text} plays the travelling salesman, and not {game.id}; try {text} on tsp-20")
        super().__init__(game, text, level=1)
        self.starts = starts

    def search(self, state: Int8s, streams: UInt64s, stopped: threading.Event | None = None) -> Found:
        game = self.game
        assert isinstance(game, TspGame)
        path, waiting = game.visited(state), game.waiting(state)
        places = [path[-1], *waiting, path[0]]
        lengths = ways(places)
        best: Int64s | None = None
        shortest = 0
        for number in range(self.starts):
            stop_if_asked(stopped)
            order = nearest_way(lengths) if number == 0 else random_way(len(places), streams)
            length = int(improve(order, lengths))
            if best is None or length < shortest:
                best, shortest = order, length
        assert best is not None
        tour = np.array(places)[best[1:-1]].tolist()
        outcome = game.largest_outcome - game.length(state) - shortest
        return Found(outcome, tuple(tour), self.starts)
