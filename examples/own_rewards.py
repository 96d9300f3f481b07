"""Two rewards: wins are worth more the sooner they come; or, as much as they surpass the games before."""

import numpy as np

from palaestra.rewards.base import Reward


class Sooner(Reward):
    """A win is worth between 1 - bonus and 1, a loss as much below 0: for games whose wins are ordered."""

    def __init__(self, game, bonus=0.2):
        self.bonus, self.largest = bonus, game.largest_outcome

    def value(self, outcomes):
        size = np.abs(outcomes) / self.largest
        return (np.sign(outcomes) * (1 - self.bonus + self.bonus * size)).astype(np.float32)


class Surpassing(Reward):
    """How far an outcome lies above the mean of all games so far: it learns, so it has a state."""

    learns = True  # what it has learned is saved with the run
    lasting = False  # a game of an earlier iteration would be worth something else by now

    def __init__(self, game):
        self.largest, self.total, self.games = game.largest_outcome, 0, 0

    def value(self, outcomes):
        mean = self.total / max(self.games, 1)
        return np.clip((outcomes - mean) / (2 * self.largest), -1, 1).astype(np.float32)

    def observe(self, outcomes):  # once an iteration, with the outcomes of its games
        self.total += int(outcomes.sum())
        self.games += len(outcomes)

    def state(self):
        return {"seen": np.array([self.total, self.games])}

    def load_state(self, arrays):
        self.total, self.games = map(int, arrays["seen"])
