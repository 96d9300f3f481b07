from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from palaestra.arena import openings
from palaestra.arena.openings import Openings, all_openings, default_plies, make_book, parse_openings, play_opening
from palaestra.base.errors import ConfigError
from palaestra.games.base import Game
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


@pytest.mark.parametrize(
    ("id", "plies", "seed", "book"),
    [
        ("gobang-6x6", 3, 0, [(0, (20, 18, 3)), (0, (6, 24, 25)), (0, (23, 35, 0))]),
        ("opposition-3x9", 2, 7, [(7, (3, 4)), (8, (1, 1)), (0, (2, 1))]),
        ("connect_four-6x7", 2, 1, [(0, (4, 2)), (0, (2, 6)), (0, (3, 1))]),
    ],
)
def test_books_of_random_plies_stay_what_published_results_were_played_with(
    id: str, plies: int, seed: int, book: list[tuple[int, tuple[int, ...]]]
) -> None:
    assert [(one.start, one.moves) for one in make_book(make_game(id), 3, plies, seed)] == book
    assert Openings("random", plies).book(make_game(id), 3, seed) == make_book(make_game(id), 3, plies, seed)


def reachable(game: Game, plies: int) -> set[bytes]:
    """Positions after `plies` plies that are not over, found move by move."""
    found = {game.start(np.array([number]))[0].tobytes() for number in range(game.num_starts)}
    for _ in range(plies):
        below = set()
        for key in found:
            state = np.frombuffer(key, dtype=np.int8)[None]
            counts, actions = game.legal(state)
            for action in actions[0, : counts[0]]:
                after = game.advance(state, np.array([action], dtype=np.int32))
                if game.outcome(after)[0] == ONGOING:
                    below.add(after[0].tobytes())
        found = below
    return found


@pytest.mark.parametrize(
    ("id", "plies"), [("tic_tac_toe-3x3", 5), ("connect_four-6x7", 3), ("opposition-3x9", 2), ("othello-6x6", 3)]
)
def test_all_positions_at_a_ply_are_listed_once(id: str, plies: int) -> None:
    game = make_game(id)
    listed = [play_opening(game, opening).tobytes() for opening in all_openings(game, plies)]
    assert len(listed) == len(set(listed))
    assert set(listed) == reachable(game, plies)


def test_connect_four_has_the_known_numbers_of_positions() -> None:
    game = make_game("connect_four-6x7")
    assert [len(all_openings(game, plies)) for plies in range(7)] == [1, 7, 49, 238, 1120, 4263, 16422]


def test_a_book_of_all_positions_is_shuffled_by_the_seed_and_repeats_at_the_end() -> None:
    game, source = make_game("tic_tac_toe-3x3"), parse_openings("all:1")
    book = source.book(game, 20, seed=4)
    assert len(set(book)) == 9 and book[9:18] == book[:9]
    assert source.book(game, 5, seed=4) == book[:5]
    assert source.book(game, 9, seed=5) != book[:9] and set(source.book(game, 9, seed=5)) == set(book)
    assert book[:9] != all_openings(game, 1)


def test_more_positions_than_can_be_listed_are_refused_before_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openings, "MOST", 1000)
    with pytest.raises(ConfigError, match=r"more than 1,000 positions after 4 plies; .* all:3, or random:9"):
        all_openings(make_game("connect_four-6x7"), 9)
    with pytest.raises(ConfigError, match="always over after 9 plies"):
        monkeypatch.undo()
        all_openings(make_game("tic_tac_toe-3x3"), 9)


def test_texts_of_openings_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("book.txt").write_text("1 2\n")
    Path("odd:3").write_text("1 2\n")
    read = {
        "random": Openings(),
        "random:3": Openings("random", 3),
        "all:0": Openings("all", 0),
        "all:4": Openings("all", 4),
        "book.txt": Openings("file", None, Path("book.txt")),
        "book.txt:1": Openings("file", 1, Path("book.txt")),
        "odd:3": Openings("file", None, Path("odd:3")),
    }
    for text, expected in read.items():
        assert parse_openings(text) == expected
        assert expected.text == text


@pytest.mark.parametrize("text", ["", "all", "all:", "all:x", "all:-1", "random:x", "nothing.txt", "a\0b", "x" * 4000])
def test_texts_that_are_no_openings_are_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="random:PLIES, all:PLIES, FILE or FILE:PLIES, for example all:4"):
        parse_openings(text)
