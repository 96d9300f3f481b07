"""The lockstep driver: independence of trees, reuse, budgets, proofs, several leaves a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.rewards.base import Linear, default_reward
from palaestra.search import driver
from palaestra.search.config import SearchConfig
from palaestra.search.driver import Search
from palaestra.search.evaluator import Evaluator, Rollout, Scripted, Uniform
from palaestra.search.tree import NO_PARENT, Forest
from tests.search.test_textbook import random_positions, scripted

RULES = ("uct", "puct", "rave", "gumbel")


def rollout(game: Game, trace: bool = False) -> Evaluator:
    return Rollout(game, default_reward(game), trace)


def check_tree(forest: Forest, row: int, solver: bool, full: bool = False) -> None:
    """Everything that must hold in a tree at rest."""
    tree, nodes, edges = forest.trees[row], forest.nodes[row], forest.edges[row]
    next_edge = 0
    for n in range(tree["nodes"]):
        node = nodes[n]
        own = edges[node["first"] : node["first"] + node["count"]]
        assert node["first"] == next_edge, "edges follow each other in the order of nodes"
        next_edge += node["count"]
        assert node["pending"] == 0 and (own["pending"] == 0).all()
        assert node["visits"] == own["N"].sum()
        assert node["rave"] == own["rave_N"].sum()
        if node["count"]:
            np.testing.assert_allclose(own["prior"].sum(), 1.0, atol=1e-5)
            assert (np.abs(own["W"]) <= own["N"] + 1e-9).all()
        for k, edge in enumerate(own):
            if edge["child"] >= 0:
                child = nodes[edge["child"]]
                assert child["parent"] == n and child["edge"] == node["first"] + k
                if child["count"] and not solver and not full:
                    assert edge["N"] == child["visits"] + 1
        if solver and node["count"]:
            assert node["low"] == own["low"].max() and node["high"] == own["high"].max()
    assert tree["edges"] == next_edge
    assert nodes[0]["parent"] == NO_PARENT
    assert tree["waiting"] == 0


@pytest.mark.parametrize("leaves", [1, 6])
@pytest.mark.parametrize("rule", RULES)
def test_a_tree_does_not_depend_on_the_trees_beside_it(rule: str, leaves: int) -> None:
    game = make_game("connect_four-4x4")
    states = random_positions(game, 24, seed=3)
    seeds = np.arange(24, dtype=np.uint64) * np.uint64(977)
    config = SearchConfig(rule=rule, simulations=70, leaves_per_step=leaves, temperature=1.0)
    together = Search(game, rollout(game), config).run(states, seeds)
    for row in range(len(states)):
        alone = Search(game, rollout(game), config).run(states[row : row + 1], seeds[row : row + 1])
        assert alone.visits[0].tolist() == together.visits[row].tolist()
        assert alone.chosen[0] == together.chosen[row]


@pytest.mark.parametrize(
    ("rule", "game_id"),
    [
        *((rule, game_id) for rule in RULES for game_id in ("connect_four-5x5", "othello-4x4")),
        ("uct", "morpion-4d"),
        *(pytest.param(rule, "morpion-4d", marks=pytest.mark.slow) for rule in RULES[1:]),  # compiled for this alone
    ],
)
def test_a_compiled_search_equals_the_lockstep_search(rule: str, game_id: str) -> None:
    game = make_game(game_id)
    states, seeds = random_positions(game, 12, seed=6), np.arange(12, dtype=np.uint64)
    config = SearchConfig(rule=rule, simulations=90, rave_playouts=rule == "rave", node_budget=60)
    compiled, lockstep = (Search(game, rollout(game, rule == "rave"), config) for _ in range(2))
    assert compiled.is_fused
    lockstep._loops = None
    one, two = compiled.run(states, seeds), lockstep.run(states, seeds)
    assert one.visits.tolist() == two.visits.tolist()
    assert one.chosen.tolist() == two.chosen.tolist()
    assert one.values.tolist() == two.values.tolist()


@pytest.mark.parametrize("solver", [False, True])
@pytest.mark.parametrize("leaves", [1, 8])
@pytest.mark.parametrize("game_id", ["gobang-5x5", "connect_four-5x5", "othello-4x4"])
def test_trees_are_sound_and_every_simulation_is_counted(game_id: str, leaves: int, solver: bool) -> None:
    game = make_game(game_id)
    states = random_positions(game, 8, seed=1)
    config = SearchConfig(rule="rave", simulations=150, leaves_per_step=leaves, solver=solver)
    search = Search(game, scripted(game), config)
    result = search.run(states, np.random.default_rng(0))
    for row in range(len(states)):
        check_tree(search.forest, row, solver)
        assert result.simulations[row] == result.visits[row].sum()
        assert result.proven[row] or result.simulations[row] == 150
        np.testing.assert_allclose(result.policy[row].sum(), 1.0, atol=1e-5)


@pytest.mark.parametrize("rule", ["puct", "gumbel"])
def test_simulations_of_one_call_replace_the_configured_number(rule: str) -> None:
    game = make_game("connect_four-5x5")
    states = random_positions(game, 12, seed=2)
    seeds = np.arange(12, dtype=np.uint64)
    settings = {"rule": rule, "gumbel_root": rule == "gumbel", "reuse": False}
    search = Search(game, scripted(game), SearchConfig(simulations=64, **settings))
    for number in (7, 64, 20, 7, None):
        found = search.run(states, seeds, simulations=number)
        expected = Search(game, scripted(game), SearchConfig(simulations=number or 64, **settings)).run(states, seeds)
        assert np.array_equal(found.visits, expected.visits) and np.array_equal(found.chosen, expected.chosen)
        assert (found.proven | (found.simulations == (number or 64))).all()


def test_a_full_tree_goes_on_without_growing_and_still_answers() -> None:
    game = make_game("connect_four-6x7")
    config = SearchConfig(rule="uct", simulations=5000, node_budget=200, leaves_per_step=4)
    search = Search(game, rollout(game), config)
    result = search.run(game.initial(3), np.random.default_rng(0))
    assert (result.simulations == 5000).all()
    assert (search.forest.trees["nodes"] == 200).all()
    assert (result.chosen == 3).all(), "the centre is the best first move"
    check_tree(search.forest, 0, solver=True, full=True)


@pytest.mark.slow
def test_a_million_simulations_in_one_tree_stay_inside_the_budget_and_answer() -> None:
    game = make_game("connect_four-6x7")
    config = SearchConfig(rule="uct", simulations=10**6, node_budget=20_000, leaves_per_step=32)
    search = Search(game, rollout(game), config)
    result = search.run(game.initial(1), np.random.default_rng(0))
    assert result.simulations[0] == result.visits[0].sum() == 10**6
    assert search.forest.trees[0]["nodes"] == 20_000 == search.forest.nodes.shape[1]
    assert result.chosen[0] == 3


def test_memory_follows_the_simulations_and_stops_at_the_budget() -> None:
    game = make_game("connect_four-6x7")
    sizes = []
    for simulations in (1000, 2000, 4000, 8000):
        config = SearchConfig(rule="uct", simulations=simulations, leaves_per_step=16, node_budget=4000)
        search = Search(game, rollout(game), config)
        search.run(game.initial(1), np.random.default_rng(0))
        sizes.append(search.forest.bytes)
    assert sizes[1] <= 2.2 * sizes[0] and sizes[2] <= 2.2 * sizes[1]
    assert sizes[3] == sizes[2]


def test_the_subtree_of_the_moves_played_is_kept() -> None:
    game = make_game("connect_four-5x5")
    config = SearchConfig(rule="puct", simulations=200, solver=False)
    search = Search(game, rollout(game), config)
    rows = np.array([2, 0])
    states = game.initial(2)
    first = search.run(states, np.random.default_rng(0), rows)
    child = int(search.forest.edges[2][int(np.flatnonzero(first.actions[0] == first.chosen[0])[0])]["child"])
    kept = int(search.forest.nodes[2][child]["visits"])
    after = game.advance(states, first.chosen)
    second = search.run(after, np.random.default_rng(1), rows)
    assert kept > 20
    assert second.visits[0].sum() == kept + 200
    assert (second.simulations == 200).all()
    for row in (0, 2):
        check_tree(search.forest, row, solver=False)


def test_a_moved_tree_equals_the_subtree_it_was() -> None:
    game = make_game("othello-4x4")
    search = Search(game, scripted(game), SearchConfig(simulations=300, solver=False))
    state = game.initial(1)
    search.run(state, np.random.default_rng(0), np.array([0]))
    before = {}
    for n in range(search.forest.trees[0]["nodes"]):
        node = search.forest.nodes[0][n]
        own = search.forest.edges[0][node["first"] : node["first"] + node["count"]]
        before[search.forest.states[0][n].tobytes()] = (own["N"].tolist(), own["W"].tolist(), own["prior"].tolist())
    middle = [n for n in range(search.forest.trees[0]["nodes"]) if search.forest.states[0][n][2] == 2]
    target = search.forest.states[0][middle[len(middle) // 2]].copy()  # a node at ply 2
    assert search._resume(np.array([0]), target[None]).all()
    check_tree(search.forest, 0, solver=False)
    assert search.forest.states[0][0].tobytes() == target.tobytes()
    for n in range(search.forest.trees[0]["nodes"]):
        node = search.forest.nodes[0][n]
        own = search.forest.edges[0][node["first"] : node["first"] + node["count"]]
        was = before[search.forest.states[0][n].tobytes()]
        assert (own["N"].tolist(), own["W"].tolist(), own["prior"].tolist()) == was


def test_a_search_without_rows_starts_anew() -> None:
    game = make_game("tic_tac_toe-3x3")
    search = Search(game, rollout(game), SearchConfig(rule="uct", simulations=50))
    seeds = np.array([5], dtype=np.uint64)
    assert (search.run(game.initial(1), seeds).visits == search.run(game.initial(1), seeds).visits).all()


def test_a_search_that_was_interrupted_leaves_no_trace() -> None:
    game = make_game("connect_four-5x5")
    calls = [0]

    def fails_at_first(states: np.ndarray) -> tuple[None, np.ndarray]:
        calls[0] += 1
        if calls[0] == 10:
            raise KeyboardInterrupt
        return None, np.zeros(len(states), dtype=np.float32)

    search = Search(game, Scripted(fails_at_first), SearchConfig(simulations=60))
    rows, seeds = np.array([0, 1]), np.array([1, 2], dtype=np.uint64)
    with pytest.raises(KeyboardInterrupt):
        search.run(game.initial(2), seeds, rows)
    again = search.run(game.initial(2), seeds, rows)
    assert again.visits.tolist() == search.run(game.initial(2), seeds).visits.tolist()


def test_outcomes_larger_than_the_game_declares_still_have_a_value() -> None:
    """A user's game may count in thousands."""
    game = make_game("othello-4x4")
    modest = replace(game, largest_outcome=1)
    states, seeds = random_positions(game, 6, seed=5), np.arange(6, dtype=np.uint64)
    for evaluator in (rollout, scripted):
        config = SearchConfig(rule="uct", simulations=50, solver=False)
        usual = Search(game, evaluator(game), config).run(states, seeds)
        assert Search(modest, evaluator(modest), config).run(states, seeds).visits.tolist() == usual.visits.tolist()


def test_the_solver_proves_a_win_in_two_and_stops() -> None:
    game = make_game("tic_tac_toe-3x3")
    #  X X .      X to move wins at c1 at once
    #  O O .
    #  . . .
    state = game.from_moves("a1 a2 b1 b2")
    result = Search(game, Uniform(), SearchConfig(simulations=1000)).run(state[None], np.array([1], np.uint64))
    assert result.proven[0] and result.values[0] == 1.0
    assert result.chosen[0] == 2
    assert result.simulations[0] < 20


def test_the_solver_proves_the_value_of_tic_tac_toe() -> None:
    game = make_game("tic_tac_toe-3x3")
    config = SearchConfig(rule="uct", simulations=200_000, leaves_per_step=8)
    result = Search(game, rollout(game), config).run(game.initial(1), np.array([1], np.uint64))
    assert result.proven[0] and result.values[0] == 0.0


def test_a_proven_loss_is_avoided_while_anything_else_is_left() -> None:
    game = make_game("tic_tac_toe-3x3")
    #  X X .      O to move loses unless it takes c1
    #  O . .
    #  . . .
    state = game.from_moves("a1 a2 b1")
    result = Search(game, Uniform(), SearchConfig(simulations=60)).run(state[None], np.array([1], np.uint64))
    assert result.chosen[0] == 2
    lost = result.q[0][:6] == -1.0
    assert lost.sum() >= 3 and result.visits[0][:6][lost].max() < result.visits[0].max()


def test_one_player_maximises_its_score() -> None:
    game = make_game("morpion-4d")
    config = SearchConfig(rule="uct", simulations=400, c_uct=0.1)
    search = Search(game, Rollout(game, Linear(40)), config, Linear(40))
    result = search.run(game.initial(4), np.random.default_rng(0))
    worst = np.nanmin(np.where(result.visits > 0, result.q, np.nan), axis=1)
    chosen = np.take_along_axis(result.q, (result.actions == result.chosen[:, None]).argmax(axis=1)[:, None], 1)[:, 0]
    assert (chosen > worst).all()


def test_temperature_draws_moves_in_proportion_to_visits() -> None:
    game = make_game("tic_tac_toe-3x3")
    config = SearchConfig(simulations=40, temperature=1.0, solver=False)
    states = np.repeat(game.initial(1), 4000, axis=0)
    result = Search(game, scripted(game), config).run(states, np.random.default_rng(0))
    share = np.bincount(result.chosen, minlength=9) / 4000
    np.testing.assert_allclose(share, result.visits[0] / 40, atol=0.03)
    np.testing.assert_allclose(result.policy[0], result.visits[0] / 40, atol=1e-6)


def test_gumbel_noise_scales_with_the_temperature_and_is_gone_at_zero() -> None:
    game = make_game("gobang-5x5")
    states = np.repeat(game.initial(1), 200, axis=0)
    config = SearchConfig(rule="gumbel", gumbel_root=True, reuse=False, simulations=16)

    def different_moves(temperature: float) -> int:
        result = Search(game, scripted(game), config).run(
            states, np.random.default_rng(0), temperatures=np.full(200, temperature)
        )
        return len(set(result.chosen.tolist()))

    assert different_moves(0.0) == 1
    assert 1 < different_moves(0.3) < different_moves(10.0)


@pytest.mark.parametrize("evaluator", [rollout, scripted])
def test_the_rounds_of_a_search_change_no_visit(
    evaluator: Callable[[Game], Evaluator], monkeypatch: pytest.MonkeyPatch
) -> None:
    game = make_game("tic_tac_toe-3x3")
    states = random_positions(game, 6, seed=3)
    config = SearchConfig(rule="puct", simulations=300, solver=False)
    whole = Search(game, evaluator(game), config).run(states, np.random.default_rng(5))
    monkeypatch.setattr(driver, "ROUND", 70)
    rounds = Search(game, evaluator(game), config).run(states, np.random.default_rng(5))
    assert np.array_equal(whole.visits, rounds.visits)
    assert np.array_equal(whole.values, rounds.values)
    assert (rounds.simulations == 300).all()


@pytest.mark.parametrize("evaluator", [rollout, scripted])
def test_time_is_heard_where_every_simulation_ends_in_an_exact_node(
    evaluator: Callable[[Game], Evaluator], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "ROUND", 1000)
    game = make_game("tic_tac_toe-3x3")
    states = game.from_moves("a1 b2 c3 a2 c2 c1 a3")[None, :]  # two moves are left: soon all nodes are exact
    config = SearchConfig(rule="uct", simulations=None, ms=30.0, solver=False)
    found = Search(game, evaluator(game), config).run(states, np.random.default_rng(0))
    assert 1000 < found.simulations[0] < 2**30


def test_time_bounds_a_search_that_no_count_bounds() -> None:
    game = make_game("connect_four-6x7")
    config = SearchConfig(rule="uct", simulations=None, ms=30, leaves_per_step=8)
    result = Search(game, rollout(game), config).run(game.initial(1), np.random.default_rng(0))
    assert result.simulations[0] > 0


@pytest.mark.parametrize(
    "settings, complaint",
    [
        ({"simulations": None}, "needs simulations or ms"),
        ({"gumbel_root": True}, "reuse=false"),
        ({"rule": "uct", "fpu": 0.1}, "fpu is read by puct and rave"),
        ({"rave_playouts": True}, "needs rule='rave'"),
        ({"c_pcut": 1.0}, "c_pcut"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(settings: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        SearchConfig(**settings)  # type: ignore[arg-type]
