"""Random games played move by move in our engine and in OpenSpiel at once.

    from openspiel import assert_equal_random_games        # pytest puts the folder of a test file on the path

    def test_random_games_equal_open_spiel():
        assert_equal_random_games(make_game("hex-5x5"), "hex(num_cols=5,num_rows=5)", games=10_000, seed=1)

`to_spiel` says which OpenSpiel action our action is: int[A], identity when left out. `returns` says what OpenSpiel's
return of the first player must be for our outcome: its sign when left out, `lambda outcome: outcome` for a score.

At every ply of every game it asserts: the same player to move, the same set of legal actions, the same verdict on
whether play is over; at the end, the same result. A failure shows the whole game. Tests skip where OpenSpiel is not
installed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Int32s
from palaestra.games.base import Game, pick_rows
from palaestra.games.rows import ONGOING


def load_spiel_game(name: str) -> Any:
    """OpenSpiel's game, for example `mnk(m=6,n=6,k=4)`; skips the calling test where OpenSpiel is missing."""
    return pytest.importorskip("pyspiel", reason="OpenSpiel is not installed").load_game(name)


def assert_equal_random_games(
    game: Game,
    spiel_name: str,
    games: int,
    seed: int,
    to_spiel: Int32s | None = None,
    returns: Callable[[int], float] = np.sign,
) -> None:
    """Play `games` uniform random games in lockstep in both engines and compare them at every ply."""
    theirs = load_spiel_game(spiel_name)
    image = np.arange(game.num_actions) if to_spiel is None else np.asarray(to_spiel)
    streams = keyed_seeds(seed, np.arange(games))
    states = game.initial(games, np.random.default_rng(seed))
    running = np.arange(games)
    mirrors = [theirs.new_initial_state() for _ in running]
    for _ in range(game.max_plies + 1):
        _assert_same_ends(game, states[running], [mirrors[i] for i in running], returns)
        running = running[game.outcome(states[running]) == ONGOING]
        if not running.size:
            return
        counts, actions = game.legal(states[running])
        movers = game.to_play(states[running])
        chosen = pick_rows(counts, actions, streams, running)
        for row, i in enumerate(running):
            mirror = mirrors[i]
            assert mirror.current_player() == movers[row], f"another player is to move after {mirror.history()}"
            ours = sorted(image[actions[row, : counts[row]]].tolist())
            assert ours == mirror.legal_actions(), f"other legal actions after {mirror.history()}"
            mirror.apply_action(int(image[chosen[row]]))
        states[running] = game.advance(states[running], chosen)
    raise AssertionError(f"{running.size} games of {game.id} are not over after max_plies = {game.max_plies}")


def _assert_same_ends(game: Game, states: Any, mirrors: list[Any], returns: Callable[[int], float]) -> None:
    for outcome, mirror in zip(game.outcome(states).tolist(), mirrors, strict=True):
        over = outcome != ONGOING
        assert over == mirror.is_terminal(), f"play is over in one engine only after {mirror.history()}"
        if over:
            assert returns(outcome) == mirror.returns()[0], f"another result after {mirror.history()}"
