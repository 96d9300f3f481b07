"""Rewards of the user's own: made from a text, and held to the laws before anything uses them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from palaestra.base.errors import ConfigError
from palaestra.games.registry import make_game
from palaestra.rewards.registry import make_reward
from tests.conftest import OwnFile

GAME = make_game("connect_four-4x4")
OWN = """
import numpy as np
from palaestra.rewards.base import Reward

class Flat(Reward):
    def __init__(self, game, draw=0.0): self.draw = draw
    def value(self, outcomes): return np.where(outcomes == 0, self.draw, np.sign(outcomes)).astype(np.float32)

class Learning(Reward):
    learns = True
    def __init__(self, game): self.count = 0
    def value(self, outcomes): return (np.sign(outcomes) / (1 + self.count)).astype(np.float32)
    def observe(self, outcomes): self.count += len(outcomes)
    def state(self): return {"count": np.array([self.count])}
    def load_state(self, arrays): self.count = int(arrays["count"][0])

class Falling(Flat):
    def value(self, outcomes): return -super().value(outcomes)
class Large(Flat):
    def value(self, outcomes): return 2 * super().value(outcomes)
class Double(Flat):
    def value(self, outcomes): return super().value(outcomes).astype(np.float64)
class Silent(Learning):
    learns = False
class Forgetful(Learning):
    def load_state(self, arrays): pass
class Broken(Flat):
    def value(self, outcomes): return self.nothing
def number(game): return 3
"""


def test_a_reward_of_ones_own_carries_its_text_and_knows_the_games_outcomes(own_file: OwnFile) -> None:
    own_file("own_rewards", OWN)
    reward = make_reward("own_rewards:Flat( draw = 0.25 )", GAME)
    assert reward.text == "own_rewards:Flat(draw=0.25)"
    assert reward.value(np.array([0, 3], dtype=np.int32)).tolist() == [0.25, 1.0]
    results = np.array([[0.0, 1.0, 0.0]], dtype=np.float32)
    assert reward.expected(results, np.ones((1, 2), np.float32), np.zeros(1, np.int32)).tolist() == [0.25]


def test_one_that_learns_is_given_as_it_begins(own_file: OwnFile) -> None:
    own_file("own_rewards", OWN)
    assert make_reward("own_rewards:Learning", GAME).state()["count"].tolist() == [0]
    assert make_reward('switch(primitive, "own_rewards:Learning", at=3)', GAME).learns


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Falling", "own_rewards:Falling.value must not fall with the outcome: -1 is worth 1, and 0 -0"),
        ("Large", "own_rewards:Large.value must be in [-1, 1]: it gave -2 to 2"),
        ("Double", "own_rewards:Double.value gave float64[33] for int32[33], not float32 of that shape"),
        ("Silent", "own_rewards:Silent changes with the games it sees; set learns = True"),
        ("Forgetful", "own_rewards:Forgetful: load_state(state()) gives other values than before"),
        ("Broken", "own_rewards:Broken failed (AttributeError: 'Broken' object has no attribute 'nothing')"),
        ("number", "own_rewards:number gave int, not a palaestra.rewards.base.Reward"),
        ("Flat(drw=1)", "'own_rewards:Flat(drw=1)' does not fit own_rewards:Flat(game, draw=0.0)"),
    ],
)
def test_a_broken_law_is_one_line(own_file: OwnFile, text: str, words: str) -> None:
    own_file("own_rewards", OWN)
    with pytest.raises(ConfigError, match=re.escape(words)) as caught:
        make_reward(f"own_rewards:{text}", GAME)
    assert "\n" not in str(caught.value)
