"""The `mcs` player."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.base.errors import PlayerError
from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Float32s, Int32s
from palaestra.games.registry import make_game
from palaestra.players.flat import McsPlayer
from palaestra.rewards.base import Reward


def test_it_wins_at_once_and_stops_the_opponent() -> None:
    game = make_game("tic_tac_toe-3x3")
    wins = game.from_moves("a1 a2 b1 b2")  # c1 wins
    stops = game.from_moves("a1 b2 b1")  # c1 must be stopped
    states = np.stack([wins, stops])
    player = McsPlayer(game, "mcs(playouts=2000)", playouts=2000)
    actions = player.act(states, keyed_seeds(1, np.arange(2)))
    assert [game.action_to_text(state, int(a)) for state, a in zip(states, actions, strict=True)] == ["c1", "c1"]


def test_analysis_counts_playouts_and_its_policy_follows_the_means() -> None:
    game = make_game("tic_tac_toe-3x3")
    state = game.from_moves("a1 a2 b1 b2")
    analysis = McsPlayer(game, "mcs", playouts=503).analyse(state, np.random.default_rng(1))
    assert game.action_to_text(state, analysis.action) == "c1"
    assert analysis.value == 1.0
    assert analysis.visits is not None and analysis.policy is not None
    assert analysis.visits.tolist() == [0, 0, 101, 0, 0, 101, 101, 100, 100]
    assert analysis.policy.sum() == pytest.approx(1.0)
    assert int(analysis.policy.argmax()) == analysis.action == analysis.pv[0]
    assert not analysis.policy[analysis.visits == 0].any()


def test_a_lost_position_has_a_uniform_policy() -> None:
    game = make_game("connect_four-4x4")
    player = McsPlayer(game, "mcs", playouts=1)
    player.reward = _Lost()
    analysis = player.analyse(game.initial(1)[0], np.random.default_rng(1))
    assert analysis.value == -1.0
    assert analysis.policy is not None
    assert analysis.policy.tolist() == [0.25] * 4


class _Lost(Reward):
    """However it ends, the first player has lost."""

    def value(self, outcomes: Int32s) -> Float32s:
        return np.full(outcomes.shape, -1.0, dtype=np.float32)


def test_a_budget_of_time_gives_a_legal_move_and_at_least_one_playout_each() -> None:
    game = make_game("gobang-5x5")
    analysis = McsPlayer(game, "mcs(ms=1)", ms=1).analyse(game.initial(1)[0], np.random.default_rng(1))
    assert analysis.visits is not None and analysis.visits.min() >= 1


def test_no_states_need_no_playouts() -> None:
    game = make_game("tic_tac_toe-3x3")
    assert McsPlayer(game, "mcs", playouts=5).act(game.initial(0), np.random.default_rng(1)).shape == (0,)


@pytest.mark.parametrize(
    "arguments", [{}, {"playouts": 3, "ms": 1.0}, {"playouts": 0}, {"ms": 0.0}, {"ms": -3}, {"ms": float("inf")}]
)
def test_an_impossible_budget_is_one_clear_line(arguments: dict[str, float]) -> None:
    with pytest.raises(PlayerError, match=r"^mcs.*for example mcs\(") as caught:
        McsPlayer(make_game("tic_tac_toe-3x3"), "mcs(…)", **arguments)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
