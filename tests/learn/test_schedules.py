"""What changes in self-play as a run goes on: simulations, and whether there is a search."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from palaestra.base.errors import ConfigError
from palaestra.games.registry import make_game
from palaestra.learn.config import RunConfig, WarmStartConfig
from palaestra.learn.loop import resume, train
from palaestra.learn.presets import configure
from palaestra.learn.schedules import scheduled
from palaestra.learn.selfplay import play_games
from tests.learn.fakes import tree_of
from tests.learn.selfplay_games import model, run_config

pytestmark = pytest.mark.usefixtures("quick_disk")
GAME_ID = "connect_four-5x5"


def simulations(config: RunConfig, progress: float) -> int:
    return scheduled(config, progress).selfplay.search.simulation_limit


def test_simulations_grow_evenly_from_the_first_number_to_that_of_the_search() -> None:
    config = configure(GAME_ID, sets=("selfplay.first_simulations=8", "selfplay.search.simulations=40"))
    assert [simulations(config, share) for share in (0.0, 0.25, 0.5, 1.0)] == [8, 16, 24, 40]
    fast = configure(GAME_ID, "fast")
    assert scheduled(fast, 0.7) == fast, "without a schedule nothing changes"


def test_from_the_given_share_on_moves_are_drawn_from_the_network_and_a_warm_start_is_over() -> None:
    warm = WarmStartConfig(enhancement="rollout", adaptive=True)
    config = run_config(GAME_ID, warm=warm, search_until=0.6, quick_fraction=0.5, value_target="td")
    assert scheduled(config, 0.59) == config
    late = scheduled(config, 0.6)
    assert late.selfplay.sampling and late.warm == WarmStartConfig() and late.selfplay.quick_fraction == 0
    made = play_games(make_game(GAME_ID), model(GAME_ID), late, 9)
    assert made.simulations == 0 and made.warm is None
    assert len(made.examples) == sum(len(record.moves) for record in made.records)


def test_without_a_search_the_winners_moves_are_learned_and_values_are_the_movers() -> None:
    late = scheduled(run_config(GAME_ID, search_until=0.5, games=12, temperature_moves=1000), 0.5)
    game = make_game(GAME_ID)
    made = play_games(game, model(GAME_ID), late, 3)
    examples, movers = made.examples, game.to_play(made.examples.states)
    counts, actions = game.legal(examples.states)
    worth = np.sign(examples.outcome) * np.where(movers == 0, 1, -1)
    np.testing.assert_array_equal(examples.value, worth)
    for row in range(len(examples)):
        played = made.records[examples.game[row]].moves[examples.ply[row]]
        taught = actions[row, : counts[row]][examples.policy[row, : counts[row]] > 0].tolist()
        assert taught == ([played] if worth[row] > 0 else [])
    assert {-1, 1} <= set(worth.tolist())


def test_failures_are_thinned_by_the_movers_view() -> None:
    late = scheduled(run_config(GAME_ID, search_until=0.5, games=12, failures=0.5), 0.5)
    examples = play_games(make_game(GAME_ID), model(GAME_ID), late, 3).examples
    successes = np.count_nonzero(examples.value > 0)
    assert successes > 0 and len(examples) - successes == round(0.5 * successes)


@pytest.mark.parametrize("key", ["first_simulations=3", "search_until=0.5"])
def test_sampling_alone_has_no_use_for_a_schedule_of_search(key: str) -> None:
    with pytest.raises(ConfigError, match="have no use"):
        configure("morpion-4d", "record", sets=(f"selfplay.{key}",), minutes=1)


def test_a_run_with_both_schedules_that_is_stopped_and_resumed_is_the_same_bit_for_bit(tmp_path: Path) -> None:
    sets = ("net=mlp8x1", "selfplay.games=4", "selfplay.search.simulations=6", "selfplay.first_simulations=2",
            "selfplay.search_until=0.5", "evaluation.every=0", 'evaluation.anchors=["random"]', "evaluation.games=2",
            "evaluation.simulations=2", "selfplay.opening_fraction=0", "selfplay.opening_plies=0")  # fmt: skip
    whole = train(configure("tic_tac_toe-3x3", sets=sets, iterations=4, threads=1), tmp_path / "whole")
    tried = [line.simulations / line.positions for line in whole.metrics]
    assert tried[2] == tried[3] == 0 and 0 < tried[0] < tried[1]
    short = configure("tic_tac_toe-3x3", sets=sets, iterations=4, threads=1)

    def stop(event: object) -> None:
        if type(event).__name__ == "IterationEnded" and getattr(event, "iteration", 0) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(short, tmp_path / "stopped", [stop])
    resume(tmp_path / "stopped")
    assert tree_of(tmp_path / "stopped") == tree_of(tmp_path / "whole")
