"""Flat Monte Carlo (sources: Alg. 8): random games from every legal move in turn, and the move with the best mean.

No tree grows. A budget is a number of playouts or a time; either way every legal move gets at least one playout, so
that the choice is never among moves nobody looked at. The k-th playout of a row starts from the k-th word of the
row's stream: with a budget in playouts the answer depends on the stream alone, not on the batch nor on how the
playouts were grouped into calls. This module knows no game's rules.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from palaestra.base.compiling import clock
from palaestra.base.jit import inlined, kernel
from palaestra.base.streams import next_word
from palaestra.base.types import Float64s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.base import Game
from palaestra.rewards.base import Reward

ROWS_PER_CALL = 4096  # playouts in one call of the game: enough to hide Python, few enough to stay in the cache


@dataclass(frozen=True, eq=False)
class FlatResult:
    """What the playouts of B rows said about each of their legal moves."""

    counts: Int32s  # [B] number of legal actions
    actions: Int32s  # [B, L] legal actions, ascending
    playouts: Int32s  # [B, L] playouts after each of them
    totals: Float64s  # [B, L] sums of the playouts' rewards, for the player to move

    def means(self) -> Float64s:
        """float64[B, L]: mean reward of each legal move, for the player to move; -inf beyond the legal ones."""
        means = np.full(self.totals.shape, -np.inf)
        np.divide(self.totals, self.playouts, out=means, where=self.playouts > 0)
        return means

    def best(self) -> Int64s:
        """int64[B]: place of the best mean in each list; of equal ones the first."""
        return np.argmax(self.means(), axis=1)

    def chosen(self) -> Int32s:
        """int32[B]: the action with the best mean."""
        return np.asarray(self.actions[np.arange(len(self.actions)), self.best()])


class FlatSearch:
    """The playouts of a batch of positions, none of them over; `run` may be called any number of times."""

    def __init__(self, game: Game, reward: Reward, states: Int8s, streams: UInt64s) -> None:
        self.game, self.reward, self.streams = game, reward, streams
        counts, actions = game.legal(states)
        self.counts = counts.astype(np.int64)
        self.width = actions.shape[1]
        rows = np.repeat(np.arange(len(states)), counts)
        self.first = np.cumsum(self.counts) - self.counts  # index of each row's first child among all children
        places = np.arange(len(rows)) - self.first[rows]
        self.children = game.advance(states[rows], actions[rows, places])
        self.signs = np.where(game.to_play(states) == 0, 1.0, -1.0)
        self.made = np.zeros(len(states), dtype=np.int64)  # playouts of each row so far
        self.counts32, self.actions = counts, actions
        self.playouts = np.zeros((len(states), self.width), dtype=np.int32)
        self.totals = np.zeros((len(states), self.width), dtype=np.float64)

    def run(self, playouts: Int64s) -> None:
        """`playouts[i]` more games for row i; each row goes on in the cycle where it stopped."""
        goal = self.made + playouts
        block = max(1, ROWS_PER_CALL // max(1, len(goal)))
        while (waiting := np.flatnonzero(self.made < goal)).size:
            self._play(waiting, np.minimum(goal[waiting] - self.made[waiting], block))

    def _play(self, rows: Int64s, number: Int64s) -> None:
        """`number[i]` playouts for rows[i], in one call of the game."""
        owners = np.repeat(rows, number)
        offsets = np.arange(len(owners)) - np.repeat(np.cumsum(number) - number, number)
        places = (self.made[owners] + offsets) % self.counts[owners]
        seeds = np.empty(len(owners), dtype=np.uint64)
        spawn(self.streams, owners, seeds)
        outcomes = self.game.playout_outcomes(self.children[self.first[owners] + places], seeds)
        values = self.signs[owners] * self.reward.value(outcomes)
        cells = owners * self.width + places
        size = self.totals.size
        self.playouts += np.bincount(cells, minlength=size).reshape(self.playouts.shape).astype(np.int32)
        self.totals += np.bincount(cells, weights=values, minlength=size).reshape(self.totals.shape)
        self.made[rows] += number

    def result(self) -> FlatResult:
        return FlatResult(self.counts32, self.actions, self.playouts, self.totals)


@inlined
def best_mean(totals: Float64s, count: int, made: int) -> np.int64:
    """The place of the best of `count` means, of equals the first, where `made` games took turns from place 0 on."""
    best, place = -np.inf, np.int64(0)
    for i in range(count):
        mean = totals[i] / (made // count + (i < made % count))
        if mean > best:
            best, place = mean, np.int64(i)
    return place


@kernel
def spawn(streams: UInt64s, rows: Int64s, seeds: UInt64s) -> None:
    """A new stream for each entry of `rows`, made of the next word of that row's stream."""
    for i in range(rows.shape[0]):
        seeds[i] = next_word(streams, rows[i])


def flat_playouts(game: Game, reward: Reward, states: Int8s, streams: UInt64s, playouts: int) -> FlatResult:
    """`playouts` random games in all for every row, shared among its moves in turn, and never less than one a move."""
    search = FlatSearch(game, reward, states, streams)
    search.run(np.maximum(search.counts, playouts))
    return search.result()


def flat_timed(game: Game, reward: Reward, states: Int8s, streams: UInt64s, ms: float) -> FlatResult:
    """Whole cycles of playouts for `ms` milliseconds for every row, one row after the other (Alg. 8)."""
    results = [_timed_row(game, reward, states[i : i + 1], streams[i : i + 1], ms) for i in range(len(states))]
    fields = ("counts", "actions", "playouts", "totals")
    return FlatResult(*(np.concatenate([getattr(result, name) for result in results]) for name in fields))


def _timed_row(game: Game, reward: Reward, states: Int8s, streams: UInt64s, ms: float) -> FlatResult:
    started = now = clock()
    end = started + ms / 1000.0
    search = FlatSearch(game, reward, states, streams)
    cycles = 1
    while True:
        search.run(search.counts * cycles)
        before, now = now, clock()
        if now >= end:
            return search.result()
        # Calls grow while they are short beside what is left, so that neither Python nor the clock is wasted.
        if now - before > (end - now) / 4:
            cycles = max(1, cycles // 2)
        elif cycles * search.counts[0] < ROWS_PER_CALL:
            cycles *= 2
