"""A finished game, whoever played it and for whatever purpose: self-play, a match, a tournament, an evaluation, a PGN.

Knows no rules: moves are numbers of actions, and an outcome is what the game's rules said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

FIRST, SECOND = 0, 1  # the side that moves first, and the other one


@dataclass(frozen=True)
class GameRecord:
    """One finished game: enough to play it again, to count it, and to write it down."""

    number: int  # in whatever it was played for: an iteration, a match, a tournament
    start: int  # number of the initial position
    moves: tuple[int, ...]  # from the initial position on, the opening included
    opening_plies: int  # how many of the moves were random or from a book
    outcome: int | None  # from the first player's view; None if the game was not played out
    points: float | None = None  # of the first player: 1, ½ or 0; None with one player, or if nobody decided
    first: str = "?"  # who moved first,
    second: str = "?"  # and who second
    values: tuple[float | None, ...] = ()  # before each move, for the player who made it; empty if none is known
    fault: str = ""  # what the loser did wrong, empty for a game that was not lost that way
    adjudicated: bool = False  # ended where a player had proved the result

    @property
    def final_outcome(self) -> int:
        """The outcome of a game that was played out."""
        assert self.outcome is not None, f"game {self.number} was not played out"
        return self.outcome

    def points_for(self, side: int) -> float:
        """The points of one side, FIRST or SECOND, of a game that was decided between two players."""
        assert self.points is not None, f"game {self.number} was not decided"
        return self.points if side == FIRST else 1.0 - self.points


def points_of(outcome: int) -> float:
    """The first player's points for an outcome of a game for two: 1, ½ or 0."""
    return 1.0 if outcome > 0 else 0.0 if outcome < 0 else 0.5


def distinct_courses(records: Sequence[GameRecord]) -> int:
    """How many different courses of play there are, whoever played them."""
    return len({(record.start, record.moves) for record in records})
