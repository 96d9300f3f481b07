"""Players of the user's own: made from a text, looked at while they play."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest

from palaestra.arena.match import play_match
from palaestra.base.errors import PlayerError
from palaestra.games.registry import make_game
from palaestra.players.registry import make_player
from tests.conftest import OwnFile

GAME = make_game("tic_tac_toe-3x3")
OWN = """
import numpy as np
from palaestra.players.base import Analysis, Player
from palaestra.players.kinds import Kind

class First(Player):
    def __init__(self, game, skip=0):
        super().__init__(game)
        self.skip = skip
    def act(self, states, rng, slots=None):
        counts, actions = self.game.legal(states)
        return actions[np.arange(len(states)), np.minimum(self.skip, counts - 1)]
    def analyse(self, state, rng): return Analysis(int(self.act(state[None], rng)[0]))

class Model(Kind):
    name, example = "model", "own_players:Model(skip=1)"
    skip: int = 0
    def build(self, game, text): return First(game, self.skip)

class Illegal(First):
    def act(self, states, rng, slots=None): return np.zeros(len(states), dtype=np.int32)
class One(First):
    def act(self, states, rng, slots=None): return super().act(states, rng)[:1]
class Failing(First):
    def act(self, states, rng, slots=None): raise KeyError("x")
def number(game): return 3
"""
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("text", ["own_players:First(skip=2)", "own_players:Model(skip=2)"])
def test_a_player_of_ones_own_takes_arguments_and_can_be_sent_elsewhere(own_file: OwnFile, text: str) -> None:
    own_file("own_players", OWN)
    player = make_player(text.replace("=", " = "), GAME)
    states = GAME.initial(3, RNG)
    assert player.text == text
    assert player.act(states, RNG).tolist() == [2, 2, 2]
    assert player.analyse(states[0], RNG).action == 2
    assert pickle.loads(pickle.dumps(player)).act(states, RNG).tolist() == [2, 2, 2]
    assert play_match(GAME, player, make_player("random", GAME), 4, seed=1).games == 4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Illegal", "own_players:Illegal answered with the illegal action 0; legal there are 1, 2, 3"),
        ("One", "own_players:One gave int32[1] for 2 states; expected: one legal action for each, int32[2]"),
        ("Failing", "own_players:Failing failed (KeyError: 'x'); expected: act gives one legal action"),
        ("number", "own_players:number gave int, not a palaestra.players.base.Player"),
        ("First(skp=1)", "'own_players:First(skp=1)' does not fit own_players:First(game, skip=0)"),
        ("Model(skp=1)", "model has no argument 'skp' (did you mean skip?)"),
        ("Model(skip=soon)", "model: skip is soon; it must be a whole number"),
    ],
)
def test_what_goes_wrong_in_it_is_one_line(own_file: OwnFile, text: str, words: str) -> None:
    own_file("own_players", OWN)
    states = np.stack([GAME.from_moves("a1")] * 2)
    with pytest.raises(PlayerError, match=re.escape(words)) as caught:
        make_player(f"own_players:{text}", GAME).act(states, RNG)
    assert "\n" not in str(caught.value)
