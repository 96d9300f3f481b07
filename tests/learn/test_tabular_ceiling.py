"""The best score against a random player: equal to expectimax written out, and to the published ceilings."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from palaestra.learn.tabular_ceiling import best_response
from tests.learn.double_moves import double_moves


def expectimax(game: Game, role: int) -> float:
    """The slow, obvious way: one position at a time, from each start."""

    @cache
    def value(key: bytes) -> float:
        state = np.frombuffer(key, dtype=np.int8)[None]
        outcome = int(game.outcome(state)[0])
        if outcome != ONGOING:
            return (1 + int(np.sign(outcome)) * (1 - 2 * role)) / 2
        counts, actions = game.legal(state)
        after = [value(game.advance(state, actions[:, i])[0].tobytes()) for i in range(counts[0])]
        return max(after) if state[0, 0] == role else sum(after) / len(after)

    return float(np.mean([value(state.tobytes()) for state in game.start(np.arange(game.num_starts))]))


@pytest.mark.parametrize(
    "game", [make_game("hex-2x2"), make_game("tic_tac_toe-3x3"), double_moves()], ids=lambda g: g.id
)
def test_it_equals_expectimax(game: Game) -> None:
    assert best_response(game) == pytest.approx((expectimax(game, 0), expectimax(game, 1)), abs=1e-12)


def test_games_with_several_starts_count_them_evenly() -> None:
    game = make_game("opposition-2x3")
    assert game.num_starts > 1
    assert best_response(game) == pytest.approx((expectimax(game, 0), expectimax(game, 1)), abs=1e-12)


@pytest.mark.parametrize(
    ("id", "first", "second"),  # (sources: chapter 2)
    [("tic_tac_toe-3x3", 0.9974, 0.9624), ("hex-3x3", 1.0, 0.978), ("connect_four-4x4", 0.973, 0.983)],
)
def test_it_equals_the_published_ceilings(id: str, first: float, second: float) -> None:
    found = best_response(make_game(id))
    assert found is not None
    assert round(found[0], len(str(first)) - 2) == first and round(found[1], len(str(second)) - 2) == second


def test_a_game_with_too_many_positions_has_no_known_ceiling() -> None:
    assert best_response(make_game("tic_tac_toe-3x3"), most=100) is None
