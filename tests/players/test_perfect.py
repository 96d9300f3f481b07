"""The perfect player: exact values, all the best moves, distances, and an honest word where it has no proof."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.base.errors import PlayerError
from palaestra.base.streams import keyed_seeds
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from palaestra.players.perfect import PerfectPlayer
from palaestra.players.simple import RandomPlayer


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
    assert first.proven and first.note == "win in 5 plies, outcome +12 for the mover"
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
    attempt = player._oracle.attempt

    def counted(state: np.ndarray, **budget: float) -> object:
        nonlocal calls
        calls += 1
        return attempt(state, **budget)  # type: ignore[arg-type]

    player._oracle.attempt = counted  # type: ignore[method-assign, assignment]
    streams = keyed_seeds(5, np.arange(60))
    chosen = player.act(game.initial(60), streams)
    assert calls == 1 and set(chosen.tolist()) == {5, 6, 9, 10}
    assert player.act(game.initial(1), streams[9:10])[0] == chosen[9]


@pytest.mark.parametrize("budget", [{"nodes": 5000}, {"seconds": 0.01}, {"nodes": 1, "seconds": 1e-9}])
def test_where_the_budget_ends_first_the_best_move_so_far_is_not_proven(budget: dict[str, float]) -> None:
    game = make_game("gobang-15x15-5")
    player, rng = PerfectPlayer(game, "perfect", **budget), np.random.default_rng(6)  # type: ignore[arg-type]
    states = game.initial(2)
    choice = player.choose(states, rng)
    assert choice.proven is not None and not choice.proven.any()
    assert choice.values is not None and choice.values.tolist() == [0.0, 0.0]
    assert set(choice.actions.tolist()) <= set(range(game.num_actions))
    analysis = player.analyse(states[0], rng)
    assert analysis.proven is False and analysis.value == 0.0 and analysis.pv == [analysis.action]
    assert analysis.note.startswith("not proven: best ") and "a proof may need 10^" in analysis.note


def test_a_margin_that_is_not_proven_is_the_estimate_of_the_deepest_finished_search() -> None:
    game = make_game("othello-6x6")
    player = PerfectPlayer(game, "perfect", nodes=20_000)
    found = player.solve(game.from_moves(""))
    assert not found.proven and found.depth > 1 and found.outcome == 0 and found.estimate != 0
    value = player.analyse(game.from_moves(""), np.random.default_rng(1)).value
    assert value is not None and 0 < abs(value) < 1


def test_a_move_that_loses_within_the_depth_is_not_the_best_so_far() -> None:
    game = make_game("connect_four-6x7")
    state = game.from_moves("4 1 4 1 4")  # the second player must block column 4
    assert PerfectPlayer(game, "perfect", nodes=2000).solve(state).actions == [3]


@pytest.mark.parametrize("budget", [{"nodes": 0}, {"seconds": 0.0}, {"seconds": float("nan")}])
def test_a_budget_of_nothing_is_refused_in_one_line(budget: dict[str, float]) -> None:
    with pytest.raises(PlayerError, match=r"it must be (at least 1|more than 0), for example perfect\(") as caught:
        PerfectPlayer(make_game("connect_four-4x4"), "perfect", **budget)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_late_positions_of_a_large_board_are_solved() -> None:
    game = make_game("connect_four-6x7")
    player = PerfectPlayer(game, "perfect(nodes=5000)", nodes=5000)
    state = game.from_moves("4 5 4 5 4 5")  # both threaten four in a column, and it is the first player's turn
    analysis = player.analyse(state, np.random.default_rng(7))
    assert (analysis.pv, analysis.value, analysis.note) == ([3], 1.0, "win in 1 ply, outcome +36 for the mover")
