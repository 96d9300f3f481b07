"""The network without a search."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Float32s, Int8s
from palaestra.games.registry import make_game
from palaestra.players.policy import PolicyPlayer
from palaestra.search.evaluator import Scripted, Uniform

TIC = make_game("tic_tac_toe-3x3")
LOGITS = np.array([5.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 3.0], dtype=np.float32)


def script(states: Int8s) -> tuple[Float32s, Float32s]:
    return np.tile(LOGITS, (len(states), 1)), np.full(len(states), 0.25, dtype=np.float32)


def test_the_best_legal_move_is_played_even_if_an_illegal_one_has_a_larger_logit() -> None:
    player = PolicyPlayer(TIC, "net", Scripted(script))
    states = np.stack([TIC.from_moves(moves) for moves in ("", "a1", "a1 c3", "a1 c3 b2")])
    assert player.act(states, np.random.default_rng(0)).tolist() == [0, 8, 4, 1]


def test_with_a_temperature_moves_are_drawn_from_the_powered_policy() -> None:
    player = PolicyPlayer(TIC, "net", Scripted(script), temperature=2.0)
    state = TIC.from_moves("a1")
    states = np.tile(state, (20_000, 1))
    drawn = np.bincount(player.act(states, keyed_seeds(1, np.arange(20_000))), minlength=9) / 20_000
    weights = np.exp(LOGITS.astype(np.float64) / 2.0)
    weights[0] = 0.0
    assert drawn[0] == 0.0
    assert drawn == pytest.approx(weights / weights.sum(), abs=0.015)


def test_a_rows_draw_does_not_depend_on_the_other_rows() -> None:
    player = PolicyPlayer(TIC, "net", Scripted(script), temperature=1.0)
    states, streams = TIC.initial(50), keyed_seeds(3, np.arange(50))
    alone = [int(player.act(states[i : i + 1], streams[i : i + 1])[0]) for i in range(50)]
    assert player.act(states, streams).tolist() == alone
    assert len(set(alone)) > 1


def test_an_evaluator_without_preferences_gives_the_lowest_legal_move() -> None:
    player = PolicyPlayer(TIC, "net", Uniform())
    assert player.act(np.stack([TIC.from_moves("a1")]), np.random.default_rng(0)).tolist() == [1]


def test_an_analysis_is_the_networks_policy_over_legal_moves_and_its_value() -> None:
    found = PolicyPlayer(TIC, "net", Scripted(script)).analyse(TIC.from_moves("a1"), np.random.default_rng(0))
    assert (found.action, found.value, found.pv) == (8, 0.25, [8])
    assert found.policy is not None and found.policy[0] == 0.0 and found.policy.sum() == pytest.approx(1.0)
    assert found.policy[8] / found.policy[4] == pytest.approx(np.e)
