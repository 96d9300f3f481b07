"""The PGN file of a match: games are written as they end, and stand in their order when the match is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from palaestra.base.atomic import write_file
from palaestra.games.base import Game
from palaestra.runs.pgn_file import PgnFile
from palaestra.runs.pgn_games import write_game

if TYPE_CHECKING:
    from palaestra.runs.game_record import GameRecord

Write = Callable[[Sequence["GameRecord"]], None]


@contextmanager
def match_file(path: str | None, game: Game, seed: int) -> Iterator[Write]:
    """A function that writes games of a match to a new file, each at once and whole; without a path to nowhere.

    Games of several threads end in any order, which a file of a match that was interrupted keeps. A file without a
    game is not left behind.
    """
    if path is None:
        yield lambda _: None
        return
    texts: dict[int, str] = {}  # in the order in which the games ended
    tags = {"Event": "match", "Seed": str(seed)}
    file = PgnFile.open(path)

    def write(ended: Sequence[GameRecord]) -> None:
        for record in ended:
            texts[record.number] = write_game(record, game, tags)
            file.write(texts[record.number])

    with file:
        yield write
    if list(texts) != sorted(texts):
        write_file(file.path, "".join(texts[number] for number in sorted(texts)).encode("utf-8", "replace"))
