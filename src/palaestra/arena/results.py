"""Who beat whom how often: the counts that ratings are made of.

Moves, openings and records do not matter here; a game is its first mover, its second mover and its points. Nothing here
knows a rating.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from palaestra.base.errors import RecordError
from palaestra.base.types import Float64s, Int32s, Int64s

_POINTS = (1.0, 0.5, 0.0)  # of the first mover: a win, a draw, a loss


@dataclass(frozen=True, eq=False)
class Results:
    """Counts of games, one row an ordered pair of players (P players, n rows)."""

    players: tuple[str, ...]
    first: Int32s  # [n] index of the player who moved first
    second: Int32s  # [n] index of the other
    wins: Int64s  # [n] of the first mover
    draws: Int64s  # [n]
    losses: Int64s  # [n] of the first mover
    against_self: int = 0  # games of a player against itself, which say nothing about strength and are in no row

    def __post_init__(self) -> None:
        if len(set(self.players)) < len(self.players):
            double = next(name for name, count in Counter(self.players).items() if count > 1)
            raise ValueError(f"players have different names; {double!r} stands there twice")
        rows = np.stack([self.first, self.second, self.wins, self.draws, self.losses])
        if rows.size and (rows.min() < 0 or rows[:2].max() >= len(self.players) or (rows[0] == rows[1]).any()):
            raise ValueError(f"rows are pairs of different players 0 … {len(self.players) - 1} and counts, not {rows}")

    @classmethod
    def count(cls, games: Iterable[tuple[str, str, float]], players: Sequence[str] = ()) -> Results:
        """The results of games (first mover, second mover, points of the first mover: 1, ½ or 0).

        `players` come first and are there even if they played no game; the others follow in the order of appearance.
        """
        tallies = Counter(games)
        index = {name: number for number, name in enumerate(players)}
        rows: dict[tuple[int, int], list[int]] = {}
        against_self = 0
        for (first, second, points), count in tallies.items():
            if points not in _POINTS:
                raise RecordError(f"{first} scored {points} against {second}; a game gives 1, 0.5 or 0 points")
            pair = index.setdefault(first, len(index)), index.setdefault(second, len(index))
            if first == second:
                against_self += count
            else:
                rows.setdefault(pair, [0, 0, 0])[_POINTS.index(points)] += count
        pairs = np.array(list(rows), dtype=np.int32).reshape(-1, 2)
        counts = np.array(list(rows.values()), dtype=np.int64).reshape(-1, 3)
        return cls(tuple(index), pairs[:, 0], pairs[:, 1], counts[:, 0], counts[:, 1], counts[:, 2], against_self)

    def first_listed_white(self) -> Results:
        """These results as if of any two players the one who is listed first had begun every game (sources: L8).

        For reproducing published ratings only: who wins stays, the advantage of the first move goes to the wrong side.
        """
        swapped = self.first > self.second
        return Results(
            self.players,
            np.where(swapped, self.second, self.first),
            np.where(swapped, self.first, self.second),
            np.where(swapped, self.losses, self.wins),
            self.draws,
            np.where(swapped, self.wins, self.losses),
            self.against_self,
        )

    @property
    def played(self) -> Int64s:
        """Games of every row, int64[n]."""
        return self.wins + self.draws + self.losses

    def per_player(self, of_first: Int64s | Float64s, of_second: Int64s | Float64s) -> Float64s:
        """float64[P]: what rows give to their first mover and to their second, summed by player."""
        size = len(self.players)
        both = np.concatenate([of_first, of_second]).astype(np.float64)
        return np.bincount(np.concatenate([self.first, self.second]), both, size).astype(np.float64)

    @property
    def games(self) -> Int64s:
        """Games of every player, int64[P]."""
        return self.per_player(self.played, self.played).astype(np.int64)

    @property
    def drawn(self) -> Int64s:
        """Draws of every player, int64[P]."""
        return self.per_player(self.draws, self.draws).astype(np.int64)

    @property
    def points(self) -> Float64s:
        """Points of every player, float64[P]."""
        return self.per_player(self.wins + 0.5 * self.draws, self.losses + 0.5 * self.draws)

    def groups(self) -> Int32s:
        """int32[P]: players of one number met, directly or through others; 0 is the largest group.

        Equally large groups stand in the order of their first players. Nothing compares players of different groups.
        """
        met = self.played > 0
        first, second = self.first[met], self.second[met]
        label = np.arange(len(self.players))
        while True:  # every player takes the smallest label in sight, then the label of its label
            lower = label.copy()
            np.minimum.at(lower, first, label[second])
            np.minimum.at(lower, second, label[first])
            lower = lower[lower]
            if np.array_equal(lower, label):
                break
            label = lower
        roots, sizes = np.unique(label, return_counts=True)
        ranks = np.empty(len(self.players), dtype=np.int32)
        ranks[roots[np.argsort(-sizes, kind="stable")]] = np.arange(len(roots))
        return ranks[label]
