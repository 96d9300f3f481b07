"""Rewards turn ordered outcomes into numbers in [-1, 1] (DESIGN D2): nothing else in the project compares outcomes."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from palaestra.games.base import Game
from palaestra.types import Float32s, Int32s


class Reward(ABC):
    """`value` is for the first player; with two players the second gets its negative."""

    @abstractmethod
    def value(self, outcomes: Int32s) -> Float32s:
        """float32 in [-1, 1], the shape of `outcomes`; monotone in the outcome."""

    def observe(self, outcomes: Int32s) -> None:
        """Learn from the outcomes of a generation of games; a fixed reward learns nothing."""


class Primitive(Reward):
    """Win 1, draw 0, loss -1 (FACTS §4)."""

    def value(self, outcomes: Int32s) -> Float32s:
        return np.sign(outcomes).astype(np.float32)


class Linear(Reward):
    """Scores between 0 and `highest` spread evenly over [-1, 1]: for one player, whose outcomes are never losses."""

    def __init__(self, highest: int) -> None:
        self.highest = highest

    def value(self, outcomes: Int32s) -> Float32s:
        return np.clip(2.0 * outcomes / self.highest - 1.0, -1.0, 1.0).astype(np.float32)


def default_reward(game: Game) -> Reward:
    """Primitive for two players; for one player the score as a share of the longest possible game."""
    return Primitive() if game.players == 2 else Linear(game.max_plies)
