"""What players say about positions while they choose: the values that records show and adjudication rests on."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Float32s, Int8s
from palaestra.games.registry import make_game
from palaestra.players.policy import PolicyPlayer
from palaestra.players.registry import make_player
from palaestra.search.evaluator import Scripted

TIC = make_game("tic_tac_toe-3x3")
# The mover wins at once; the mover cannot stop two threats; a drawn position; the second player to move wins.
WON, LOST, DRAWN, SECOND = (
    TIC.from_moves(moves) for moves in ("a1 a2 b1 b2", "a1 c1 a3 b2 c3", "b2 a1 c1 a3 a2", "a1 b2 a2 b1 c3")
)
POSITIONS = np.stack([WON, LOST, DRAWN, SECOND])
STREAMS = keyed_seeds(5, np.arange(4))


@pytest.mark.parametrize("text", ["perfect", "alphabeta(depth=9)", "uct(simulations=2000)", "rave(simulations=2000)"])
def test_a_solved_position_has_its_exact_value_for_the_mover_and_is_proven(text: str) -> None:
    choice = make_player(text, TIC).choose(POSITIONS, STREAMS.copy())
    assert choice.values is not None and choice.proven is not None
    assert choice.values.dtype == np.float32 and choice.proven.dtype == np.bool_
    assert choice.proven.tolist() == [True] * 4
    assert choice.values.tolist() == [1.0, -1.0, 0.0, 1.0]


@pytest.mark.parametrize("text", ["alphabeta(depth=2)", "uct(simulations=20)"])
def test_an_estimate_is_not_called_proven(text: str) -> None:
    choice = make_player(text, TIC).choose(TIC.initial(3), STREAMS[:3].copy())
    assert choice.values is not None and choice.proven is not None and not choice.proven.any()
    assert (np.abs(choice.values) < 1.0).all()


def test_a_win_in_sight_is_certain_before_its_margin_is() -> None:
    """A margin game: alpha-beta of one ply sees a wipe-out at once, but never a margin before the end."""
    game = make_game("othello-4x4")
    player = make_player("alphabeta(depth=1)", game)
    state, rng = game.initial(1), np.random.default_rng(0)
    said = []
    while game.outcome(state)[0] < -1000:
        choice = player.choose(state, rng)
        assert choice.values is not None and choice.proven is not None
        said.append((bool(choice.proven[0]), float(choice.values[0]) * (1 - 2 * int(state[0, 0]))))
        state = game.advance(state, choice.actions)
    result = float(np.sign(game.outcome(state)[0]))
    assert said[0][0] is False and said[-1] == (True, result), "the last move shows the result"
    assert all(value == result for proven, value in said if proven)


@pytest.mark.parametrize("text", ["mcs(playouts=300)", "rhea"])
def test_playouts_give_a_mean_for_the_mover(text: str) -> None:
    choice = make_player(text, TIC).choose(POSITIONS[[0, 3]], STREAMS[:2].copy())
    assert choice.values is not None and choice.values.dtype == np.float32
    assert choice.values.tolist() == [1.0, 1.0] and choice.proven is None
    assert make_player(text, TIC).choose(POSITIONS[:0], STREAMS[:0]).actions.shape == (0,)


def test_a_network_alone_gives_its_own_values() -> None:
    def script(states: Int8s) -> tuple[Float32s, Float32s]:
        return np.zeros((len(states), 9), dtype=np.float32), np.linspace(-0.5, 0.5, len(states), dtype=np.float32)

    choice = PolicyPlayer(TIC, "net", Scripted(script)).choose(POSITIONS, STREAMS.copy())
    assert choice.values is not None and choice.proven is None
    assert choice.values == pytest.approx(np.linspace(-0.5, 0.5, 4))


@pytest.mark.parametrize(
    "text", ["random", "greedy", "perfect", "alphabeta(depth=3)", "uct(simulations=50)", "mcs(playouts=50)", "rhea"]
)
def test_choosing_and_acting_are_the_same_moves(text: str) -> None:
    states, streams = TIC.initial(8), keyed_seeds(3, np.arange(8))
    acted = make_player(text, TIC).act(states, streams.copy())
    assert make_player(text, TIC).choose(states, streams.copy()).actions.tolist() == acted.tolist()
