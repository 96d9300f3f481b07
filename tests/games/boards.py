"""Positions drawn in the tests, and properties that several games are asked to have.

position(game, "X.O .X. ..O", mover=0)        rows from the top, apart by spaces; ply = number of stones
"""

from __future__ import annotations

import numpy as np

from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Int8s, Int32s
from palaestra.games.base import Game, pick_rows
from palaestra.games.board import BoardGame
from palaestra.games.rows import ONGOING

STONES = {"X": 1, "O": -1, ".": 0}


def cells_of(drawing: str) -> Int8s:
    return np.array([[STONES[glyph] for glyph in row] for row in drawing.split()], dtype=np.int8)


def drawing_of(game: BoardGame, state: Int8s) -> str:
    """The rows of a position, apart by spaces."""
    return game.state_to_text(state).split()[0].replace("/", " ")


def position(game: BoardGame, drawing: str, mover: int) -> Int8s:
    """A position that is not over."""
    cells = cells_of(drawing)
    return game.make_state(cells, mover, int(np.count_nonzero(cells)))


def after(game: Game, state: Int8s, move: str) -> Int8s:
    """The position after one move, as a person writes it."""
    return game.advance(state[None], np.array([game.text_to_action(state, move)], dtype=np.int32))[0]


def legal_set(game: Game, state: Int8s) -> list[int]:
    counts, actions = game.legal(state[None])
    return actions[0, : counts[0]].tolist()


def outcome_of(game: Game, state: Int8s) -> int:
    return int(game.outcome(state[None])[0])


def random_states(game: Game, count: int, seed: int) -> Int8s:
    """Positions of `count` random games, each stopped at a ply of its own; some games are over by then."""
    streams = keyed_seeds(seed, np.arange(count))
    states = game.initial(count, np.random.default_rng(seed))
    stops = np.random.default_rng(seed).integers(0, game.max_plies + 1, count)
    for ply in range(game.max_plies):
        running = np.flatnonzero((stops > ply) & (game.outcome(states) == ONGOING))
        if not running.size:
            break
        counts, actions = game.legal(states[running])
        states[running] = game.advance(states[running], pick_rows(counts, actions, streams, running))
    return states


def assert_symmetries_commute(game: Game, count: int, seed: int) -> None:
    """Image then move equals move then image; legal actions and observations follow; exchange negates the outcome."""
    states = random_states(game, count, seed)
    states = states[game.outcome(states) == ONGOING]
    counts, actions = game.legal(states)
    chosen = pick_rows(counts, actions, keyed_seeds(seed + 1, np.arange(len(states))), np.arange(len(states)))
    moved = game.advance(states, chosen)
    views = [(symmetry, False) for symmetry in game.symmetries]
    if game.exchange is not None:
        views.append((game.exchange, True))
    for symmetry, swap in views:
        images = game.permute(states, symmetry, swap)
        np.testing.assert_array_equal(
            game.advance(images, symmetry.actions[chosen]), game.permute(moved, symmetry, swap), err_msg=symmetry.name
        )
        np.testing.assert_array_equal(game.observe(images), symmetry.planes(game.observe(states)))
        image_counts, image_actions = game.legal(images)
        np.testing.assert_array_equal(image_counts, counts)
        for row, number in enumerate(counts):
            expected = np.sort(symmetry.actions[actions[row, :number]])
            np.testing.assert_array_equal(image_actions[row, :number], expected, err_msg=symmetry.name)


def assert_same_games(one: BoardGame, other: BoardGame, games: int, seed: int) -> None:
    """Two implementations of a game agree on stones, legal actions, header and observation at every ply."""
    streams = keyed_seeds(seed, np.arange(games))
    running = np.arange(games)
    ours, theirs = one.initial(games), other.initial(games)
    for _ in range(one.max_plies + 1):
        np.testing.assert_array_equal(ours[:, :8], theirs[:, :8])
        np.testing.assert_array_equal(one.observe(ours), other.observe(theirs))
        np.testing.assert_array_equal(one.score(ours), other.score(theirs))
        for left, right in zip(ours[:50], theirs[:50], strict=True):
            np.testing.assert_array_equal(one.cells(left), other.cells(right))
        going = one.outcome(ours) == ONGOING
        ours, theirs, running = ours[going], theirs[going], running[going]
        if not running.size:
            return
        counts, actions = one.legal(ours)
        assert_same_lists(counts, actions, *other.legal(theirs))
        chosen = pick_rows(counts, actions, streams, running)
        ours, theirs = one.advance(ours, chosen), other.advance(theirs, chosen)
    raise AssertionError(f"{running.size} games are not over after max_plies = {one.max_plies}")


def assert_same_lists(counts: Int32s, actions: Int32s, other_counts: Int32s, other_actions: Int32s) -> None:
    np.testing.assert_array_equal(counts, other_counts)
    listed = np.arange(actions.shape[1]) < counts[:, None]
    np.testing.assert_array_equal(actions[listed], other_actions[listed])


def assert_text_round_trips(game: BoardGame, count: int, seed: int) -> None:
    """state → text → state gives the same bytes, during and after play."""
    for state in random_states(game, count, seed):
        np.testing.assert_array_equal(game.state_from_text(game.state_to_text(state)), state)
