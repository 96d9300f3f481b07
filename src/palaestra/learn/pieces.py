"""A piece of self-play: some of an iteration's games, played to their ends.

A game depends on its number, the network, the settings and the reward alone. So a piece may be played anywhere, on its
own and again, and pieces come together in any order. What games were worth and what is learned from them is for
`selfplay` to say, once all are there. A piece has an evaluator, a cache and searches of its own, and one thread.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from palaestra.games.base import Game
from palaestra.learn.config import RunConfig
from palaestra.learn.lockstep import Moves, Table
from palaestra.learn.planning import Planning
from palaestra.learn.sampling import Sampling
from palaestra.learn.warm_start import Enhanced, is_warm, leaf_evaluator, pairs_of, search_for, seat
from palaestra.nets.cache import Cached, fitting_entries
from palaestra.nets.evaluator import OnnxEvaluator
from palaestra.nets.int8 import takes_int8
from palaestra.rewards.base import Reward
from palaestra.search.driver import Search
from palaestra.search.evaluator import Evaluator
from palaestra.search.search_speed import Timed
from palaestra.work.jobs import report

MOST_MEGABYTES = 1024  # that a table remembers from the network; a position of bin_packing-2d takes 90 KB


@dataclass(frozen=True, eq=False)
class Piece:
    """Finished games, by number, and what playing them took."""

    begun: dict[int, tuple[int, tuple[int, ...]]]  # game number -> initial position, opening
    outcomes: dict[int, int]  # game number -> outcome, from the first player's view
    moves: list[Moves]  # in no order
    seconds: float
    network_seconds: float  # of them inside the network
    simulations: int
    evaluations: int  # positions that the network was asked about

    @staticmethod
    def joined(pieces: Iterable[Piece]) -> Piece:
        """Several pieces as one. A game that comes twice is taken once, a piece that brings no new game not at all."""
        whole = Piece({}, {}, [], 0.0, 0.0, 0, 0)
        for piece in pieces:
            new = piece._without(whole.outcomes.keys() & piece.outcomes.keys())
            if new.outcomes:
                whole = Piece(
                    whole.begun | new.begun,
                    whole.outcomes | new.outcomes,
                    [*whole.moves, *new.moves],
                    whole.seconds + new.seconds,
                    whole.network_seconds + new.network_seconds,
                    whole.simulations + new.simulations,
                    whole.evaluations + new.evaluations,
                )
        return whole

    def _without(self, numbers: set[int]) -> Piece:
        """All games but these."""
        if not numbers:
            return self
        left = {number: outcome for number, outcome in self.outcomes.items() if number not in numbers}
        moves = [some.take(~np.isin(some.game, list(numbers))) for some in self.moves]
        return replace(self, outcomes=left, moves=moves)


def play_piece(
    game: Game,
    model: bytes,
    config: RunConfig,
    iteration: int,
    numbers: Sequence[int],
    switched: bool,
    reward: Reward,
) -> Piece:
    """Play the games `numbers` of iteration 1, 2, … with the network `model`; the arguments are those of `play_games`.

    Reports the share of games that are over after every move; `reward` only values, and learns nothing here.
    """
    began = time.perf_counter()
    network = Timed(OnnxEvaluator(game, model, reward=reward, int8=takes_int8(config.selfplay.precision)))
    plans = plans_of(config, iteration, switched)
    table = make_table(game, network, plans, config, iteration, iter(numbers), reward)
    while len(table):
        table.move()
        report(len(table.outcomes) / len(numbers))
    seconds = time.perf_counter() - began
    return Piece(table.begun, table.outcomes, table.played, seconds, network.seconds, table.simulations, network.leaves)


def plans_of(config: RunConfig, iteration: int, switched: bool) -> tuple[Enhanced, ...]:
    """The searches of an iteration: one, or in an adaptive warm start DEFAULT and ENHANCED."""
    plan = search_for(config, iteration, switched)
    if not (config.warm.adaptive and is_warm(config.warm, iteration, switched)):
        return (plan,)
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
    """A table of games; its searches share what they remember from the network."""
    selfplay = config.selfplay
    if selfplay.sampling:  # it hardly meets a position twice: remembering them would take half of the time
        sampling = Sampling(game, network, keep=selfplay.sampled_policy == "network")
        return Table(game, [sampling], selfplay, config.seed, iteration, numbers)
    if selfplay.cache:
        network = Cached(network, game, fitting_entries(game, selfplay.cache, MOST_MEGABYTES))
    searches = [_searcher(game, network, plan, reward) for plan in plans]
    seats = partial(seat, games=selfplay.games) if len(searches) == 2 else None
    pairs = pairs_of(selfplay.games) if seats is not None and game.players == 1 else None
    return Table(game, searches, selfplay, config.seed, iteration, numbers, seats, pairs)


def _searcher(game: Game, network: Evaluator, plan: Enhanced, reward: Reward) -> Search | Planning:
    if plan.evolves:
        return Planning(game, reward, plan.search.simulation_limit)
    return Search(game, leaf_evaluator(game, network, plan, reward), plan.search, reward)
