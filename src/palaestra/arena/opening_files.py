"""Openings from a file: one a line in the game's notation, or the first plies of the games of a PGN.

    # a line without moves says nothing; what follows a # neither
    d3 c5 d6
    @2 e4         a game with several initial positions: number 2

Every opening must be legal and leave something to play; RecordError names the line, or the game of a PGN, that is not.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from palaestra.arena.openings import Opening
from palaestra.base.errors import MoveError, RecordError
from palaestra.base.reading import read_bytes
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.runs.pgn_games import PgnGame, stream_games

MOST_BYTES = 2**26  # of a file of openings
Lines = Iterator[tuple[str, Iterator[Int8s]]]  # where an opening stands, and the states on its way


def read_openings(path: Path, game: Game, plies: int | None = None) -> list[Opening]:
    """The openings of a file in their order, those that lead to a position again left out; at least one.

    `plies` are the first ones to use of each. By default a line is used whole, and of a game in a PGN as many as its
    tag Opening says.
    """
    try:
        data = read_bytes(path, MOST_BYTES).removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise RecordError(f"cannot read the openings of {path}: {(error.strerror or str(error)).lower()}") from None
    pgn = path.suffix.lower() == ".pgn" or data.lstrip().startswith(b"[")
    found: dict[bytes, Opening] = {}
    for where, line in _of_pgn(data, path, game, plies) if pgn else _of_lines(data, path, game):
        try:
            states = _checked(game, line, plies)
        except (MoveError, RecordError) as error:
            raise RecordError(f"{path}, {where}: {error}") from None
        if (key := states[-1].tobytes()) not in found:
            found[key] = _opening(game, states)
    if not found:
        raise RecordError(f"{path} holds no opening; write the moves of one on each line, for example 'd3 c5 d6'")
    return list(found.values())


def _of_lines(data: bytes, path: Path, game: Game) -> Lines:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise RecordError(f"{path} is not text; openings are lines of moves such as 'd3 c5 d6', or a PGN") from None
    for number, line in enumerate(text.splitlines(), start=1):
        if moves := line.partition("#")[0].strip():
            yield f"line {number}", game.replay(moves)


def _of_pgn(data: bytes, path: Path, game: Game, plies: int | None) -> Lines:
    for number, played in enumerate(stream_games(io.BytesIO(data), str(path)), start=1):
        yield f"game {number}", _replayed(played, game, plies)


def _replayed(played: PgnGame, game: Game, plies: int | None) -> Iterator[Int8s]:
    if (variant := played.tags.get("Variant", game.id)) != game.id:
        raise RecordError(f"it is one of {variant[:40]!r}, not of {game.id!r}")
    if plies is None and "Opening" not in played.tags:
        raise RecordError("it has no tag Opening; say how many plies of each game to use, for example games.pgn:4")
    first = played.opening_plies if plies is None else plies
    yield from replace(played, moves=played.moves[:first]).states(game)


def _checked(game: Game, line: Iterator[Int8s], plies: int | None) -> list[Int8s]:
    """The states of an opening, the initial one first; RecordError if they cannot be one."""
    states = list(islice(line, None if plies is None else plies + 1))
    if plies is not None and len(states) <= plies:
        raise RecordError(f"there are {len(states) - 1} plies and {plies} were asked for; ask for fewer")
    if game.outcome(states[-1][None])[0] != ONGOING:
        raise RecordError("the game is over after these moves; an opening leaves something to play")
    return states


def _opening(game: Game, states: list[Int8s]) -> Opening:
    """The opening that passes through these states; where two moves lead to one state, either will do."""
    starts = game.start(np.arange(game.num_starts, dtype=np.int64))
    moves = []
    for before, after in pairwise(states):
        counts, actions = game.legal(before[None])
        legal = actions[0, : counts[0]]
        below = game.advance(np.repeat(before[None], len(legal), axis=0), legal)
        moves.append(int(legal[_row_of(after, below)]))
    return Opening(_row_of(states[0], starts), tuple(moves))


def _row_of(state: Int8s, states: Int8s) -> int:
    return int(np.flatnonzero((states == state).all(axis=1))[0])
