"""Games between any number of players, all in lockstep: what matches and tournaments are played on.

In every step each player is asked once for all the games in which it is to move, whoever its opponents are, so that a
network sees one batch and no player is needed twice. The questions of a step may be spread over threads, since a player
is asked by one thread at a time. A game's course depends on its `Scheduled` entry and its two players alone: not on the
other games, their number, or the threads. Only limits in milliseconds break this, as clocks do.

A player that answers with an illegal move or fails loses that game, and the game says why; so does a program that dies,
hangs or talks nonsense (`EngineError`). Nothing here knows about
pairings, ratings or files, and nothing is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from palaestra.arena.openings import Opening, play_opening
from palaestra.base.compiling import clock
from palaestra.base.errors import EngineError, PalaestraError
from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Float32s, Int8s, Int64s, UInt64s
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.players.base import Choice, Player
from palaestra.runs.game_record import GameRecord, points_of

Spread = Callable[[Callable[[int], Any], Sequence[int]], Iterable[Any]]  # `map`, or that of a pool of threads


@dataclass(frozen=True)
class Scheduled:
    """One game to be played; the stream of a move is keyed by (seed, key, ply)."""

    number: int  # unique at the table: names the game to its players
    first: int  # who moves first, and
    second: int  # who moves second: places in the list of players
    opening: Opening
    seed: int  # of the match that the game belongs to
    key: int  # its number in that match


class Table:
    """The games that are being played, as one batch.

    With `adjudicate`, a game ends as soon as the player to move has proved its result. With `forgiving`, a
    PalaestraError costs a player its game like any other failure; otherwise it is raised, because it says that the
    player cannot play this game as it was set up.
    """

    def __init__(
        self,
        game: Game,
        players: Sequence[Player],
        schedule: Iterable[Scheduled],
        *,
        adjudicate: bool = False,
        forgiving: bool = False,
        spread: Spread = map,
    ) -> None:
        self.game, self.players = game, players
        self.adjudicate, self.forgiving, self.spread = adjudicate, forgiving, spread
        self.seconds = [0.0] * len(players)  # that each player thought, and
        self.moves_made = [0] * len(players)  # about how many moves
        self._waiting: Iterator[Scheduled] = iter(schedule)
        self._games: list[Scheduled] = []  # those at the table
        self._states: Int8s = np.empty((0, game.state_size), dtype=np.int8)  # [B, S], in the order of `_games`
        self._moves: dict[int, list[int]] = {}  # by the number of the game
        self._values: dict[int, list[float | None]] = {}

    def play(self, lockstep: int) -> Iterator[list[GameRecord]]:
        """After every step, the games that ended in it (often none); at most `lockstep` games run at once."""
        while self._admit(lockstep):
            yield self._step()

    def _admit(self, most: int) -> bool:
        """Fill the table up with new games; whether there is a game at it."""
        fresh = list(islice(self._waiting, most - len(self._games)))
        if fresh:
            states = [play_opening(self.game, scheduled.opening) for scheduled in fresh]
            self._states = np.concatenate([self._states, states])
            self._games += fresh
        for scheduled in fresh:
            self._moves[scheduled.number] = list(scheduled.opening.moves)
            self._values[scheduled.number] = [None] * len(scheduled.opening.moves)
        return bool(self._games)

    def _step(self) -> list[GameRecord]:
        """One move in every game."""
        sides = self._states[:, 0]
        movers = np.array([(game.first, game.second)[side] for game, side in zip(self._games, sides, strict=True)])
        turns = {int(player): np.flatnonzero(movers == player) for player in np.unique(movers)}
        # The longest question first, so that threads end together.
        order = sorted(turns, key=lambda player: -self._expected_seconds(player, turns[player].size))
        answers = self.spread(lambda player: self._ask(player, turns[player]), order)
        over: dict[int, GameRecord] = {}  # by row
        for player, (choice, faults) in zip(order, answers, strict=True):
            over.update(self._apply(player, turns[player], choice, faults))
        self._clear(list(over))
        return list(over.values())

    def _expected_seconds(self, player: int, moves: int) -> float:
        made = self.moves_made[player]
        return moves * self.seconds[player] / made if made else float(moves)

    def _ask(self, player: int, rows: Int64s) -> tuple[Choice, dict[int, str]]:
        """The player's choice for these rows, and by index what went wrong where it failed. Changes no game."""
        began = clock()
        try:
            return self._question(player, rows), {}
        except Exception as error:  # whatever a player does wrong costs it the game, not the others theirs
            if rows.size == 1 or self._ends_all(error):
                return _nothing(1), {0: self._blame(player, error)}
        finally:
            self.seconds[player] += clock() - began
            self.moves_made[player] += rows.size
        # Find the games that it fails in, so that the others go on.
        singly = [self._ask_one(player, rows[i : i + 1]) for i in range(rows.size)]
        return _joined([choice for choice, _ in singly]), {i: fault for i, (_, fault) in enumerate(singly) if fault}

    def _ask_one(self, player: int, row: Int64s) -> tuple[Choice, str]:
        try:
            return self._question(player, row), ""
        except Exception as error:
            return _nothing(1), self._blame(player, error)

    def _question(self, player: int, rows: Int64s) -> Choice:
        games = [self._games[row] for row in rows]
        states, numbers = self._states[rows], np.array([game.number for game in games])
        if self.players[player].follows:
            for game in games:
                self.players[player].follow(game.number, game.opening.start, self._moves[game.number])
        return _checked(self.players[player].choose(states, self._streams(games, states), numbers), rows.size)

    def _streams(self, games: Sequence[Scheduled], states: Int8s) -> UInt64s:
        keys = np.array([game.key for game in games])
        plies = self.game.plies(states).astype(np.int64)
        seeds = [game.seed for game in games]
        streams = np.empty(len(games), dtype=np.uint64)
        for seed in set(seeds):
            mine = np.array([other == seed for other in seeds])
            streams[mine] = keyed_seeds(seed, keys[mine], plies[mine])
        return streams

    def _blame(self, player: int, error: Exception) -> str:
        if self._ends_all(error):
            raise error
        if isinstance(error, EngineError):
            return str(error)
        return f"{self.players[player].text} failed: {type(error).__name__}: {error}"

    def _ends_all(self, error: Exception) -> bool:
        """Whether a failure says that the player cannot play as it was set up, so that a score would mean nothing."""
        return isinstance(error, PalaestraError) and not (self.forgiving or isinstance(error, EngineError))

    def _apply(self, player: int, rows: Int64s, choice: Choice, faults: dict[int, str]) -> dict[int, GameRecord]:
        """Make the moves; the games that ended, by row."""
        actions = choice.actions
        counts, legal = self.game.legal(self._states[rows])
        listed = (legal == actions[:, None]) & (np.arange(legal.shape[1]) < counts[:, None])
        for i in np.flatnonzero(~listed.any(axis=1)):
            faults.setdefault(int(i), f"{self.players[player].text} answered with the illegal action {actions[i]}")
        good = np.array([i for i in range(rows.size) if i not in faults], dtype=np.int64)
        values = np.full(rows.size, np.nan) if choice.values is None else choice.values
        proven = np.zeros(rows.size, dtype=np.bool_) if choice.proven is None else choice.proven
        movers = self._states[rows, 0].copy()
        for i in good:
            number = self._games[rows[i]].number
            self._moves[number].append(int(actions[i]))
            self._values[number].append(None if np.isnan(values[i]) else float(values[i]))
        self._states[rows[good]] = after = self.game.advance(self._states[rows[good]], actions[good])
        outcomes = self.game.outcome(after)
        over = {int(rows[i]): self._finish(int(rows[i]), points=float(movers[i]), fault=faults[i]) for i in faults}
        for i, outcome in zip(good, outcomes, strict=True):
            row = int(rows[i])
            if outcome != ONGOING:
                over[row] = self._finish(row, points=points_of(int(outcome)), outcome=int(outcome))
            elif self.adjudicate and proven[i]:
                result = float(np.sign(values[i])) * (1 - 2 * int(movers[i]))  # for the first player
                over[row] = self._finish(row, points=(1.0 + result) / 2.0, adjudicated=True)
        return over

    def _finish(
        self, row: int, *, points: float, outcome: int | None = None, fault: str = "", adjudicated: bool = False
    ) -> GameRecord:
        scheduled = self._games[row]
        return GameRecord(
            number=scheduled.number,
            start=scheduled.opening.start,
            moves=tuple(self._moves.pop(scheduled.number)),
            opening_plies=len(scheduled.opening.moves),
            outcome=outcome,
            points=points,
            first=self.players[scheduled.first].text,
            second=self.players[scheduled.second].text,
            values=tuple(self._values.pop(scheduled.number)),
            fault=fault,
            adjudicated=adjudicated,
        )

    def _clear(self, rows: Sequence[int]) -> None:
        """Take finished games off the table and tell their players."""
        if not rows:
            return
        for place, player in enumerate(self.players):
            own = [game.number for game in map(self._games.__getitem__, rows) if place in (game.first, game.second)]
            if own:
                player.forget(np.array(own))
        left = np.setdiff1d(np.arange(len(self._games)), rows)
        self._states, self._games = self._states[left], [self._games[row] for row in left]


def _checked(choice: Choice, count: int) -> Choice:
    """The choice with arrays of the right kind; ValueError if it is not one for `count` positions."""
    actions = np.asarray(choice.actions)
    if actions.shape != (count,) or not np.issubdtype(actions.dtype, np.integer):
        raise ValueError(f"{count} actions were wanted, not {actions.dtype}{list(actions.shape)}")
    for name, given in (("values", choice.values), ("proofs", choice.proven)):
        if given is not None and np.shape(given) != (count,):
            raise ValueError(f"{count} {name} were wanted, not {list(np.shape(given))}")
    if choice.proven is not None and (choice.values is None or np.isnan(choice.values[choice.proven]).any()):
        raise ValueError("a result is said to be proven and not given")
    return Choice(actions.astype(np.int32), choice.values, choice.proven)


def _nothing(count: int) -> Choice:
    return Choice(np.zeros(count, dtype=np.int32))


def _joined(choices: Sequence[Choice]) -> Choice:
    """Choices for one position each as one; what a player says of one it may not say of the next."""
    unknown: Float32s = np.full(1, np.nan, dtype=np.float32)
    no = np.zeros(1, dtype=np.bool_)
    return Choice(
        np.concatenate([choice.actions for choice in choices]),
        np.concatenate([unknown if choice.values is None else choice.values for choice in choices]),
        np.concatenate([no if choice.proven is None else choice.proven for choice in choices]),
    )
