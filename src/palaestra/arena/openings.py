"""Openings: short random beginnings, so that deterministic players do not play one game a hundred times (FACTS §9).

A book is drawn from a seed; its positions are distinct as long as the game has enough of them, and none is over.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from palaestra.errors import ConfigError
from palaestra.games.base import Game, pick_rows
from palaestra.games.rows import ONGOING
from palaestra.streams import keyed_seeds
from palaestra.types import Bools, Int8s, Int32s, Int64s

WALKS = 1024  # random beginnings drawn at once
PATIENCE = 4  # rounds without a new position after which all are taken as found
DEFAULT_PLIES = (2, 3, 4)


@dataclass(frozen=True)
class Opening:
    """The moves from an initial position, given by its number."""

    start: int
    moves: tuple[int, ...]


def default_plies(game: Game, count: int) -> int:
    """The fewest random plies, 2 to 4, that give twice as many beginnings as are wanted and never end the game."""
    initial = game.start(np.zeros(1, dtype=np.int64))[0]
    chosen = 0
    for plies in DEFAULT_PLIES:
        if plies >= game.max_plies or not _walks(game, plies, seed=0, round=0).running.all():
            break
        chosen = plies
        if game.num_starts * game.count_leaves(initial, plies) >= 2 * count:
            break
    return chosen


def make_book(game: Game, count: int, plies: int, seed: int) -> list[Opening]:
    """`count` openings of `plies` random plies, from all initial positions of the game.

    No two lead to the same position until the game has no further ones; then they repeat in the same order.
    """
    if plies < 0:
        raise ConfigError(f"openings cannot have {plies} plies; give 0 or more, for example 2")
    found: dict[bytes, Opening] = {}
    idle = round = 0
    while len(found) < count and idle < PATIENCE:
        walks = _walks(game, plies, seed, round)
        before = len(found)
        for row in np.flatnonzero(walks.running):
            moves = tuple(int(move) for move in walks.moves[row])
            found.setdefault(walks.states[row].tobytes(), Opening(int(walks.starts[row]), moves))
        idle = idle + 1 if len(found) == before else 0
        round += 1
    if not found:
        raise ConfigError(f"{plies} random plies always end {game.id}; give fewer, for example 2")
    book = list(found.values())
    return [book[i % len(book)] for i in range(count)]


def play_opening(game: Game, opening: Opening) -> Int8s:
    """The state int8[S] after an opening."""
    state = game.start(np.array([opening.start], dtype=np.int64))
    for move in opening.moves:
        state = game.advance(state, np.array([move], dtype=np.int32))
    return state[0]


@dataclass(frozen=True, eq=False)
class _Walks:
    states: Int8s  # [W, S] after the last ply
    starts: Int64s  # [W]
    moves: Int32s  # [W, plies]
    running: Bools  # [W] whether play is not over


def _walks(game: Game, plies: int, seed: int, round: int) -> _Walks:
    """Uniform random beginnings from uniformly chosen initial positions; a row depends on (seed, round, row) alone."""
    streams = keyed_seeds(seed, round, np.arange(WALKS))
    starts = (streams % np.uint64(game.num_starts)).astype(np.int64)
    states = game.start(starts)
    moves = np.full((WALKS, plies), -1, dtype=np.int32)
    for ply in range(plies):
        rows = np.flatnonzero(game.outcome(states) == ONGOING)
        counts, actions = game.legal(states[rows])
        moves[rows, ply] = pick_rows(counts, actions, streams, rows)
        states[rows] = game.advance(states[rows], moves[rows, ply])
    return _Walks(states, starts, moves, game.outcome(states) == ONGOING)
