from __future__ import annotations

import numpy as np
import pytest

from palaestra.arena.openings import default_plies, make_book, play_opening
from palaestra.errors import ConfigError
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING


def positions(id: str, count: int, plies: int, seed: int = 0) -> list[bytes]:
    game = make_game(id)
    return [play_opening(game, opening).tobytes() for opening in make_book(game, count, plies, seed)]


def test_openings_are_distinct_positions_while_there_are_enough() -> None:
    assert len(set(positions("gobang-6x6", 300, 3))) == 300


def test_all_positions_are_found_and_then_repeat_in_order() -> None:
    book = positions("tic_tac_toe-3x3", 150, 2)
    assert len(set(book)) == 72  # 9 · 8 placements of one stone each
    assert book[72:144] == book[:72]


def test_no_opening_is_over_even_where_most_beginnings_end() -> None:
    game = make_game("tic_tac_toe-3x3")
    states = np.stack([play_opening(game, opening) for opening in make_book(game, 50, 8, seed=3)])
    assert (game.outcome(states) == ONGOING).all()
    assert (game.plies(states) == 8).all()


def test_the_book_depends_on_the_seed_alone() -> None:
    assert positions("gobang-5x5", 20, 2, seed=1) == positions("gobang-5x5", 20, 2, seed=1)
    assert positions("gobang-5x5", 20, 2, seed=1) != positions("gobang-5x5", 20, 2, seed=2)
    assert positions("gobang-5x5", 40, 2, seed=1)[:20] == positions("gobang-5x5", 20, 2, seed=1)


def test_a_game_with_several_starts_uses_all_of_them() -> None:
    game = make_game("opposition-3x9")
    assert {opening.start for opening in make_book(game, 9, 0, seed=0)} == set(range(9))


def test_zero_plies_give_the_initial_position_only() -> None:
    assert len(set(positions("gobang-5x5", 10, 0))) == 1


@pytest.mark.parametrize(("plies", "complaint"), [(9, "always end"), (-1, "cannot have -1")])
def test_impossible_lengths_are_refused(plies: int, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        make_book(make_game("tic_tac_toe-3x3"), 10, plies, seed=0)


def test_the_default_length_grows_with_the_number_wanted() -> None:
    game = make_game("tic_tac_toe-3x3")
    assert [default_plies(game, count) for count in (1, 36, 37, 252, 253, 10_000)] == [2, 2, 3, 3, 4, 4]
