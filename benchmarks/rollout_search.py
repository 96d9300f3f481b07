"""MCTS with random playouts on one core: ours beside OpenSpiel's C++ MCTSBot, on the same positions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.open_spiel_peer import Searcher
from benchmarks.table import AGAINST, Table, against
from benchmarks.timing import alternate, per_second
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from palaestra.rewards.base import default_reward
from palaestra.search.config import SearchConfig
from palaestra.search.driver import Search
from palaestra.search.evaluator import Rollout

POSITIONS = 16
LOCKSTEP = 256  # games side by side, as in self-play and matches
SINGLE_TREE = 20_000
TARGETS = {"connect_four-6x7": 10.0, "othello-8x8": 50.0}
SPACING = {"connect_four-6x7": 1, "othello-8x8": 2}  # plies between positions: the first half of a game is covered

NOTE = (
    "Simulations/s on one core; median of the rounds, each a turn of ours and one of theirs. Equal: 16 positions of the"
    " first half of a random game, simulations a move, UCT with c = √2, one uniform playout a leaf, proven values, and"
    " simulations counted as made, one tree after the other. Not equal: we are given 256 positions in one call."
)


def run(rounds: int, seconds: float) -> Table:
    table = Table("Rollout MCTS on one core", AGAINST, NOTE)
    for id, target in TARGETS.items():
        game = make_game(id)
        states, histories = positions(game, POSITIONS, SPACING[id])
        for simulations in (100, 1000):
            ours = _lockstep(game, states, simulations)
            theirs = Searcher(id, histories, simulations).search
            what = f"{id}, {LOCKSTEP} games × {simulations:,} simulations"
            _compare(table, what, ours, theirs, target, rounds, seconds)
        ours = _single(game, states)
        theirs = Searcher(id, histories, SINGLE_TREE).search
        _compare(table, f"{id}, one tree × {SINGLE_TREE:,} simulations", ours, theirs, target, rounds, seconds)
    return table


def positions(game: Game, count: int, spacing: int) -> tuple[Int8s, list[list[int]]]:
    """Positions `spacing` plies apart from the start of one random game that lasts long enough, and their moves."""
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        state, moves = game.initial(1, rng), list[int]()
        states, histories = [state[0]], [list[int]()]
        while len(states) < count:
            counts, actions = game.legal(state)
            moves.append(int(actions[0, rng.integers(counts[0])]))
            state = game.advance(state, np.array(moves[-1:], dtype=np.int32))
            if game.outcome(state)[0] != ONGOING:
                break
            if len(moves) % spacing == 0:
                states.append(state[0])
                histories.append(moves.copy())
        else:
            return np.stack(states), histories
    raise ValueError(f"no random game of {game.id} lasts {count * spacing} plies")


def _lockstep(game: Game, states: Int8s, simulations: int) -> Callable[[], int]:
    """One move of LOCKSTEP games; the positions are repeated, every copy with its own random numbers."""
    config = SearchConfig(rule="uct", simulations=simulations)
    search = Search(game, Rollout(game, default_reward(game)), config)
    batch = np.tile(states, (LOCKSTEP // len(states), 1))
    rng = np.random.default_rng(1)
    return lambda: int(search.run(batch, rng).simulations.sum())


def _single(game: Game, states: Int8s) -> Callable[[], int]:
    """One search of the next position in a tree of its own."""
    config = SearchConfig(rule="uct", simulations=SINGLE_TREE)
    search = Search(game, Rollout(game, default_reward(game)), config)
    rng, at = np.random.default_rng(1), 0

    def next_position() -> int:
        nonlocal at
        at = (at + 1) % len(states)
        return int(search.run(states[at : at + 1], rng).simulations.sum())

    return next_position


def _compare(
    table: Table,
    what: str,
    ours: Callable[[], int],
    theirs: Callable[[], int],
    target: float,
    rounds: int,
    seconds: float,
) -> None:
    ours()  # compiles and allocates
    speeds = alternate(partial(per_second, ours, seconds), partial(per_second, theirs, seconds), rounds)
    against(table, what, *speeds, "OpenSpiel MCTSBot, C++", target)
