from __future__ import annotations

import numpy as np
import pytest

from palaestra import make_game
from palaestra.base.errors import ConfigError
from palaestra.games import PythonGame
from palaestra.rewards.base import Primitive
from palaestra.rewards.cdf import CdfBonus
from palaestra.rewards.ranked import Ranked
from palaestra.rewards.registry import KINDS, make_reward
from palaestra.rewards.switch import Switch
from tests.games.test_python_game import race
from tests.rewards.windows import int32

TWO, MARGINS, ONE = (make_game(id) for id in ("connect_four-4x4", "othello-4x4", "morpion-4d"))


def plain() -> PythonGame:
    """A game that knows only win, draw and loss."""
    return race(tiebreak="none")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("default", "primitive"),
        ("primitive()", "primitive"),
        ("hand_tuned", "hand_tuned"),
        ("cdf( generations = 5 )", "cdf"),
        ("cdf(generations=3)", "cdf(generations=3)"),
        ("cdf_bonus(alpha=1.0)", "cdf_bonus(alpha=1)"),
        ("cdf_bonus(printed=true, alpha=0.25)", "cdf_bonus(alpha=0.25, printed=true)"),
        ('switch(primitive, "cdf(generations=5)", at=20)', "switch(primitive, cdf, at=20)"),
        ('switch("cdf(generations=2)", then=cdf_bonus, at=3)', 'switch("cdf(generations=2)", cdf_bonus, at=3)'),
    ],
)
def test_a_text_makes_a_reward_that_carries_its_canonical_text(text: str, canonical: str) -> None:
    for game in (TWO, MARGINS):
        reward = make_reward(text, game)
        assert reward.text == canonical
        assert make_reward(canonical, game).text == canonical


@pytest.mark.parametrize(
    "text", ["default", "score", "cdf", "ranked(tau=0.5, window=10)", "switch(score, ranked, at=1)"]
)
def test_rewards_of_one_player_keep_their_range(text: str) -> None:
    reward = make_reward(text, ONE)
    reward.settle(int32([12, 20, 17, 17]), np.random.default_rng(1))
    values = reward.value(np.arange(36, dtype=np.int32))
    assert (np.diff(values) >= 0).all() and values[-1] == 1 and values[0] == -1


def test_settings_reach_the_reward() -> None:
    bonus = make_reward("cdf_bonus(alpha=0.25, generations=3, printed=true)", TWO)
    assert isinstance(bonus, CdfBonus)
    assert (bonus.alpha, bonus.generations, bonus.printed) == (0.25, 3, True)
    ranked = make_reward("ranked(tau=0.5, window=10)", ONE)
    assert isinstance(ranked, Ranked) and (ranked.tau, ranked.size) == (0.5, 10)
    switch = make_reward('switch(default, "cdf(generations=2)", at=4)', TWO)
    assert isinstance(switch, Switch) and isinstance(switch.first, Primitive) and switch.at == 4
    assert switch.then.text == "cdf(generations=2)"


def test_a_game_without_a_tiebreak_knows_ranks_of_win_draw_and_loss() -> None:
    reward = make_reward("cdf", plain())
    reward.observe(int32([1, 1, -1, -1]))
    assert reward.value(int32([-1, 0, 1])).tolist() == pytest.approx([-2 / 3, 0, 2 / 3])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is not a reward"),
        ("cfd", "unknown reward 'cfd' .did you mean cdf..; known: default, primitive, score, .*; for example cdf"),
        ("cdf(generations=0)", "generations is 0; it must be a whole number from 1"),
        ("cdf(generations=2.5)", "generations is 2.5; it must be a whole number"),
        ("cdf(window=3)", "cdf has no argument 'window': it takes generations"),
        ("cdf(3)", "cdf takes nothing without a name"),
        ("cdf:x", "cdf takes nothing after a colon"),
        ("cdf_bonus(alpha=1.5)", "alpha is 1.5; it must be a number from 0 to 1"),
        ("cdf_bonus(alpha=-0.1)", "alpha is -0.1; it must be a number from 0 to 1"),
        ("switch(primitive, cdf)", "switch needs at"),
        ("switch(primitive, at=3)", "switch needs then"),
        ("switch(primitive, cdf, 3)", "takes only its first and then without a name, not '3'"),
        ("switch(primitive, cdf, first=cdf, at=3)", "first is given twice"),
        ("switch(primitive, cdf(generations=3), at=3)", "put a text that holds them in double quotes"),
        ("switch(primitive, unknown, at=3)", "unknown reward 'unknown'"),
        ("score", "score is for games of one player, and connect_four-4x4 has two players: for example primitive"),
        ("ranked", "ranked is for games of one player"),
        ("switch(primitive, ranked, at=3)", "ranked is for games of one player"),
    ],
)
def test_what_cannot_be_made_is_one_clear_line(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as caught:
        make_reward(text, TWO)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("ranked(window=0)", "window is 0; it must be a whole number from 1"),
        ("ranked(window=1)", "a window of 1 is smaller than tau=0.75 needs"),
        ("ranked(tau=0.001)", "a window of 200 is smaller than tau=0.001 needs"),
        ("ranked(tau=1)", "tau is 1; it must be a number above 0 and below 1"),
        ("primitive", "primitive is for games of two players, and morpion-4d has one player"),
        ("hand_tuned", "for games of two players"),
        ("cdf_bonus", "for games of two players"),
    ],
)
def test_what_one_player_cannot_have_is_one_clear_line(text: str, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        make_reward(text, ONE)


def test_proportional_rewards_need_something_to_be_proportional_to() -> None:
    with pytest.raises(ConfigError, match="hand_tuned needs a game that orders wins by plies or by margin, and race"):
        make_reward("hand_tuned", plain())


def test_every_kind_shows_an_example_that_can_be_made() -> None:
    for kind in KINDS.values():
        assert kind.__doc__
        make_reward(kind.example, ONE if kind.name in ("ranked", "score") else TWO)
