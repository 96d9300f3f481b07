"""Weights by surprise: the plain formula, shares that are kept, and runs without it that stay as they were."""

from __future__ import annotations

import math

import numpy as np
import pytest

from palaestra.base.errors import ConfigError
from palaestra.games.registry import make_game
from palaestra.learn.presets import configure
from palaestra.learn.selfplay import SelfPlay, play_games
from palaestra.learn.surprise import copies, surprise
from tests.learn.selfplay_games import GUMBEL, model, run_config

GAME = "connect_four-5x5"


def played(share: float, threads: int = 1) -> SelfPlay:
    config = run_config(GAME, threads=threads, games=20, search=GUMBEL, quick_fraction=0.3, quick_simulations=4)
    learn = config.learn.model_copy(update={"surprise": share})
    return play_games(make_game(GAME), model(GAME), config.model_copy(update={"learn": learn}), 1)


def rows_of(made: SelfPlay) -> list[bytes]:
    """Every example as bytes."""
    arrays = made.examples.to_arrays().values()
    return [b"".join(array[row].tobytes() for array in arrays) for row in range(len(made.examples))]


def test_surprise_is_what_the_formula_says() -> None:
    policy = np.array([[0.5, 0.25, 0.25, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0]], dtype=np.float32)
    prior = np.array([[0.25, 0.25, 0.5, 0], [0.1, 0.9, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 0]], dtype=np.float32)
    plain = [0.5 * math.log(2) - 0.25 * math.log(2), math.log(10), 0, 0]
    assert surprise(policy, prior) == pytest.approx(plain)
    assert surprise(policy, np.empty((4, 0), dtype=np.float32)).tolist() == [0] * 4, "nothing was searched"


def test_a_move_that_the_network_excluded_surprises_a_lot_and_not_without_end() -> None:
    found = surprise(np.array([[1, 0]], dtype=np.float32), np.array([[0, 1]], dtype=np.float32))
    assert found == pytest.approx([math.log(1e9)], rel=1e-4)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.9])
def test_copies_keep_the_shares_on_the_mean(share: float) -> None:
    surprises = np.array([0.0, 0.1, 0.3, 1.6], dtype=np.float32)  # their mean is 0.5
    rng = np.random.default_rng(1)
    drawn = np.mean([copies(surprises, share, rng) for _ in range(4000)], axis=0)
    assert drawn == pytest.approx([1 - share + share * some / 0.5 for some in (0.0, 0.1, 0.3, 1.6)], abs=0.03)


def test_where_nothing_surprises_all_are_learned_once() -> None:
    rng = np.random.default_rng(1)
    assert copies(np.zeros(3, dtype=np.float32), 0.9, rng).tolist() == [1, 1, 1]
    assert copies(np.empty(0, dtype=np.float32), 0.9, rng).tolist() == []


def test_examples_are_those_without_it_more_or_less_often() -> None:
    alike, weighted = played(0.0), played(0.7)
    assert weighted.records == alike.records, "games are the same"
    once, often = rows_of(alike), rows_of(weighted)
    assert set(often) < set(once) and max(map(often.count, often)) > 2
    assert len(often) == pytest.approx(len(once), rel=0.15)
    assert list(weighted.examples.game) == sorted(weighted.examples.game)
    assert rows_of(played(0.7, threads=3)) == often


def test_without_a_search_nothing_can_surprise() -> None:
    with pytest.raises(ConfigError, match="surprise has no use"):
        configure("morpion-4d", sets=("selfplay.sampling=true", "learn.surprise=0.5", "gate.kind=off"))
