"""Five enhancements as settings, and the adaptive switch (sources: Alg. 3 and 5; Alg. 6; Alg. 10 to 14)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from palaestra.games.registry import make_game
from palaestra.learn.config import WarmStartConfig
from palaestra.learn.selfplay import SelfPlay, play_games
from palaestra.learn.warm_start import (
    DEFAULT,
    ENHANCED,
    Enhanced,
    balance,
    enhanced,
    leaf_evaluator,
    search_for,
    seat,
    warm_start_state,
    weight_at,
)
from palaestra.rewards.base import default_reward
from palaestra.runs.metrics import WarmStartState
from palaestra.search.config import SearchConfig
from palaestra.search.evaluator import Leaves, Uniform
from tests.learn.selfplay_games import model, played, run_config

GAME_ID = "connect_four-5x5"


@pytest.mark.parametrize(
    ("enhancement", "rule", "weight", "playouts_in_amaf"),
    [
        ("none", "puct", 0.0, False),
        ("rollout", "puct", 1.0, False),
        ("rave", "rave", 0.0, False),
        ("rora", "rave", 1.0, False),
        ("wro", "puct", 0.3, False),
        ("wrora", "rave", 0.3, True),
    ],
)
def test_an_enhancement_is_a_rule_a_weight_and_whether_playouts_count(
    enhancement: str, rule: str, weight: float, playouts_in_amaf: bool
) -> None:
    plan = enhanced(SearchConfig(simulations=33, c_puct=2.5, rave_k=7.0), enhancement, 0.3)
    assert (plan.search.rule, plan.weight, plan.trace) == (rule, weight, playouts_in_amaf)
    assert plan.search.rave_playouts == playouts_in_amaf
    assert (plan.search.simulations, plan.search.c_puct, plan.search.rave_k) == (33, 2.5, 7.0)


def test_weights_fall_linearly_or_harmonically() -> None:
    linear = WarmStartConfig(enhancement="wro", length=5)
    assert [weight_at(linear, i) for i in range(1, 6)] == pytest.approx([1.0, 0.8, 0.6, 0.4, 0.2])
    harmonic = WarmStartConfig(enhancement="wro", length=5, weight="harmonic")
    assert [weight_at(harmonic, i) for i in range(1, 6)] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5])


def test_a_run_is_warm_for_its_first_iterations_or_until_it_switched() -> None:
    config = run_config(GAME_ID, warm=WarmStartConfig(enhancement="wrora", length=3))
    weights = [search_for(config, i).weight for i in range(1, 6)]
    assert weights == pytest.approx([1, 2 / 3, 1 / 3, 0, 0])
    assert search_for(config, 4) == Enhanced(config.selfplay.search, 0.0, False)
    assert search_for(config, 2, switched=True) == search_for(config, 4)
    assert search_for(run_config(GAME_ID), 1).weight == 0.0


def test_a_leaf_is_worth_the_weighted_mean_of_network_and_playout() -> None:
    game = make_game("tic_tac_toe-3x3")
    states = game.initial(200)
    counts, actions = game.legal(states)
    reward = default_reward(game)

    def values(weight: float, trace: bool) -> Any:
        streams = np.arange(200, dtype=np.uint64)
        evaluator = leaf_evaluator(game, Uniform(), Enhanced(SearchConfig(), weight, trace), reward)
        return evaluator(Leaves(states, counts, actions, streams))

    assert (values(0.0, False).values == 0).all()
    assert set(np.unique(values(1.0, False).values)) == {-1.0, 0.0, 1.0}
    np.testing.assert_allclose(values(0.25, False).values, 0.25 * values(1.0, False).values)
    assert values(0.5, False).playouts is None and values(0.5, True).playouts is not None


def test_every_enhancement_plays_its_own_games_and_says_its_weight() -> None:
    courses = {}
    for enhancement in ("none", "rollout", "rave", "rora", "wro", "wrora", "rhea"):
        warm = WarmStartConfig(enhancement=enhancement, length=4)
        made = played(GAME_ID, iteration=2, warm=warm, search=SearchConfig(simulations=40))
        courses[enhancement] = tuple(record.moves for record in made.records)
        expected = {"rollout": 1.0, "rora": 1.0, "rhea": 1.0, "wro": 0.75, "wrora": 0.75}.get(enhancement, 0.0)
        assert made.warm == (None if enhancement == "none" else WarmStartState(enhancement, expected, None, False))
    assert len(set(courses.values())) == 7
    cold = played(GAME_ID, iteration=5, warm=WarmStartConfig(enhancement="rollout", length=4))
    assert cold.warm is None and cold.records == played(GAME_ID, iteration=5).records


def test_warm_games_do_not_depend_on_threads() -> None:
    warm = WarmStartConfig(enhancement="wrora", adaptive=True)
    one, two = (played(GAME_ID, iteration=2, warm=warm, games=9, threads=w, slots=s) for w, s in ((1, 64), (3, 2)))
    assert one.records == two.records and one.warm == two.warm
    assert one.examples.policy.tobytes() == two.examples.policy.tobytes()


def test_the_enhancement_is_first_in_the_first_half_of_the_games() -> None:
    numbers, first, second = np.arange(6), np.zeros(6, dtype=np.int8), np.ones(6, dtype=np.int8)
    assert seat(numbers, first, 6).tolist() == [ENHANCED] * 3 + [DEFAULT] * 3
    assert seat(numbers, second, 6).tolist() == [DEFAULT] * 3 + [ENHANCED] * 3


def test_the_balance_is_the_defaults_wins_minus_its_losses() -> None:
    # Enhancement first: it wins, draws, loses. Default first: it wins by much, wins, loses.
    assert balance(np.array([3, 0, -1, 9, 1, -5], dtype=np.int32), players=2) == (-1 + 0 + 1) + (1 + 1 - 1)


def test_an_adaptive_start_alone_has_no_length_and_harmonic_weights() -> None:
    config = run_config(GAME_ID, warm=WarmStartConfig(enhancement="wro", adaptive=True))
    assert [search_for(config, i).weight for i in (1, 2, 6, 50)] == pytest.approx([1, 1 / 2, 1 / 6, 1 / 50])
    assert not warm_start_state(config, 5, np.array([1, -1], dtype=np.int32)).switch
    fixed = run_config(GAME_ID, warm=WarmStartConfig(enhancement="wro"))
    assert [search_for(fixed, i).weight for i in (1, 5, 6)] == pytest.approx([1, 0.2, 0])
    with pytest.raises(ValueError, match="no I′ for linear weights"):
        WarmStartConfig(enhancement="wro", adaptive=True, weight="linear")


def test_only_a_positive_balance_switches() -> None:
    config = run_config(GAME_ID, warm=WarmStartConfig(enhancement="rollout", adaptive=True, length=4))
    better, even, worse = (np.array(two, dtype=np.int32) for two in ((-1, 0), (-1, -1), (1, -1)))
    assert warm_start_state(config, 1, better) == WarmStartState("rollout", 1.0, 1, True)
    assert warm_start_state(config, 1, even) == WarmStartState("rollout", 1.0, 0, False)
    assert warm_start_state(config, 1, worse) == WarmStartState("rollout", 1.0, -2, False)
    assert not warm_start_state(config, 4, worse).switch, "the end of I′ is no switch"


def test_an_adaptive_iteration_plays_enhancement_against_default_and_learns_from_all_games() -> None:
    warm = WarmStartConfig(enhancement="rollout", adaptive=True, length=4)
    made = played(GAME_ID, games=10, warm=warm)
    names = [(record.first, record.second) for record in made.records]
    assert names == [("rollout", "self-play")] * 5 + [("self-play", "rollout")] * 5
    assert len(made.examples) == sum(len(record.moves) for record in made.records)
    defaults = [record.outcome if record.first == "self-play" else -record.outcome for record in made.records]
    assert made.warm is not None
    assert made.warm.balance == sum(np.sign(defaults)) and made.warm.switch == (made.warm.balance > 0)


def test_each_side_of_an_adaptive_game_searches_its_own_way() -> None:
    """Up to the first move of the default search, a game is the one that the enhancement plays against itself."""

    def policies(made: SelfPlay, ply: int) -> Any:
        return made.examples.policy[(made.examples.ply == ply) & (made.examples.game < 3)]

    warm: dict[str, Any] = {"enhancement": "rollout", "length": 4}
    both = played(GAME_ID, warm=WarmStartConfig(**warm, adaptive=True))
    alone = played(GAME_ID, warm=WarmStartConfig(**warm))
    cold = played(GAME_ID)
    assert np.array_equal(policies(both, 0), policies(alone, 0)) and not np.array_equal(
        policies(both, 0), policies(cold, 0)
    )
    late_both = both.examples.policy[(both.examples.ply == 0) & (both.examples.game >= 3)]
    late_cold = cold.examples.policy[(cold.examples.ply == 0) & (cold.examples.game >= 3)]
    assert np.array_equal(late_both, late_cold)
    game = make_game(GAME_ID)
    config = run_config(GAME_ID, warm=WarmStartConfig(**warm, adaptive=True))
    switched = play_games(game, model(GAME_ID), config, 1, switched=True)
    assert switched.warm is None and switched.records == cold.records


def test_with_one_player_both_searches_play_the_same_beginnings_and_the_larger_outcomes_decide() -> None:
    warm = WarmStartConfig(enhancement="rollout", adaptive=True)
    opened = {"opening_fraction": 1.0, "opening_plies": 4}
    made = played("bin_packing-2d-5", games=9, warm=warm, **opened)
    records = made.records
    assert [record.first for record in records] == ["rollout"] * 5 + ["self-play"] * 4
    assert all(record.first == record.second for record in records)
    for one, other in zip(records, records[5:], strict=False):
        assert one.start == other.start and one.moves[: one.opening_plies] == other.moves[: other.opening_plies]
    assert len({record.start for record in records}) == 5
    pairs = zip(records[5:], records, strict=False)
    ahead = sum(np.sign(default.final_outcome - helped.final_outcome) for default, helped in pairs)
    assert made.warm == WarmStartState("rollout", 1.0, ahead, ahead > 0)


def test_with_one_player_pairs_are_compared_by_order_alone_and_an_odd_game_by_none() -> None:
    assert balance(np.array([5, 9, 7, 6, 1], dtype=np.int32), players=1) == 1 - 1
    assert balance(np.array([5, 1, 99, 6, 8], dtype=np.int32), players=1) == 2


def test_threads_and_slots_change_no_game_of_an_adaptive_start_for_one_player() -> None:
    warm = WarmStartConfig(enhancement="wrora", adaptive=True)
    one, two = (played("morpion-4d", warm=warm, games=7, threads=w, slots=s) for w, s in ((1, 64), (3, 2)))
    assert one.records == two.records and one.warm == two.warm
