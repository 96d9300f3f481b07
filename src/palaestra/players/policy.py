"""A player without a search: the move that the network likes best, or one drawn from its probabilities."""

from __future__ import annotations

import numpy as np

from palaestra.games.base import Game
from palaestra.players.base import Analysis, Choice, Player
from palaestra.search.evaluator import Evaluator, Leaves
from palaestra.streams import Rng, seeds_from, uniform
from palaestra.types import Float32s, Float64s, Int8s, Int32s, Int64s, UInt64s


class PolicyPlayer(Player):
    """Plays argmax of the network's policy over the legal moves; with temperature T > 0 it draws from policy^(1/T)."""

    def __init__(self, game: Game, text: str, evaluator: Evaluator, temperature: float = 0.0) -> None:
        super().__init__(game, text)
        self.evaluator, self.temperature = evaluator, temperature

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        return self.choose(states, rng, slots).actions

    def choose(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Choice:
        """The network's own values, without looking ahead."""
        streams = seeds_from(rng, len(states))
        _, actions, logits, values = legal_logits(self.game, self.evaluator, states)
        places = draw_places(logits, np.full(len(states), self.temperature), streams)
        return Choice(np.asarray(actions[np.arange(len(states)), places], dtype=np.int32), values)

    @property
    def network_seconds(self) -> float | None:
        return self.evaluator.network_seconds

    def analyse(self, state: Int8s, rng: Rng) -> Analysis:
        """The network's own policy and value, without looking ahead."""
        counts, actions, logits, values = legal_logits(self.game, self.evaluator, state[None])
        legal = actions[0, : counts[0]]
        policy = np.zeros(self.game.num_actions, dtype=np.float32)
        policy[legal] = _softmax(logits)[0, : counts[0]]
        action = int(self.act(state[None], rng)[0])
        return Analysis(action, float(values[0]), policy, pv=[action], note="the network alone, no search")


def legal_logits(game: Game, evaluator: Evaluator, states: Int8s) -> tuple[Int32s, Int32s, Float64s, Float32s]:
    """Legal moves [B], [B, L] with the logits of each [B, L], -inf beyond the last, and values [B] for the mover."""
    counts, actions = game.legal(states)
    answer = evaluator(Leaves(states, counts, actions, np.zeros(len(states), dtype=np.uint64)))
    listed = np.arange(actions.shape[1]) < counts[:, None]
    places = np.where(listed, actions, 0)
    given = np.zeros((len(states), game.num_actions)) if answer.logits is None else answer.logits
    logits = np.where(listed, np.take_along_axis(given, places, axis=1), -np.inf).astype(np.float64)
    return counts, actions, logits, answer.values


def draw_places(logits: Float64s, temperatures: Float64s, streams: UInt64s) -> Int64s:
    """int64[B]: a place in each row of logits [B, L], drawn from policy^(1/T) with the row's T; T = 0: the largest.

    Streams [B] are advanced where T > 0.
    """
    places = logits.argmax(axis=1)
    hot = np.flatnonzero(temperatures > 0)
    if hot.size:
        reach = np.cumsum(_softmax(logits[hot] / temperatures[hot, None]), axis=1)
        draws = np.array([uniform(streams, row) for row in hot])
        places[hot] = (reach < draws[:, None] * reach[:, -1:]).sum(axis=1)
    return places


def _softmax(logits: Float64s) -> Float64s:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
