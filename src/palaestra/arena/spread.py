"""Matches and tournaments by workers in other processes or on other machines: games travel as numbers, players as text.

A game depends on its number and its players alone, so that the records are those of one thread. Knows nothing of who
the workers are.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from palaestra.arena.match import MatchListener, MatchResult, Running, play_match
from palaestra.arena.openings import Opening
from palaestra.arena.parallel import joined, split
from palaestra.arena.table import Scheduled, Table
from palaestra.games.base import Game
from palaestra.players.base import Player
from palaestra.runs.game_record import GameRecord
from palaestra.work.jobs import Job, Shared, report
from palaestra.work.workers import Workers

PARTS = 4  # that each worker gets of a match: fewer make larger batches, more end together


@dataclass(frozen=True, eq=False)
class MatchOrder:
    """A match of which pairs are to be played; `play_match` says what the fields are."""

    game: Game
    a: Player
    b: Player
    games: int
    book: Sequence[Opening]
    seed: int
    lockstep: int
    adjudicate: bool


def play_pairs(order: MatchOrder, pairs: range) -> MatchResult:
    """Some pairs of a match, as a job."""

    def heard(running: Running) -> None:
        report(running.finished / max(running.games, 1))

    return play_match(
        order.game,
        order.a,
        order.b,
        order.games,
        book=order.book,
        seed=order.seed,
        lockstep=order.lockstep,
        pairs=pairs,
        adjudicate=order.adjudicate,
        listen=heard,
    )


def spread_match(order: MatchOrder, pairs: range, workers: Workers, listen: MatchListener | None = None) -> MatchResult:
    """These pairs of a match; the listener hears of games whenever some of the pairs are over."""
    began, shared, found = time.perf_counter(), Shared(order), dict[range, MatchResult]()
    parts: dict[Job, range] = {}
    for part in split(pairs, PARTS * workers.count):
        key = f"pairs {part.start} to {part.stop - 1} of {order.a.text} against {order.b.text}"
        parts[Job(key, play_pairs, (shared, part))] = part
    for job, result in workers.run(parts):
        found[parts[job]] = result
        if listen is not None:
            wins, draws, losses = (
                sum(getattr(one, name) for one in found.values()) for name in ("wins", "draws", "losses")
            )
            listen(Running(wins, draws, losses, 2 * len(pairs), result.records))
    return joined([found[part] for part in parts.values()], time.perf_counter() - began)


@dataclass(frozen=True, eq=False)
class TableOrder:
    """Games of a tournament; its players are pickled one by one, so that a job makes only those that it needs."""

    game: Game
    players: tuple[bytes, ...]
    adjudicate: bool
    lockstep: int


@dataclass(frozen=True, eq=False)
class PlayedGames:
    """Some games of a tournament, and the time that their players spent inside networks; None without one."""

    records: list[GameRecord]
    network_seconds: float | None


def play_scheduled(order: TableOrder, schedule: Sequence[Scheduled]) -> PlayedGames:
    """Some games of a tournament, as a job."""
    needed = sorted({place for one in schedule for place in (one.first, one.second)})
    players: list[Player] = [pickle.loads(order.players[place]) for place in needed]
    own = [replace(one, first=needed.index(one.first), second=needed.index(one.second)) for one in schedule]
    table = Table(order.game, players, own, adjudicate=order.adjudicate, forgiving=True)
    records: list[GameRecord] = []
    for ended in table.play(order.lockstep):
        records += ended
        report(len(records) / len(own))
    spent = [seconds for player in players if (seconds := player.network_seconds) is not None]
    return PlayedGames(records, sum(spent) if spent else None)


def spread_games(
    order: TableOrder, waiting: Iterable[Scheduled], games: int, workers: Workers
) -> Iterator[PlayedGames]:
    """The games, as they end; `games` of them, which are a pairing's, are done by one worker at a time."""
    shared, left = Shared(order), iter(waiting)

    def jobs() -> Iterator[Job]:
        while some := list(islice(left, games)):
            yield Job(f"games {some[0].number} to {some[-1].number}", play_scheduled, (shared, some))

    for _, played in workers.run(jobs()):
        yield played
