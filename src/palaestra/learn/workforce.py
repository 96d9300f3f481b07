"""Who plays a run's games: how games are divided among workers, and games that are played ahead while others learn.

How games are divided changes none of them. To threads each is given one share. To processes and machines, which may
die, shares are given that take some seconds, so that little is lost with one; how long a game takes is measured as they
come in. Knows nothing of what is learned from games.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from palaestra.base.progress import ProgressListener
from palaestra.games.base import Game
from palaestra.learn.config import RunConfig
from palaestra.learn.pieces import Piece, play_piece
from palaestra.rewards.base import Reward
from palaestra.runs.metrics import WorkerSpeed
from palaestra.work.jobs import Job, Shared
from palaestra.work.workers import Here, Threads, Workers

SHARE_SECONDS = 5.0  # that a share of the games is to take where its worker may die
LEAST = 16  # games of such a share: fewer would leave the network with small batches

SpeedListener = Callable[[tuple[WorkerSpeed, ...]], None]


@dataclass(frozen=True, eq=False)
class Order:
    """How games of an iteration are to be played; `pieces.play_piece` says what the fields are."""

    game: Game
    model: bytes
    config: RunConfig
    iteration: int
    switched: bool
    reward: Reward


def play_share(order: Order, numbers: Sequence[int]) -> Piece:
    """Some of the games, as a job."""
    return play_piece(order.game, order.model, order.config, order.iteration, numbers, order.switched, order.reward)


def by_worker(speeds: Iterable[WorkerSpeed]) -> tuple[WorkerSpeed, ...]:
    """One for each worker, with all its games and seconds."""
    found: dict[str, WorkerSpeed] = {}
    for speed in speeds:
        known = found.get(speed.worker, WorkerSpeed(speed.worker, 0, 0.0))
        found[speed.worker] = WorkerSpeed(speed.worker, known.games + speed.games, known.seconds + speed.seconds)
    return tuple(found.values())


@dataclass(frozen=True, eq=False)
class PlayedPieces:
    """Pieces, and how fast each worker was."""

    pieces: list[Piece]
    speeds: tuple[WorkerSpeed, ...]
    workers: int

    def with_more(self, more: PlayedPieces) -> PlayedPieces:
        """These and more of the same iteration."""
        speeds = by_worker([*self.speeds, *more.speeds])
        return PlayedPieces([*self.pieces, *more.pieces], speeds, max(self.workers, more.workers))


class Workforce:
    """The workers of a run, those that are given or as many threads as its settings say."""

    def __init__(self, workers: Workers | None = None, hear_speeds: SpeedListener | None = None) -> None:
        self._given, self._hear_speeds = workers, hear_speeds
        self._seconds_a_game: float | None = None  # of one worker
        self._ahead: _Ahead | None = None

    def play(self, order: Order, numbers: range, listen: ProgressListener | None = None) -> PlayedPieces:
        """Play these games of the order's iteration, once those that are played ahead are over."""
        self._wait()
        return self._play(self._workers(order.config), order, numbers, listen)

    def begin(self, order: Order, numbers: range) -> None:
        """Begin to play games of a later iteration, and return at once; `finish` gives them."""
        self._wait()
        workers = self._workers(order.config)
        self._ahead = _Ahead(order.iteration, workers, lambda: self._play(workers, order, numbers, None))

    def finish(self, iteration: int) -> PlayedPieces | None:
        """The games of this iteration that were played ahead; None if none were begun, as after a resume."""
        ahead, self._ahead = self._ahead, None
        if ahead is None:
            return None
        played = ahead.result()
        return played if ahead.iteration == iteration else None

    def close(self) -> None:
        """End what is played ahead: nobody wants it any more."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.stop()

    def _wait(self) -> None:
        if self._ahead is not None:
            self._ahead.result()

    def _workers(self, config: RunConfig) -> Workers:
        return Threads(config.threads) if self._given is None else self._given

    def _play(self, workers: Workers, order: Order, numbers: range, listen: ProgressListener | None) -> PlayedPieces:
        shared, shares = Shared(order), dict[Job, range]()
        pieces, finished, fastest = list[Piece](), dict[Job, int](), math.inf
        speeds: tuple[WorkerSpeed, ...] = ()

        def jobs() -> Iterator[Job]:
            for some in self._shares(workers, numbers):
                job = Job(f"games {some} of iteration {order.iteration}", play_share, (shared, some), steady=True)
                shares[job] = some
                yield job

        def heard(job: Job, share: float, words: str) -> None:
            finished[job] = round(share * len(shares[job]))
            if listen is not None:
                listen(sum(finished.values()), len(numbers))

        for job, piece in workers.run(jobs(), heard):
            pieces.append(piece)
            games = len(shares[job])
            fastest = min(fastest, piece.seconds / games)  # the first one may have compiled
            self._seconds_a_game = fastest
            speeds = by_worker([*speeds, WorkerSpeed(workers.place(job), games, piece.seconds)])
            if self._hear_speeds is not None:
                self._hear_speeds(speeds)
        return PlayedPieces(pieces, speeds, min(workers.count, len(pieces)) or 1)

    def _shares(self, workers: Workers, numbers: range) -> Iterator[range]:
        """The numbers in shares, each of which is decided on when somebody is free for it."""
        mortal, left = not isinstance(workers, Threads | Here), numbers
        while mortal and self._seconds_a_game is None and len(left) > LEAST * workers.count:
            yield left[:LEAST]  # to see how long they take
            left = left[LEAST:]
        shares = min(workers.count, len(left))
        if mortal and self._seconds_a_game is not None and shares:
            most = max(LEAST, int(SHARE_SECONDS / self._seconds_a_game))
            shares *= -(-len(left) // (most * shares))
        yield from (left[first::shares] for first in range(shares))


class _Ahead:
    """Games under way on a thread of their own."""

    def __init__(self, iteration: int, workers: Workers, play: Callable[[], PlayedPieces]) -> None:
        self.iteration, self._workers = iteration, workers
        self._played: PlayedPieces | None = None
        self._error: BaseException | None = None

        def work() -> None:
            try:
                self._played = play()
            except BaseException as error:
                self._error = error

        self._thread = threading.Thread(target=work, name="ahead", daemon=True)
        self._thread.start()

    def result(self) -> PlayedPieces:
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._played is not None
        return self._played

    def stop(self) -> None:
        self._workers.stop()
        self._thread.join()
