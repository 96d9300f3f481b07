"""The perfect player: exact values, all the best moves, distances, and a plain refusal of what is too hard."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.errors import PlayerError
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from palaestra.players.perfect import PerfectPlayer
from palaestra.players.simple import RandomPlayer
from palaestra.streams import keyed_seeds


def test_perfect_against_perfect_gets_the_published_results_of_opposition() -> None:
    game = make_game("opposition-3x9")
    player = PerfectPlayer(game, "perfect")
    states = game.start(np.arange(9))
    rng = np.random.default_rng(1)
    while (running := game.outcome(states) == ONGOING).any():
        states[running] = game.advance(states[running], player.act(states[running], rng))
    signed = np.sign(game.outcome(states)) * game.plies(states)
    assert signed.tolist() == [-30, 29, 27, 27, -28, 27, 27, 29, -30]


def test_it_keeps_the_value_of_every_position_against_random() -> None:
    game = make_game("opposition-3x9")
    player, rng = PerfectPlayer(game, "perfect"), np.random.default_rng(2)
    for start in game.start(np.arange(9)):
        state, promised = start[None], None
        while game.outcome(state)[0] == ONGOING:
            if state[0, 0] == 0:
                value = player.solve(state[0]).outcome
                assert promised is None or value >= promised
                promised = value
                action = player.act(state, rng)
            else:
                action = RandomPlayer(game, "random").act(state, rng)
            state = game.advance(state, action)
        assert promised is not None and game.outcome(state)[0] >= promised


def test_an_analysis_gives_value_moves_line_and_distance() -> None:
    game = make_game("tic_tac_toe-4x4")
    player, rng = PerfectPlayer(game, "perfect"), np.random.default_rng(3)
    first = player.analyse(game.initial(1)[0], rng)
    assert (first.value, len(first.pv)) == (1.0, 5)
    assert first.note == "win in 5 plies, outcome +12 for the mover"
    assert first.policy is not None and first.policy[[5, 6, 9, 10]].tolist() == [0.25] * 4
    second = player.analyse(game.from_moves("b2"), rng)
    assert (second.value, second.note) == (-1.0, "loss in 4 plies, outcome -12 for the mover")
    drawn = PerfectPlayer(make_game("tic_tac_toe-3x3"), "perfect").analyse(
        make_game("tic_tac_toe-3x3").from_moves("b2"), rng
    )
    assert (drawn.value, drawn.note) == (0.0, "draw")
    assert drawn.policy is not None and np.flatnonzero(drawn.policy).tolist() == [0, 2, 6, 8]


def test_margins_are_played_for() -> None:
    game = make_game("othello-4x4")
    player, rng = PerfectPlayer(game, "perfect"), np.random.default_rng(4)
    states = game.initial(8)
    while (running := game.outcome(states) == ONGOING).any():
        states[running] = game.advance(states[running], player.act(states[running], rng))
    assert game.outcome(states).tolist() == [-8] * 8


def test_equal_states_are_solved_once_and_equally_good_moves_are_all_played() -> None:
    game = make_game("tic_tac_toe-4x4")
    player = PerfectPlayer(game, "perfect")
    calls = 0
    solve = player._oracle.solve

    def counted(state: np.ndarray) -> object:
        nonlocal calls
        calls += 1
        return solve(state)

    player._oracle.solve = counted  # type: ignore[method-assign, assignment]
    streams = keyed_seeds(5, np.arange(60))
    chosen = player.act(game.initial(60), streams)
    assert calls == 1 and set(chosen.tolist()) == {5, 6, 9, 10}
    assert player.act(game.initial(1), streams[9:10])[0] == chosen[9]


def test_a_position_that_is_too_hard_is_refused_in_one_line() -> None:
    game = make_game("connect_four-6x7")
    player = PerfectPlayer(game, "perfect(nodes=5000)", nodes=5000)
    with pytest.raises(PlayerError, match="not solved within 5,000 nodes") as caught:
        player.act(game.initial(1), np.random.default_rng(6))
    assert "\n" not in str(caught.value)
    with pytest.raises(PlayerError, match="at least 1"):
        PerfectPlayer(game, "perfect(nodes=0)", nodes=0)


def test_late_positions_of_a_large_board_are_solved() -> None:
    game = make_game("connect_four-6x7")
    player = PerfectPlayer(game, "perfect(nodes=5000)", nodes=5000)
    state = game.from_moves("4 5 4 5 4 5")  # both threaten four in a column, and it is the first player's turn
    analysis = player.analyse(state, np.random.default_rng(7))
    assert (analysis.pv, analysis.value, analysis.note) == ([3], 1.0, "win in 1 ply, outcome +36 for the mover")
