"""`perfect`: play without mistakes, from retrograde analysis or from a solver."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from palaestra.errors import PlayerError
from palaestra.games.base import Game
from palaestra.players.base import UNPROVEN, Analysis, Choice, Player
from palaestra.rewards.base import default_reward
from palaestra.search.retrograde import analysed
from palaestra.search.solver import DEFAULT_NODES, Solution, Solver
from palaestra.streams import Rng, below, seeds_from
from palaestra.types import Float32s, Int8s, Int32s, Int64s

# Families whose rules look at the ply only to stop with a draw: there positions come back, and all of them are few.
RETROGRADE = ("opposition",)
MOST_REMEMBERED = 2**18  # solved positions kept by one player


class Oracle(Protocol):
    """Solves positions; `line` is asked right after `solve`. None: too hard."""

    def solve(self, state: Int8s) -> Solution | None: ...

    def line(self, state: Int8s, solution: Solution) -> list[int] | None: ...


class PerfectPlayer(Player):
    """Always a move with the best possible outcome: soonest win, latest loss, largest margin.

    `opposition` is solved for all positions at once. Any other game is tried when a move is asked for: a solver visits
    at most `nodes` ≥ 1 positions, and a position that needs more is refused with a PlayerError. (No size is refused
    beforehand: late in a large game a position may well be solvable.) Equally good moves are drawn uniformly from the
    row's stream; in a drawn position all moves that keep the draw are equally good. Solved positions are remembered.
    """

    def __init__(self, game: Game, text: str, nodes: int = DEFAULT_NODES) -> None:
        super().__init__(game, text)
        if nodes < 1:
            raise PlayerError(f"{text}: nodes is {nodes}; it must be at least 1, for example perfect(nodes=1000000)")
        self.nodes = nodes
        backwards = game.id.partition("-")[0] in RETROGRADE
        self._oracle: Oracle = analysed(game) if backwards else Solver(game, nodes)
        self._remembered: dict[bytes, Solution] = {}

    def solve(self, state: Int8s) -> Solution:
        """The exact outcome and all the best moves of a state that is not over."""
        key = state.tobytes()
        if key not in self._remembered:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = self._solve(state)
        return self._remembered[key]

    def _solve(self, state: Int8s) -> Solution:
        solution = self._oracle.solve(state)
        if solution is None:
            raise self._too_hard()
        return solution

    def _too_hard(self) -> PlayerError:
        return PlayerError(
            f"{self.text}: this position of {self.game.id} is not solved within {self.nodes:,} nodes; "
            f"allow more, for example perfect(nodes={10 * self.nodes}), or take a smaller board"
        )

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        return self.choose(states, rng, slots).actions

    def choose(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Choice:
        """Every value is exact."""
        streams = seeds_from(rng, len(states))
        chosen = np.empty(len(states), dtype=np.int32)
        outcomes = np.empty(len(states), dtype=np.int32)
        for row, state in enumerate(states):
            solution = self.solve(state)
            chosen[row] = solution.actions[int(below(streams, row, len(solution.actions)))]
            outcomes[row] = solution.outcome
        return Choice(chosen, self._values(states, outcomes), np.ones(len(states), dtype=np.bool_))

    def analyse(self, state: Int8s, rng: Rng) -> Analysis:
        """Uniform over the best moves; the line is best play to the end and its length the distance to it."""
        solution = self._solve(state)
        pv = self._oracle.line(state, solution)
        if pv is None:
            raise self._too_hard()
        action = pv[0]
        policy = np.zeros(self.game.num_actions, dtype=np.float32)
        policy[solution.actions] = 1.0 / len(solution.actions)
        value = float(self._values(state[None], np.array([solution.outcome], dtype=np.int32))[0])
        own = (1 - 2 * int(state[0])) * solution.outcome
        values = np.full(self.game.num_actions, np.nan, dtype=np.float32)
        values[solution.actions] = value
        exact = np.full(self.game.num_actions, UNPROVEN, dtype=np.int32)
        exact[solution.actions] = own if self.game.players == 1 else np.sign(own)
        return Analysis(action, value, policy, pv=pv, note=self._note(own, len(pv)), values=values, exact=exact)

    def _values(self, states: Int8s, outcomes: Int32s) -> Float32s:
        """float32[B]: what these outcomes are worth to the movers."""
        return default_reward(self.game).value(outcomes) * (1 - 2 * states[:, 0]).astype(np.float32)

    def _note(self, outcome: int, plies: int) -> str:
        """For example `win in 29 plies, outcome +152 for the mover`."""
        distance = f"{plies} {'ply' if plies == 1 else 'plies'}"
        if self.game.players == 1:
            return f"best outcome {outcome}, {distance} to the end"
        if outcome == 0:
            return "draw"
        return f"{'win' if outcome > 0 else 'loss'} in {distance}, outcome {outcome:+d} for the mover"
