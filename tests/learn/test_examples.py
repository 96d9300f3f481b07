from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from palaestra.base.errors import RunError
from palaestra.learn.examples import ExampleQueue, Examples
from tests.learn.selfplay_games import played


@pytest.fixture(scope="module")
def examples() -> Examples:
    return played("othello-4x4", value_target="mixed").examples


def assert_equal(one: Examples, other: Examples) -> None:
    for name, array in one.to_arrays().items():
        found = other.to_arrays()[name]
        assert array.dtype == found.dtype and array.shape == found.shape and array.tobytes() == found.tobytes()


def test_arrays_give_the_same_examples_back_bit_for_bit(examples: Examples) -> None:
    arrays = examples.to_arrays()
    assert {name: str(array.dtype) for name, array in arrays.items()} == {
        "states": "int8", "policy": "float32", "value": "float32", "game": "int32", "ply": "int32",
        "outcome": "int32",
    }  # fmt: skip
    assert_equal(Examples.from_arrays(arrays), examples)


def test_parts_joined_are_the_whole(examples: Examples) -> None:
    parts = [examples.take(slice(0, 5)), examples.take(np.arange(5, len(examples)))]
    assert len(parts[0]) == 5
    assert_equal(Examples.concatenate(parts), examples)
    third = examples.take(examples.game == 3)
    assert 0 < len(third) < len(examples) and (third.game == 3).all()


def test_arrays_that_are_no_examples_are_refused_in_one_line(examples: Examples) -> None:
    arrays = examples.to_arrays()
    missing = {name: array for name, array in arrays.items() if name != "outcome"}  # as runs once were saved
    wrong_type = {**arrays, "value": arrays["value"].astype(np.float64)}
    too_short = {**arrays, "states": arrays["states"][:-1]}
    too_flat = {**arrays, "policy": arrays["policy"][:, 0]}
    for bad, word in (
        (missing, "have the arrays game, ply, policy, states, value; needed are .*, outcome"),
        (wrong_type, "value"),
        (too_short, "states"),
        (too_flat, "policy"),
        ({}, "none"),
    ):
        with pytest.raises(RunError, match=word) as caught:
            Examples.from_arrays(bad)
        assert "\n" not in str(caught.value)


def test_a_queue_holds_what_came_and_has_not_gone(examples: Examples) -> None:
    queue, held = ExampleQueue(), list[Examples]()
    sizes = np.random.default_rng(0).integers(0, len(examples), size=40).tolist()
    for number, size in enumerate(sizes):
        if number % 8 > 2:  # grows, then stays as it is
            queue.drop(len(held.pop(0)))
        held.append(examples.take(slice(len(examples) - size, None)))
        queue.append(held[-1])
        assert len(queue) == sum(map(len, held))
        assert_equal(queue.all(), Examples.concatenate(held))


def test_a_queue_refuses_rows_of_another_length(examples: Examples) -> None:
    queue = ExampleQueue()
    queue.append(examples)
    with pytest.raises(RunError, match="in policy; those before have"):
        queue.append(replace(examples, policy=examples.policy[:, :1]))
    assert_equal(queue.all(), examples)
