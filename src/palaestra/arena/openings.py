"""Openings: short beginnings, so that deterministic players do not play one game a hundred times (sources: traps).

A book is a list of openings, one for each pair of games. It comes from random plies, from all positions at a ply, or
from a file (`palaestra.arena.opening_files`); which of them, `parse_openings` reads from a text. Its positions are
distinct as long as there are enough of them, none is over, and the seed decides their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from palaestra.base.errors import ConfigError
from palaestra.base.streams import keyed_seeds
from palaestra.base.text import clip, refuse_long, whole_number
from palaestra.base.types import Bools, Int8s, Int32s, Int64s
from palaestra.games.base import Game, pick_rows
from palaestra.games.rows import ONGOING

WALKS = 1024  # random beginnings drawn at once
PATIENCE = 4  # rounds without a new position after which all are taken as found
DEFAULT_PLIES = (2, 3, 4)
MOST = 2**17  # positions at a ply that are listed; more than any match has pairs
_ROWS = 256  # positions whose moves are made at once while listing, which bounds memory
_ORDER = 0x0B00  # sets the order of a book apart from other uses of the seed


@dataclass(frozen=True)
class Opening:
    """The moves from an initial position, given by its number."""

    start: int
    moves: tuple[int, ...]


@dataclass(frozen=True)
class Openings:
    """Where a book comes from: `plies` random plies, all positions after `plies` plies, or a file.

    Of a file's openings `plies` are the first ones that are used, all by default; without them, random openings have
    as many plies as `default_plies` says.
    """

    kind: Literal["random", "all", "file"] = "random"
    plies: int | None = None
    path: Path | None = None

    def book(self, game: Game, count: int, seed: int) -> list[Opening]:
        """`count` openings; while there are enough no two lead to the same position, then they repeat in order."""
        if self.kind == "random":
            plies = default_plies(game, count) if self.plies is None else self.plies
            return make_book(game, count, plies, seed)
        if self.path is not None:
            from palaestra.arena.opening_files import read_openings

            there = read_openings(self.path, game, self.plies)
        else:
            there = all_openings(game, self.plies or 0)
        return _shuffled(there, count, seed)

    @property
    def text(self) -> str:
        """What `parse_openings` reads."""
        source = self.kind if self.path is None else str(self.path)
        return source if self.plies is None else f"{source}:{self.plies}"

    def __str__(self) -> str:
        """For people."""
        if self.kind == "random":
            return "random plies" if self.plies is None else f"{self.plies} random plies"
        if self.path is None:
            return f"all positions at ply {self.plies}"
        return str(self.path) if self.plies is None else f"the first {self.plies} plies of {self.path}"


def parse_openings(text: str) -> Openings:
    """The openings that a text names: `random`, `random:PLIES`, `all:PLIES`, `FILE` or `FILE:PLIES`."""
    refuse_long(text, "a text that names openings", ConfigError)
    name, colon, number = text.rpartition(":")
    plies = whole_number(number) if colon and len(number) < 6 else None
    if text == "random" or (name == "random" and plies is not None):
        return Openings("random", plies)
    if name == "all" and plies is not None:
        return Openings("all", plies)
    for path, first in ((text, None), *([(name, plies)] if plies else [])):
        if _is_there(path):
            return Openings("file", first, Path(path))
    raise ConfigError(
        f"openings {clip(text)} are not known and no such file is there; "
        "give random:PLIES, all:PLIES, FILE or FILE:PLIES, for example all:4"
    )


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
    return _repeated(list(found.values()), count)


def all_openings(game: Game, plies: int) -> list[Opening]:
    """One opening for every position that is reached after `plies` plies and not over; ConfigError beyond `MOST`."""
    starts = game.start(np.arange(game.num_starts, dtype=np.int64))
    found = {state.tobytes(): Opening(number, ()) for number, state in enumerate(starts)}
    for ply in range(plies):
        found = _deeper(game, found)
        if len(found) > MOST:
            raise ConfigError(
                f"{game.id} has more than {MOST:,} positions after {ply + 1} plies; "
                f"give fewer plies, for example all:{ply}, or random:{plies}"
            )
        if not found:
            raise ConfigError(f"{game.id} is always over after {ply + 1} plies; give fewer, for example all:2")
    return list(found.values())


def play_opening(game: Game, opening: Opening) -> Int8s:
    """The state int8[S] after an opening."""
    state = game.start(np.array([opening.start], dtype=np.int64))
    for move in opening.moves:
        state = game.advance(state, np.array([move], dtype=np.int32))
    return state[0]


def _deeper(game: Game, found: dict[bytes, Opening]) -> dict[bytes, Opening]:
    """The positions one ply below some, without those that are over; listing ends soon after `MOST`."""
    states = np.frombuffer(b"".join(found), dtype=np.int8).reshape(-1, game.state_size)
    lines = list(found.values())
    below: dict[bytes, Opening] = {}
    for low in range(0, len(states), _ROWS):
        some = states[low : low + _ROWS]
        counts, actions = game.legal(some)
        parents = np.repeat(np.arange(len(some)), counts)
        moves = actions[np.arange(actions.shape[1]) < counts[:, None]]
        after = game.advance(some[parents], moves)
        for row in np.flatnonzero(game.outcome(after) == ONGOING):
            key = after[row].tobytes()
            if key not in below:
                line = lines[low + parents[row]]
                below[key] = Opening(line.start, (*line.moves, int(moves[row])))
        if len(below) > MOST:
            break
    return below


def _shuffled(openings: list[Opening], count: int, seed: int) -> list[Opening]:
    order = np.argsort(keyed_seeds(seed, _ORDER, np.arange(len(openings))), kind="stable")
    return _repeated([openings[i] for i in order[:count]], count)


def _repeated(openings: list[Opening], count: int) -> list[Opening]:
    return [openings[i % len(openings)] for i in range(count)]


def _is_there(path: str) -> bool:
    try:
        return bool(path) and Path(path).exists()
    except (OSError, ValueError):  # a name too long for a file system, or with a null byte
        return False


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
