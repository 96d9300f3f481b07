"""A match: two players, pairs of games from one opening with sides swapped.

Every judgement in the project, from a gate to a paper's table, is made of these. A game's course depends on the seed,
its number and the players alone, never on the other games or on how many run at once (`palaestra.arena.table`).

A player that answers with an illegal move or fails loses that game, and the record says why; a PalaestraError (a
player that cannot play this game as it was set up) ends the match instead, because a score would mean nothing.
Nothing is printed here: a listener is told after every finished batch of games.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event

from palaestra.arena.openings import Opening, default_plies, make_book
from palaestra.arena.statistics import elo_of, score_interval, score_of
from palaestra.arena.table import Scheduled, Table
from palaestra.base.errors import ConfigError, GameError
from palaestra.games.base import Game
from palaestra.players.base import Player
from palaestra.runs.game_record import FIRST, SECOND, GameRecord, distinct_courses

LOCKSTEP = 256  # games that run at once by default


def a_first(record: GameRecord) -> bool:
    """Whether the player named A in the match moved first: so it is in games with an even number."""
    return record.number % 2 == 0


def points_of_a(record: GameRecord) -> float:
    """A's points in a game of a match: 1, ½ or 0."""
    return record.points_for(FIRST if a_first(record) else SECOND)


@dataclass(frozen=True)
class Running:
    """What a listener hears: the score so far, and the games that have ended since it was last told."""

    wins: int
    draws: int
    losses: int
    games: int  # in the whole match
    ended: tuple[GameRecord, ...] = field(default=(), compare=False)

    @property
    def finished(self) -> int:
        return self.wins + self.draws + self.losses


@dataclass(frozen=True)
class MatchResult:
    """A's result against B."""

    game: str
    a: str
    b: str
    records: tuple[GameRecord, ...]
    opening_plies: int
    seconds: float
    seconds_per_move: tuple[float, float]  # of A and of B; games of a batch share its time
    wins: int = field(init=False)
    draws: int = field(init=False)
    losses: int = field(init=False)

    def __post_init__(self) -> None:
        for name, points in (("wins", 1.0), ("draws", 0.5), ("losses", 0.0)):
            object.__setattr__(self, name, sum(points_of_a(record) == points for record in self.records))

    @property
    def games(self) -> int:
        return len(self.records)

    @property
    def score(self) -> float:
        return score_of(self.wins, self.draws, self.losses)

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the score."""
        return score_interval(self.wins, self.draws, self.losses)

    @property
    def elo(self) -> tuple[float, float, float]:
        """Logistic Elo of A minus that of B, and the ends of its 95 % interval; infinite where all games agree."""
        low, high = self.interval
        return elo_of(self.score), elo_of(low), elo_of(high)

    @property
    def distinct_games(self) -> int:
        """Different courses of play; two games of a pair with the same moves count once."""
        return distinct_courses(self.records)

    @property
    def pairs(self) -> tuple[int, int, int, int, int]:
        """How many pairs gave A 0, ½, 1, 1½ and 2 points."""
        counts = [0] * 5
        for first, second in zip(self.records[::2], self.records[1::2], strict=True):
            counts[round(2 * (points_of_a(first) + points_of_a(second)))] += 1
        return counts[0], counts[1], counts[2], counts[3], counts[4]

    @property
    def mean_plies(self) -> float:
        return sum(len(record.moves) for record in self.records) / len(self.records)

    @property
    def faults(self) -> list[str]:
        """What players did wrong, one line a game."""
        return [f"game {record.number}: {record.fault}" for record in self.records if record.fault]


MatchListener = Callable[[Running], None]


def play_match(
    game: Game,
    a: Player,
    b: Player,
    games: int = 100,
    *,
    opening_plies: int | None = None,
    book: Sequence[Opening] | None = None,
    seed: int = 0,
    lockstep: int = LOCKSTEP,
    pairs: range | None = None,
    adjudicate: bool = False,
    listen: MatchListener | None = None,
    stopped: Event | None = None,
) -> MatchResult:
    """Play `games` games (an even number) and return A's result; `lockstep` bounds how many run at once.

    `book` has an opening for each pair; without it they are `opening_plies` random plies. `pairs` are those of the
    match to play now, all by default: parts played apart, in whatever order and by whichever copies of the players,
    hold the same games as the match in one go (`palaestra.arena.parallel`). With `adjudicate`, a game ends as soon as
    the player to move has proved its result. Once another thread sets `stopped`, the match is given up.
    """
    check_match(game, games, lockstep)
    if book is None:
        book = make_book(
            game, games // 2, default_plies(game, games // 2) if opening_plies is None else opening_plies, seed
        )
    elif len(book) < games // 2:
        raise ConfigError(f"a match of {games} games needs {games // 2} openings, one a pair; the book has {len(book)}")
    pairs = range(games // 2) if pairs is None else pairs
    if pairs.step != 1 or not pairs or pairs.start < 0 or pairs.stop > games // 2:
        raise ConfigError(f"{pairs} are not pairs of a match of {games} games; they are range(0, {games // 2})")
    numbers = range(2 * pairs.start, 2 * pairs.stop)
    schedule = [Scheduled(n, n % 2, 1 - n % 2, book[n // 2], seed, n) for n in numbers]
    table = Table(game, (a, b), schedule, adjudicate=adjudicate)
    finished: dict[int, GameRecord] = {}
    began = time.perf_counter()
    for ended in table.play(lockstep):
        if stopped is not None and stopped.is_set():
            raise KeyboardInterrupt
        finished.update({record.number: record for record in ended})
        if listen is not None and ended:
            points = [points_of_a(record) for record in finished.values()]
            listen(Running(points.count(1.0), points.count(0.5), points.count(0.0), len(numbers), tuple(ended)))
    seconds = time.perf_counter() - began
    one, other = (spent / max(count, 1) for spent, count in zip(table.seconds, table.moves_made, strict=True))
    plies = max(len(opening.moves) for opening in book)
    return MatchResult(game.id, a.text, b.text, tuple(finished[n] for n in numbers), plies, seconds, (one, other))


def check_match(game: Game, games: int, lockstep: int) -> None:
    """ConfigError or GameError where pairs of games with sides swapped cannot be played."""
    if game.players != 2:
        raise GameError(
            f"{game.id} has one player and a match needs two; compare scores with: "
            f"palaestra analyse {game.id} --player 'nrpa(level=2)'"
        )
    if games < 2 or games % 2:
        raise ConfigError(
            f"a match has pairs of games with sides swapped: give an even number such as 100, not {games}"
        )
    if lockstep < 1:
        raise ConfigError(f"at least 1 game must run at once, not {lockstep}")
