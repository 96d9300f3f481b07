"""Value targets: hand-computed numbers, and a slow reference for TD(λ)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from palaestra.learn.config import SelfPlayConfig
from palaestra.learn.targets import value_targets


def targets(kind: str, positions: list[tuple[int, int, float, bool, float]], **settings: Any) -> list[float]:
    """Targets of positions (game, mover, root value, proven, result for the first player)."""
    game, mover, root, proven, result = zip(*positions, strict=True)
    return value_targets(
        SelfPlayConfig(value_target=kind, **settings),
        np.array(game, dtype=np.int32),
        np.array(mover, dtype=np.int8),
        np.array(root, dtype=np.float32),
        np.array(proven, dtype=np.bool_),
        np.array(result, dtype=np.float32),
    ).tolist()


# First player wins game 0, in which the second passes once; game 1 is drawn.
GAMES = [(0, 0, 0.2, False, 1.0), (0, 1, -0.4, False, 1.0), (0, 0, 0.5, False, 1.0), (0, 0, 0.9, False, 1.0)]
GAMES += [(1, 0, 0.3, False, 0.0), (1, 1, 0.1, False, 0.0)]


def test_z_is_the_result_for_the_mover_and_a_draw_is_0() -> None:
    found = targets("z", GAMES)
    assert found == [1, -1, 1, 1, 0, 0]
    assert not np.signbit(found[5])


def test_a_mixed_target_weighs_result_and_root() -> None:
    assert targets("mixed", GAMES, q_weight=0.5) == pytest.approx([0.6, -0.7, 0.75, 0.95, 0.15, 0.05])
    assert targets("mixed", GAMES, q_weight=0.0) == pytest.approx(targets("z", GAMES))


def test_td_looks_ahead_without_assuming_that_turns_alternate() -> None:
    last = 0.5 * 0.9 + 0.5 * 1.0
    third = 0.5 * 0.5 + 0.5 * last
    second = 0.5 * -0.4 + 0.5 * -third  # the second player's view
    first = 0.5 * 0.2 + 0.5 * -second
    drawn = [0.5 * 0.3 + 0.5 * -(0.5 * 0.1), 0.5 * 0.1]
    assert targets("td", GAMES, td_lambda=0.5) == pytest.approx([first, second, third, last, *drawn])


def test_td_with_lambda_1_is_the_result_and_with_0_the_root() -> None:
    assert targets("td", GAMES, td_lambda=1.0) == pytest.approx(targets("z", GAMES))
    assert targets("td", GAMES, td_lambda=0.0) == pytest.approx([value for _, _, value, _, _ in GAMES])


def test_what_is_proven_is_exact_and_cuts_off_what_came_later() -> None:
    """The second player had a proven win and threw it away."""
    positions = [(0, 0, 0.0, False, 1.0), (0, 1, 1.0, True, 1.0), (0, 0, 0.8, False, 1.0)]
    assert targets("td", positions, td_lambda=1.0) == pytest.approx([-1.0, 1.0, 1.0])


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 1), st.floats(-1, 1, width=32), st.booleans()), min_size=1, max_size=8),
        min_size=1,
        max_size=5,
    ),
    st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=5, max_size=5),
    st.floats(0, 1),
)
def test_td_equals_the_sum_over_the_rest_of_the_game(
    games: list[list[tuple[int, float, bool]]], results: list[float], lambda_: float
) -> None:
    positions = [
        (number, mover, root, proven, results[number])
        for number, game in enumerate(games)
        for mover, root, proven in game
    ]
    expected = []
    for number, game in enumerate(games):
        for i, (mover, _, _) in enumerate(game):
            total, weight = 0.0, 1.0
            for other, root, proven in game[i:]:
                value = root if other == mover else -root
                total += weight * (1.0 if proven else 1 - lambda_) * value
                weight *= 0.0 if proven else lambda_
            expected.append(total + weight * (results[number] if mover == 0 else -results[number]))
    assert targets("td", positions, td_lambda=lambda_) == pytest.approx(expected, abs=1e-5)
