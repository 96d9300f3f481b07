"""A tournament from its file of games, while that grows: cross table, ratings, and the games themselves.

Whoever plays the tournament is another process. A look reads only what came since the last one.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from palaestra.arena.crosstable import Crosstable
from palaestra.arena.ratings import Ratings, Results
from palaestra.arena.ratings import rate as rate_results
from palaestra.base.errors import RecordError
from palaestra.base.reading import opened
from palaestra.live.ratings import rating_config
from palaestra.runs.pgn_file import length_of_whole_games
from palaestra.runs.pgn_games import POINTS_OF, PgnGame, stream_games

MOST_AT_ONCE = 2**26  # bytes of a look


class TournamentFile:
    """The whole games of a PGN file; `players` are listed even before their first game."""

    def __init__(self, path: Path, players: Sequence[str] = ()) -> None:
        self.path, self.players = path, tuple(players)
        self.games: list[PgnGame] = []
        self._length = 0  # bytes of the whole games

    def look(self) -> bool:
        """Read the games that came since the last look; whether there are any. No file yet is a file without games."""
        try:
            with opened(self.path) as file:
                file.seek(self._length)
                data = file.read(MOST_AT_ONCE)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise RecordError(f"cannot read {self.path}: {(error.strerror or str(error)).lower()}") from None
        end = length_of_whole_games(data)
        self.games += stream_games(io.BytesIO(data[:end]), str(self.path))
        self._length += end
        return end > 0

    def results(self) -> Results:
        """Who beat whom, of the games that have a result."""
        decided = (game for game in self.games if game.result in POINTS_OF)
        names = ((game.tags.get("White", "?"), game.tags.get("Black", "?"), game.result) for game in decided)
        return Results.count(((one, other, POINTS_OF[result]) for one, other, result in names), self.players)

    def ratings(self) -> Ratings:
        """Bayesian Elo of all players; of those without a game nothing is known."""
        return rate_results(self.results(), rating_config())

    def crosstable(self) -> Crosstable:
        return crosstable_of(self.results())


def crosstable_of(results: Results) -> Crosstable:
    """The cross table of counted games, whoever moved first."""
    table = Crosstable(results.players)
    rows = (results.first, results.second, results.wins, results.draws, results.losses)
    for one, other, wins, draws, losses in zip(*(column.tolist() for column in rows), strict=True):
        before = table.tallies.get((one, other), (0, 0, 0))
        tally = before[0] + wins, before[1] + draws, before[2] + losses
        table.tallies[one, other] = tally
        table.tallies[other, one] = tally[::-1]
    return table
