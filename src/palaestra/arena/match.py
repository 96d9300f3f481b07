"""A match: two players, pairs of games from one opening with sides swapped, all games in lockstep (DESIGN D5).

Every judgement in the project, from a gate to a paper's table, is made of these. A game's course depends on the seed,
its number and the players alone, never on the other games or on how many run at once: the stream of a move is keyed
by (seed, game number, ply). Only limits in milliseconds break this, as clocks do.

A player that answers with an illegal move or fails loses that game, and the record says why; a PalaestraError (a
player that cannot play this game as it was set up) ends the match instead, because a score would mean nothing.
Nothing is printed here: a listener is told after every finished batch of games.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from palaestra.arena.openings import Opening, default_plies, make_book, play_opening
from palaestra.arena.statistics import elo_of, score_interval, score_of
from palaestra.errors import ConfigError, GameError, PalaestraError
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.players.base import Player
from palaestra.rewards.base import Primitive
from palaestra.streams import keyed_seeds
from palaestra.types import Bools, Int8s, Int32s, Int64s

LOCKSTEP = 256  # games that run at once by default


@dataclass(frozen=True)
class GameRecord:
    """One finished game. The player named A in the match moved first in games with an even number."""

    number: int
    start: int  # number of the initial position
    moves: tuple[int, ...]  # from the initial position on, the opening included
    opening_plies: int
    points: float  # A's: 1, ½ or 0
    outcome: int | None  # from the first player's view; None if the game was lost by `fault`
    fault: str = ""  # what the loser did wrong, empty for a game that was played out

    @property
    def a_first(self) -> bool:
        return self.number % 2 == 0


@dataclass(frozen=True)
class Running:
    """What a listener hears: the score so far."""

    wins: int
    draws: int
    losses: int
    games: int  # in the whole match

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
            object.__setattr__(self, name, sum(record.points == points for record in self.records))

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
        return len({(record.start, record.moves) for record in self.records})

    @property
    def pairs(self) -> tuple[int, int, int, int, int]:
        """How many pairs gave A 0, ½, 1, 1½ and 2 points."""
        counts = [0] * 5
        for first, second in zip(self.records[::2], self.records[1::2], strict=True):
            counts[round(2 * (first.points + second.points))] += 1
        return counts[0], counts[1], counts[2], counts[3], counts[4]

    @property
    def mean_plies(self) -> float:
        return sum(len(record.moves) for record in self.records) / len(self.records)

    @property
    def faults(self) -> list[str]:
        """What players did wrong, one line a game."""
        return [f"game {record.number}: {record.fault}" for record in self.records if record.fault]


Listener = Callable[[Running], None]


def play_match(
    game: Game,
    a: Player,
    b: Player,
    games: int = 100,
    *,
    opening_plies: int | None = None,
    seed: int = 0,
    lockstep: int = LOCKSTEP,
    pairs: range | None = None,
    listen: Listener | None = None,
) -> MatchResult:
    """Play `games` games (an even number) and return A's result; `lockstep` bounds how many run at once.

    `pairs` are those of the match to play now, all by default: parts played apart, in whatever order and by whichever
    copies of the players, hold the same games as the match in one go (`palaestra.arena.parallel`).
    """
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
    plies = default_plies(game, games // 2) if opening_plies is None else opening_plies
    book = make_book(game, games // 2, plies, seed)
    numbers = range(games) if pairs is None else range(2 * pairs.start, 2 * pairs.stop)
    if pairs is not None and (pairs.step != 1 or not pairs or pairs.start < 0 or numbers.stop > games):
        raise ConfigError(f"{pairs} are not pairs of a match of {games} games; they are range(0, {games // 2})")
    table = _Table(game, (a, b), book, seed, numbers)
    began = time.perf_counter()
    while len(table.finished) < len(numbers):
        table.admit(lockstep)
        before = len(table.finished)
        for player in (0, 1):
            table.move(player)
        if listen is not None and len(table.finished) > before:
            points = [record.points for record in table.finished.values()]
            listen(Running(points.count(1.0), points.count(0.5), points.count(0.0), len(numbers)))
    seconds = time.perf_counter() - began
    per_move = [spent / max(count, 1) for spent, count in zip(table.seconds, table.moves_made, strict=True)]
    records = tuple(table.finished[number] for number in numbers)
    return MatchResult(game.id, a.text, b.text, records, plies, seconds, (per_move[0], per_move[1]))


class _Table:
    """The games of a match that are being played, as one batch; players are 0 (A) and 1 (B)."""

    def __init__(
        self, game: Game, players: tuple[Player, Player], book: list[Opening], seed: int, wanted: range
    ) -> None:
        self.game, self.players, self.book, self.seed = game, players, book, seed
        self.wanted = wanted  # numbers of the games to play
        self.numbers: Int64s = np.empty(0, dtype=np.int64)  # [B] numbers of the games at the table
        self.states: Int8s = np.empty((0, game.state_size), dtype=np.int8)  # [B, S]
        self.moves: dict[int, list[int]] = {}
        self.finished: dict[int, GameRecord] = {}
        self.admitted = wanted.start
        self.seconds = [0.0, 0.0]
        self.moves_made = [0, 0]

    def admit(self, most: int) -> None:
        """Fill the table up with new games."""
        last = min(self.wanted.stop, self.admitted + most - len(self.numbers))
        fresh = range(self.admitted, last)
        if not fresh:
            return
        openings = [self.book[number // 2] for number in fresh]
        self.states = np.concatenate([self.states, [play_opening(self.game, opening) for opening in openings]])
        self.numbers = np.append(self.numbers, np.array(fresh, dtype=np.int64))
        self.moves.update({number: list(opening.moves) for number, opening in zip(fresh, openings, strict=True)})
        self.admitted = last

    def move(self, player: int) -> None:
        """One move in every game where it is this player's turn."""
        # A moves first in even games: the mover's side and the number's parity agree exactly when it is A's turn.
        turn = (self.states[:, 0] + self.numbers) % 2 == player
        rows = np.flatnonzero(turn)
        if not rows.size:
            return
        before = time.perf_counter()
        actions, faults = self._ask(player, rows)
        self.seconds[player] += time.perf_counter() - before
        self.moves_made[player] += rows.size
        counts, legal = self.game.legal(self.states[rows])
        listed = (legal == actions[:, None]) & (np.arange(legal.shape[1]) < counts[:, None])
        for i in np.flatnonzero(~listed.any(axis=1)):
            faults.setdefault(int(i), f"{self.players[player].text} answered with the illegal action {actions[i]}")
        good = np.array([i for i in range(rows.size) if i not in faults], dtype=np.int64)
        for i in good:
            self.moves[int(self.numbers[rows[i]])].append(int(actions[i]))
        self.states[rows[good]] = self.game.advance(self.states[rows[good]], actions[good])
        over = self.game.outcome(self.states) != ONGOING
        for row in np.flatnonzero(over):
            self._finish(int(row))
        for index, fault in faults.items():
            self._finish(int(rows[index]), loser=player, fault=fault)
            over[rows[index]] = True
        self._clear(over)

    def _ask(self, player: int, rows: Int64s) -> tuple[Int32s, dict[int, str]]:
        """The player's actions for these rows, and by index what went wrong where it failed."""
        states, numbers = self.states[rows], self.numbers[rows]
        streams = keyed_seeds(self.seed, numbers, self.game.plies(states).astype(np.int64))
        try:
            actions = np.asarray(self.players[player].act(states, streams, numbers))
            if actions.shape != rows.shape or not np.issubdtype(actions.dtype, np.integer):
                raise ValueError(f"{rows.size} actions were wanted, not {actions.dtype}{list(actions.shape)}")
            return actions.astype(np.int32), {}
        except PalaestraError:
            raise
        except Exception as error:  # whatever a player does wrong costs it the game, not the match
            if rows.size == 1:
                return np.zeros(1, dtype=np.int32), {
                    0: f"{self.players[player].text} failed: {type(error).__name__}: {error}"
                }
        actions = np.zeros(rows.size, dtype=np.int32)
        faults: dict[int, str] = {}
        for i in range(rows.size):  # find the games that it fails in, so that the others go on
            answer, fault = self._ask(player, rows[i : i + 1])
            actions[i] = answer[0]
            if fault:
                faults[i] = fault[0]
        return actions, faults

    def _finish(self, row: int, loser: int | None = None, fault: str = "") -> None:
        number = int(self.numbers[row])
        opening = self.book[number // 2]
        outcome = None if fault else self.game.outcome(self.states[row : row + 1])
        if outcome is None:
            points = float(loser == 1)
        else:
            value = float(Primitive().value(outcome)[0])
            points = (1.0 + (value if number % 2 == 0 else -value)) / 2.0
        self.finished[number] = GameRecord(
            number,
            opening.start,
            tuple(self.moves.pop(number)),
            len(opening.moves),
            points,
            None if outcome is None else int(outcome[0]),
            fault,
        )

    def _clear(self, over: Bools) -> None:
        """Take finished games off the table and tell the players."""
        if over.any():
            for player in self.players:
                player.forget(self.numbers[over])
            self.numbers, self.states = self.numbers[~over], self.states[~over]
