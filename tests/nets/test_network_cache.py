from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from palaestra.base.types import Int8s
from palaestra.games.registry import make_game
from palaestra.nets.cache import Cached, default_entries, entry_bytes, first_of_equals
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.rewards.base import Primitive
from palaestra.search.evaluator import Evaluation, Evaluator, Leaves, Rollout, Uniform
from tests.nets.reference import leaves_of, random_model, random_positions

GAME = make_game("tic_tac_toe-3x3")


class Spy(Evaluator):
    """Answers from the bytes of the states alone, and notes which states it was asked about."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []

    def __call__(self, leaves: Leaves) -> Evaluation:
        self.seen += [state.tobytes() for state in leaves.states]
        sums = (leaves.states.astype(np.int64) * np.arange(1, 1 + leaves.states.shape[1])).sum(axis=1)
        return Evaluation(
            np.sin(sums[:, None] + np.arange(GAME.num_actions)).astype(np.float32), np.cos(sums).astype(np.float32)
        )


def assert_same(one: Evaluation, other: Evaluation) -> None:
    assert one.logits is not None and other.logits is not None
    assert np.array_equal(one.logits, other.logits) and np.array_equal(one.values, other.values)


@pytest.mark.parametrize("entries", [0, 1, 8, 64, 4096])
def test_answers_are_those_of_the_inner_evaluator_whatever_the_size(entries: int) -> None:
    states = random_positions(GAME, 600)
    cached, plain = Cached(Spy(), GAME, entries), Spy()
    rng = np.random.default_rng(entries)
    for _ in range(40):
        leaves = leaves_of(GAME, states[rng.integers(len(states), size=rng.integers(1, 50))])
        assert_same(cached(leaves), plain(leaves))


@pytest.mark.parametrize("net", ["b2c16", "b2c16-outcome"])
@pytest.mark.parametrize("id", ["tic_tac_toe-3x3", "connect_four-6x7", "othello-6x6"])
def test_a_cached_network_answers_bit_for_bit_as_the_network(id: str, net: str) -> None:
    game = make_game(id)
    states = random_positions(game, 200)
    network = OnnxEvaluator(game, random_model(game, net))
    expected = network(leaves_of(game, states))
    assert expected.logits is not None
    for entries in (0, 64, 1024):
        cached, rng = Cached(network, game, entries), np.random.default_rng(0)
        for _ in range(20):
            rows = rng.integers(len(states), size=rng.integers(1, 70))
            assert_same(cached(leaves_of(game, states[rows])), Evaluation(expected.logits[rows], expected.values[rows]))


def test_a_position_is_asked_about_once_as_long_as_it_is_remembered() -> None:
    states = np.unique(random_positions(GAME, 300), axis=0)
    spy = Spy()
    cached = Cached(spy, GAME, entries=64 * len(states))
    twice = np.concatenate([states, states[::-1]])
    first = cached(leaves_of(GAME, twice))
    assert sorted(spy.seen) == sorted(state.tobytes() for state in states)
    assert (cached.asked, cached.hits, cached.repeats) == (2 * len(states), 0, len(states))
    assert_same(cached(leaves_of(GAME, twice)), first)
    assert len(spy.seen) == len(states)
    assert (cached.asked, cached.hits, cached.repeats) == (4 * len(states), 2 * len(states), len(states))


def test_positions_that_differ_in_any_byte_are_different() -> None:
    state = random_positions(GAME, 5)[4]
    variants = np.repeat(state[None], GAME.state_size + 1, axis=0)
    variants[np.arange(GAME.state_size), np.arange(GAME.state_size)] ^= 1
    spy = Spy()
    cached = Cached(spy, GAME, entries=4096)
    counts, actions = GAME.legal(variants[-1:])
    rows = np.zeros(len(variants), dtype=np.int64)
    leaves = Leaves(variants, counts[rows], actions[rows], np.zeros(len(variants), dtype=np.uint64))
    assert_same(cached(leaves), Spy()(leaves))
    assert len(spy.seen) == len(variants)


def test_ask_answers_and_remembers_what_lookup_did_not_know() -> None:
    states = random_positions(GAME, 30)[[3, 7, 3, 11, 7, 3]]
    spy = Spy()
    cached = Cached(spy, GAME, entries=1024)
    leaves = leaves_of(GAME, states)
    assert_same(cached.ask(leaves), Spy()(leaves))
    assert len(spy.seen) == 3 and cached.repeats == 3
    assert cached.memory.find(states)[0].all()


def test_states_need_not_be_contiguous() -> None:
    states = random_positions(GAME, 40)
    assert_same(Cached(Spy(), GAME, 64)(leaves_of(GAME, states[::2])), Spy()(leaves_of(GAME, states[::2])))


def test_no_positions_give_no_answers() -> None:
    answer = Cached(Spy(), GAME, 64)(leaves_of(GAME, random_positions(GAME, 1)[:0]))
    assert answer.logits is not None and answer.logits.shape == (0, 9) and answer.values.shape == (0,)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40))
def test_the_first_of_equal_rows_is_found(rows: list[tuple[int, int]]) -> None:
    words = np.array(rows, dtype=np.uint64)
    first = np.empty(len(rows), dtype=np.int64)
    assert first_of_equals(words, first) == len(set(rows))
    assert first.tolist() == [rows.index(row) for row in rows]


def test_evaluators_that_draw_lots_or_give_no_logits_are_refused() -> None:
    for inner in (Uniform(), Rollout(GAME, Primitive(), trace=True)):
        with pytest.raises(ValueError, match="can be cached"):
            Cached(inner, GAME, 64)(leaves_of(GAME, random_positions(GAME, 3)))
    with pytest.raises(ValueError, match="-1 entries"):
        Cached(Spy(), GAME, -1)


def test_the_default_size_keeps_to_the_given_memory() -> None:
    assert default_entries(GAME) == 2**18
    large = make_game("gobang-15x15-5")
    assert 0 < default_entries(large, megabytes=64) * entry_bytes(large) <= 64 * 2**20
    memory = Cached(Spy(), large, default_entries(large, megabytes=1)).memory
    *answers, _ = memory.table  # and a byte for every few of them
    assert sum(table.nbytes for table in answers) == memory.entries * entry_bytes(large)


def distinct(states: Int8s) -> int:
    return len({state.tobytes() for state in states})


def test_the_network_is_asked_no_more_often_than_there_are_positions() -> None:
    game = make_game("connect_four-4x4")
    states = random_positions(game, 500)
    cached = Cached(OnnxEvaluator(game, random_model(game, "b1c8")), game, 2**14)
    for part in np.array_split(states, 20):
        cached(leaves_of(game, part))
    assert cached.asked - cached.hits - cached.repeats == distinct(states)
