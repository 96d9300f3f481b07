"""The PGN file of a match: games are written as they end, and stand in their order when the match is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from palaestra.base.atomic import write_file
from palaestra.games.base import Game
from palaestra.runs.pgn_file import PgnFile
from palaestra.runs.pgn_games import RESULT_OF, write_game

if TYPE_CHECKING:
    from palaestra.arena.match import GameRecord

Write = Callable[[Sequence["GameRecord"]], None]


@contextmanager
def match_file(path: str | None, game: Game, players: tuple[str, str], seed: int) -> Iterator[Write]:
    """A function that writes games of A and B to a new file, each at once and whole; without a path to nowhere.

    Games of several threads end in any order, which a file of a match that was interrupted keeps. A file without a
    game is not left behind.
    """
    if path is None:
        yield lambda _: None
        return
    texts: dict[int, str] = {}  # in the order in which the games ended
    file = PgnFile.open(path)

    def write(ended: Sequence[GameRecord]) -> None:
        for record in ended:
            texts[record.number] = write_game(record, game, tags_of(record, players, seed))
            file.write(texts[record.number])

    with file:
        yield write
    if list(texts) != sorted(texts):
        write_file(file.path, "".join(texts[number] for number in sorted(texts)).encode("utf-8", "replace"))


def tags_of(record: GameRecord, players: tuple[str, str], seed: int) -> dict[str, str]:
    """What the game's own record does not know: who played, in which match, and the result without an outcome."""
    white, black = players if record.a_first else players[::-1]
    points = record.points if record.a_first else 1.0 - record.points
    return {
        "Event": "match",
        "Round": str(record.number + 1),
        "White": white,
        "Black": black,
        "Result": RESULT_OF[points],
        "Seed": str(seed),
    }
