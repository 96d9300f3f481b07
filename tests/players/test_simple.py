"""`random` is uniform, `greedy` sees one move ahead, and a row's choice is its own."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Int8s
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from palaestra.players.base import Player
from palaestra.players.simple import GreedyPlayer, RandomPlayer


def repeated(state: Int8s, count: int) -> Int8s:
    return np.repeat(state[None], count, axis=0)


def test_random_plays_every_legal_move_equally_often() -> None:
    game = make_game("tic_tac_toe-3x3")
    state = game.from_moves("b2 a1 c3")
    actions = RandomPlayer(game, "random").act(repeated(state, 60_000), np.random.default_rng(1))
    counts = np.bincount(actions, minlength=9)
    assert set(np.flatnonzero(counts)) == {1, 2, 3, 5, 6, 7}
    assert np.abs(counts[counts > 0] - 10_000).max() < 500  # more than five standard deviations


@pytest.mark.parametrize("kind", [RandomPlayer, GreedyPlayer])
@pytest.mark.parametrize("id", ["gobang-5x5", "connect_four-5x5", "othello-6x6", "opposition-3x9"])
def test_a_rows_choice_does_not_depend_on_the_other_rows(kind: type[Player], id: str) -> None:
    game = make_game(id)
    player = kind(game, "player")
    states = game.initial(40, np.random.default_rng(2))
    for ply in range(5):
        streams = keyed_seeds(3, ply, np.arange(40))
        together = player.act(states, streams)
        alone = [player.act(states[i : i + 1], streams[i : i + 1])[0] for i in range(40)]
        assert together.dtype == np.int32 and together.tolist() == alone
        states = game.advance(states, together)


def test_greedy_wins_at_once_when_it_can_and_otherwise_plays_anything_in_a_game_without_a_score() -> None:
    game = make_game("tic_tac_toe-3x3")
    greedy, rng = GreedyPlayer(game, "greedy"), np.random.default_rng(4)
    winning = game.from_moves("a1 a2 b1 b2")
    assert set(greedy.act(repeated(winning, 50), rng)) == {2}
    second = game.from_moves("a1 b1 a2 b2 c3")
    assert set(greedy.act(repeated(second, 50), rng)) == {7}
    quiet = game.from_moves("b2")
    assert set(greedy.act(repeated(quiet, 400), rng)) == {0, 1, 2, 3, 5, 6, 7, 8}


@pytest.mark.parametrize("plies", [9, 10])
def test_greedy_takes_the_best_static_score_for_its_own_side(plies: int) -> None:
    game = make_game("othello-6x6")
    rng = np.random.default_rng(5)
    states = game.initial(30)
    for _ in range(plies):
        states = game.advance(states, RandomPlayer(game, "random").act(states, rng))
    chosen = GreedyPlayer(game, "greedy").act(states, rng)
    counts, actions = game.legal(states)
    for row, state in enumerate(states):
        moves_here = actions[row, : counts[row]]
        scores = game.score(game.advance(repeated(state, len(moves_here)), moves_here)) * (1 - 2 * int(state[0]))
        best = set(moves_here[scores == scores.max()].tolist())
        assert int(chosen[row]) in best


def test_greedy_does_not_end_the_game_by_losing_unless_it_must() -> None:
    game = make_game("othello-4x4")
    rng = np.random.default_rng(6)
    greedy, seen = GreedyPlayer(game, "greedy"), 0
    states = game.initial(300)
    while len(states):
        counts, actions = game.legal(states)
        chosen = greedy.act(states, rng)
        for row, state in enumerate(states):
            moves = actions[row, : counts[row]]
            side = 1 - 2 * int(state[0])
            results = game.outcome(game.advance(repeated(state, len(moves)), moves)).astype(np.int64) * side
            over = results * side != ONGOING
            if over.any() and not (over & (results < 0)).all():
                mine = int(results[moves.tolist().index(int(chosen[row]))])
                assert mine * side == ONGOING or mine >= 0
                seen += 1
        states = game.advance(states, RandomPlayer(game, "random").act(states, rng))
        states = states[game.outcome(states) == ONGOING]
    assert seen > 20


def test_analyses_state_the_policy() -> None:
    game = make_game("tic_tac_toe-3x3")
    rng = np.random.default_rng(7)
    state = game.from_moves("a1 a2 b1 b2")
    random = RandomPlayer(game, "random").analyse(state, rng)
    assert random.policy is not None and np.allclose(random.policy[[2, 5, 6, 7, 8]], 0.2) and random.value is None
    greedy = GreedyPlayer(game, "greedy").analyse(state, rng)
    assert (greedy.action, greedy.value, greedy.pv) == (2, 1.0, [2])
    assert greedy.policy is not None and greedy.policy[2] == 1.0


def test_greedy_with_one_player_prefers_the_better_forecast() -> None:
    game = make_game("morpion-5d")
    states = game.initial(3)
    counts, actions = game.legal(states)
    moves = actions[0, : counts[0]]
    forecasts = game.score(game.advance(repeated(states[0], len(moves)), moves))
    best = set(moves[forecasts == forecasts.max()].tolist())
    assert len(best) < len(moves)
    assert set(GreedyPlayer(game, "greedy").act(repeated(states[0], 100), np.random.default_rng(8)).tolist()) <= best
