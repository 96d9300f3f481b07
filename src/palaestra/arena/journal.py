"""A tournament's PGN file as its journal: what stands in it has been played, and is not played again.

Games are appended in the order of the schedule and forced to the disk, so that after a kill the file holds a first part
of the tournament, and at most its last game is cut off; that one is dropped on resuming and played again. A game is
recognised by its tags and its opening, and a file of another tournament is refused, not overwritten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from palaestra.arena.table import Scheduled
from palaestra.base.errors import RecordError
from palaestra.games.base import Game
from palaestra.runs.game_record import GameRecord
from palaestra.runs.pgn_file import PgnFile
from palaestra.runs.pgn_games import PgnGame, write_game

Tags = Mapping[str, str]


class Journal:
    """An open PGN file and the games that were in it; without `resume` it must be a new one."""

    def __init__(self, path: str | Path, resume: bool = False) -> None:
        self.path = Path(path)
        if self.path.exists() and not resume:
            raise RecordError(f"{path} exists; go on with it by --resume, or give another file")
        self._file = PgnFile.open(path, resume)
        self.games = self._file.games  # of an earlier session, in their order
        self.count = len(self.games)  # of games in the file

    def recall(self, game: Game, expected: Sequence[tuple[Scheduled, Tags]], begun: int) -> list[GameRecord]:
        """The games of the file from number `begun` on that a schedule begins with; RecordError if they differ."""
        there = self.games[begun : begun + len(expected)]
        return [
            self._recognised(game, number, entry, *wanted)
            for number, (entry, wanted) in enumerate(zip(there, expected, strict=False), start=begun + 1)
        ]

    def refuse_more_than(self, games: int) -> None:
        """RecordError if the file has more games than the tournament."""
        if len(self.games) > games:
            raise RecordError(f"{self.path} has {len(self.games)} games and this tournament only {games}")

    def append(self, game: Game, finished: Sequence[tuple[GameRecord, Tags]]) -> None:
        """Write games at the end; when this returns they are on the disk."""
        if not finished:
            return
        self._file.write("".join(write_game(played, game, tags) for played, tags in finished))
        self.count += len(finished)  # here and not below: an interrupt now still leaves them in the file
        self._file.sync()

    def close(self) -> None:
        """Leave no empty file behind where there was none."""
        self._file.close()

    def _recognised(self, game: Game, number: int, entry: PgnGame, scheduled: Scheduled, tags: Tags) -> GameRecord:
        """The game as it was played, if it is the one that stands in the schedule here."""
        where = f"{self.path}, game {number}"
        wanted = {**tags, "Variant": game.id, "Start": str(scheduled.opening.start)}
        for name, value in wanted.items():
            if (found := entry.tags.get(name)) != value:
                raise RecordError(
                    f"{where} is not of this tournament: its {name} is {found!r} and not {value!r};"
                    " resume with the same players in the same order, games, openings and seed"
                )
        try:
            record = entry.record(game, scheduled.number)
        except RecordError as error:
            raise RecordError(f"{where} cannot be replayed: {error}") from None
        if record.moves[: len(scheduled.opening.moves)] != scheduled.opening.moves or record.points is None:
            what = "has no result" if record.points is None else "has another opening"
            raise RecordError(f"{where} {what}; resume with the same openings, games and seed, or begin another file")
        return replace(record, opening_plies=len(scheduled.opening.moves))
