"""UCT with random games on games of OpenSpiel, on one core: ours through the adapter beside OpenSpiel's own MCTSBot."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pyspiel

from benchmarks.open_spiel_peer import MEGABYTES
from benchmarks.rollout_search import positions
from benchmarks.table import AGAINST, Table, against
from benchmarks.timing import alternate, per_second
from palaestra.adapters.openspiel import OpenSpielGame
from palaestra.adapters.openspiel import make as make_spiel_game
from palaestra.base.types import Int8s
from palaestra.rewards.base import default_reward
from palaestra.search.config import SearchConfig
from palaestra.search.driver import Search
from palaestra.search.evaluator import Rollout

LOCKSTEP = 64  # games side by side
TARGET = 0.5
GAMES = {  # simulations a move, plies between two of the positions
    "openspiel:breakthrough(columns=6,rows=6)": (200, 1),
    "openspiel:go(board_size=9)": (100, 3),
    "openspiel:chess": (25, 3),
    "openspiel:amazons(board_size=6)": (100, 3),
    "openspiel:connect_four": (200, 1),
}
POSITIONS = 8

NOTE = (
    "Simulations/s on one core; median of the rounds, each a turn of ours and one of theirs. Equal: 8 positions of a"
    " random game, simulations a move, UCT with c = √2, one uniform playout a leaf, proven values. Not equal: we are"
    " given 64 positions in one call; we cross from Python to C++ a dozen times a simulation and seed a generator for"
    " every leaf, which costs some 20 µs, so that short random games (connect_four) stay below the target; a game of"
    " chess is a draw after 512 plies here, and its playouts are driven from Python for that reason."
)


def run(rounds: int, seconds: float) -> Table:
    table = Table("Games of OpenSpiel through the adapter, one core", AGAINST, NOTE)
    for id, (simulations, spacing) in GAMES.items():
        game = make_spiel_game(id)
        states, histories = positions(game, POSITIONS, spacing)
        ours, theirs = _ours(game, states, simulations), _theirs(game, histories, simulations)
        ours()  # compiles and allocates
        speeds = alternate(partial(per_second, ours, seconds), partial(per_second, theirs, seconds), rounds)
        what = f"{id}, {LOCKSTEP} games × {simulations:,} simulations"
        against(table, what, *speeds, "OpenSpiel MCTSBot, C++", TARGET)
    return table


def _ours(game: OpenSpielGame, states: Int8s, simulations: int) -> Callable[[], int]:
    """One move of LOCKSTEP games; the positions are repeated, every copy with its own random numbers."""
    search = Search(game, Rollout(game, default_reward(game)), SearchConfig(rule="uct", simulations=simulations))
    batch = np.tile(states, (LOCKSTEP // len(states), 1))
    rng = np.random.default_rng(1)
    return lambda: int(search.run(batch, rng).simulations.sum())


def _theirs(game: OpenSpielGame, histories: Sequence[Sequence[int]], simulations: int) -> Callable[[], int]:
    """One search of the next position; simulations as they were really made."""
    evaluator = pyspiel.RandomRolloutEvaluator(n_rollouts=1, seed=1)
    bot = pyspiel.MCTSBot(
        game.spiel,
        evaluator,
        uct_c=math.sqrt(2),
        max_simulations=simulations,
        max_memory_mb=MEGABYTES,
        solve=True,
        seed=1,
        verbose=False,
    )
    starts = []
    for history in histories:
        state = game.spiel.new_initial_state()
        for action in history:
            state.apply_action(action)
        starts.append(state)
    turn = itertools.cycle(starts)
    return lambda: int(bot.mcts_search(next(turn)).explore_count)
