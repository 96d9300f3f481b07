"""How fast games and searches run on this machine, each beside the limit it cannot pass. Nothing here prints."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.search.config import SearchConfig
from palaestra.search.driver import Search
from palaestra.search.evaluator import Evaluation, Evaluator, Leaves


class Timed(Evaluator):
    """Passes everything on to `inner` and adds up how long that took."""

    def __init__(self, inner: Evaluator) -> None:
        self.inner, self.memory = inner, inner.memory
        self.seconds = 0.0
        self.leaves = 0

    def __call__(self, leaves: Leaves) -> Evaluation:
        return self._timed(self.inner, leaves)

    def ask(self, leaves: Leaves) -> Evaluation:
        return self._timed(self.inner.ask, leaves)

    def _timed(self, question: Callable[[Leaves], Evaluation], leaves: Leaves) -> Evaluation:
        began = time.perf_counter()
        answer = question(leaves)
        self.seconds += time.perf_counter() - began
        self.leaves += len(leaves.states)
        return answer


@dataclass(frozen=True)
class SearchSpeed:
    """Throughput of searches side by side on several threads.

    Random games are played inside the compiled search, where nobody can time or count them apart.
    """

    simulations: int
    moves: int
    seconds: float
    evaluator_seconds: float | None  # summed over threads; None where evaluations are made inside the search
    evaluations: int | None  # likewise
    threads: int
    limit: float  # evaluations/s of the evaluator alone, in batches of the same size, on as many threads

    @property
    def simulations_per_second(self) -> float:
        return self.simulations / self.seconds

    @property
    def evaluator_share(self) -> float | None:
        """Share of the time that is spent in the evaluator: the rest is the search's own."""
        return None if self.evaluator_seconds is None else self.evaluator_seconds / (self.seconds * self.threads)

    @property
    def evaluations_per_second(self) -> float | None:
        return None if self.evaluations is None else self.evaluations / self.seconds

    @property
    def limit_ratio(self) -> float:
        """Simulations per evaluation that the evaluator alone could make; above 1 where leaves need no evaluation."""
        return self.simulations_per_second / self.limit


def measure_search(
    game: Game,
    make_evaluator: Callable[[], Evaluator],
    config: SearchConfig,
    games: int,
    threads: int,
    seconds: float,
    seed: int = 0,
) -> SearchSpeed:
    """Let `threads` threads play `games` games each with a search of its own, for `seconds`."""
    tables = [_Table(game, make_evaluator(), config, games, np.random.default_rng([seed, i])) for i in range(threads)]
    _, elapsed = repeat_side_by_side([table.move for table in tables], seconds, lambda: _reset(tables))
    timers = [table.timer for table in tables if table.timer is not None]
    return SearchSpeed(
        sum(table.simulations for table in tables),
        sum(table.moves for table in tables),
        elapsed,
        sum(timer.seconds for timer in timers) if timers else None,
        sum(timer.leaves for timer in timers) if timers else None,
        threads,
        _evaluator_alone(game, make_evaluator, games * config.leaves_per_step, threads, seconds / 3, seed),
    )


def _reset(tables: list[_Table]) -> None:
    for table in tables:
        table.reset()


class _Table:
    """Games that one thread plays with one search; an ended game is replaced at once."""

    def __init__(
        self, game: Game, evaluator: Evaluator, config: SearchConfig, games: int, rng: np.random.Generator
    ) -> None:
        self.game, self.rng = game, rng
        self.timer: Timed | None = None
        self.search = Search(game, evaluator, config)
        if not self.search.is_fused:  # a fused search must see its evaluator, as the players' does
            self.timer = Timed(evaluator)
            self.search = Search(game, self.timer, config)
        self.states = scattered(game, games, rng)
        self.reset()

    def reset(self) -> None:
        self.simulations = self.moves = 0
        if self.timer is not None:
            self.timer.leaves, self.timer.seconds = 0, 0.0

    def move(self) -> None:
        result = self.search.run(self.states, self.rng)
        self.simulations += int(result.simulations.sum())
        self.moves += len(self.states)
        self.states = self.game.advance(self.states, result.chosen)
        over = np.flatnonzero(self.game.outcome(self.states) != ONGOING)
        self.states[over] = self.game.initial(len(over), self.rng)


@dataclass(frozen=True)
class GameSpeed:
    """Throughput of a game's kernels on one thread."""

    playouts_per_second: float
    plies_per_second: float
    steps_per_second: float  # advance and legal, positions a second


def measure_rollouts(game: Game, games: int, seconds: float, seed: int = 0) -> GameSpeed:
    """Random games from the start, and the fused step kernel on positions scattered over whole games."""
    rng = np.random.default_rng(seed)
    starts = game.initial(games, rng)
    streams = rng.integers(0, 2**64, size=games, dtype=np.uint64)
    game.rollout(starts, streams)  # compile
    playouts, plies, spent = 0, 0, 0.0
    while spent < seconds / 2:
        began = time.perf_counter()
        ends = game.rollout(starts, streams)
        spent += time.perf_counter() - began
        playouts += games
        plies += int(game.plies(ends.states).sum())
    states = scattered(game, games, rng)
    counts, actions = game.legal(states)
    chosen = actions[np.arange(games), rng.integers(counts)]
    game.step(states, chosen)
    steps, step_time = 0, 0.0
    while step_time < seconds / 2:
        began = time.perf_counter()
        game.step(states, chosen)
        step_time += time.perf_counter() - began
        steps += games
    return GameSpeed(playouts / spent, plies / spent, steps / step_time)


def scattered(game: Game, count: int, rng: np.random.Generator) -> Int8s:
    """Positions spread over the course of random games, none of them over."""
    streams = rng.integers(0, 2**64, size=count, dtype=np.uint64)
    lengths = game.plies(game.rollout(game.initial(count, rng), streams).states)
    states = game.initial(count, rng)
    for _ in range(int(lengths.max(initial=1)) - 1):
        moving = np.flatnonzero(rng.random(count) < 0.5)
        counts, actions = game.legal(states[moving])
        after = game.advance(states[moving], actions[np.arange(len(moving)), rng.integers(counts)])
        alive = game.outcome(after) == ONGOING
        states[moving[alive]] = after[alive]
    return states


def _evaluator_alone(
    game: Game, make_evaluator: Callable[[], Evaluator], batch: int, threads: int, seconds: float, seed: int
) -> float:
    """Evaluations/s when nothing else is done; what an evaluator remembers is not used."""
    tasks = []
    for index in range(threads):
        states = scattered(game, batch, np.random.default_rng([seed, index]))
        counts, actions = game.legal(states)
        leaves = Leaves(states, counts, actions, np.arange(batch, dtype=np.uint64))
        tasks.append(partial(make_evaluator().ask, leaves))
    calls, elapsed = repeat_side_by_side(tasks, seconds)
    return sum(calls) * batch / elapsed


def repeat_side_by_side(
    tasks: Sequence[Callable[[], object]], seconds: float, before: Callable[[], object] | None = None
) -> tuple[list[int], float]:
    """Repeat every task on a thread of its own for `seconds`, at least once; calls of each, and the time it took.

    Each is called once first, because that call compiles and allocates; then `before` is called once, and then
    the clock starts. An error in a thread is raised here.
    """
    calls, errors = [0] * len(tasks), list[BaseException]()
    for task in tasks:
        task()
    if before is not None:
        before()
    began = time.perf_counter()

    def repeat(index: int) -> None:
        try:
            while not calls[index] or time.perf_counter() < began + seconds:  # a busy machine may start a thread late
                tasks[index]()
                calls[index] += 1
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=repeat, args=(index,)) for index in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return calls, time.perf_counter() - began
