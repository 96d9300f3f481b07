"""Who scored what against whom, filled while games are played. Knows players by their places and texts only."""

from __future__ import annotations

from dataclasses import dataclass, field

from palaestra.arena.statistics import score_interval, score_of
from palaestra.runs.game_record import FIRST, GameRecord

Tally = tuple[int, int, int]  # wins, draws, losses


@dataclass
class Crosstable:
    """Results of every player against every other that it met."""

    players: tuple[str, ...]
    tallies: dict[tuple[int, int], Tally] = field(default_factory=dict)  # (row, column) -> row's result

    def add(self, played: GameRecord) -> None:
        """Enter a game, for both of its players."""
        row, column = self.players.index(played.first), self.players.index(played.second)
        points = played.points_for(FIRST)
        wins, draws, losses = self.tallies.get((row, column), (0, 0, 0))
        tally = wins + (points == 1.0), draws + (points == 0.5), losses + (points == 0.0)
        self.tallies[row, column] = tally
        self.tallies[column, row] = tally[::-1]

    def total(self, row: int) -> Tally:
        """A player's wins, draws and losses over all its games."""
        own = [tally for (player, _), tally in self.tallies.items() if player == row]
        return sum(t[0] for t in own), sum(t[1] for t in own), sum(t[2] for t in own)

    def score(self, row: int) -> float:
        """Points per game; ½ before the first."""
        return score_of(*self.total(row))

    def interval(self, row: int) -> tuple[float, float]:
        """95 % interval of a player's score."""
        return score_interval(*self.total(row))

    def standings(self) -> list[int]:
        """Players from best to worst score; equal ones in their given order."""
        scores = [self.score(row) for row in range(len(self.players))]
        return sorted(range(len(self.players)), key=lambda row: -scores[row])
