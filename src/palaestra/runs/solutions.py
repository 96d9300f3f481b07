"""The text of a solution of a game for one player: written here, read here, and found wrong or right elsewhere.

    # palaestra check-solution FILE verifies this
    # found by nrpa(level=3), seed 0, restart 17
    game: morpion-5d
    score: 82
    moves:
    n11e
    …

Lines that begin with # are for people. After `moves:` stand the moves as a person writes them, as many to a line as one
likes; @K in front of them picks initial position K. Several solutions may stand in one file, one behind the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from palaestra.base.errors import RecordError
from palaestra.base.reading import read_bytes
from palaestra.base.types import Int8s
from palaestra.games.base import Game

HEAD = "# palaestra check-solution FILE verifies this"
EXAMPLE = 'a solution has the lines "game: morpion-5d", "score: 82", "moves:" and then its moves'
MOST_CHARACTERS = 1_000_000
_FIELD = re.compile(r"(game|score|moves)\s*:\s*(.*)")


@dataclass(frozen=True)
class Solution:
    """A game's id, the score that is claimed, the lines of moves, and what people may want to know."""

    game: str
    score: int
    rows: tuple[str, ...]
    notes: tuple[str, ...] = ()
    places: tuple[int, ...] = field(default=(), compare=False)  # line of the file that each row stands on

    def __str__(self) -> str:
        notes = [f"# {note}" for note in self.notes]
        return "\n".join([HEAD, *notes, f"game: {self.game}", f"score: {self.score}", "moves:", *self.rows, ""])


def read_text(path: Path) -> str:
    """The text of a file of solutions, no more of it than one can have; RecordError if it is none."""
    try:
        return read_bytes(path, 4 * MOST_CHARACTERS).decode()
    except UnicodeDecodeError:
        raise RecordError(f"{path} is no solution: it is not text") from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise RecordError(f"cannot read {path} ({reason}); a solution is a file that palaestra solve wrote") from None


def parse_solutions(text: str, name: str) -> list[Solution]:
    """The solutions in the text of a file that has one or several; RecordError as of `parse_solution`."""
    _refuse_long(text, name)
    lines = text.splitlines()
    begins = [
        number for number, line in enumerate(lines) if (match := _FIELD.match(line.strip())) and match[1] == "game"
    ]
    return [
        parse_solution("\n".join(lines[begin:end]), name, begin + 1)
        for begin, end in pairwise([0, *begins[1:], len(lines)])
    ]


def parse_solution(text: str, name: str, first: int = 1) -> Solution:
    """The solution in a file's text; RecordError, which begins with `name`, if it is none.

    `first` is the number of the text's first line in the file.
    """
    _refuse_long(text, name)
    given: dict[str, str] = {}
    notes, rows, places = list[str](), list[str](), list[int]()
    for number, line in enumerate(text.splitlines(), start=first):
        line = line.strip()
        if line.startswith("#"):
            notes.append(line[1:].strip())
        elif line and "moves" in given:
            rows.append(line)
            places.append(number)
        elif line:
            match = _FIELD.fullmatch(line)
            if match is None or match[1] in given:
                what = "cannot be read" if match is None else f"gives {match[1]} a second time"
                raise RecordError(f"{name}: line {number} {what}; {EXAMPLE}")
            given[match[1]] = match[2]
            if match[1] == "moves" and match[2]:
                rows.append(match[2])
                places.append(number)
    there = {"game": given.get("game"), "score": given.get("score"), "moves": rows}
    if missing := [key for key, value in there.items() if not value]:
        raise RecordError(f"{name} is no solution: it has no {' and no '.join(missing)}; {EXAMPLE}")
    if not re.fullmatch(r"-?[0-9]{1,9}", given["score"]):
        raise RecordError(f"{name}: the score is {given['score'][:40]!r}, not a whole number; {EXAMPLE}")
    return Solution(given["game"], int(given["score"]), tuple(rows), tuple(notes), tuple(places))


def make_solution(game: Game, opening: str, actions: Sequence[int], notes: Sequence[str] = ()) -> Solution:
    """The solution that plays `opening`, which may begin with @K, and then `actions`, to the end."""
    state = game.from_moves(opening)
    rows = [opening] if opening else []
    for action in actions:
        rows.append(game.action_to_text(state, int(action)))
        state = _after(game, state, int(action))
    return Solution(game.id, int(game.outcome(state[None])[0]), tuple(rows), tuple(notes))


def final_state(solution: Solution, game: Game) -> Int8s:
    """The state int8[S] in which the moves end; MoveError if they are not legal."""
    return game.from_moves(" ".join(solution.rows))


def line_of(solution: Solution, game: Game) -> tuple[Int8s, list[int]]:
    """The initial position int8[S] and the actions from there on; MoveError if the moves are not legal."""
    text = " ".join(solution.rows)
    moves = text.partition(" ")[2] if text.startswith("@") else text
    states = list(game.replay(text))
    words = zip(states, game.split_moves(moves), strict=False)  # no move is made in the last position
    return states[0], [game.text_to_action(state, word) for state, word in words]


def _refuse_long(text: str, name: str) -> None:
    if len(text) > MOST_CHARACTERS:
        raise RecordError(f"{name} is no solution: it has more than {MOST_CHARACTERS:,} characters")


def _after(game: Game, state: Int8s, action: int) -> Int8s:
    return game.advance(state[None], np.array([action], dtype=np.int32))[0]
