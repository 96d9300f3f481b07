"""Flat Monte Carlo against a plain loop over moves and playouts."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.rewards.base import default_reward
from palaestra.search import flat
from palaestra.search.flat import FlatResult, flat_playouts, flat_timed
from tests.search.toy_games import Stream, after, legal_list, outcome_of, random_positions, tree_game, uncompiled


def slow_flat(game: Game, state: Int8s, seed: int, playouts: int) -> tuple[list[int], list[float]]:
    """Visits and totals of each legal move: one random game each, in turn, every game with a stream of its own."""
    stream = Stream(seed)
    moves = legal_list(game, state)
    sign = 1.0 if state[0] == 0 else -1.0
    visits, totals = [0] * len(moves), [0.0] * len(moves)
    for number in range(max(playouts, len(moves))):
        own = Stream(stream.next_word())
        position = after(game, state, moves[number % len(moves)])
        while (outcome := outcome_of(game, position)) is None:
            choices = legal_list(game, position)
            position = after(game, position, choices[own.below(len(choices))])
        visits[number % len(moves)] += 1
        totals[number % len(moves)] += sign * float(default_reward(game).value(np.array([outcome]))[0])
    return visits, totals


@pytest.mark.parametrize("name", ["tic_tac_toe-3x3", "gobang-5x5", "connect_four-5x5", "othello-4x4", "tree"])
def test_every_playout_is_that_of_the_plain_loop(name: str) -> None:
    game = tree_game(3) if name == "tree" else make_game(name)
    states, seeds = random_positions(game, 6, seed=1), keyed_seeds(5, np.arange(6))
    result = flat_playouts(game, default_reward(game), states, seeds.copy(), playouts=23)
    for row, state in enumerate(states):
        visits, totals = slow_flat(game, state, int(seeds[row]), 23)
        count = result.counts[row]
        assert result.actions[row, :count].tolist() == legal_list(game, state)
        assert result.playouts[row, :count].tolist() == visits
        assert result.totals[row, :count] == pytest.approx(totals, abs=1e-6)
        means = [total / number for total, number in zip(totals, visits, strict=True)]
        assert result.chosen()[row] == legal_list(game, state)[int(np.argmax(np.round(means, 6)))]


def test_an_uncompiled_game_gets_the_same_playouts() -> None:
    game = make_game("gobang-5x5")
    states, seeds = random_positions(game, 4, seed=2), keyed_seeds(6, np.arange(4))
    fast = flat_playouts(game, default_reward(game), states, seeds.copy(), 40)
    slow = flat_playouts(uncompiled(game), default_reward(game), states, seeds.copy(), 40)
    assert np.array_equal(fast.totals, slow.totals)


def test_a_row_depends_neither_on_its_batch_nor_on_the_size_of_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game("connect_four-5x5")
    states, seeds = random_positions(game, 5, seed=3), keyed_seeds(7, np.arange(5))
    together = flat_playouts(game, default_reward(game), states, seeds.copy(), 101)
    monkeypatch.setattr(flat, "ROWS_PER_CALL", 13)
    for row in range(5):
        alone = flat_playouts(game, default_reward(game), states[row : row + 1], seeds[row : row + 1].copy(), 101)
        assert np.array_equal(alone.playouts[0], together.playouts[row])
        assert np.allclose(alone.totals[0], together.totals[row])


def test_equal_means_go_to_the_first_move() -> None:
    result = FlatResult(
        counts=np.array([3], dtype=np.int32),
        actions=np.array([[2, 5, 7, 0]], dtype=np.int32),
        playouts=np.array([[4, 2, 2, 0]], dtype=np.int32),
        totals=np.array([[0.0, 1.0, 1.0, 0.0]]),
    )
    assert result.chosen().tolist() == [5]


def test_time_gives_every_row_whole_cycles() -> None:
    game = make_game("tic_tac_toe-3x3")
    states = random_positions(game, 3, seed=4)
    result = flat_timed(game, default_reward(game), states, keyed_seeds(1, np.arange(3)), ms=5.0)
    for row in range(3):
        playouts = result.playouts[row, : result.counts[row]]
        assert playouts.min() == playouts.max() >= 1
        assert not result.playouts[row, result.counts[row] :].any()
