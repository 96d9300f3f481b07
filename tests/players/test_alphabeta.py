"""The alpha-beta player: its limits, its choices and what it says about them."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.base.errors import PlayerError
from palaestra.base.streams import keyed_seeds
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from palaestra.players.alphabeta import AlphaBetaPlayer
from palaestra.players.simple import RandomPlayer


@pytest.mark.parametrize(
    ("limits", "word"),
    [({}, "depth or ms"), ({"depth": 0}, "at least 1"), ({"ms": 0.0}, "more than 0"), ({"ms": float("nan")}, "nan")],
)
def test_bad_limits_are_refused_in_one_line(limits: dict[str, float], word: str) -> None:
    with pytest.raises(PlayerError, match=word) as caught:
        AlphaBetaPlayer(make_game("tic_tac_toe-3x3"), "alphabeta()", **limits)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value) and "alphabeta(" in str(caught.value)


def test_it_never_loses_tic_tac_toe_against_random() -> None:
    game = make_game("tic_tac_toe-3x3")
    rng = np.random.default_rng(1)
    players = AlphaBetaPlayer(game, "alphabeta(depth=9)", depth=9), RandomPlayer(game, "random")
    for seat in (0, 1):
        states = game.initial(60)
        for ply in range(9):
            running = game.outcome(states) == ONGOING
            if not running.any():
                break
            mover = players[(ply + seat) % 2]
            states[running] = game.advance(states[running], mover.act(states[running], rng))
        results = game.outcome(states) * (1 - 2 * seat)
        assert results.min() >= 0 and (results > 0).any()


def test_equally_good_moves_are_all_played_and_a_row_is_its_own() -> None:
    game = make_game("tic_tac_toe-4x4")
    player = AlphaBetaPlayer(game, "alphabeta(depth=5)", depth=5)
    states = game.initial(60)
    streams = keyed_seeds(2, np.arange(60))
    chosen = player.act(states, streams)
    assert set(chosen.tolist()) == {5, 6, 9, 10}
    assert chosen[17:18] == player.act(states[17:18], streams[17:18])
    assert chosen.tolist() == player.act(states, streams).tolist()


def test_an_exact_analysis_says_so() -> None:
    game = make_game("tic_tac_toe-4x4")
    analysis = AlphaBetaPlayer(game, "alphabeta(depth=8)", depth=8).analyse(
        game.initial(1)[0], np.random.default_rng(3)
    )
    assert analysis.value == 1.0 and analysis.note.startswith("depth 5, exact, ") and analysis.note.endswith(" nodes")
    assert analysis.policy is not None and np.flatnonzero(analysis.policy).tolist() == [5, 6, 9, 10]
    assert analysis.action in (5, 6, 9, 10) and analysis.pv[0] == analysis.action
    state = game.initial(1)
    for action in analysis.pv:
        assert action in game.legal(state)[1][0, : game.legal(state)[0][0]]
        state = game.advance(state, np.array([action], dtype=np.int32))


def test_values_are_for_the_mover() -> None:
    game = make_game("tic_tac_toe-4x4")
    player = AlphaBetaPlayer(game, "alphabeta(depth=6)", depth=6)
    lost = player.analyse(game.from_moves("b2"), np.random.default_rng(4))
    assert lost.value == -1.0 and "exact" in lost.note


def test_an_estimate_lies_strictly_between_loss_and_win() -> None:
    game = make_game("othello-6x6")
    player = AlphaBetaPlayer(game, "alphabeta(depth=1)", depth=1)
    analysis = player.analyse(game.initial(1)[0], np.random.default_rng(5))
    assert analysis.value == pytest.approx(3 / 13) and "estimate" in analysis.note  # 4 discs to 1
    reply = game.advance(game.initial(1), np.array([analysis.action], dtype=np.int32))[0]
    assert player.analyse(reply, np.random.default_rng(5)).value == pytest.approx(0.0)  # 3 discs each


def test_milliseconds_alone_are_enough() -> None:
    game = make_game("connect_four-6x7")
    player = AlphaBetaPlayer(game, "alphabeta(ms=20)", ms=20.0)
    assert player.act(game.initial(2), np.random.default_rng(6)).shape == (2,)
    assert "estimate" in player.analyse(game.initial(1)[0], np.random.default_rng(6)).note
