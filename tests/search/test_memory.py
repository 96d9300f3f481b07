"""The table of an evaluator's answers: exact, bounded, and counted."""

from __future__ import annotations

import numpy as np

from palaestra.base.types import Float32s, Int8s
from palaestra.games.registry import make_game
from palaestra.search.memory import WAYS, Memory
from tests.search.test_textbook import random_positions

GAME = make_game("tic_tac_toe-3x3")


def positions(count: int) -> Int8s:
    return np.unique(random_positions(GAME, 100, seed=1), axis=0)[:count]


def answers(count: int) -> tuple[Float32s, Float32s]:
    rng = np.random.default_rng(count)
    return rng.random((count, 9), dtype=np.float32), rng.random(count, dtype=np.float32)


def memory(entries: int) -> Memory:
    return Memory(entries, GAME.state_size, GAME.num_actions)


def test_a_full_bucket_forgets_its_oldest_position() -> None:
    states, (logits, values) = positions(WAYS + 1), answers(WAYS + 1)
    table = memory(1)  # one bucket
    for row in range(len(states)):
        table.store(states[row : row + 1], logits[row : row + 1], values[row : row + 1])
    assert table.find(states)[0].tolist() == [False] + [True] * WAYS


def test_known_rows_are_told_from_unknown_ones_and_what_is_there_stays() -> None:
    states, (logits, values) = positions(10), answers(5)
    table = memory(1024)
    table.store(states[::2], logits, values)
    table.store(states[::2], logits + 1, values)
    known, found_logits, found_values = table.find(states)
    assert known.tolist() == [True, False] * 5
    assert np.array_equal(found_logits[::2], logits) and np.array_equal(found_values[::2], values)
    assert not found_logits[1::2].any() and not found_values[1::2].any()
    assert (table.asked, table.hits) == (10, 5)


def test_a_table_without_entries_knows_nothing() -> None:
    table = memory(0)
    table.store(positions(3), *answers(3))
    assert not table.find(positions(3))[0].any()
    assert (table.asked, table.hits) == (3, 0)
