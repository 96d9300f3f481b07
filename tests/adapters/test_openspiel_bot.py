"""Our players in OpenSpiel's own matches."""

from __future__ import annotations

import pytest

from palaestra.base.errors import GameError, PlayerError

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")

from palaestra.adapters.openspiel import make  # noqa: E402  # needs what the line above skips for
from palaestra.adapters.openspiel_bot import make_bot  # noqa: E402


@pytest.mark.parametrize("name", ["breakthrough(rows=5,columns=4)", "tic_tac_toe", "havannah(board_size=3)"])
def test_a_searching_bot_beats_a_random_one_from_either_side(name: str) -> None:
    game = pyspiel.load_game(name)
    points = 0.0
    for seed in range(6):
        side = seed % 2
        bots = [pyspiel.make_uniform_random_bot(player, seed) for player in (0, 1)]
        bots[side] = make_bot("uct(simulations=60)", game, seed)
        points += pyspiel.evaluate_bots(game.new_initial_state(), bots, seed)[side]
    assert points >= 3


def test_a_bot_plays_on_where_a_game_is_a_draw_to_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("palaestra.adapters.openspiel_load.CAP", 4)
    make.cache_clear()
    game = pyspiel.load_game("antichess")
    bot = make_bot("greedy", game)
    make.cache_clear()
    state = game.new_initial_state()
    assert bot.game.max_plies == 4
    for _ in range(8):
        state.apply_action_with_legality_check(bot.step(state))
    assert state.move_number() == 8


def test_a_game_that_began_elsewhere_is_refused() -> None:
    game = pyspiel.load_game("chess")
    bot = make_bot("random", game)
    with pytest.raises(GameError, match="another position"):
        bot.step(game.new_initial_state("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"))


def test_what_cannot_be_made_is_one_line() -> None:
    with pytest.raises(GameError, match="chance decides"):
        make_bot("random", pyspiel.load_game("backgammon"))
    with pytest.raises(PlayerError):
        make_bot("uct(simulations=0)", pyspiel.load_game("tic_tac_toe"))
