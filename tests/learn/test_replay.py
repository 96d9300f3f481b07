"""The window of positions, and batches in which boards and policies turn together (sources: L1)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from palaestra.base.errors import RunError
from palaestra.base.types import Int64s
from palaestra.games.base import Game
from palaestra.games.registry import example_ids, make_game
from palaestra.learn.config import LearnConfig
from palaestra.learn.examples import Examples
from palaestra.learn.learner import Batch
from palaestra.learn.replay import Images, Replay
from tests.nets.reference import random_positions


def random_examples(game: Game, count: int, seed: int = 0) -> Examples:
    """Positions of random games with policies that tell every legal move apart."""
    rng = np.random.default_rng(seed)
    states = random_positions(game, count)
    counts, _ = game.legal(states)
    policy = rng.random((len(states), game.max_legal)).astype(np.float32)
    policy[np.arange(game.max_legal) >= counts[:, None]] = 0
    policy /= policy.sum(axis=1, keepdims=True)
    value = rng.uniform(-1, 1, len(states)).astype(np.float32)
    numbers, outcomes = np.arange(len(states), dtype=np.int32), rng.integers(-9, 10, len(states)).astype(np.int32)
    return Examples(states, policy, value, numbers, game.plies(states), outcomes)


def check_images(game: Game, examples: Examples, which: Int64s, batch: Batch) -> None:
    """Row i is the example whose position is the image of the original one, its moves the images of the same moves."""
    assert batch.planes.dtype == batch.policy.dtype == batch.value.dtype == np.float32
    assert batch.value.tolist() == examples.value.tolist()
    assert batch.outcome.tolist() == examples.outcome.tolist()
    assert batch.ply.tolist() == game.plies(examples.states).tolist()
    assert batch.mover.tolist() == game.to_play(examples.states).tolist()
    counts, legal = game.legal(examples.states)
    for row, number in enumerate(which.tolist()):
        symmetry = game.symmetries[number]
        image = game.permute(examples.states[row : row + 1], symmetry)
        assert np.array_equal(batch.planes[row], game.observe(image)[0])
        image_counts, image_legal = game.legal(image)
        legal_there = set(image_legal[0, : image_counts[0]].tolist())
        assert set(np.flatnonzero(batch.policy[row]).tolist()) <= legal_there
        for action, share in zip(legal[row, : counts[row]].tolist(), examples.policy[row], strict=False):
            after = game.permute(
                game.advance(examples.states[row : row + 1], np.array([action], dtype=np.int32)), symmetry
            )
            there = [a for a in legal_there if batch.policy[row, a] == share]
            same = game.advance(np.repeat(image, len(there), axis=0), np.array(there, dtype=np.int32))
            assert any(np.array_equal(position, after[0]) for position in same)


@pytest.mark.parametrize("game_id", example_ids())
def test_every_augmented_example_is_a_legal_example_with_its_mass_on_the_same_moves(game_id: str) -> None:
    game = make_game(game_id)
    examples = random_examples(game, 3 * len(game.symmetries))
    which = np.arange(len(examples)) % len(game.symmetries)
    check_images(game, examples, which, Images(game).batch(examples, which))


@pytest.mark.parametrize("game_id", ["connect_four-6x7", "othello-6x6", "gobang-5x5"])
def test_a_board_mirrored_without_its_policy_is_caught(game_id: str) -> None:
    """The defect L1 itself: the check above must not let it pass."""
    game = make_game(game_id)
    still = np.arange(game.num_actions, dtype=np.int32)
    broken = replace(game, symmetries=tuple(replace(one, actions=still) for one in game.symmetries))
    examples = random_examples(game, 8)
    which = np.full(len(examples), 1)
    with pytest.raises(AssertionError):
        check_images(game, examples, which, Images(broken).batch(examples, which))


@pytest.mark.parametrize("game_id", ["connect_four-6x7", "othello-6x6", "morpion-4d", "opposition-3x9"])
def test_the_kernels_equal_the_symmetries_own_maps(game_id: str) -> None:
    game = make_game(game_id)
    examples = random_examples(game, 40)
    which = np.random.default_rng(0).integers(len(game.symmetries), size=len(examples))
    batch = Images(game).batch(examples, which)
    counts, legal = game.legal(examples.states)
    for row, number in enumerate(which.tolist()):
        policy = np.zeros((1, game.num_actions), dtype=np.float32)
        policy[0, legal[row, : counts[row]]] = examples.policy[row, : counts[row]]
        symmetry = game.symmetries[number]
        assert np.array_equal(batch.policy[row], symmetry.policy(policy)[0])
        assert np.array_equal(batch.planes[row], symmetry.planes(game.observe(examples.states[row : row + 1]))[0])


def test_batches_draw_positions_and_orientations_evenly() -> None:
    game = make_game("connect_four-6x7")
    examples = random_examples(game, 50)
    examples = replace(examples, value=np.linspace(-1, 1, len(examples)).astype(np.float32))
    replay = Replay(3)
    replay.add(1, examples.take(slice(0, 20)))
    replay.add(2, examples.take(slice(20, len(examples))))
    batches = replay.batches(game, LearnConfig(batch=100), np.random.default_rng(0))
    drawn = [next(batches) for _ in range(100)]
    values, counts = np.unique(np.concatenate([batch.value for batch in drawn]), return_counts=True)
    assert values.tolist() == examples.value.tolist()
    expected = 100 * 100 / len(examples)
    assert (np.abs(counts - expected) < 6 * np.sqrt(expected)).all()
    asymmetric = int(np.argmax(game.plies(examples.states)))
    own = game.observe(examples.states[asymmetric : asymmetric + 1])[0]
    mirrored = game.symmetries[1].planes(own[None])[0]
    assert not np.array_equal(own, mirrored)
    seen = [batch.planes[i] for batch in drawn for i in np.flatnonzero(batch.value == examples.value[asymmetric])]
    share = np.mean([np.array_equal(planes, mirrored) for planes in seen])
    assert 0.3 < share < 0.7
    assert all(np.array_equal(planes, mirrored) or np.array_equal(planes, own) for planes in seen)


def test_without_symmetries_positions_are_learned_as_they_were() -> None:
    game = make_game("connect_four-6x7")
    examples = random_examples(game, 30)
    replay = Replay(1)
    replay.add(1, examples)
    known = {planes.tobytes() for planes in game.observe(examples.states)}
    batch = next(replay.batches(game, LearnConfig(batch=200, symmetries=False), np.random.default_rng(0)))
    assert all(planes.tobytes() in known for planes in batch.planes)
    turned = next(replay.batches(game, LearnConfig(batch=200), np.random.default_rng(0)))
    assert not all(planes.tobytes() in known for planes in turned.planes)


@pytest.mark.parametrize("game_id", ["othello-6x6", "morpion-4d"])
def test_illegal_moves_are_marked_in_every_orientation_where_they_are_not_learned(game_id: str) -> None:
    game, config = make_game(game_id), LearnConfig(batch=64, legal_only=True)
    replay = Replay(1)
    replay.add(1, random_examples(game, 40))
    marked = next(replay.batches(game, config, np.random.default_rng(3)))
    plain = next(replay.batches(game, config.model_copy(update={"legal_only": False}), np.random.default_rng(3)))
    assert np.array_equal(marked.planes, plain.planes)
    assert np.array_equal(marked.policy == -1, plain.policy == 0)  # random policies give every legal move a share
    assert np.array_equal(np.maximum(marked.policy, 0), plain.policy)


def test_a_growing_window_keeps_a_share_of_all_iterations() -> None:
    examples = random_examples(make_game("tic_tac_toe-3x3"), 30)
    replay, again = Replay(3, 0.5), Replay(3, 0.5)
    sizes = []
    for iteration in range(1, 13):
        replay.add(iteration, examples.take(slice(0, iteration)))
        sizes.append(len(replay.iterations))
    assert sizes == [1, 2, 3, 3, 3, 3, 4, 4, 5, 5, 6, 6] and replay.iterations[-1] == 12
    for iteration in replay.iterations:  # what a resumed run loads is what was kept
        again.add(iteration, Examples.from_arrays(replay.save_iteration(iteration)))
    assert again.iterations == replay.iterations and len(again) == len(replay)


def test_batches_depend_on_the_generator_alone() -> None:
    game = make_game("tic_tac_toe-3x3")
    replay = Replay(1)
    replay.add(1, random_examples(game, 30))
    config = LearnConfig(batch=16)
    one, two = (replay.batches(game, config, np.random.default_rng(5)) for _ in range(2))
    for _ in range(3):
        first, second = next(one), next(two)
        assert first.planes.tobytes() == second.planes.tobytes() and first.policy.tobytes() == second.policy.tobytes()


def test_the_window_holds_the_last_iterations() -> None:
    game = make_game("tic_tac_toe-3x3")
    replay = Replay(2)
    sizes = {1: 10, 2: 20, 3: 30, 5: 40}
    for iteration, size in sizes.items():
        replay.add(iteration, random_examples(game, 60, iteration).take(slice(0, size)))
    assert replay.iterations == (5,), "3 is not among the last two"
    replay.add(6, random_examples(game, 60).take(slice(0, 7)))
    assert replay.iterations == (5, 6) and len(replay) == 47
    with pytest.raises(ValueError, match="in order"):
        replay.add(6, random_examples(game, 3))


def test_a_window_that_was_saved_and_loaded_gives_the_same_batches() -> None:
    game = make_game("tic_tac_toe-3x3")
    replay, again = Replay(2), Replay(2)
    for iteration in (1, 2, 3):
        replay.add(iteration, random_examples(game, 30, iteration))
    for iteration in replay.iterations:
        again.add(iteration, Examples.from_arrays(replay.save_iteration(iteration)))
    assert again.iterations == replay.iterations
    one, two = (next(some.batches(game, LearnConfig(), np.random.default_rng(1))) for some in (replay, again))
    assert one.planes.tobytes() == two.planes.tobytes() and one.value.tobytes() == two.value.tobytes()


def test_steps_are_epochs_over_the_window_or_draws_for_new_positions() -> None:
    game = make_game("tic_tac_toe-3x3")
    replay = Replay(2)
    examples = random_examples(game, 200)
    replay.add(1, examples.take(np.arange(150)))
    replay.add(2, examples.take(np.arange(50)))
    assert replay.steps(LearnConfig(batch=64, epochs=10), 8) == 30
    assert replay.steps(LearnConfig(batch=64, epochs=0.5), 8) == 2
    assert replay.steps(LearnConfig(batch=64, epochs=None, samples_per_position=4), 8) == 4
    assert replay.steps(LearnConfig(batch=64, epochs=10, count_symmetries=True), 8) == 250
    assert replay.steps(LearnConfig(batch=4096, epochs=1), 8) == 1, "a small window is learned from all the same"


def test_nothing_to_learn_from_is_said_in_one_line() -> None:
    with pytest.raises(RunError, match="no positions"):
        Replay(1).batches(make_game("tic_tac_toe-3x3"), LearnConfig(), np.random.default_rng(0))
