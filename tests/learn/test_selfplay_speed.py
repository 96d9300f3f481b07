"""Measured self-play counts what was done. No test looks at the speed itself."""

from __future__ import annotations

from palaestra.games.registry import make_game
from palaestra.learn.selfplay_speed import measure_selfplay
from palaestra.search.config import SearchConfig
from tests.learn.selfplay_games import run_config


def test_measured_self_play_counts_games_positions_and_simulations() -> None:
    game = make_game("tic_tac_toe-3x3")
    search = SearchConfig(simulations=5, solver=False)
    config = run_config(game.id, threads=2, search=search, slots=8, cache=0, temperature_moves=0)
    speed = measure_selfplay(game, "b1c8", config, 0.3)
    assert speed.simulations == 5 * speed.positions > 0
    at_once = 2 * 8
    assert 5 * speed.games - at_once <= speed.positions <= 9 * (speed.games + at_once), "games have 5 to 9 plies"
    assert 0 < speed.evaluations <= speed.simulations + speed.positions
    assert 0 < speed.network_share < 1
    assert speed.limit > 0 and speed.limit_ratio == speed.simulations_per_second / speed.limit
