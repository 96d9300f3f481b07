"""The prior of NRPA: a mean of centred logits over the games that a policy plays."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.base.errors import PlayerError
from palaestra.base.types import Float32s, Int8s
from palaestra.games.registry import make_game
from palaestra.games.rows import HEADER
from palaestra.search.code_prior import code_logits
from palaestra.search.evaluator import Scripted, Uniform
from tests.search.toy_games import BRANCHES, after, legal_list, outcome_of, tree_game

SHARP = 1000.0


def test_the_prior_is_the_mean_centred_logit_of_every_position_on_the_way() -> None:
    """A policy so sharp that all its games are the same one, which a plain loop can follow."""
    game = tree_game(6)
    opinions = SHARP * np.random.default_rng(2).permutation(game.num_actions).astype(np.float32)

    def script(states: Int8s) -> tuple[Float32s, Float32s]:
        return np.tile(opinions, (len(states), 1)), np.zeros(len(states), dtype=np.float32)

    found = code_logits(game, Scripted(script), np.random.default_rng(1), games=3)
    wanted: dict[int, list[float]] = {}
    state = game.initial(1)[0]
    while outcome_of(game, state) is None:
        legal = legal_list(game, state)
        mean = sum(float(opinions[action]) for action in legal) / len(legal)
        for action in legal:
            wanted.setdefault(action, []).append(float(opinions[action]) - mean)
        state = after(game, state, max(legal, key=lambda action: opinions[action]))
    assert 0 < len(wanted) < game.num_actions
    for action in range(game.num_actions):
        assert found[action] == pytest.approx(np.mean(wanted.get(action, [0.0])), rel=1e-6)


def test_a_policy_without_opinions_has_no_prior() -> None:
    game = make_game("morpion-4d")

    def flat(states: Int8s) -> tuple[Float32s, Float32s]:
        return np.full((len(states), game.num_actions), 7.0, np.float32), np.zeros(len(states), np.float32)

    assert not code_logits(game, Scripted(flat), np.random.default_rng(1), games=4).any()


def test_games_are_drawn_from_the_policy() -> None:
    """One move at the root is nine times as likely as each of the others."""
    game = tree_game(5_000_000)  # with several moves at the root
    first, *others = legal_list(game, game.initial(1)[0])
    met: list[int] = []

    def script(states: Int8s) -> tuple[Float32s, Float32s]:
        logits = np.zeros((len(states), game.num_actions), dtype=np.float32)
        logits[:, first] = np.log(9.0)
        if game.plies(states)[0] == 1:
            met.extend(int(state[HEADER]) for state in states)  # the branch taken
        return logits, np.zeros(len(states), dtype=np.float32)

    code_logits(game, Scripted(script), np.random.default_rng(1), games=2000)
    assert others and set(met) == {action % BRANCHES for action in (first, *others)}
    assert np.mean(np.array(met) == first % BRANCHES) == pytest.approx(9 / (9 + len(others)), abs=0.03)


def test_an_evaluator_without_a_policy_is_refused() -> None:
    with pytest.raises(PlayerError, match="needs an evaluator with a policy"):
        code_logits(tree_game(0), Uniform(), np.random.default_rng(1))
