"""The matches of a tabular learner: compiled against `random`, and in lockstep against any player. Same learner.

In lockstep a block of matches is played with the table as it is, and then learned from, match by match; with blocks of
one match this makes the same table as the compiled loop, number for number. Knows no game's rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from palaestra.base.types import Float64s, Int32s, Int64s, UInt64s
from palaestra.games.base import Game
from palaestra.games.kernel_game import KernelGame
from palaestra.games.rows import ONGOING
from palaestra.learn.tabular_rules import UNSEEN, Settings, choose_rows, learn_match
from palaestra.players.base import Player
from palaestra.players.qtable import unseen_actions
from palaestra.players.simple import RandomPlayer
from palaestra.players.table import Table
from palaestra.rewards.base import Primitive
from palaestra.search.flat import spawn
from palaestra.search.nested_duel import loops as nested_loops

QUOTA = 1000  # matches in one compiled call: a moment, after which Python looks at its signals


@dataclass(frozen=True, eq=False)
class Matches:
    """M matches to play and learn from; the learner is the first player in those with an even number."""

    game: Game
    settings: Settings
    ms: float | None  # flat Monte Carlo by time for states without a row
    epsilons: Float64s  # [M]
    seeds: UInt64s  # [M, 2] streams of the learner and of the opponent
    starts: Int64s  # [M] numbers of the initial positions
    goals: Float64s  # [M] the learner's: filled in as matches end

    def __len__(self) -> int:
        return len(self.goals)


def runs_compiled(matches: Matches, opponent: Player) -> bool:
    """Whether whole matches can run in compiled code, where there are no other players and no clock."""
    return isinstance(matches.game, KernelGame) and type(opponent) is RandomPlayer and matches.ms is None


def play_compiled(matches: Matches, table: Table) -> Iterator[int]:
    """Play all matches against `random` and learn; yields how many were played at a time."""
    game = matches.game
    assert isinstance(game, KernelGame)
    search = {"nested_place": nested_loops(game.rules).nested_place}
    loops = game.rules.bind("palaestra.learn.tabular_loops", search)
    done = 0
    while done < len(matches):
        table.reserve(game.max_plies, game.max_plies * game.max_legal)
        reached = loops.play_matches(
            done,
            min(done + QUOTA, len(matches)),
            matches.epsilons,
            matches.seeds,
            matches.starts,
            table.rows,
            matches.settings,
            matches.goals,
            game.max_plies,
            game.max_legal,
            game.params,
        )
        yield reached - done
        done = reached


def play_lockstep(matches: Matches, table: Table, opponent: Player, lockstep: int) -> Iterator[int]:
    """Play all matches against any player and learn, in blocks of `lockstep`; yields the size of each block."""
    game = matches.game
    for first in range(0, len(matches), lockstep):
        block = _Block(matches, table, opponent, np.arange(first, min(first + lockstep, len(matches))))
        while block.running.size:
            block.ply()
        opponent.forget(block.numbers)
        outcomes = Primitive().value(game.outcome(block.states)).astype(np.float64)
        matches.goals[block.numbers] = (1.0 + outcomes * (1 - 2 * block.roles)) / 2.0
        for i, number in enumerate(block.numbers):
            length = int(block.lengths[i])
            table.reserve(length, length * game.max_legal)
            record = block.visited[i], block.counts[i], block.places[i]
            learn_match(
                table.rows, matches.settings, *record, int(block.roles[i]), length, float(matches.goals[number])
            )
        yield len(block.numbers)


class _Block:
    """Matches that run at once, and the record of the learner's steps in each."""

    def __init__(self, matches: Matches, table: Table, opponent: Player, numbers: Int64s) -> None:
        game, count = matches.game, len(numbers)
        self.matches, self.table, self.opponent, self.numbers = matches, table, opponent, numbers
        self.roles = (numbers % 2).astype(np.int8)
        self.streams = np.ascontiguousarray(matches.seeds[numbers].T)  # [2, B]
        self.states = game.start(matches.starts[numbers])
        self.running = np.flatnonzero(game.outcome(self.states) == ONGOING)
        self.lengths = np.zeros(count, dtype=np.int64)
        self.visited = np.empty((count, game.max_plies, game.state_size), dtype=np.int8)
        self.counts = np.empty((count, game.max_plies), dtype=np.int32)
        self.places = np.empty((count, game.max_plies), dtype=np.int32)

    def ply(self) -> None:
        """One move in every match that goes on."""
        game = self.matches.game
        mine = game.to_play(self.states[self.running]) == self.roles[self.running]
        own, other = self.running[mine], self.running[~mine]
        moves = np.empty(len(self.states), dtype=np.int32)
        if own.size:
            counts, actions = game.legal(self.states[own])
            places = self._choose(own, counts, actions)
            moves[own] = actions[np.arange(len(own)), places]
            self._write(own, counts, places)
        if other.size:
            words = np.empty(len(other), dtype=np.uint64)
            spawn(self.streams[1], other, words)
            moves[other] = self.opponent.act(self.states[other], words, self.numbers[other])
            if self.matches.settings.noops:
                self._write(other, np.ones(len(other), dtype=np.int32), np.zeros(len(other), dtype=np.int64))
        self.states[self.running] = game.advance(self.states[self.running], moves[self.running])
        self.running = self.running[game.outcome(self.states[self.running]) == ONGOING]

    def _choose(self, own: Int64s, counts: Int32s, actions: Int32s) -> Int64s:
        """int64[own]: the places of the learner's moves."""
        states, streams = np.ascontiguousarray(self.states[own]), self.streams[0, own]
        places = np.empty(len(own), dtype=np.int64)
        epsilons = self.matches.epsilons[self.numbers[own]]
        choose_rows(self.table.rows, states, counts, self.roles[own], epsilons, streams, places)
        if (unseen := np.flatnonzero(places == UNSEEN)).size:
            fresh = streams[unseen]
            settings, ms = self.matches.settings, self.matches.ms
            chosen = unseen_actions(
                self.matches.game, states[unseen], fresh, settings.playouts, ms, nested=settings.nested
            )
            places[unseen] = np.argmax(actions[unseen] == chosen[:, None], axis=1)
            streams[unseen] = fresh
        self.streams[0, own] = streams
        return places

    def _write(self, rows: Int64s, counts: Int32s, places: Int64s) -> None:
        """Note a step of these matches."""
        at = self.lengths[rows]
        self.visited[rows, at], self.counts[rows, at], self.places[rows, at] = self.states[rows], counts, places
        self.lengths[rows] += 1
