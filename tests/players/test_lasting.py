"""The released code's search beside the textbook one, and what it remembers (sources: L6)."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.games.registry import make_game
from palaestra.players.lasting import LastingPlayer
from palaestra.rewards.base import default_reward
from palaestra.search.config import SearchConfig
from palaestra.search.driver import Search
from tests.search.test_textbook import random_positions, scripted


@pytest.mark.parametrize("game_id", ["tic_tac_toe-3x3", "connect_four-4x4", "othello-4x4"])
def test_in_a_first_search_without_transpositions_it_visits_as_the_kernels_do(game_id: str) -> None:
    game = make_game(game_id)
    evaluator, config = scripted(game), SearchConfig(simulations=12, c_puct=1.3, solver=False)
    for state in random_positions(game, 6, seed=3):
        # Its first simulation only takes the root into the table.
        player = LastingPlayer(game, "lasting", evaluator, 13, 1.3)
        player.act(state[None], np.random.default_rng(0))
        found = Search(game, evaluator, config, default_reward(game)).run(state[None], np.array([1], np.uint64))
        assert player.positions[state.tobytes()].N.tolist() == found.visits[0, : found.counts[0]].tolist()


def test_a_second_search_goes_on_from_the_first() -> None:
    game = make_game("connect_four-4x4")
    player = LastingPlayer(game, "lasting", scripted(game), 20, 1.0)
    state = game.initial(1)
    player.act(state, np.random.default_rng(0))
    first = player.positions[state[0].tobytes()].N.sum()
    player.forget()
    player.act(state, np.random.default_rng(0))
    assert (first, player.positions[state[0].tobytes()].N.sum()) == (19, 39)
