"""A player whose search trees outlive the game: for reproducing published results only (sources: L6).

It is the released code's search, plain and slow: Eq. 5.1, one table of positions for all games of the player's life,
equal positions shared, nothing proven, of equal moves the first. Two such players play different games from the same
start only because their tables grow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from palaestra.base.streams import Rng
from palaestra.base.types import Float64s, Int8s, Int32s, Int64s
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.players.base import Player
from palaestra.rewards.base import Reward, default_reward
from palaestra.search.evaluator import Evaluator, Leaves


@dataclass(eq=False)
class Position:
    """What is known about one position; one number for each legal move."""

    state: Int8s
    actions: Int32s
    prior: Float64s
    N: Float64s = field(init=False)
    W: Float64s = field(init=False)  # for the player to move
    after: list[Int8s | None] = field(init=False)

    def __post_init__(self) -> None:
        self.N, self.W = np.zeros((2, len(self.actions)))
        self.after = [None] * len(self.actions)

    @property
    def side(self) -> float:
        """1 where the first player moves, -1 where the second does."""
        return 1.0 - 2.0 * float(self.state[0])


class LastingPlayer(Player):
    """Plays the most visited move after `simulations` simulations, and never forgets a position."""

    def __init__(
        self, game: Game, text: str, evaluator: Evaluator, simulations: int, c_puct: float, reward: Reward | None = None
    ) -> None:
        super().__init__(game, text)
        self.evaluator, self.simulations, self.c_puct = evaluator, simulations, c_puct
        self.reward = reward or default_reward(game)
        self.positions: dict[bytes, Position] = {}

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        return np.array([self._move(state) for state in states], dtype=np.int32)

    @property
    def network_seconds(self) -> float | None:
        return self.evaluator.network_seconds

    def _move(self, state: Int8s) -> int:
        for _ in range(self.simulations):
            self._simulate(state)
        root = self.positions[state.tobytes()]
        return int(root.actions[np.argmax(root.N)])

    def _simulate(self, state: Int8s) -> None:
        """Follow Eq. 5.1 to an end or to a position that is not in the table, and back its value up."""
        path: list[tuple[Position, int]] = []
        while True:
            outcome = self.game.outcome(state[None])
            if outcome[0] != ONGOING:
                value = float(self.reward.value(outcome)[0])
                break
            position = self.positions.get(state.tobytes())
            if position is None:
                position, value = self._meet(state)
                break
            move = self._select(position)
            path.append((position, move))
            if (after := position.after[move]) is None:
                after = self.game.advance(state[None], position.actions[move : move + 1])[0]
                position.after[move] = after
            state = after
        for position, move in path:
            position.N[move] += 1
            position.W[move] += position.side * value

    def _select(self, position: Position) -> int:
        """The index of the move with the largest Q + c · P · √N(s) / (1 + N(s,a)); Q is 0 before the first visit."""
        q = position.W / np.maximum(position.N, 1.0)
        root = math.sqrt(position.N.sum() + 1e-8)
        return int(np.argmax(q + self.c_puct * position.prior * root / (1.0 + position.N)))

    def _meet(self, state: Int8s) -> tuple[Position, float]:
        """Take a position into the table; with it the network's value, for the first player."""
        counts, actions = self.game.legal(state[None])
        legal = actions[0, : counts[0]].copy()
        answer = self.evaluator(Leaves(state[None], counts, actions, np.zeros(1, dtype=np.uint64)))
        logits = np.zeros(len(legal)) if answer.logits is None else answer.logits[0, legal].astype(np.float64)
        weights = np.exp(logits - logits.max())
        position = Position(state.copy(), legal, weights / weights.sum())
        self.positions[state.tobytes()] = position
        return position, position.side * float(answer.values[0])
