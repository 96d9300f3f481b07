"""Self-play without a search: moves drawn from the network's policy (FACTS §3 Alg. 7, §7 R2).

It answers a table of games as a search does. The policy that it leaves behind is the move that was played, and not the
network's own, as in the code of the thesis, from which a network learns nothing that it does not know. Which of these
moves are learned from is decided when the games are over (`selfplay`): those of games that beat the threshold.

Knows no network: an evaluator answers for positions. Nothing is remembered from one move to the next.
"""

from __future__ import annotations

import numpy as np

from palaestra.games.base import Game
from palaestra.players.policy import draw_places, legal_logits
from palaestra.search.driver import SearchResult
from palaestra.search.evaluator import Evaluator
from palaestra.types import Float64s, Int8s, Int64s, UInt64s


class Sampling:
    """Draws moves from policy^(1/T); T = 0 takes the network's favourite, of equals the first."""

    def __init__(self, game: Game, evaluator: Evaluator) -> None:
        self.game, self.evaluator = game, evaluator

    def run(
        self, states: Int8s, streams: UInt64s, rows: Int64s, temperatures: Float64s, simulations: int | None = None
    ) -> SearchResult:
        """A move for every state int8[M, S] by one evaluation; `rows` and `simulations` mean something to trees only.

        The policy [M, L] is 1 at the move that is played; values are the network's own, for the player to move.
        """
        counts, actions, logits, values = legal_logits(self.game, self.evaluator, states)
        at = np.arange(len(states)), draw_places(logits, temperatures, streams.copy())
        played = np.zeros(actions.shape, dtype=np.float32)
        played[at] = 1.0
        unknown = np.full(actions.shape, np.nan, dtype=np.float32)
        return SearchResult(
            counts=counts,
            actions=actions,
            visits=np.zeros(actions.shape, dtype=np.int32),
            q=unknown,
            prior=unknown,
            policy=played,
            values=values,
            proven=np.zeros(len(states), dtype=np.bool_),
            chosen=np.asarray(actions[at], dtype=np.int32),
            simulations=np.zeros(len(states), dtype=np.int32),
        )
