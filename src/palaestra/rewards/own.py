"""Rewards of the user's own, `module:attribute`: loaded, and held to the laws of rewards first.

The attribute is a class or a function that is called with the game and the arguments of the text, and gives a Reward.
This module knows no kind of reward.
"""

from __future__ import annotations

import numpy as np

from palaestra.base.errors import ConfigError
from palaestra.base.text import Parts
from palaestra.base.types import Float32s, Int32s
from palaestra.base.user_code import call, in_words, load
from palaestra.games.base import Game
from palaestra.rewards.base import Reward
from palaestra.rewards.outcomes import OutcomeSpace

GENERATION = 64  # outcomes that the laws let it learn from


def make_own_reward(parts: Parts, game: Game) -> Reward:
    """The reward that a text names, for one game; ConfigError says in one line which law it breaks."""
    name = f"{parts.name}:{parts.subject}"
    made = load(name, ConfigError, "a reward of your own")
    rewards = [_make(made, parts, name, game) for _ in range(3)]
    with in_words(name, ConfigError, "a Reward as palaestra.rewards.base describes it"):
        _check(name, game, rewards[0], rewards[1])
    return rewards[2]


def _make(made: object, parts: Parts, name: str, game: Game) -> Reward:
    reward = call(made, parts, (game,), ConfigError, f"{name}(game, …) gives a palaestra.rewards.base.Reward")
    if not isinstance(reward, Reward):
        raise ConfigError(f"{name} gave {type(reward).__name__}, not a palaestra.rewards.base.Reward")
    reward.text = str(parts)
    if reward.space is None:
        reward.space = OutcomeSpace.of(game)
    return reward


def _check(name: str, game: Game, reward: Reward, other: Reward) -> None:
    """ConfigError if one of the laws is broken. `reward` learns in between, `other` takes its state over."""
    space = OutcomeSpace.of(game)
    outcomes = space.outcomes()
    before = _values(name, reward, outcomes)
    seen = outcomes[np.arange(GENERATION) * len(outcomes) // GENERATION]
    settled = reward.settle(seen, np.random.default_rng(0))
    _refuse(name, "settle", settled, seen)
    after = _values(name, reward, outcomes)
    state = reward.state()
    if not reward.learns and (state or not np.array_equal(before, after)):
        raise ConfigError(f"{name} changes with the games it sees; set learns = True, so that its state is saved")
    other.load_state({key: np.array(array) for key, array in state.items()})
    if not np.array_equal(_values(name, other, outcomes), after):
        raise ConfigError(f"{name}: load_state(state()) gives other values than before; both hold all that it learned")


def _values(name: str, reward: Reward, outcomes: Int32s) -> Float32s:
    values = reward.value(outcomes)
    _refuse(name, "value", values, outcomes)
    if (np.diff(values) < 0).any():
        at = int(np.argmax(np.diff(values) < 0))
        raise ConfigError(
            f"{name}.value must not fall with the outcome: {outcomes[at]} is worth {values[at]:g}, and"
            f" {outcomes[at + 1]} {values[at + 1]:g}"
        )
    return values


def _refuse(name: str, method: str, values: Float32s, outcomes: Int32s) -> None:
    """ConfigError unless these are float32, one for each outcome, in [-1, 1]."""
    if not isinstance(values, np.ndarray) or values.dtype != np.float32 or values.shape != outcomes.shape:
        shape = f"{values.dtype}{list(values.shape)}" if isinstance(values, np.ndarray) else type(values).__name__
        raise ConfigError(f"{name}.{method} gave {shape} for int32{list(outcomes.shape)}, not float32 of that shape")
    if not (np.abs(values) <= 1.0).all():
        raise ConfigError(f"{name}.{method} must be in [-1, 1]: it gave {values.min():g} to {values.max():g}")
