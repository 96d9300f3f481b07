"""Compiled steps: a search whose leaves wait in one kernel call equals the lockstep search, visit for visit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from palaestra.base.errors import GameError
from palaestra.base.jit import kernel
from palaestra.base.types import Int8s, Int64s
from palaestra.games.base import Game
from palaestra.games.kernel_game import KernelGame
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from palaestra.nets.cache import Cached
from palaestra.rewards.base import default_reward
from palaestra.search import driver
from palaestra.search.config import SearchConfig
from palaestra.search.decide import SearchResult
from palaestra.search.driver import Search
from palaestra.search.evaluator import Evaluation, Evaluator, Leaves, Mixed, Rollout
from tests.search.test_driver import check_tree
from tests.search.test_textbook import random_positions, scripted

CONFIGS = {
    "puct": SearchConfig(simulations=90, solver=False, temperature=1.0),
    "puct with the solver and noise": SearchConfig(simulations=90, dirichlet_fraction=0.25, fpu=0.2),
    "uct in a full tree": SearchConfig(rule="uct", simulations=120, node_budget=40),
    "rave": SearchConfig(rule="rave", simulations=90, rave_k=30),
    "rave with playouts": SearchConfig(rule="rave", simulations=90, rave_playouts=True),
    "gumbel": SearchConfig(rule="gumbel", gumbel_root=True, reuse=False, simulations=48, temperature=1),
    "gumbel root over puct": SearchConfig(gumbel_root=True, reuse=False, simulations=48, gumbel_considered=4),
}
EVALUATORS: dict[str, Callable[[Game], Evaluator]] = {
    "that remembers": lambda game: Cached(scripted(game), game, 4096),
    "that forgets": lambda game: Cached(scripted(game), game, 16),
    "without entries": lambda game: Cached(scripted(game), game, 0),
    "without memory": scripted,
    "that draws lots": lambda game: Mixed(scripted(game), Rollout(game, default_reward(game), trace=True), 0.4),
}


def searches(game: Game, config: SearchConfig, make: Callable[[Game], Evaluator]) -> tuple[Search, Search]:
    """The same search with and without compiled steps."""
    compiled, lockstep = (Search(game, make(game), config) for _ in range(2))
    assert compiled._loops is not None and not compiled.is_fused
    lockstep._loops = None
    return compiled, lockstep


def assert_equal(one: SearchResult, other: SearchResult) -> None:
    for name in ("visits", "chosen", "values", "proven", "policy", "q", "simulations"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize(
    "game_id",
    [
        "connect_four-5x5",
        "othello-4x4",
        pytest.param("opposition-3x5", marks=pytest.mark.slow),
        pytest.param("morpion-4d", marks=pytest.mark.slow),
    ],
)
def test_compiled_steps_change_no_visit(game_id: str, name: str, evaluator: str) -> None:
    game, config = make_game(game_id), CONFIGS[name]
    states, seeds = random_positions(game, 12, seed=6), np.arange(12, dtype=np.uint64)
    compiled, lockstep = searches(game, config, EVALUATORS[evaluator])
    assert_equal(compiled.run(states, seeds), lockstep.run(states, seeds))
    for row in range(12):
        check_tree(compiled.forest, row, config.solver, full=config.node_budget < 100)
    if compiled.evaluator.memory is not None:
        counted = compiled.evaluator.memory
        assert counted.asked == lockstep.evaluator.memory.asked >= counted.hits  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["puct", "rave", "uct in a full tree"])
def test_whole_games_with_kept_subtrees_are_the_same(name: str) -> None:
    game = make_game("connect_four-4x4")
    compiled, lockstep = searches(game, CONFIGS[name], EVALUATORS["that remembers"])
    rows, states, rng = np.array([3, 0, 2, 1]), game.initial(4), np.random.default_rng(0)
    while len(rows):
        seeds = rng.integers(2**63, size=len(rows), dtype=np.uint64)
        one = compiled.run(states, seeds, rows)
        assert_equal(one, lockstep.run(states, seeds, rows))
        states = game.advance(states, one.chosen)
        running = game.outcome(states) == ONGOING
        states, rows = states[running], rows[running]


def test_a_known_position_goes_on_at_once_and_only_the_others_are_asked_about() -> None:
    game = make_game("connect_four-4x4")
    asked: list[bytes] = []

    class Spy(Evaluator):
        def __call__(self, leaves: Leaves) -> Evaluation:
            asked.extend(state.tobytes() for state in leaves.states)
            return scripted(game)(leaves)

    cached = Cached(Spy(), game, 2**14)
    search = Search(game, cached, SearchConfig(simulations=300, solver=False))
    states, seeds = random_positions(game, 10, seed=3), np.arange(10, dtype=np.uint64)
    first = search.run(states, seeds)
    assert len(asked) == len(set(asked)) == cached.asked - cached.hits - cached.repeats
    before = len(asked)
    assert_equal(search.run(states, seeds), first)
    assert len(asked) == before


def test_slices_and_growing_trees_change_no_visit(monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game("opposition-3x5")
    states, seeds = random_positions(game, 9, seed=4), np.arange(9, dtype=np.uint64)
    compiled, lockstep = searches(game, SearchConfig(simulations=200), EVALUATORS["that remembers"])
    expected = lockstep.run(states, seeds)
    monkeypatch.setattr(driver, "SLICE", 3)  # fewer leaves than trees
    compiled.forest = driver.Forest(0, game.state_size, game.max_legal, 400_000, nodes=2)
    assert_equal(compiled.run(states, seeds), expected)


@pytest.mark.parametrize("failing", [1, 5, 20])
def test_an_interrupt_leaves_no_trace(failing: int) -> None:
    game = make_game("connect_four-5x5")

    class Interrupted(Evaluator):
        calls = 0

        def __call__(self, leaves: Leaves) -> Evaluation:
            self.calls += 1
            if self.calls == failing:
                raise KeyboardInterrupt
            return scripted(game)(leaves)

    search = Search(game, Cached(Interrupted(), game, 4096), SearchConfig(simulations=60))
    rows, seeds = np.array([0, 1]), np.array([1, 2], dtype=np.uint64)
    with pytest.raises(KeyboardInterrupt):
        search.run(game.initial(2), seeds, rows)
    fresh = Search(game, scripted(game), SearchConfig(simulations=60))
    assert_equal(search.run(game.initial(2), seeds, rows), fresh.run(game.initial(2), seeds, rows))


def test_time_ends_a_search_that_needs_no_more_evaluations() -> None:
    """Every position of the game is known soon, and then nothing but the clock stops a search without proofs."""
    game = make_game("tic_tac_toe-3x3")
    config = SearchConfig(simulations=None, ms=20, solver=False, node_budget=50)
    result = Search(game, Cached(scripted(game), game, 2**14), config).run(game.initial(3), np.random.default_rng(0))
    assert (result.simulations > 0).all() and (result.simulations == result.visits.sum(axis=1)).all()
    assert result.simulations.max() < 2**30


@kernel
def misspelt_play(state: Int8s, action: int, p: Int64s) -> int:
    return state.no_such_attribute  # type: ignore[attr-defined, no-any-return]


def test_rules_that_do_not_compile_are_named_in_one_line() -> None:
    game = make_game("tic_tac_toe-3x3")
    assert isinstance(game, KernelGame)
    broken = replace(game, id="broken", rules=replace(game.rules, play=misspelt_play))
    with pytest.raises(GameError, match=r"broken: its rules do not compile: .*no_such_attribute") as caught:
        Search(broken, scripted(game), SearchConfig(simulations=5)).run(game.initial(1), np.random.default_rng(0))
    assert "\n" not in str(caught.value)
