"""Our games inside PettingZoo and Gymnasium, judged by their own tests."""

from __future__ import annotations

import sys
import warnings
from functools import partial

import numpy as np
import pytest

from palaestra.base.errors import ConfigError

pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")

from gymnasium.utils.env_checker import check_env  # need what the line above skips for
from pettingzoo.test import api_test, render_test, seed_test

from palaestra.adapters import gymnasium as one_side
from palaestra.adapters import pettingzoo as in_turn


@pytest.mark.parametrize("game", ["connect_four-6x7", "othello-4x4", "morpion-4d"])
def test_petting_zoo_finds_no_fault(game: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of planes that happen to be all zeros or have two axes of one size
        api_test(in_turn.env(game), num_cycles=30)
        seed_test(partial(in_turn.env, game), num_cycles=20)
        render_test(partial(in_turn.env, game))


def test_a_game_in_petting_zoo_is_won_by_its_winner() -> None:
    env = in_turn.env("connect_four", render_mode="ansi")
    env.reset(seed=1)
    for action in (0, 1, 0, 1, 0, 1, 0):
        assert env.last()[0]["action_mask"][action] == 1
        env.step(action)
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0} and all(env.terminations.values())
    assert "X" in env.render()


def test_an_illegal_move_loses_in_petting_zoo() -> None:
    env = in_turn.env("tic_tac_toe")
    env.reset()
    env.step(4)
    env.step(4)
    assert env.rewards["player_1"] == -1 and all(env.terminations.values())


@pytest.mark.parametrize("side", ["first", "second", "random"])
def test_gymnasium_finds_no_fault(side: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of spaces without bounds
        check_env(one_side.env("connect_four-5x5", against="uct(simulations=5)", side=side, render_mode="ansi"))
        check_env(one_side.env("morpion-4d", side=side))


def test_one_side_plays_to_the_end_and_a_seed_fixes_the_opponent() -> None:
    def played(seed: int) -> tuple[list[int], float]:
        env = one_side.env("tic_tac_toe", against="random", side="second")
        _, info = env.reset(seed=seed)
        masks, over, reward = [], False, 0.0
        while not over:
            masks.append(int(np.packbits(info["action_mask"])[0]))
            _, reward, over, _, info = env.step(np.int64(np.flatnonzero(info["action_mask"])[0]))
        return masks, reward

    assert played(3) == played(3) and len({tuple(played(seed)[0]) for seed in range(6)}) > 1
    assert {played(seed)[1] for seed in range(12)} <= {-1.0, 0.0, 1.0}


def test_an_illegal_move_loses_in_gymnasium_and_says_so() -> None:
    env = one_side.env("tic_tac_toe", against="random")
    env.reset(seed=0)
    env.step(np.int64(4))
    _, reward, over, _, info = env.step(np.int64(4))
    assert reward == -1.0 and over and info["illegal"]


@pytest.mark.parametrize(("name", "value"), [("side", "third"), ("render_mode", "rgb_array")])
def test_what_is_not_known_is_one_line(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is '{value}'; known: "):
        one_side.env("tic_tac_toe", **{name: value})


def test_where_petting_zoo_is_missing_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    from palaestra.base.packages import need

    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    with pytest.raises(ConfigError, match=r"pip install 'palaestra\[pettingzoo\]'"):
        need("pettingzoo", "pettingzoo", "palaestra.adapters.pettingzoo", ConfigError)
