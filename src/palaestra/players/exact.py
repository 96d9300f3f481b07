"""Certain results of single moves: from a search's exact values, or solved where that takes a moment. Knows no player.

A result is for the player who moves: 1, 0 or -1 with two players, the score with one, UNPROVEN where it is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from palaestra.base.types import Float32s, Int8s, Int32s
from palaestra.games.base import Game
from palaestra.games.kernel_game import KernelGame
from palaestra.games.rows import ONGOING
from palaestra.players.base import UNPROVEN, Analysis
from palaestra.players.perfect import RETROGRADE
from palaestra.rewards.base import Reward
from palaestra.search.retrograde import analysed
from palaestra.search.solver import Solution, Solver

MOST_CELLS = 72  # of a board whose positions are all solved in a second
NODES = 300_000  # for all moves of a position together: a fraction of a second of compiled rules
PLAIN_NODES = 2_000  # the same for rules that are not compiled

Judge = Callable[[Int8s], Solution | None]  # solves a position; None: too hard


def results_of_values(game: Game, reward: Reward, values: Float32s, mover: int) -> Int32s:
    """int32[N]: which results exact values [N] for the mover stand for; UNPROVEN if two results are worth the same."""
    outcomes = np.arange(-game.largest_outcome, game.largest_outcome + 1, dtype=np.int32)
    worths = reward.value(outcomes)
    side = 1 - 2 * mover
    found = np.full(len(values), UNPROVEN, dtype=np.int32)
    for i, value in enumerate(values):
        meant = np.unique(_result(game, outcomes[worths == side * value], mover))
        if len(meant) == 1:
            found[i] = meant[0]
    return found


def _result(game: Game, outcomes: Int32s, mover: int) -> Int32s:
    return outcomes if game.players == 1 else np.asarray(np.sign(outcomes) * (1 - 2 * mover), dtype=np.int32)


def solved_moves(game: Game, judge: Judge, state: Int8s) -> Iterator[tuple[int, int | None]]:
    """Every legal move and the first player's outcome after it, or its sign if that is all the judge says; None where
    it is too hard."""
    counts, actions = game.legal(state[None])
    moves = actions[0, : counts[0]]
    after = game.advance(np.repeat(state[None], len(moves), axis=0), moves)
    for move, child, end in zip(moves, after, game.outcome(after), strict=True):
        solution = judge(child) if end == ONGOING else Solution(int(end), [])
        yield int(move), None if solution is None else solution.outcome


class InstantJudge:
    """Results of a position's moves, as far as a moment's work shows them: the same ones on every machine."""

    def __init__(self, game: Game) -> None:
        self.game = game
        _, height, width = game.observation_shape
        self._backwards = game.id.partition("-")[0] in RETROGRADE and height * width <= MOST_CELLS
        self._nodes = NODES if isinstance(game, KernelGame) else PLAIN_NODES
        self._solver = Solver(game, self._nodes)
        self._last: tuple[bytes, Int32s] | None = None  # a search that is watched asks about one position many times

    def results(self, state: Int8s) -> Int32s:
        """int32[A] of a position that is not over."""
        if self._last is not None and self._last[0] == state.tobytes():
            return self._last[1]
        found = np.full(self.game.num_actions, UNPROVEN, dtype=np.int32)
        self._solver.nodes = max(1, self._nodes // int(self.game.legal(state[None])[0][0]))
        for move, outcome in solved_moves(self.game, self._judge, state):
            if outcome is not None:
                found[move] = _result(self.game, np.array([outcome], dtype=np.int32), int(state[0]))[0]
        self._last = state.tobytes(), found
        return found

    def complete(self, state: Int8s, analysis: Analysis) -> Analysis:
        """The analysis with what is certain about the moves that the player has not proven itself."""
        known = analysis.exact
        if known is not None and (known[self._legal(state)] != UNPROVEN).all():
            return analysis
        found = self.results(state)
        return replace(analysis, exact=found if known is None else np.where(known == UNPROVEN, found, known))

    def _legal(self, state: Int8s) -> Int32s:
        counts, actions = self.game.legal(state[None])
        return actions[0, : counts[0]]

    def _judge(self, state: Int8s) -> Solution | None:
        if self._backwards:
            return analysed(self.game).solve(state)
        return self._solver.solve(state, exact=self.game.players == 1)
