from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

import numpy as np
import pytest

from palaestra.base.errors import GameError, MoveError
from palaestra.base.streams import keyed_seeds
from palaestra.games.board import BoardGame
from palaestra.games.othello import build
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from tests.games.boards import (
    after,
    assert_same_games,
    assert_symmetries_commute,
    assert_text_round_trips,
    drawing_of,
    legal_set,
    outcome_of,
    position,
    random_states,
)
from tests.games.openspiel import assert_equal_random_games
from tests.games.othello_bytes import othello_in_bytes
from tests.games.perfect import perfect_outcome


def othello(n: int) -> BoardGame:
    return cast(BoardGame, make_game(f"othello-{n}x{n}"))


# The same rules on three kinds of boards. Two words hold small boards as well, though nobody makes them so.
KINDS: dict[str, Callable[[int], BoardGame]] = {
    "one word": partial(build, one_word=True),
    "two words": partial(build, one_word=False),
    "bytes": othello_in_bytes,
}


@pytest.mark.parametrize(
    ("n", "leaves"),
    [
        (4, [4, 12, 44, 128, 424, 1256]),
        (5, [4, 12, 50, 186, 866, 3974]),
        (6, [4, 12, 56, 244, 1364, 7604]),
        (8, [4, 12, 56, 244, 1396, 8200]),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_leaf_counts_are_those_of_the_sources(n: int, leaves: list[int], kind: str) -> None:
    game = KINDS[kind](n)
    start = game.initial(1)[0]
    assert [game.count_leaves(start, depth) for depth in range(1, 7)] == leaves


@pytest.mark.parametrize("n", [4, 5, 6, 7, 8, 9, 10])
def test_bits_and_bytes_are_the_same_game(n: int) -> None:
    assert_same_games(othello(n), othello_in_bytes(n), games=1000, seed=3)


@pytest.mark.parametrize("n", [5, 8])
def test_one_word_and_two_are_the_same_game(n: int) -> None:
    assert_same_games(othello(n), build(n, one_word=False), games=300, seed=4)


@pytest.mark.parametrize("n", [4, 5, 6, 8, 9, 10])
def test_symmetries_commute_with_play(n: int) -> None:
    assert_symmetries_commute(othello(n), count=200, seed=5)


@pytest.mark.parametrize("n", [4, 7, 8, 10])
def test_text_of_a_position_round_trips(n: int) -> None:
    assert_text_round_trips(othello(n), count=60, seed=6)


@pytest.mark.parametrize("games", [3_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_random_games_equal_open_spiel(games: int) -> None:
    """Same start, same first player (its discs on e4 and d5), same cells and pass = 64 in both."""
    assert_equal_random_games(othello(8), "othello", games=games, seed=1)


def test_perfect_play_on_4x4_is_second_by_eight() -> None:
    game = othello(4)
    assert perfect_outcome(game) == -8
    best = after(game, game.initial(1)[0], "b1")
    assert perfect_outcome(game, best) == -8, "by symmetry all four first moves are as good"


@pytest.mark.parametrize(
    ("n", "drawing"),
    [
        (4, ".... .OX. .XO. ...."),
        (5, "..... .OX.. .XO.. ..... ....."),
        (9, "......... ......... ......... ...OX.... ...XO.... ......... ......... ......... ........."),
    ],
)
def test_the_start_is_that_of_the_sources(n: int, drawing: str) -> None:
    game = othello(n)
    assert drawing_of(game, game.initial(1)[0]) == drawing


# X to play at a cell where exactly one direction encloses: (position, cell, position after).
FLIPS = {
    "east": (".OOX. ..... ..... ..... .....", "a1", "XXXX. ..... ..... ..... ....."),
    "west": ("..... ..... ..... ..... XOOO.", "e5", "..... ..... ..... ..... XXXXX"),
    "south": ("..... ..O.. ..O.. ..O.. ..X..", "c1", "..X.. ..X.. ..X.. ..X.. ..X.."),
    "north": ("X.... O.... O.... ..... .....", "a4", "X.... X.... X.... X.... ....."),
    "south east": ("..... .O... ..O.. ...O. ....X", "a1", "X.... .X... ..X.. ...X. ....X"),
    "north west": ("X.... .O... ..O.. ..... .....", "d4", "X.... .X... ..X.. ...X. ....."),
    "south west": ("..... ...O. ..O.. .O... X....", "e1", "....X ...X. ..X.. .X... X...."),
    "north east": ("....X ...O. ..O.. ..... .....", "b4", "....X ...X. ..X.. .X... ....."),
    "all eight": ("X.X.X .OOO. XO.OX .OOO. X.X.X", "c3", "X.X.X .XXX. XXXXX .XXX. X.X.X"),
}


@pytest.mark.parametrize("name", FLIPS)
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_enclosed_discs_turn(name: str, swap: bool, kind: str) -> None:
    before, cell, expected = FLIPS[name]
    if swap:
        before, expected = (text.translate(str.maketrans("XO", "OX")) for text in (before, expected))
    game = KINDS[kind](5)
    assert drawing_of(game, after(game, position(game, before, mover=int(swap)), cell)) == expected


@pytest.mark.parametrize("n", [8, 9, 10])
@pytest.mark.parametrize("line", ["row", "column", "diagonal", "other diagonal"])
@pytest.mark.parametrize("backwards", [False, True])
def test_the_longest_run_turns(n: int, line: str, backwards: bool) -> None:
    steps = {"row": (0, 1), "column": (1, 0), "diagonal": (1, 1), "other diagonal": (1, -1)}
    down, right = steps[line]
    run = [(i * down, (n - 1 if right < 0 else 0) + i * right) for i in range(n)][:: -1 if backwards else 1]
    cells = np.zeros((n, n), dtype=np.int8)
    for cell in run[1:-1]:
        cells[cell] = -1
    cells[run[-1]] = 1
    game = othello(n)
    state = game.make_state(cells, 0, 0)
    (after,) = game.advance(state[None], np.array([run[0][0] * n + run[0][1]], dtype=np.int32))
    assert all(game.cells(after)[cell] == 1 for cell in run)
    assert game.cells(after).sum() == n


# X to play; no disc can be placed on the cell, though a run of O begins beside it.
NO_PLACES = {
    "the run ends at the right edge": ("..OO ..X. .... O...", "b1"),
    "the run goes on in the next row": ("..OO X... .... ....", "b1"),
    "the run is broken by a gap": (".O.X .... .... O.X.", "a1"),
    "a diagonal over the right edge": (".... ...O .... X...", "c1"),
    "a diagonal over the left edge": (".... O..X .... ....", "b1"),
    "an own disc is beside it and nothing between": (".X.. .... .OX. ....", "a1"),
}


@pytest.mark.parametrize("name", NO_PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_must_be_enclosed_on_the_board(name: str, kind: str) -> None:
    drawing, cell = NO_PLACES[name]
    game = KINDS[kind](4)
    with pytest.raises(MoveError, match=f"'{cell}' is not a legal move"):
        after(game, position(game, drawing, mover=0), cell)


@pytest.mark.parametrize("kind", KINDS)
def test_a_player_without_a_place_must_pass_and_only_then_may(kind: str) -> None:
    game = KINDS[kind](4)
    state = after(game, position(game, "XO.. .... .... ..OX", mover=0), "c1")
    # O has nothing to enclose; X could still go to b4.
    assert drawing_of(game, state) == "XXX. .... .... ..OX"
    assert (outcome_of(game, state), game.to_play(state[None]).tolist()) == (ONGOING, [1])
    assert legal_set(game, state) == [16]
    assert game.action_to_text(state, 16) == "pass"
    passed = after(game, state, "pass")
    assert drawing_of(game, passed) == drawing_of(game, state)
    assert (int(game.plies(passed[None])[0]), int(passed[0])) == (6, 0)
    assert legal_set(game, passed) == [13]
    with pytest.raises(MoveError, match="'pass' is not a legal move here; legal: b4"):
        after(game, passed, "pass")
    ended = after(game, passed, "b4")
    assert outcome_of(game, ended) == 6, "O is wiped out: the game is over with cells empty"
    assert legal_set(game, ended) == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_end_is_seen_at_once_when_neither_side_can_place(kind: str) -> None:
    game = KINDS[kind](4)
    state = after(game, position(game, "OX.. .... .... OO..", mover=1), "c1")
    assert (outcome_of(game, state), legal_set(game, state)) == (-5, [])


def test_the_shortest_game_on_8x8_is_a_wipe_out_after_nine_plies() -> None:
    """A known shortest game; the second player has no disc left and 51 cells stay empty."""
    game = othello(8)
    state = game.from_moves("e6 f4 e3 f6 g5 d6 e7 f5 c5")
    assert (outcome_of(game, state), int(game.plies(state[None])[0])) == (13, 9)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_numbers_of_discs_are_a_draw(kind: str) -> None:
    game = KINDS[kind](4)
    state = after(game, position(game, "XXOO OOOO OOXX XOO.", mover=0), "d4")
    assert drawing_of(game, state) == "XXOO OOOO OOXX XXXX"
    assert outcome_of(game, state) == 0


@pytest.mark.parametrize("n", [4, 6, 8, 9])
def test_the_score_is_the_difference_in_discs_and_the_outcome_is_the_last_score(n: int) -> None:
    game = othello(n)
    states = random_states(game, 100, seed=8)
    margins = [int(game.cells(state).sum()) for state in states]
    assert game.score(states).tolist() == margins
    ends = game.rollout(states, keyed_seeds(9, np.arange(100)))
    assert game.score(ends.states).tolist() == ends.outcomes.tolist()


def test_observation_shows_the_movers_discs_first() -> None:
    for n in (4, 9):
        game = othello(n)
        state = game.initial(1)[0]
        cells = game.cells(state)
        np.testing.assert_array_equal(game.observe(state[None])[0], np.stack([cells == 1, cells == -1]))
        state = game.advance(state[None], np.array(legal_set(game, state)[:1], dtype=np.int32))[0]
        cells = game.cells(state)
        np.testing.assert_array_equal(game.observe(state[None])[0], np.stack([cells == -1, cells == 1]))


@pytest.mark.parametrize("size", ["3x3", "11x11", "6x7"])
def test_impossible_sizes_are_refused_in_one_line(size: str) -> None:
    with pytest.raises(GameError, match=f"othello-{size}.*4x4 to 10x10, for example othello-6x6"):
        make_game(f"othello-{size}")
