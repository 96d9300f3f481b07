"""What every game gets from the base classes: the header, plain play, texts, and refusals in one line."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from numba import njit

from palaestra.base.errors import GameError, MoveError
from palaestra.base.streams import keyed_seeds
from palaestra.games import (
    HEADER,
    ONGOING,
    Game,
    KernelGame,
    Rules,
    Symmetry,
    make_game,
    mover,
    ply,
    set_mover,
    win_by_plies,
)
from palaestra.games.rows import outcome, set_outcome, set_ply
from palaestra.games.symmetry import cell_map, rectangle_maps, square_maps

GAME = make_game("tic_tac_toe-3x3")


def play(text: str, game: Game = GAME) -> Any:
    return game.from_moves(text)[None]


# The header.


def test_an_initial_state_is_ongoing_with_the_first_player_to_move() -> None:
    states = GAME.initial(3)
    assert states.shape == (3, GAME.state_size) and states.dtype == np.int8
    assert GAME.to_play(states).tolist() == [0, 0, 0]
    assert GAME.plies(states).tolist() == [0, 0, 0]
    assert GAME.outcome(states).tolist() == [ONGOING] * 3


@pytest.mark.parametrize("value", [0, 1, -1, 127, 128, -129, 32767, -32768, 2**31 - 1, ONGOING, ONGOING + 1])
def test_outcomes_of_any_size_survive_the_header(value: int) -> None:
    state = np.zeros(HEADER, dtype=np.int8)
    set_outcome(state, value)
    assert outcome(state) == value
    assert GAME.outcome(state[None]).tolist() == [value]
    assert mover(state) == 0 and ply(state) == 0


@pytest.mark.parametrize("value", [0, 1, 127, 128, 255, 256, 20_000, 2**15 - 1])
def test_plies_of_any_size_survive_the_header(value: int) -> None:
    state = np.zeros(HEADER, dtype=np.int8)
    set_ply(state, value)
    assert ply(state) == value
    assert GAME.plies(state[None]).tolist() == [value]
    assert outcome(state) == 0


def test_the_mover_is_the_first_byte() -> None:
    state = np.zeros(HEADER, dtype=np.int8)
    set_mover(state, 1)
    assert mover(state) == 1 and state.tolist() == [1, 0, 0, 0, 0, 0, 0, 0]


def test_a_sooner_win_is_better_and_a_later_loss_too() -> None:
    assert [int(win_by_plies(0, plies, 9)) for plies in (5, 7, 9)] == [5, 3, 1]
    assert [int(win_by_plies(1, plies, 9)) for plies in (6, 8)] == [-4, -2]


# Facts that cannot be.


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"players": 3}, "players is 3; 1 and 2 are supported"),
        ({"state_size": 12}, "state_size is 12; it must be a multiple of 8"),
        ({"state_size": 0}, "state_size is 0"),
        ({"max_plies": 0}, "max_plies is 0; it must be between 1 and 32767"),
        ({"max_plies": 40_000}, "max_plies is 40000"),
        ({"num_starts": 0}, "num_starts is 0; a game has at least 1"),
        ({"num_actions": 0}, "num_actions is 0; a game has at least 1"),
        ({"max_legal": 0}, "max_legal is 0; it must be at least 1"),
        ({"action_places": (0, 1)}, "action_places has 2 entries for"),
        ({"action_layout": "rows"}, "action_layout is 'rows'; known: cells, columns, global"),
        ({"action_layout": "columns"}, "action_layout is 'columns' on 3×3 cells, and there are 9 actions"),
        ({"action_places": tuple(range(9))}, "action_layout is 'cells' on 3×3 cells, and action_places are given"),
        ({"tiebreak": "points"}, "tiebreak is 'points'; known: none, plies, margin, score"),
        ({"largest_outcome": -1}, "largest_outcome is -1; it must be between 1 and 1048576"),
        ({"largest_outcome": 2**20 + 1}, "largest_outcome is 1048577"),
    ],
)
def test_impossible_facts_are_refused(facts: dict[str, Any], message: str) -> None:
    with pytest.raises(GameError, match=message):
        replace(GAME, **facts)


@pytest.mark.parametrize(
    ("facts", "largest"),
    [
        ({"tiebreak": "none"}, 1),
        ({"tiebreak": "plies", "max_plies": 30}, 30),
        ({"tiebreak": "margin", "max_plies": 30, "action_layout": "", "observation_shape": (2, 4, 5)}, 30),
        ({"tiebreak": "margin", "max_plies": 30, "action_layout": "", "observation_shape": (2, 6, 7)}, 42),
        ({"tiebreak": "margin", "max_plies": 30, "largest_outcome": 12}, 12),
        ({"tiebreak": "score", "max_plies": 30, "players": 1}, 30),
        ({"tiebreak": "none", "max_plies": 30, "players": 1}, 30),
    ],
)
def test_the_largest_outcome_follows_from_the_tiebreak_unless_it_is_given(facts: dict[str, Any], largest: int) -> None:
    assert replace(GAME, **{"largest_outcome": 0, **facts}).largest_outcome == largest


def test_a_game_is_immutable() -> None:
    with pytest.raises(AttributeError):
        GAME.id = "other"  # type: ignore[misc]


# Plain play equals the loops.


def plain(method: str, *arguments: Any) -> Any:
    return getattr(Game, method)(GAME, *arguments)


def test_the_loops_equal_plain_play() -> None:
    streams, again = keyed_seeds(1, np.arange(50)), keyed_seeds(1, np.arange(50))
    fast, slow = GAME.rollout(GAME.initial(50), streams, True), plain("rollout", GAME.initial(50), again, True)
    for field in fields(fast):
        assert np.array_equal(getattr(fast, field.name), getattr(slow, field.name)), field.name
    assert streams.tolist() == again.tolist()
    assert [GAME.count_leaves(GAME.initial(1)[0], d) for d in range(5)] == [1, 9, 72, 504, 3024]
    assert plain("count_leaves", GAME.initial(1)[0], 6) == GAME.count_leaves(GAME.initial(1)[0], 6) == 56160


def test_a_rollout_leaves_finished_games_as_they_are() -> None:
    over = play("a1 a2 b1 b2 c1")
    streams = np.ones(1, dtype=np.uint64)
    for playouts in (GAME.rollout(over, streams, True), plain("rollout", over, streams, True)):
        assert playouts.states.tolist() == over.tolist()
        assert playouts.lengths.tolist() == [0] and playouts.outcomes.tolist() == [5]
    assert streams.tolist() == [1]


def test_batches_of_no_games_are_no_trouble() -> None:
    none = GAME.initial(0)
    assert GAME.advance(none, np.zeros(0, dtype=np.int32)).shape == (0, GAME.state_size)
    assert GAME.legal(none)[0].shape == (0,) and GAME.observe(none).shape == (0, *GAME.observation_shape)
    assert GAME.rollout(none, np.zeros(0, dtype=np.uint64)).outcomes.shape == (0,)


def test_strided_and_wide_input_is_taken() -> None:
    states = np.repeat(play("a1 b2"), 6, axis=0)
    strided = np.asfortranarray(states)[::2]
    actions = np.array([2, 0, 3, 0, 5, 0])[::2]  # int64, with gaps
    wanted = GAME.advance(states[:3].copy(), np.array([2, 3, 5], dtype=np.int32))
    assert GAME.advance(strided, actions).tolist() == wanted.tolist()
    assert GAME.step(strided, actions)[0].tolist() == wanted.tolist()
    assert GAME.legal(strided)[0].tolist() == [7, 7, 7]
    assert GAME.permute(strided, GAME.symmetries[0]).tolist() == strided.tolist()


# Texts.


def test_moves_are_read_with_commas_spaces_and_any_case() -> None:
    assert GAME.from_moves("a1, B2  c3").tobytes() == GAME.from_moves("A1 b2 C3").tobytes()


def test_replay_gives_every_position_on_the_way() -> None:
    assert [int(GAME.plies(state[None])[0]) for state in GAME.replay("a1 b2 c3")] == [0, 1, 2, 3]
    assert [int(GAME.plies(state[None])[0]) for state in GAME.replay("")] == [0]


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ("a1 a1", "move 2: 'a1' is not a legal move here; legal: b1, c1, a2,"),
        ("a1 z9", "move 2: 'z9' is not a legal move here"),
        ("a1 a2 b1 b2 c1 c2", "move 6: the game is over: 'c2' cannot be played"),
        ("@1 a1", "'@1' is not an initial position of tic_tac_toe-3x3; they are @0 to @0"),
        ("@x a1", "'@x' is not an initial position"),
        ("@² a1", "'@²' is not an initial position"),
    ],
)
def test_a_move_that_cannot_be_read_is_one_clear_line(moves: str, message: str) -> None:
    with pytest.raises(MoveError) as caught:
        GAME.from_moves(moves)
    assert message in str(caught.value) and len(str(caught.value).splitlines()) == 1


BAD_POSITIONS = [
    "", "x", "X../... 0 2", "Q../.../... 0 0", ".../.../... 2 0", ".../.../... 0 99", ".../.../... 0 -1",
    ".../.../... 0 x", ".../.../... 0 0 99999999999", ".../.../... 0 0 1 1",
]  # fmt: skip


@pytest.mark.parametrize("text", BAD_POSITIONS)
def test_a_position_that_cannot_be_read_is_one_clear_line(text: str) -> None:
    with pytest.raises(MoveError) as caught:
        GAME.state_from_text(text)
    assert "is not a position of tic_tac_toe-3x3" in str(caught.value) and len(str(caught.value).splitlines()) == 1


# Rules of a user's own.


@njit
def do_nothing(state, choice, p):
    pass


@njit
def win_at_once(state, action, p):
    set_mover(state, 1)
    return np.int64(1)


@njit
def one_move(state, actions, p):
    actions[0] = 0
    return 1


@njit
def does_not_compile(state, planes, p):
    return state.no_such_attribute


SMALL: dict[str, Any] = {
    "num_actions": 1,
    "max_plies": 1,
    "max_legal": 1,
    "state_size": 8,
    "observation_shape": (1, 1, 1),
}


def small(observe: Any = do_nothing, **facts: Any) -> KernelGame:
    rules = Rules(do_nothing, win_at_once, one_move, observe)
    return KernelGame(id="small", rules=rules, **SMALL | {"params": np.zeros(0, dtype=np.int64)} | facts)


def test_a_kernel_game_needs_no_symmetries_and_no_score() -> None:
    game = small()
    states = game.initial(2)
    assert [symmetry.name for symmetry in game.symmetries] == ["identity"]
    assert game.permute(states, game.symmetries[0]).tolist() == states.tolist()
    assert game.score(states).tolist() == [0, 0]
    with pytest.raises(GameError, match="small has no symmetries"):
        game.permute(states, game.symmetries[0], swap=True)


def test_parameters_may_be_given_as_a_list() -> None:
    assert small(params=[3, 4]).params.dtype == np.int64


def test_rules_that_are_not_compiled_are_refused() -> None:
    with pytest.raises(GameError, match=r"the rule 'legal' is .*put @njit above it"):
        Rules(do_nothing, win_at_once, lambda state, actions, p: 0, do_nothing)


def test_rules_that_do_not_compile_are_one_clear_line() -> None:
    game = small(observe=does_not_compile)
    with pytest.raises(GameError, match=r"small: its rules do not compile: .*no_such_attribute") as caught:
        game.observe(game.initial(1))
    assert len(str(caught.value).splitlines()) == 1


# Symmetries.


def test_a_square_has_eight_symmetries_and_another_rectangle_four() -> None:
    assert [len(maps) for maps in (square_maps(3), rectangle_maps(3, 3), rectangle_maps(2, 3))] == [8, 8, 4]
    assert len({cells.tobytes() for _, cells in square_maps(3)}) == 8


def test_a_rotation_carries_planes_and_policies_along() -> None:
    cells = cell_map(2, 2, lambda r, c: (c, 1 - r))  # a quarter turn: top left goes to top right
    turn = Symmetry("turn", cells, cells)
    board = np.arange(4, dtype=np.float32)
    assert turn.planes(board.reshape(1, 1, 2, 2)).tolist() == [[[[2, 0], [3, 1]]]]
    assert turn.policy(board[None]).tolist() == [[2, 0, 3, 1]]
