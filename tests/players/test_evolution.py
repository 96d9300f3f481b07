"""The `rhea` player."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.base.errors import PlayerError
from palaestra.base.streams import keyed_seeds
from palaestra.games.registry import make_game
from palaestra.players.evolution import RheaPlayer


def test_its_choices_follow_the_streams_and_not_the_batch() -> None:
    game = make_game("gobang-5x5")
    player = RheaPlayer(game, "rhea")
    states = np.repeat(game.initial(1), 6, axis=0)
    seeds = keyed_seeds(3, np.arange(6))
    together = player.act(states, seeds)
    assert np.array_equal(together, [player.act(states[:1], seeds[i : i + 1])[0] for i in range(6)])
    assert len(set(together.tolist())) > 1


def test_it_beats_random_moves_at_gobang() -> None:
    """Table 5.1: 90 % of 500 games (sources: Table 5.1); here 40 games, of which it must win 26."""
    game = make_game("gobang-6x6")
    player = RheaPlayer(game, "rhea")
    states = game.initial(40)
    own = np.arange(40) % 2  # the side that the player has in each game
    rng = np.random.default_rng(7)
    while (running := np.flatnonzero(game.outcome(states) == -(2**31))).size:
        counts, actions = game.legal(states[running])
        chosen = actions[np.arange(running.size), rng.integers(counts)]
        mine = game.to_play(states[running]) == own[running]
        if mine.any():
            chosen[mine] = player.act(states[running[mine]], rng)
        states[running] = game.advance(states[running], chosen)
    results = np.sign(game.outcome(states)) * (1 - 2 * own)
    assert (results > 0).sum() >= 26


def test_analysis_gives_the_move_its_value_and_the_cost() -> None:
    game = make_game("tic_tac_toe-3x3")
    state = game.from_moves("a1 a2 b1 b2")
    analysis = RheaPlayer(game, "rhea", playouts=8, evaluations=200).analyse(state, np.random.default_rng(2))
    assert game.action_to_text(state, analysis.action) == "c1"
    assert analysis.value == 1.0
    assert analysis.pv == [analysis.action]
    assert analysis.note == "fitness 1.0000, 1600 random games"


def test_a_lone_plan_without_mutation_is_enough() -> None:
    game = make_game("othello-4x4")
    player = RheaPlayer(game, "rhea", population=1, horizon=1, mutation=0.0, playouts=1, evaluations=1)
    counts, actions = game.legal(game.initial(1))
    assert player.act(game.initial(1), np.random.default_rng(1))[0] in actions[0, : counts[0]]


@pytest.mark.parametrize(
    "arguments",
    [{"population": 0}, {"horizon": 0}, {"playouts": 0}, {"mutation": -0.1}, {"mutation": 1.5}, {"evaluations": 9}],
)
def test_an_impossible_setting_is_one_clear_line(arguments: dict[str, float]) -> None:
    (name,) = arguments
    with pytest.raises(PlayerError, match=rf"^rhea\(…\): {name} is .*for example rhea\(") as caught:
        RheaPlayer(make_game("tic_tac_toe-3x3"), "rhea(…)", **arguments)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
