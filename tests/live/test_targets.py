"""Where a person points to make a move."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.games.python_game import PlainRules, PythonGame
from palaestra.games.registry import make_game
from palaestra.games.svg import CELL, DOT_STEP
from palaestra.live.position import Position
from palaestra.live.targets import Target, line_of, moves_near, targets

WITH_BOARDS = (
    "tic_tac_toe-3x3", "gobang-6x6", "connect_four-5x5", "othello-6x6", "hex-5x5", "opposition-3x9", "morpion-4d",
    "bin_packing-2d-20", "gdl:connect_four-4x4", "gdl:hex-3x3",
)  # fmt: skip


def walk(id: str, plies: int, seed: int = 0) -> list[Position]:
    """Positions of a random game, as far as it goes."""
    rng = np.random.default_rng(seed)
    positions = [Position(make_game(id))]
    while len(positions) <= plies and not positions[-1].is_over:
        legal = list(positions[-1].legal.values())
        positions.append(positions[-1].after(int(rng.choice(legal))))
    return positions


@pytest.mark.parametrize("id", WITH_BOARDS)
def test_every_legal_move_with_a_place_has_one_target_and_nothing_else_has(id: str) -> None:
    for position in walk(id, 12):
        found = [action for target in targets(position) for action in target.actions]
        placed = {action for action in position.legal.values() if line_of(position, action) is not None}
        assert sorted(found) == sorted(placed if not position.is_over else ())


class Heap(PlainRules[tuple[int, ...]]):
    """Take one or two of five; who takes the last one wins."""

    def start(self, choice: int) -> tuple[int, ...]:
        return (5, 0)

    def mover(self, state: tuple[int, ...]) -> int:
        return state[1]

    def moves(self, state: tuple[int, ...]) -> list[int]:
        return [action for action in (0, 1) if action < state[0]]

    def play(self, state: tuple[int, ...], action: int) -> tuple[int, ...]:
        return (state[0] - action - 1, 1 - state[1])

    def result(self, state: tuple[int, ...]) -> int | None:
        return None if state[0] else 2 * state[1] - 1


def test_a_game_without_places_has_no_targets() -> None:
    game = PythonGame.of(Heap(), id="heap", num_actions=2, max_plies=5)
    assert targets(Position(game)) == [] and moves_near(Position(game), (0.0, 0.0)) == []


def test_the_whole_column_is_a_target() -> None:
    columns = [target for target in targets(Position("connect_four-5x5", "1 1 2"))]
    heights = {max(y for _, y in target.outline) - min(y for _, y in target.outline) for target in columns}
    assert (len(columns), heights) == (5, {5 * CELL})


def test_a_full_column_is_no_target() -> None:
    names = [target.name for target in targets(Position("connect_four-4x4", "1 1 1 1"))]
    assert names == ["2", "3", "4"]


def test_the_king_stands_beside_the_squares_that_it_may_go_to() -> None:
    found = targets(Position("opposition-3x9", "@0"))
    pieces = [target for target in found if not target.actions]
    assert [piece.name for piece in pieces] == ["your king"]
    assert all(len(target.actions) == 1 for target in found if target.actions)


def test_a_pass_has_no_target_but_is_a_legal_move() -> None:
    position = next(
        position
        for seed in range(200)
        for position in walk("othello-4x4", 12, seed)
        if len(position.legal) == 1 and line_of(position, next(iter(position.legal.values()))) is None
    )
    assert targets(position) == [] and position.legal


def test_lines_are_found_near_the_point_that_they_add() -> None:
    position = Position("morpion-5d")
    for target in targets(position):
        x = sum(x for x, _ in target.outline) / 4
        y = sum(y for _, y in target.outline) / 4
        assert sorted(moves_near(position, (x + 0.2 * DOT_STEP, y))) == sorted(target.actions)
    assert moves_near(position, (-500.0, -500.0)) == []


def test_a_point_on_a_line_far_from_what_it_adds_finds_the_line() -> None:
    position = Position("morpion-5d")
    action = next(iter(position.legal.values()))
    spot = line_of(position, action)
    assert spot is not None
    far = max(spot.outline, key=lambda end: abs(end[0] - spot.at[0]) + abs(end[1] - spot.at[1]))
    assert action in moves_near(position, far)


def test_items_that_go_to_one_corner_share_a_target() -> None:
    found = targets(Position("bin_packing-2d", "@7"))
    assert found and all(isinstance(target, Target) for target in found)
    assert max(len(target.actions) for target in found) > 1
