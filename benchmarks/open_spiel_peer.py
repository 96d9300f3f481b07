"""OpenSpiel's C++ search and playouts, driven so that Python does nothing inside the measured loops."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

import pyspiel

MEGABYTES = 4000  # more than any of the searches needs: at its limit MCTSBot collects garbage, which costs time

NAMES = {
    "tic_tac_toe-3x3": "tic_tac_toe",
    "gobang-5x5": "mnk(m=5,n=5,k=4)",
    "gobang-6x6": "mnk(m=6,n=6,k=4)",
    "gobang-15x15-5": "mnk(m=15,n=15,k=5)",
    "connect_four-4x4": "connect_four(rows=4,columns=4)",
    "connect_four-5x5": "connect_four(rows=5,columns=5)",
    "connect_four-6x6": "connect_four(rows=6,columns=6)",
    "connect_four-6x7": "connect_four",
    "othello-8x8": "othello",
    "hex-3x3": "hex(board_size=3)",
    "hex-5x5": "hex(board_size=5)",
    "hex-11x11": "hex(board_size=11)",
}


class Searcher:
    """MCTSBot with one random playout a leaf, over the same positions in turn."""

    def __init__(self, game_id: str, histories: Sequence[Sequence[int]], simulations: int) -> None:
        game = pyspiel.load_game(NAMES[game_id])
        evaluator = pyspiel.RandomRolloutEvaluator(n_rollouts=1, seed=1)
        self._bot = pyspiel.MCTSBot(
            game,
            evaluator,
            uct_c=math.sqrt(2),
            max_simulations=simulations,
            max_memory_mb=MEGABYTES,
            solve=True,
            seed=1,
            verbose=False,
        )
        self._states = itertools.cycle([_after(game, history) for history in histories])

    def search(self) -> int:
        """One search of the next position; the simulations it really made (a solved root ends it early)."""
        return int(self._bot.mcts_search(next(self._states)).explore_count)


class Playouts:
    """Uniform random games from the start, all in C++: a search of one simulation evaluates its root alone."""

    def __init__(self, game_id: str, playouts: int = 20) -> None:
        game = pyspiel.load_game(NAMES[game_id])
        evaluator = pyspiel.RandomRolloutEvaluator(n_rollouts=playouts, seed=1)
        self._bot = pyspiel.MCTSBot(
            game, evaluator, uct_c=1.0, max_simulations=1, max_memory_mb=10, solve=False, seed=1, verbose=False
        )
        self._start, self._playouts = game.new_initial_state(), playouts

    def play(self) -> int:
        self._bot.mcts_search(self._start)
        return self._playouts


class SoloGames:
    """Uniform random games of OpenSpiel's Morpion Solitaire, which is 4D on 13×13.

    Driven from Python, which adds little to its moves of some 70 µs, and is three times as fast as `evaluate_bots` with
    its uniform bot.
    """

    def __init__(self) -> None:
        self._game, self._rng = pyspiel.load_game("morpion_solitaire"), random.Random(1)

    def play(self) -> int:
        state = self._game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(self._rng.choice(state.legal_actions()))
        return 1


def _after(game: Any, history: Sequence[int]) -> Any:
    state = game.new_initial_state()
    for action in history:
        state.apply_action(action)
    return state
