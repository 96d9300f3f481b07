"""`random` and `greedy`: players that look no further than one move."""

from __future__ import annotations

import numpy as np

from palaestra.base.streams import Rng, seeds_from
from palaestra.base.types import Bools, Int8s, Int32s, Int64s
from palaestra.games.base import pick_rows
from palaestra.games.rows import ONGOING
from palaestra.players.base import Analysis, Player
from palaestra.rewards.base import default_reward
from palaestra.search.alphabeta_values import Terms, worth


class RandomPlayer(Player):
    """Uniform over the legal moves, drawn from the row's own stream. It takes no arguments."""

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        counts, actions = self.game.legal(states)
        return _draw(counts, actions, rng)

    def analyse(self, state: Int8s, rng: Rng) -> Analysis:
        """The uniform policy; a random player has no opinion about the value."""
        counts, actions = self.game.legal(state[None])
        policy = np.zeros(self.game.num_actions, dtype=np.float32)
        policy[actions[0, : counts[0]]] = 1.0 / counts[0]
        return Analysis(int(_draw(counts, actions, rng)[0]), policy=policy, note=f"any of {counts[0]} moves")


class GreedyPlayer(Player):
    """The move whose position looks best at once: the best win if there is one, else the best static `score`.

    A move that loses on the spot is played only when all do. Equally good moves are drawn uniformly from the row's own
    stream, so in a game without a static score greedy is random, except that it wins when it can. No arguments.
    """

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        actions, best = self._best(states)
        # Stable, so that the best moves come first and stay ascending.
        order = np.argsort(~best, axis=1, kind="stable")
        return _draw(best.sum(axis=1, dtype=np.int32), np.take_along_axis(actions, order, axis=1), rng)

    def analyse(self, state: Int8s, rng: Rng) -> Analysis:
        """Uniform over the best moves; the value is known only when the move ends the game."""
        actions, best = self._best(state[None])
        action = int(self.act(state[None], rng)[0])
        policy = np.zeros(self.game.num_actions, dtype=np.float32)
        policy[actions[0, best[0]]] = 1.0 / best.sum()
        outcomes = self.game.outcome(self.game.advance(state[None], np.array([action], dtype=np.int32)))
        if outcomes[0] == ONGOING:
            return Analysis(action, None, policy, pv=[action], note=f"best score of {best.sum()} moves")
        value = float(default_reward(self.game).value(outcomes)[0]) * (1 - 2 * int(state[0]))
        return Analysis(action, value, policy, pv=[action], note="ends the game")

    def _best(self, states: Int8s) -> tuple[Int32s, Bools]:
        """The legal actions [B, L], and which of them are the best."""
        counts, actions = self.game.legal(states)
        real = np.arange(actions.shape[1]) < counts[:, None]
        after = self.game.advance(np.repeat(states, counts, axis=0), actions[real])
        values = np.full(actions.shape, np.iinfo(np.int64).min)
        values[real] = worth(self.game, after, Terms.of(self.game, estimates=True))
        values[real] *= np.repeat(1 - 2 * states[:, 0].astype(np.int64), counts)
        return actions, values == values.max(axis=1, keepdims=True)


def _draw(counts: Int32s, actions: Int32s, rng: Rng) -> Int32s:
    """One of the first counts[i] actions of each row, from the row's own stream."""
    return pick_rows(counts, np.ascontiguousarray(actions), seeds_from(rng, len(counts)), np.arange(len(counts)))
