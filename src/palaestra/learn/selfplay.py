"""Self-play: the games of one iteration, on several threads, and the examples they give (sources: self-play loop).

Games are numbered 0 … E-1; thread t of W plays the numbers t, t + W, … with an evaluator, a cache and searches of its
own. Examples and records are the same, bit for bit, whatever W, the number of slots and the size of the cache.

The policy that is stored is the one a move was drawn from, at its temperature (one-hot after T′, as in the thesis), or
the improved policy of a Gumbel root. Moves of random openings and quick moves are not learned from. What is learned
where moves are drawn from the network alone is for `sampling` to say.

Nothing is printed and nothing saved here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np

from palaestra.base.progress import ProgressListener
from palaestra.base.types import Float32s, Int32s
from palaestra.games.base import Game
from palaestra.learn.config import RunConfig
from palaestra.learn.examples import Examples
from palaestra.learn.lockstep import Moves, Table
from palaestra.learn.planning import Planning
from palaestra.learn.sampling import Sampling, examples_of_games
from palaestra.learn.targets import value_targets
from palaestra.learn.warm_start import (
    Enhanced,
    check_adaptive,
    is_warm,
    leaf_evaluator,
    search_for,
    seat,
    warm_start_state,
)
from palaestra.nets.cache import Cached
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.rewards.base import Reward, default_reward
from palaestra.runs.game_record import GameRecord, points_of
from palaestra.runs.metrics import GameResults, WarmStartState
from palaestra.search.driver import Search
from palaestra.search.evaluator import Evaluator
from palaestra.search.search_speed import Timed

_POLL = 0.1  # seconds between two looks at how far the threads are
_SELF = "self-play"
_SETTLE = 102  # number of the stage that settles what games were worth, in its random seed


@dataclass(frozen=True, eq=False)
class SelfPlay:
    """The games of one iteration."""

    examples: Examples  # sorted by (game, ply)
    records: tuple[GameRecord, ...]  # by number
    seconds: float
    evaluator_seconds: float  # inside the network, summed over the threads
    threads: int
    simulations: int
    evaluations: int  # positions that the network was asked about
    positions: int  # searched, those that are not learned from included
    warm: WarmStartState | None  # of a warm start, while it lasts

    def with_games(self, others: SelfPlay, who: str) -> SelfPlay:
        """These games and after them some others, which `who` played; all but games and examples stays as it is."""
        count = len(self.records)
        moved = replace(others.examples, game=others.examples.game + np.int32(count))
        records = [replace(record, number=count + record.number, first=who, second=who) for record in others.records]
        examples = Examples.concatenate([self.examples, moved])
        return replace(self, examples=examples, records=(*self.records, *records))

    @property
    def network_share(self) -> float:
        """Share of the threads' time that is spent in the network."""
        return self.evaluator_seconds / (self.threads * self.seconds)

    @property
    def simulations_per_second(self) -> float:
        return self.simulations / self.seconds

    @property
    def mean_plies(self) -> float:
        return sum(len(record.moves) for record in self.records) / len(self.records)

    @property
    def results(self) -> GameResults:
        """Of a game for two players."""
        points = [record.points for record in self.records]
        return GameResults(points.count(1.0), points.count(0.5), points.count(0.0))


def play_games(
    game: Game,
    model: bytes,
    config: RunConfig,
    iteration: int,
    listen: ProgressListener | None = None,
    *,
    switched: bool = False,
    reward: Reward | None = None,
) -> SelfPlay:
    """Play the games of iteration 1, 2, … with the network `model` (an ONNX file's bytes).

    `switched` says that an earlier iteration's `warm.switch` ended an adaptive warm start. `reward` (by default win 1,
    draw 0, loss -1) values the ends of games in every search, and settles what the finished games are worth as targets;
    a reward that learns has then learned from them.
    """
    began = time.perf_counter()
    reward = reward or default_reward(game)
    games = config.selfplay.games
    threads = min(config.threads, games)
    warm = is_warm(config.warm, iteration, switched)
    plans = plans_of(game, config, iteration, switched)
    networks = [Timed(OnnxEvaluator(game, model, reward=reward)) for _ in range(threads)]
    shares = [iter(range(thread, games, threads)) for thread in range(threads)]
    tables = [
        make_table(game, network, plans, config, iteration, share, reward)
        for network, share in zip(networks, shares, strict=True)
    ]
    _play_out(tables, games, listen)
    outcomes = dict(chain.from_iterable(table.outcomes.items() for table in tables))
    ends = np.array([outcomes[number] for number in range(games)], dtype=np.int32)
    moves = Moves.sorted([part for table in tables for part in table.played])
    rng = np.random.default_rng([config.seed, iteration, _SETTLE])
    settled = reward.settle(ends, rng)
    records = _records(game, tables, moves, ends, _labels(config, plans, games))
    if config.selfplay.sampling:
        examples = examples_of_games(game, records, settled, config.selfplay.failures, rng)
    else:
        examples = examples_of(moves, ends, config, settled)
    return SelfPlay(
        examples=examples,
        records=records,
        seconds=time.perf_counter() - began,
        evaluator_seconds=sum(network.seconds for network in networks),
        threads=threads,
        simulations=sum(table.simulations for table in tables),
        evaluations=sum(network.leaves for network in networks),
        positions=sum(table.positions for table in tables),
        warm=warm_start_state(config, iteration, ends) if warm else None,
    )


def plans_of(game: Game, config: RunConfig, iteration: int, switched: bool) -> tuple[Enhanced, ...]:
    """The searches of an iteration: one, or in an adaptive warm start DEFAULT and ENHANCED."""
    plan = search_for(config, iteration, switched)
    if not (config.warm.adaptive and is_warm(config.warm, iteration, switched)):
        return (plan,)
    check_adaptive(game)
    return Enhanced(config.selfplay.search, 0.0, False), plan


def make_table(
    game: Game,
    network: Evaluator,
    plans: Sequence[Enhanced],
    config: RunConfig,
    iteration: int,
    numbers: Iterator[int],
    reward: Reward,
) -> Table:
    """A table for one thread; its searches share what they remember from the network."""
    selfplay = config.selfplay
    if selfplay.sampling:  # it hardly meets a position twice: remembering them would take half of the time
        return Table(game, [Sampling(game, network)], selfplay, config.seed, iteration, numbers)
    if selfplay.cache:
        network = Cached(network, game, selfplay.cache)
    searches = [_searcher(game, network, plan, reward) for plan in plans]
    seats = partial(seat, games=selfplay.games) if len(searches) == 2 else None
    return Table(game, searches, selfplay, config.seed, iteration, numbers, seats)


def _searcher(game: Game, network: Evaluator, plan: Enhanced, reward: Reward) -> Search | Planning:
    if plan.evolves:
        return Planning(game, reward, plan.search.simulation_limit)
    return Search(game, leaf_evaluator(game, network, plan, reward), plan.search, reward)


def _play_out(tables: Sequence[Table], games: int, listen: ProgressListener | None) -> None:
    """Play every table to the end on a thread of its own; an error or an interrupt stops all at their next move."""
    stop = threading.Event()

    def play(table: Table) -> None:
        while len(table) and not stop.is_set():
            table.move()

    with ThreadPoolExecutor(len(tables), thread_name_prefix="self-play") as pool:
        try:
            running = {pool.submit(play, table) for table in tables}
            while running:
                done, running = wait(running, _POLL, FIRST_EXCEPTION)
                for future in done:
                    future.result()
                if listen is not None:
                    listen(sum(len(table.outcomes) for table in tables), games)
        except BaseException:
            stop.set()
            raise


def examples_of(moves: Moves, outcomes: Int32s, config: RunConfig, settled: Float32s) -> Examples:
    """Examples from sorted moves, and by number the outcomes of their games and what those are worth, both [E].

    Outcomes and worth are the first player's.
    """
    game = moves.game.astype(np.int32)
    value = value_targets(config.selfplay, game, moves.states[:, 0], moves.value, moves.proven, settled[moves.game])
    made = Examples(moves.states, moves.policy, value, game, moves.ply, outcomes[moves.game])
    return made.take(moves.full)


def _labels(config: RunConfig, plans: Sequence[Enhanced], games: int) -> Callable[[int], tuple[str, str]]:
    """Who played first and second in the game with a number."""
    if len(plans) == 1:
        return lambda number: (_SELF, _SELF)
    names = (_SELF, config.warm.enhancement)

    def who(number: int) -> tuple[str, str]:
        first, second = seat(np.array([number, number]), np.array([0, 1], dtype=np.int8), games)
        return names[first], names[second]

    return who


def _records(
    game: Game, tables: Sequence[Table], moves: Moves, outcomes: Int32s, labels: Callable[[int], tuple[str, str]]
) -> tuple[GameRecord, ...]:
    begun = dict(chain.from_iterable(table.begun.items() for table in tables))
    ends = np.searchsorted(moves.game, np.arange(len(outcomes)), side="right").tolist()
    actions = moves.action.tolist()
    records = []
    for number, (low, high) in enumerate(zip([0, *ends], ends, strict=False)):
        start, opening = begun[number]
        played, outcome = (*opening, *actions[low:high]), int(outcomes[number])
        points = points_of(outcome) if game.players == 2 else None
        records.append(GameRecord(number, start, played, len(opening), outcome, points, *labels(number)))
    return tuple(records)
