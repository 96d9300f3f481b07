"""A match on several threads: every thread plays some of the pairs with its own copies of the two players.

Kernels and networks release the GIL, so that W threads fill W cores. A game depends on its number and its
players alone, so the records are the same whatever the number of threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from itertools import pairwise

from palaestra.arena.match import LOCKSTEP, MatchListener, MatchResult, Running, play_match
from palaestra.arena.openings import Opening, default_plies, make_book
from palaestra.games.base import Game
from palaestra.players.base import Player

Team = tuple[Player, Player]  # A and B, for one thread


def play_parallel(
    game: Game,
    teams: Sequence[Team],
    games: int,
    *,
    opening_plies: int | None = None,
    book: Sequence[Opening] | None = None,
    seed: int = 0,
    lockstep: int = LOCKSTEP,
    pairs: range | None = None,
    adjudicate: bool = False,
    listen: MatchListener | None = None,
) -> MatchResult:
    """`play_match` with one thread for each team; teams are equal copies of (A, B), for no player serves two threads.

    `pairs` are the pairs of the whole match to play now, so that a match can be stopped early between such parts;
    `lockstep` games run at once on each thread. An interrupt or an error ends all threads after their next step.
    """
    pairs = range(games // 2) if pairs is None else pairs
    if book is None:  # drawn once and not by every thread
        plies = default_plies(game, games // 2) if opening_plies is None else opening_plies
        book = make_book(game, games // 2, plies, seed)
    tally, stopped = _Tally(2 * len(pairs), listen), threading.Event()

    def play(index: int, part: range) -> MatchResult:
        return play_match(
            game,
            *teams[index],
            games,
            book=book,
            seed=seed,
            lockstep=lockstep,
            pairs=part,
            adjudicate=adjudicate,
            listen=tally.listener(index),
            stopped=stopped,
        )

    began = time.perf_counter()
    shares = split(pairs, len(teams))
    if len(shares) <= 1:
        return play(0, pairs)
    with ThreadPoolExecutor(len(shares)) as pool:
        playing = [pool.submit(play, index, part) for index, part in enumerate(shares)]
        try:
            wait(playing, return_when=FIRST_EXCEPTION)
        finally:
            stopped.set()
    errors = [error for future in playing if (error := future.exception()) is not None]
    for error in sorted(errors, key=lambda error: isinstance(error, KeyboardInterrupt)):
        raise error  # the one that the others were stopped for, if a thread failed
    return joined([future.result() for future in playing], time.perf_counter() - began)


def joined(parts: Sequence[MatchResult], seconds: float | None = None) -> MatchResult:
    """Parts of one match as one result; they must be given in the order of their games."""
    first = parts[0]
    total = sum(part.seconds for part in parts) if seconds is None else seconds
    weights = [part.games for part in parts]
    one, other = (
        sum(part.seconds_per_move[side] * weight for part, weight in zip(parts, weights, strict=True)) / sum(weights)
        for side in (0, 1)
    )
    records = tuple(record for part in parts for record in part.records)
    return MatchResult(first.game, first.a, first.b, records, first.opening_plies, total, (one, other))


def split(whole: range, parts: int) -> list[range]:
    """At most `parts` ranges that follow each other, none empty, whose lengths differ by at most 1."""
    parts = min(parts, len(whole))
    edges = [whole.start + len(whole) * i // parts for i in range(parts + 1)] if parts else []
    return [range(start, stop) for start, stop in pairwise(edges)]


class _Tally:
    """Adds up what the threads report, so that the listener hears about the whole match."""

    def __init__(self, games: int, listen: MatchListener | None) -> None:
        self.games, self.listen = games, listen
        self._latest: dict[int, Running] = {}
        self._lock = threading.Lock()

    def listener(self, index: int) -> MatchListener | None:
        if self.listen is None:
            return None
        tell = self.listen

        def heard(running: Running) -> None:
            with self._lock:
                self._latest[index] = running
                heard_so_far = self._latest.values()
                wins, draws, losses = (
                    sum(getattr(part, name) for part in heard_so_far) for name in ("wins", "draws", "losses")
                )
                tell(Running(wins, draws, losses, self.games, running.ended))

        return heard
