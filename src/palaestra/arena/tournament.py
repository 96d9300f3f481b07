"""A tournament: many players, every pairing a match, all games of a stage on one table.

No player is made twice, and each sees one batch a step over all its games (`palaestra.arena.table`). A pairing's games
depend on the seed and its two players alone, so that neither the threads nor an interruption changes any of them: with
a journal, what was played before is read and not played again (`palaestra.arena.journal`). Nothing is printed here.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from palaestra.arena.crosstable import Crosstable
from palaestra.arena.journal import Journal, Tags
from palaestra.arena.match import LOCKSTEP, check_match
from palaestra.arena.openings import Openings, default_plies
from palaestra.arena.results import Results
from palaestra.arena.schedule import (
    Book,
    Format,
    Pairing,
    check_plan,
    games_of,
    gauntlet,
    pairings_a_stage,
    round_robin,
    swiss_round,
)
from palaestra.arena.spread import PlayedGames, TableOrder, spread_games
from palaestra.arena.table import Scheduled, Table
from palaestra.base.errors import PlayerError
from palaestra.games.base import Game
from palaestra.players.base import Player
from palaestra.runs.game_record import FIRST, GameRecord, distinct_courses
from palaestra.work.workers import Workers

GAMES_A_PLAYER = 64  # that run at once, counted once for both players: batches stay large and memory stays bounded


@dataclass(frozen=True)
class Progress:
    """What a listener hears after every step in which a game ended."""

    finished: int
    total: int
    games_per_second: float  # in this session
    seconds_left: float
    crosstable: Crosstable  # so far


TournamentListener = Callable[[Progress], None]


@dataclass
class Tournament:
    """The games so far, in the order of the schedule, and what follows from them."""

    game: str
    players: tuple[str, ...]
    format: Format
    games: list[GameRecord] = field(default_factory=list)
    recalled: int = 0  # of the games: read from the journal
    seconds: float = 0.0  # in this session
    threads: int = 1
    network_seconds: float | None = None  # in this session, summed over threads; None where nobody has a network

    @property
    def results(self) -> Results:
        games = ((played.first, played.second, played.points_for(FIRST)) for played in self.games)
        return Results.count(games, self.players)

    @property
    def crosstable(self) -> Crosstable:
        table = Crosstable(self.players)
        for played in self.games:
            table.add(played)
        return table

    @property
    def distinct_games(self) -> int:
        """Different courses of play, whoever played them."""
        return distinct_courses(self.games)

    @property
    def faults(self) -> list[str]:
        """What players did wrong, one line a game."""
        return [f"game {place}: {played.fault}" for place, played in enumerate(self.games, start=1) if played.fault]

    @property
    def network_share(self) -> float | None:
        """Share of the threads' time inside networks; the rest is rules, search, bookkeeping and waiting."""
        if self.network_seconds is None or not self.seconds:
            return None
        return self.network_seconds / (self.seconds * self.threads)


def play_tournament(
    game: Game,
    players: Sequence[Player],
    games: int = 20,
    *,
    format: Format = "round-robin",
    rounds: int | None = None,
    openings: Openings | None = None,
    seed: int = 0,
    threads: int = 1,
    lockstep: int | None = None,
    adjudicate: bool = False,
    journal: Journal | None = None,
    listen: TournamentListener | None = None,
    workers: Workers | None = None,
) -> Tournament:
    """Play `games` games (an even number) in every pairing; `rounds` is for Swiss only.

    Random openings differ from pairing to pairing; those of a list are the same for all. `lockstep` bounds how many
    games run at once. A player that fails loses that game, whatever the failure. With `workers` they play the games, a
    pairing at a time, in place of threads.
    """
    texts = tuple(player.text for player in players)
    twice = [text for place, text in enumerate(texts) if text in texts[:place]]
    if len(texts) < 2 or twice:
        what = f"{twice[0]} is given twice" if twice else f"only {texts[0]} is given" if texts else "none is given"
        raise PlayerError(f"a tournament needs at least two different players and {what}; for example random greedy")
    lockstep = max(LOCKSTEP, GAMES_A_PLAYER * len(players)) if lockstep is None else lockstep
    check_match(game, games, lockstep)
    stages = check_plan(format, len(players), rounds)
    total = stages * pairings_a_stage(format, len(players)) * games
    if journal is not None:
        journal.refuse_more_than(total)
    # More threads than players would have nothing to do: a player is asked by one thread at a time.
    threads = min(threads, len(players)) if workers is None else workers.count
    session = _Session(game, players, format, total, threads, seed, journal, listen)
    book = _book_for(game, openings or Openings(), games // 2, seed)
    with ThreadPoolExecutor(threads) as pool:
        met: list[Pairing] = []
        for stage in range(stages):
            pairings = _pairings(session.tournament, stage, met)
            met += pairings
            schedule = list(games_of(pairings, games, seed, book, first=len(session.tournament.games)))
            waiting = session.enter(schedule)
            if workers is not None:
                order = TableOrder(game, tuple(map(pickle.dumps, players)), adjudicate, lockstep)
                session.gather(spread_games(order, waiting, games, workers))
                continue
            spread = pool.map if session.tournament.threads > 1 else map
            table = Table(game, players, waiting, adjudicate=adjudicate, forgiving=True, spread=spread)
            session.play(table, lockstep)
    return session.finish()


def _pairings(tournament: Tournament, stage: int, met: Sequence[Pairing]) -> list[Pairing]:
    count = len(tournament.players)
    if tournament.format == "round-robin":
        return round_robin(count)
    if tournament.format == "gauntlet":
        return gauntlet(count)
    # Points a game: whoever rested has played fewer.
    table = tournament.crosstable
    return swiss_round(stage, [table.score(player) for player in range(count)], met)


def _book_for(game: Game, openings: Openings, pairs: int, seed: int) -> Book:
    if openings.kind == "random":
        plies = default_plies(game, pairs) if openings.plies is None else openings.plies
        return lambda own_seed: Openings("random", plies).book(game, pairs, own_seed)
    shared = openings.book(game, pairs, seed)
    return lambda own_seed: shared


class _Session:
    """Keeps the games of a tournament in the order of its schedule, in the journal and in the listener's ear."""

    def __init__(
        self,
        game: Game,
        players: Sequence[Player],
        format: Format,
        total: int,
        threads: int,
        seed: int,
        journal: Journal | None,
        listen: TournamentListener | None,
    ) -> None:
        self.game, self.players, self.total, self.seed = game, players, total, seed
        self.journal, self.listen = journal, listen
        self.tournament = Tournament(game.id, tuple(player.text for player in players), format, threads=threads)
        self.crosstable = Crosstable(self.tournament.players)
        self._tags: dict[int, Tags] = {}  # of the games of this stage that are not written yet, by number
        self._early: dict[int, GameRecord] = {}  # finished before an earlier one of the schedule
        self._finished = 0  # in this session, with
        self._plies = 0  # so many moves of the players
        self._moves_before = 0  # in earlier stages
        self._began = time.perf_counter()
        self._network_before = self._network_seconds()
        self._network_elsewhere: float | None = None  # of players that workers made

    def enter(self, schedule: Sequence[tuple[Pairing, Scheduled]]) -> Iterable[Scheduled]:
        """Recall what the journal has of a stage; the games of it that are left to play."""
        tagged = [(scheduled, self._tags_of(pairing, scheduled)) for pairing, scheduled in schedule]
        done = self.tournament.games
        recalled = [] if self.journal is None else self.journal.recall(self.game, tagged, len(done))
        for played in recalled:
            self.crosstable.add(played)
        done += recalled
        self.tournament.recalled += len(recalled)
        left = tagged[len(recalled) :]
        self._tags = {scheduled.number: tags for scheduled, tags in left}
        return [scheduled for scheduled, _ in left]

    def play(self, table: Table, lockstep: int) -> None:
        for ended in table.play(lockstep):
            self._take(ended)
            if ended and self.listen is not None:
                self.listen(self._progress(self._moves_before + sum(table.moves_made)))
        self._moves_before += sum(table.moves_made)

    def gather(self, played: Iterable[PlayedGames]) -> None:
        """The same with games that others play."""
        for some in played:
            self._take(some.records)
            if some.network_seconds is not None:
                self._network_elsewhere = (self._network_elsewhere or 0.0) + some.network_seconds
            if self.listen is not None:
                self.listen(self._progress(self._plies))

    def _take(self, ended: Sequence[GameRecord]) -> None:
        for played in ended:
            self._early[played.number] = played
            self.crosstable.add(played)
            self._plies += len(played.moves) - played.opening_plies
        self._finished += len(ended)
        self._keep()

    def finish(self) -> Tournament:
        self.tournament.seconds = time.perf_counter() - self._began
        spent = self._network_seconds()
        if spent is not None and self._network_before is not None:
            self.tournament.network_seconds = spent - self._network_before
        if self._network_elsewhere is not None:
            self.tournament.network_seconds = self._network_elsewhere
        return self.tournament

    def _keep(self) -> None:
        """Move the finished games that are next in the schedule to the tournament, and to the journal."""
        games, fresh = self.tournament.games, []
        while (number := len(games)) in self._early:
            games.append(self._early.pop(number))
            fresh.append((games[-1], self._tags.pop(number)))
        if self.journal is not None:
            self.journal.append(self.game, fresh)

    def _tags_of(self, pairing: Pairing, scheduled: Scheduled) -> Tags:
        """What tells this game from all others of this tournament, and this tournament from others."""
        texts = self.tournament.players
        return {
            "Event": f"{self.tournament.format} of {self.game.id}",
            "Round": f"{pairing.round + 1}.{scheduled.key + 1}",
            "White": texts[scheduled.first],
            "Black": texts[scheduled.second],
            "Seed": str(self.seed),
        }

    def _progress(self, moves_made: int) -> Progress:
        spent = time.perf_counter() - self._began
        finished = self.tournament.recalled + self._finished
        # Games in lockstep end in crowds: the moves, which come evenly, say better how far it is.
        moves_a_game = self._plies / max(self._finished, 1)
        in_play = moves_made - self._plies
        left = max((self.total - finished) * moves_a_game - in_play, 0.0) * spent / max(moves_made, 1)
        return Progress(finished, self.total, self._finished / spent, left, self.crosstable)

    def _network_seconds(self) -> float | None:
        spent = [seconds for player in self.players if (seconds := player.network_seconds) is not None]
        return sum(spent) if spent else None
