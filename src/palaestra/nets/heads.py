"""What the second head of a network says, and what that is worth under a reward.

    value        1 output, tanh         the value itself, under the reward that the network was trained with
    outcome      5 outputs              logits of win, draw and loss; a tenth of the amount given a win, given a loss
                 3 outputs              the same without amounts, where nothing orders equal results
    categorical  K outputs              a logit for each outcome of the game, the worst for the mover first

All of it is for the player to move. The amount is what orders equal results: plies still to play, or the margin. The
last two heads learn what will happen, not what that is worth, so a network that has one can be used under any reward.
This module imports no network library.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from palaestra.base.errors import ConfigError
from palaestra.base.jit import allocating, inlined
from palaestra.base.types import Float32s, Float64s, Int8s, Int32s
from palaestra.rewards.base import Reward
from palaestra.rewards.outcomes import OutcomeSpace

VALUE_HEAD, OUTCOME_HEAD, CATEGORICAL_HEAD = "value", "outcome", "categorical"
OUTCOME_HEADS = (OUTCOME_HEAD, CATEGORICAL_HEAD)  # as they are written at the end of a network's name

MAX_OUTCOMES = 256  # of a categorical head
WIN, DRAW, LOSS = 0, 1, 2  # results of the player to move, in the order of the outputs
AMOUNT_SCALE = 0.1  # of the amounts in the outputs (sources: outcome head)
MOST_AMOUNT = 1e6  # beyond every game: what is larger is an output that has run away


class Head(ABC):
    """A head for the outcomes of one game; `outputs` is the number of its raw outputs."""

    name: ClassVar[str]

    def __init__(self, space: OutcomeSpace, outputs: int) -> None:
        self.space, self.outputs = space, outputs

    @abstractmethod
    def value(self, raw: Float32s, reward: Reward, plies: Int32s, movers: Int8s) -> Float32s:
        """float32[B] in [-1, 1] for the player to move, from finite outputs of B positions.

        `plies` [B] were played before each position and `movers` [B], 0 or 1, are to move.
        """

    @abstractmethod
    def targets(self, values: Float32s, outcomes: Int32s, plies: Int32s, movers: Int8s) -> Float32s:
        """What the head should have said of B positions, float32[B] or [B, 2]; `palaestra.learn.losses` reads it.

        `values` [B] are for the player to move, `outcomes` [B] those of the games for the first player.
        """


class ValueHead(Head):
    """The value as it is, float32[B]: the reward is in the weights."""

    name = VALUE_HEAD

    def value(self, raw: Float32s, reward: Reward, plies: Int32s, movers: Int8s) -> Float32s:
        return raw

    def targets(self, values: Float32s, outcomes: Int32s, plies: Int32s, movers: Int8s) -> Float32s:
        return values


class OutcomeHead(Head):
    """Win, draw or loss, how soon or by how much: float32[B, 5], or [B, 3] without tiebreak (sources: outcome head)."""

    name = OUTCOME_HEAD

    def value(self, raw: Float32s, reward: Reward, plies: Int32s, movers: Int8s) -> Float32s:
        results = np.empty((len(raw), 3), dtype=np.float32)
        amounts = np.zeros((len(raw), 2), dtype=np.float32)
        first_players_view(raw, movers, results, amounts)
        values = reward.expected(results, amounts, plies) * (1 - 2 * movers)
        return np.clip(values, -1.0, 1.0).astype(np.float32)

    def targets(self, values: Float32s, outcomes: Int32s, plies: Int32s, movers: Int8s) -> Float32s:
        """[B, 2]: the result, as a number of its output, and the output that its amount should have given."""
        own = np.where(movers == 1, -outcomes, outcomes)
        amounts = AMOUNT_SCALE * self.space.amount(outcomes, plies)
        return np.stack([DRAW - np.sign(own), amounts], axis=1).astype(np.float32)


class CategoricalHead(Head):
    """A distribution over all outcomes, ascending in the mover's view: float32[B, K]."""

    name = CATEGORICAL_HEAD

    def value(self, raw: Float32s, reward: Reward, plies: Int32s, movers: Int8s) -> Float32s:
        values = np.empty(len(raw), dtype=np.float32)
        mean_over_outcomes(raw, reward.value(self.space.outcomes()), movers, values)
        return values

    def targets(self, values: Float32s, outcomes: Int32s, plies: Int32s, movers: Int8s) -> Float32s:
        """[B]: the number of the output that stands for the outcome."""
        index = self.space.index(outcomes)
        return np.where(movers == 1, self.outputs - 1 - index, index).astype(np.float32)


def make_head(name: str, space: OutcomeSpace, misfit: str) -> Head:
    """The head with this name; ConfigError, which begins with `misfit`, if the game's outcomes do not fit it."""
    if name == VALUE_HEAD:
        return ValueHead(space, 1)
    if name == OUTCOME_HEAD:
        if space.lowest >= 0:
            raise ConfigError(
                f"{misfit}: an outcome head tells wins from losses and a game of one player has none;"
                " take a network without it, for example b3c32"
            )
        return OutcomeHead(space, 3 if space.tiebreak == "none" else 5)
    if space.count > MAX_OUTCOMES:
        example = "b3c32-outcome" if space.lowest < 0 else "b3c32"
        raise ConfigError(
            f"{misfit}: the game has {space.count} outcomes and a categorical head has at most {MAX_OUTCOMES};"
            f" take another network, for example {example}"
        )
    return CategoricalHead(space, space.count)


@inlined
def weigh(raw: Float32s, row: int, count: int, weights: Float64s) -> float:
    """Fill weights[:count] with e^(logit - the largest), which cannot overflow; returns their sum, at least 1."""
    largest = raw[row, 0]
    for k in range(1, count):
        largest = max(largest, raw[row, k])
    total = 0.0
    for k in range(count):
        weights[k] = math.exp(np.float64(raw[row, k]) - np.float64(largest))
        total += weights[k]
    return total


@allocating
def first_players_view(raw: Float32s, movers: Int8s, results: Float32s, amounts: Float32s) -> None:
    """Probabilities of win, draw and loss [B, 3] and amounts given win and loss [B, 2], for the first player.

    `raw` [B, 3 or 5] is for the mover; without amounts in it, `amounts` is left alone.
    """
    weights = np.empty(3)
    for row in range(raw.shape[0]):
        total = weigh(raw, row, 3, weights)
        swapped = movers[row] == 1
        for k in range(3):
            results[row, LOSS - k if swapped else k] = weights[k] / total
        for k in range(3, raw.shape[1]):
            amount = min(max(np.float64(raw[row, k]) / AMOUNT_SCALE, 0.0), MOST_AMOUNT)
            amounts[row, 4 - k if swapped else k - 3] = amount


@allocating
def mean_over_outcomes(raw: Float32s, worth: Float32s, movers: Int8s, values: Float32s) -> None:
    """values[B], for the mover: the mean of what the first player's outcomes, ascending, are worth to him.

    `raw` [B, K] are logits of the outcomes in the mover's ascending order, `worth` [K] their values for the first
    player: the second player reads them from the other end and with the other sign.
    """
    count = raw.shape[1]
    weights = np.empty(count)
    for row in range(raw.shape[0]):
        total = weigh(raw, row, count, weights)
        mean = 0.0
        for k in range(count):
            mean += weights[k] * (worth[k] if movers[row] == 0 else -worth[count - 1 - k])
        values[row] = min(max(mean / total, -1.0), 1.0)
