"""Measurements: they count what was done. No test looks at the speed itself."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from palaestra.base.types import Int64s
from palaestra.games.registry import make_game
from palaestra.rewards.base import default_reward
from palaestra.search.config import SearchConfig
from palaestra.search.driver import Search
from palaestra.search.evaluator import Rollout, Uniform
from palaestra.search.search_speed import measure_rollouts, measure_search, repeat_side_by_side


def test_a_measured_search_counts_simulations_and_evaluations() -> None:
    game = make_game("tic_tac_toe-3x3")
    config = SearchConfig(rule="uct", simulations=20, solver=False)
    speed = measure_search(game, Uniform, config, games=8, threads=2, seconds=0.05)
    assert speed.moves > 0 and speed.simulations == 20 * speed.moves
    assert speed.evaluations is not None and 0 < speed.evaluations <= speed.simulations + speed.moves
    assert speed.evaluator_share is not None and 0 < speed.evaluator_share <= 1
    assert speed.limit > 0 and speed.limit_ratio == speed.simulations_per_second / speed.limit


def test_random_games_are_measured_in_the_search_that_players_run(monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game("tic_tac_toe-3x3")
    calls = []
    fused = Search._simulate_fused

    def counted(search: Search, rows: Int64s) -> Iterator[None]:
        calls.append(len(rows))
        return fused(search, rows)

    monkeypatch.setattr(Search, "_simulate_fused", counted)
    config = SearchConfig(rule="uct", simulations=20, solver=False)
    speed = measure_search(game, lambda: Rollout(game, default_reward(game)), config, games=8, threads=1, seconds=0.02)
    assert sum(calls) == speed.moves + 8  # the first call compiles
    assert speed.simulations == 20 * speed.moves
    assert speed.evaluations is speed.evaluator_share is None  # nobody can tell them apart there
    assert speed.limit > 0


def test_measured_playouts_are_whole_games() -> None:
    speed = measure_rollouts(make_game("tic_tac_toe-3x3"), games=64, seconds=0.05)
    assert 5 <= speed.plies_per_second / speed.playouts_per_second <= 9
    assert speed.steps_per_second > 0


def test_an_error_in_a_thread_is_not_lost() -> None:
    calls = []

    def job() -> None:
        calls.append(1)
        if len(calls) == 3:
            raise RuntimeError("third call")

    with pytest.raises(RuntimeError, match="third call"):
        repeat_side_by_side([job], 5.0)
