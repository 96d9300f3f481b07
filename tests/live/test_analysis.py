"""A position being analysed."""

from __future__ import annotations

import json

import numpy as np
import pytest

from palaestra.base.errors import ConfigError, MoveError
from palaestra.games.python_game import PythonGame
from palaestra.live.analysis import analyse, analyse_live
from tests.live.test_targets import Heap


@pytest.mark.parametrize("player", ["uct(simulations=1500)", "alphabeta(depth=3)", "perfect"])
def test_the_last_of_the_live_analyses_is_the_analysis(player: str) -> None:
    *_, last = analyse_live("connect_four-4x4", "2 2", player, seed=3, every=0.0)
    assert last.document() == analyse("connect_four-4x4", "2 2", player, seed=3).document()


def test_a_network_is_watched_in_the_same_way(tiny_run: str) -> None:
    player = f"run:{tiny_run}(simulations=200)"
    *earlier, last = analyse_live("tic_tac_toe-3x3", "a1", player, every=0.0)
    assert len(earlier) > 2
    assert last.document() == analyse("tic_tac_toe-3x3", "a1", player).document()


def test_exact_results_are_there_from_the_first_look_on() -> None:
    given = ("tic_tac_toe-3x3", "a1 c1 a2 c3", "uct(simulations=5000, solver=false)")
    assert next(analyse_live(*given, every=0.0, exact=False)).moves[0].exact is None  # nobody looked
    first = next(analyse_live(*given, every=0.0))
    assert {row.move: row.exact for row in first.moves}["a3"] == "win"


def test_moves_are_ordered_by_what_the_player_likes() -> None:
    found = analyse("connect_four-5x5", "3", "uct(simulations=300)")
    shares = [row.probability for row in found.moves]
    assert shares == sorted(shares, reverse=True) and found.moves[0].move == found.move
    assert sum(row.visits or 0 for row in found.moves) == 300


def test_a_document_is_json_and_a_notebook_sees_board_and_table() -> None:
    found = analyse("connect_four-4x4", "2", "uct(simulations=100)")
    assert json.loads(json.dumps(found.document()))["action"] == found.move
    page = found._repr_html_()
    assert "<table" in page and "image/svg+xml" in page and "visits" in page
    assert repr(found).startswith(f"uct(simulations=100) plays {found.move}; ")


def test_a_player_without_opinions_still_names_its_move() -> None:
    found = analyse("tic_tac_toe-3x3", "a1", "random")
    assert found.move in found.position.legal_moves and found.columns().keys() <= {"exact", "probability"}


def test_a_finished_game_is_not_analysed() -> None:
    with pytest.raises(MoveError, match="the game is over"):
        analyse("tic_tac_toe-3x3", "a1 b1 a2 b2 a3")


def test_an_overlay_that_the_player_does_not_have_is_refused() -> None:
    found = analyse("tic_tac_toe-3x3", "a1", "random")
    with pytest.raises(ConfigError, match="has no visits"):
        found.svg("visits")


def test_one_players_certain_results_are_scores() -> None:
    found = analyse("bin_packing-2d-2", "@1", "nmcs(level=1)")
    exact = [row.exact for row in found.moves]
    assert all(isinstance(score, int) for score in exact if score is not None)
    assert np.isfinite(found.value or 0.0)


def test_an_overlay_needs_a_board() -> None:
    game = PythonGame.of(Heap(), id="heap", num_actions=2, max_plies=5)
    found = analyse(game, player="uct(simulations=20)")
    assert found.svg() == found.position.svg()
    with pytest.raises(ConfigError, match="heap has no board with a place for each move"):
        found.svg("policy")
