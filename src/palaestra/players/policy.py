"""A player without a search: the move that the network likes best, or one drawn from its probabilities."""

from __future__ import annotations

import math

import numpy as np

from palaestra.base.jit import kernel
from palaestra.base.streams import Rng, seeds_from, uniform
from palaestra.base.types import Float32s, Float64s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.base import Game
from palaestra.players.base import Analysis, Choice, Player
from palaestra.search.evaluator import Evaluator, Leaves


class PolicyPlayer(Player):
    """Plays argmax of the network's policy over the legal moves; with temperature T > 0 it draws from policy^(1/T)."""

    def __init__(self, game: Game, text: str, evaluator: Evaluator, temperature: float = 0.0) -> None:
        super().__init__(game, text)
        self.evaluator, self.temperature = evaluator, temperature

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        return self.choose(states, rng, slots).actions

    def choose(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Choice:
        """The network's own values, without looking ahead."""
        temperatures = np.full(len(states), self.temperature)
        return draw_moves(self.game, self.evaluator, states, temperatures, seeds_from(rng, len(states)))

    @property
    def network_seconds(self) -> float | None:
        return self.evaluator.network_seconds

    def analyse(self, state: Int8s, rng: Rng) -> Analysis:
        """The network's own policy and value, without looking ahead."""
        counts, actions, logits, values = ask(self.game, self.evaluator, state[None])
        legal = actions[0, : counts[0]]
        weights = np.exp(logits[0, legal].astype(np.float64) - logits[0, legal].max())
        policy = np.zeros(self.game.num_actions, dtype=np.float32)
        policy[legal] = weights / weights.sum()
        action = int(self.act(state[None], rng)[0])
        return Analysis(action, float(values[0]), policy, pv=[action], note="the network alone, no search")


def draw_moves(game: Game, evaluator: Evaluator, states: Int8s, temperatures: Float64s, streams: UInt64s) -> Choice:
    """For each of the states [B] a move drawn from policy^(1/T) with the row's own T, and the evaluator's value.

    T = 0 takes the favourite, of equals the first. Streams [B] are advanced where T > 0.
    """
    counts, actions, logits, values = ask(game, evaluator, states)
    chosen = np.empty(len(states), dtype=np.int32)
    draw_rows(counts, actions, logits, temperatures, streams, chosen)
    return Choice(chosen, values)


def ask(game: Game, evaluator: Evaluator, states: Int8s) -> tuple[Int32s, Int32s, Float32s, Float32s]:
    """Legal moves [B], [B, L], the logits of all actions [B, A], and values [B] for the mover."""
    counts, actions = game.legal(states)
    answer = evaluator(Leaves(states, counts, actions, np.zeros(len(states), dtype=np.uint64)))
    logits = answer.logits
    if logits is None:
        logits = np.zeros((len(states), game.num_actions), dtype=np.float32)
    return counts, actions, logits, answer.values


@kernel
def draw_rows(
    counts: Int32s, actions: Int32s, logits: Float32s, temperatures: Float64s, streams: UInt64s, chosen: Int32s
) -> None:
    """Fill `chosen` [B] from counts [B], actions [B, L] and logits [B, A] of all actions."""
    for row in range(counts.shape[0]):
        legal = actions[row, : counts[row]]
        best = legal[0]
        for action in legal:
            if logits[row, action] > logits[row, best]:
                best = action
        chosen[row] = best
        if temperatures[row] > 0.0:
            top, total = np.float64(logits[row, best]), 0.0
            for action in legal:
                total += math.exp((logits[row, action] - top) / temperatures[row])
            left = uniform(streams, row) * total
            for action in legal:
                left -= math.exp((logits[row, action] - top) / temperatures[row])
                if left <= 0.0:
                    chosen[row] = action
                    break
