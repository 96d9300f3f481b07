"""The games that are played at once on one thread: one move in all of them, finished ones replaced at once.

Every random draw of a game comes from streams keyed by (seed, iteration, game number) or by those and the ply, and
searches are independent of each other: which games share a table, and in what order they finish, changes no game.

A table knows nothing about targets, networks or threads; it is given its searches, or what draws moves in their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Bools, Float32s, Float64s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.base import Game, pick_rows
from palaestra.games.rows import ONGOING
from palaestra.learn.config import SelfPlayConfig
from palaestra.learn.planning import Planning
from palaestra.learn.sampling import Sampling
from palaestra.learn.surprise import surprise
from palaestra.search.decide import SearchResult
from palaestra.search.driver import Search

# What a stream is for: each gets its own key, so that no two draws of a game are related.
_START, _OPENING, _OPENING_PLIES, _SEARCH, _QUICK = range(101, 106)

Seats = Callable[[Int64s, Int8s], Int64s]  # (numbers, movers) -> which search moves, all [n]


@dataclass(frozen=True, eq=False)
class Moves:
    """n searched positions, one row each."""

    game: Int64s  # [n] game number
    ply: Int32s  # [n]
    states: Int8s  # [n, S] before the move; [n, 0] where there is no policy
    policy: Float32s  # [n, L] over the legal moves; [n, 0] of sampled games that teach the moves played
    value: Float32s  # [n] of the root, for the player to move
    proven: Bools  # [n] whether it is exact
    action: Int32s  # [n] the move played
    full: Bools  # [n] searched in full: to be learned from
    surprise: Float32s  # [n] how far the policy is from the network's

    @staticmethod
    def sorted(parts: Sequence[Moves]) -> Moves:
        """All moves of several parts by (game, ply)."""
        order = np.lexsort((_joined(parts, "ply"), _joined(parts, "game")))
        return Moves(*(_joined(parts, name)[order] for name in Moves.__dataclass_fields__))

    def take(self, rows: Bools) -> Moves:
        """Those of the rows [n]."""
        return Moves(*(getattr(self, name)[rows] for name in Moves.__dataclass_fields__))


def _joined(parts: Sequence[Moves], name: str) -> NDArray[Any]:
    return np.concatenate([getattr(part, name) for part in parts])


@dataclass(frozen=True, eq=False)
class Deal:
    """How games begin."""

    states: Int8s  # [n, S], none of them over
    starts: Int64s  # [n] number of the initial position
    openings: tuple[tuple[int, ...], ...]  # [n] random moves from there on


def deal(game: Game, config: SelfPlayConfig, seed: int, iteration: int, numbers: Int64s) -> Deal:
    """The beginnings of the games with these numbers; each depends on (seed, iteration, number) alone.

    A share of them opens with random plies, uniformly many; a ply that would end the game is not played.
    """
    key = (seed, iteration)
    starts = (keyed_seeds(*key, _START, numbers) % np.uint64(game.num_starts)).astype(np.int64)
    states = game.start(starts)
    if not config.opening_plies:
        return Deal(states, starts, ((),) * len(numbers))
    streams = keyed_seeds(*key, _OPENING, numbers)
    wanted = (keyed_seeds(*key, _OPENING_PLIES, numbers) % np.uint64(config.opening_plies + 1)).astype(np.int64)
    wanted[_share(streams) >= config.opening_fraction] = 0
    openings: list[list[int]] = [[] for _ in numbers]
    for ply in range(int(wanted.max(initial=0))):
        rows = np.flatnonzero(wanted > ply)
        counts, actions = game.legal(states[rows])
        chosen = pick_rows(counts, actions, streams, rows)
        after = game.advance(states[rows], chosen)
        running = game.outcome(after) == ONGOING
        states[rows[running]] = after[running]
        wanted[rows[~running]] = ply
        for row, action in zip(rows[running].tolist(), chosen[running].tolist(), strict=True):
            openings[row].append(action)
    return Deal(states, starts, tuple(map(tuple, openings)))


def _share(streams: UInt64s) -> Float64s:
    """Streams as numbers in [0, 1)."""
    return (streams >> np.uint64(11)).astype(np.float64) * 2.0**-53


class Table:
    """Plays the games `numbers`, at most `config.slots` at once, with one search or, by `seats`, several.

    With `pairs`, games k and k + pairs begin alike.
    """

    def __init__(
        self,
        game: Game,
        searches: Sequence[Search | Sampling | Planning],
        config: SelfPlayConfig,
        seed: int,
        iteration: int,
        numbers: Iterator[int],
        seats: Seats | None = None,
        pairs: int | None = None,
    ) -> None:
        self.game, self.searches, self.config, self.seats, self.pairs = game, searches, config, seats, pairs
        self.seed, self.iteration = seed, iteration
        self.played: list[Moves] = []
        self.begun: dict[int, tuple[int, tuple[int, ...]]] = {}  # game number -> initial position, opening
        self.outcomes: dict[int, int] = {}  # of the finished games
        self.simulations = self.positions = 0
        self._waiting = numbers
        self._numbers = np.empty(0, dtype=np.int64)  # [n] of the games at the table
        self._trees = np.empty(0, dtype=np.int64)  # [n] where each search keeps their trees
        self._states = np.empty((0, game.state_size), dtype=np.int8)  # [n, S]
        self._admit(np.arange(config.slots))

    def __len__(self) -> int:
        """How many games are being played."""
        return len(self._numbers)

    def move(self) -> None:
        """Search and make one move in every game at the table."""
        numbers, states = self._numbers, self._states
        plies = self.game.plies(states)
        streams = keyed_seeds(self.seed, self.iteration, _SEARCH, numbers, plies.astype(np.int64))
        early = plies < self.config.temperature_moves
        temperatures = np.where(early, self.config.temperature, self.config.late_temperature)
        quick = self._quick(plies)
        seats = np.zeros(len(numbers), dtype=np.int64) if self.seats is None else self.seats(numbers, states[:, 0])
        chosen = np.empty(len(numbers), dtype=np.int32)
        for index, search in enumerate(self.searches):
            for hurried in (False, True):
                rows = np.flatnonzero((seats == index) & (quick == hurried))
                if not rows.size:
                    continue
                limit = self.config.quick_simulations if hurried else None
                result = search.run(states[rows], streams[rows], self._trees[rows], temperatures[rows], limit)
                chosen[rows] = result.chosen
                self._note(rows, plies, result, hurried)
        self._states = self.game.advance(states, chosen)
        outcomes = self.game.outcome(self._states)
        if (outcomes != ONGOING).any():
            self._finish(outcomes)

    def _quick(self, plies: Int32s) -> Bools:
        """Which moves are searched quickly (playout-cap randomisation)."""
        if self.config.quick_fraction == 0.0:
            return np.zeros(len(plies), dtype=np.bool_)
        streams = keyed_seeds(self.seed, self.iteration, _QUICK, self._numbers, plies.astype(np.int64))
        return _share(streams) < self.config.quick_fraction

    def _note(self, rows: Int64s, plies: Int32s, result: SearchResult, hurried: bool) -> None:
        self.simulations += int(result.simulations.sum())
        self.positions += len(rows)
        self.played.append(
            Moves(
                self._numbers[rows],
                plies[rows],
                # Where a search gives no policy, games are played again for the few positions that are learned from.
                self._states[rows, : None if result.policy.shape[1] else 0],
                result.policy,
                result.values,
                result.proven,
                result.chosen,
                np.full(len(rows), not hurried),
                surprise(result.policy, result.prior),
            )
        )

    def _finish(self, outcomes: Int32s) -> None:
        """Take the finished games off the table; others take their places."""
        over = outcomes != ONGOING
        self.outcomes.update(zip(self._numbers[over].tolist(), outcomes[over].tolist(), strict=True))
        free = self._trees[over]
        self._numbers, self._trees, self._states = self._numbers[~over], self._trees[~over], self._states[~over]
        self._admit(free)

    def _admit(self, trees: Int64s) -> None:
        """Begin as many games as there are free trees, while any are left to play."""
        numbers = np.fromiter(islice(self._waiting, len(trees)), dtype=np.int64)
        if not numbers.size:
            return
        trees = trees[: len(numbers)]
        for search in self.searches:
            if isinstance(search, Search):  # what a tree knows is about the game before
                search.forest.plant(trees[trees < search.forest.count])
        beginnings = numbers if self.pairs is None else numbers % self.pairs
        dealt = deal(self.game, self.config, self.seed, self.iteration, beginnings)
        for number, start, opening in zip(numbers.tolist(), dealt.starts.tolist(), dealt.openings, strict=True):
            self.begun[number] = start, opening
        self._numbers = np.concatenate([self._numbers, numbers])
        self._trees = np.concatenate([self._trees, trees])
        self._states = np.concatenate([self._states, dealt.states])
