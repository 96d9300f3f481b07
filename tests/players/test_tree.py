"""Players that search a tree."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.games.registry import make_game
from palaestra.players.registry import make_player
from palaestra.players.tree import TreePlayer
from palaestra.rewards.base import default_reward
from palaestra.search.config import SearchConfig
from palaestra.search.evaluator import Rollout


def uct(game_id: str, **settings: object) -> TreePlayer:
    game = make_game(game_id)
    config = SearchConfig.model_validate({"rule": "uct", "simulations": 100, **settings})
    return TreePlayer(game, "uct", Rollout(game, default_reward(game)), config)


def test_a_call_without_slots_stands_alone() -> None:
    player = uct("connect_four-5x5")
    states, seeds = player.game.initial(5), np.arange(5, dtype=np.uint64)
    first = player.act(states, seeds)
    player.act(states, seeds, np.arange(5))
    assert player.act(states, seeds).tolist() == first.tolist()


def test_games_that_end_and_begin_keep_their_own_trees() -> None:
    player = uct("connect_four-5x5")
    game = player.game
    states = game.initial(3)
    slots = np.array([10, 20, 30])
    states = game.advance(states, player.act(states, np.random.default_rng(0), slots))
    player.forget(np.array([20]))
    slots = np.array([30, 40, 10])
    states = np.stack([states[2], game.initial(1)[0], states[0]])
    result = player.search.run(states, np.random.default_rng(1), player._rows(slots))
    assert result.visits[0].sum() > 100 and result.visits[2].sum() > 100, "kept trees go on"
    assert result.visits[1].sum() == 100, "a new game begins with an empty tree"


def test_a_forgotten_game_leaves_nothing_behind() -> None:
    player = uct("tic_tac_toe-3x3")
    state = player.game.initial(1)
    player.act(state, np.random.default_rng(0), np.array([7]))
    player.forget(np.array([7]))
    result = player.search.run(state, np.random.default_rng(0), player._rows(np.array([8])))
    assert result.visits.sum() == 100


def test_analysis_explains_the_move() -> None:
    player = uct("connect_four-6x7", simulations=2000)
    analysis = player.analyse(player.game.initial(1)[0], np.random.default_rng(0))
    assert analysis.action == 3 and analysis.pv[0] == 3
    assert analysis.visits is not None and analysis.visits.sum() == 2000
    assert analysis.policy is not None and abs(analysis.policy.sum() - 1) < 1e-5
    assert analysis.value is not None and -1 <= analysis.value <= 1
    assert "2,000 simulations" in analysis.note


def test_a_longer_search_beats_a_shorter_one() -> None:
    game = make_game("connect_four-5x5")
    strong, weak = uct("connect_four-5x5", simulations=200), uct("connect_four-5x5", simulations=5)
    states, rng, score = game.initial(60), np.random.default_rng(3), 0
    strong_side = np.arange(60) % 2
    alive = np.arange(60)
    while alive.size:
        for player, mine in ((strong, True), (weak, False)):
            turn = alive[(states[alive, 0] == strong_side[alive]) == mine]
            if turn.size:
                states[turn] = game.advance(states[turn], player.act(states[turn], rng))
                alive = alive[np.isin(alive, turn[game.legal(states[turn])[0] == 0], invert=True)]
    score = np.sign(game.outcome(states)) * np.where(strong_side == 0, 1, -1)
    assert score.mean() > 0.3


@pytest.mark.parametrize(
    "settings",
    [
        {"simulations": 3000},
        {"simulations": 3000, "solver": False, "temperature": 1.0},
        {"simulations": 800, "rule": "puct", "leaves_per_step": 4, "dirichlet_fraction": 0.25},
        {"simulations": 300, "rule": "puct", "gumbel_root": True, "reuse": False, "temperature": 1.0},
    ],
    ids=["compiled", "with-temperature", "several-leaves", "gumbel"],
)
def test_thoughts_end_in_what_one_search_says(settings: dict[str, object]) -> None:
    player = uct("connect_four-5x5", **settings)
    state = player.game.from_moves("3 3")
    whole = player.analyse(state, np.random.default_rng(5))
    thoughts = list(player.thoughts(state, np.random.default_rng(5), every=0.0))
    assert len(thoughts) >= 3
    sums = [int(thought.visits.sum()) for thought in thoughts if thought.visits is not None]
    assert sums == sorted(sums) and sums[0] < sums[-1] == settings["simulations"]
    for name in ("visits", "values", "policy", "priors", "exact"):
        np.testing.assert_array_equal(getattr(thoughts[-1], name), getattr(whole, name), name)
    assert (thoughts[-1].action, thoughts[-1].value, thoughts[-1].pv) == (whole.action, whole.value, whole.pv)


def test_thoughts_of_a_search_without_end_can_be_left_at_any_time() -> None:
    player = uct("connect_four-5x5", simulations=10_000_000)
    state = player.game.initial(1)[0]
    thoughts = player.thoughts(state, np.random.default_rng(0), every=0.0)
    first, second = next(thoughts), next(thoughts)
    assert first.visits is not None and second.visits is not None and first.visits.sum() < second.visits.sum()


def test_a_player_that_cannot_be_interrupted_has_one_thought() -> None:
    game = make_game("tic_tac_toe-3x3")
    player = make_player("perfect", game)
    state = game.from_moves("a1 b2")
    [thought] = player.thoughts(state, np.random.default_rng(0))
    assert thought.action == player.analyse(state, np.random.default_rng(0)).action
