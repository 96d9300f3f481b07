"""`perfect`: play without mistakes, from retrograde analysis or from a solver."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from palaestra.base.errors import PlayerError
from palaestra.base.streams import Rng, below, seeds_from
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.games.base import Game
from palaestra.players.alphabeta import squeezed
from palaestra.players.base import UNPROVEN, Analysis, Choice, Player
from palaestra.rewards.base import default_reward
from palaestra.search.connect_four_solver import solver_for
from palaestra.search.retrograde import analysed
from palaestra.search.solver import DEFAULT_NODES, Solution

# Families whose rules look at the ply only to stop with a draw: there positions come back, and all of them are few.
RETROGRADE = ("opposition",)
MOST_REMEMBERED = 2**18  # solved positions kept by one player
DEFAULT_SECONDS = 60.0


class Oracle(Protocol):
    """Solves positions within a time, or says that it did not; `line` is asked right after `attempt`."""

    def attempt(self, state: Int8s, exact: bool = True, seconds: float = ...) -> Solution: ...

    def line(self, state: Int8s, solution: Solution, seconds: float = ...) -> list[int] | None: ...


class PerfectPlayer(Player):
    """Always a move with the best possible outcome: soonest win, latest loss, largest margin.

    `opposition` is solved for all positions at once. Any other game is tried when a move is asked for: a solver visits
    at most `nodes` ≥ 1 positions and takes at most `seconds` > 0. If it has no proof by then, a best move of the last
    depth that it finished is played, and called not proven. (No size is refused beforehand: late in a large game a
    position may well be solvable.) Equally good moves are drawn uniformly from the row's stream; in a drawn position
    all moves that keep the draw are equally good. Solved positions are remembered. Choices are reproducible unless the
    seconds ran out.
    """

    def __init__(self, game: Game, text: str, nodes: int = DEFAULT_NODES, seconds: float = DEFAULT_SECONDS) -> None:
        super().__init__(game, text)
        if nodes < 1:
            raise PlayerError(f"{text}: nodes is {nodes}; it must be at least 1, for example perfect(nodes=1000000)")
        if not seconds > 0:
            raise PlayerError(
                f"{text}: seconds is {seconds:g}; it must be more than 0, for example perfect(seconds=10)"
            )
        self.nodes, self.seconds = nodes, seconds
        backwards = game.id.partition("-")[0] in RETROGRADE
        self._oracle: Oracle = analysed(game) if backwards else solver_for(game, nodes)
        self._remembered: dict[bytes, Solution] = {}

    def solve(self, state: Int8s) -> Solution:
        """The outcome and all the best moves of a state that is not over, exact if `proven`."""
        key = state.tobytes()
        if key not in self._remembered:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = self._oracle.attempt(state, seconds=self.seconds)
        return self._remembered[key]

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        return self.choose(states, rng, slots).actions

    def choose(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Choice:
        """Values are exact where they are proven."""
        streams = seeds_from(rng, len(states))
        solutions = [self.solve(state) for state in states]
        chosen = [found.actions[int(below(streams, row, len(found.actions)))] for row, found in enumerate(solutions)]
        return Choice(
            np.array(chosen, dtype=np.int32),
            np.array([self._value(*pair) for pair in zip(states, solutions, strict=True)], dtype=np.float32),
            np.array([found.proven for found in solutions], dtype=np.bool_),
        )

    def analyse(self, state: Int8s, rng: Rng) -> Analysis:
        """Uniform over the best moves; if proven, the line is best play to the end and as long as the way there."""
        solution = self._oracle.attempt(state, seconds=self.seconds)
        line = self._oracle.line(state, solution, self.seconds) if solution.proven else None
        pv = line or solution.actions[:1]
        policy = np.zeros(self.game.num_actions, dtype=np.float32)
        policy[solution.actions] = 1.0 / len(solution.actions)
        own = (1 - 2 * int(state[0])) * solution.outcome
        value = self._value(state, solution)
        values = np.full(self.game.num_actions, np.nan, dtype=np.float32)
        values[solution.actions] = value
        exact = np.full(self.game.num_actions, UNPROVEN, dtype=np.int32)
        if solution.proven:
            exact[solution.actions] = own if self.game.players == 1 else np.sign(own)
        note = self._note(own, line) if solution.proven else self._doubt(solution)
        return Analysis(pv[0], value, policy, pv=pv, note=note, proven=solution.proven, values=values, exact=exact)

    def _value(self, state: Int8s, solution: Solution) -> float:
        """What a solution is worth to the mover; where nothing is in sight, its estimate as `alphabeta` shows it."""
        side = 1 - 2 * int(state[0])
        if solution.proven or solution.outcome or self.game.players == 1:
            return side * float(default_reward(self.game).value(np.array([solution.outcome], dtype=np.int32))[0])
        return side * squeezed(solution.estimate)

    def _note(self, outcome: int, line: list[int] | None) -> str:
        """For example `win in 29 plies, outcome +152 for the mover`; no distance where the line was not found."""
        distance = "" if line is None else f"{len(line)} {'ply' if len(line) == 1 else 'plies'}"
        if self.game.players == 1:
            return f"best outcome {outcome}" + (f", {distance} to the end" if distance else "")
        if outcome == 0:
            return "draw"
        won = "win" if outcome > 0 else "loss"
        return (f"{won} in {distance}" if distance else won) + f", outcome {outcome:+d} for the mover"

    def _doubt(self, solution: Solution) -> str:
        """For example `not proven: best 5 plies deep; a proof may need 10^96 positions`."""
        plies = f"{solution.depth} {'ply' if solution.depth == 1 else 'plies'}"
        return f"not proven: best {plies} deep; a proof may need 10^{solution.effort:.0f} positions"
