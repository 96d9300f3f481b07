"""Random games of a game that may be broken: the positions that `palaestra.games.laws` looks at.

Play goes through the public batch interface, and every answer is examined before it is used: a list of legal actions
that is too long, or an action out of range, would make compiled rules write outside their arrays. `Broken` names the
law and stops play there. Nothing here knows any game's rules.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from palaestra.base.streams import keyed_seeds
from palaestra.base.types import Bools, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.base import Game, pick_rows
from palaestra.games.kernel_game import KernelGame
from palaestra.games.rows import ONGOING

MOST_STARTS = 64  # initial positions looked at
MOST_ROWS = 160  # positions for the laws that go through them one by one


@dataclass(frozen=True, eq=False)
class Sample:
    """Random games: N positions that were met, the move made in each, and where it led."""

    game: Game
    seed: int
    choices: Int64s  # [G] number of each game's initial position
    moves: list[list[int]]  # of each game
    starts: Int8s  # [G, S]
    ends: Int8s  # [G, S]
    owner: Int64s  # [N] game that a position belongs to
    ply: Int64s  # [N] moves made before it
    before: Int8s  # [N, S]
    action: Int32s  # [N]
    after: Int8s  # [N, S]

    def streams(self) -> UInt64s:
        """The streams that the games were drawn from, one per game."""
        return keyed_seeds(self.seed, np.arange(len(self.starts)))

    def where(self, row: int, action: int | None = None) -> str:
        """How to come to position `row`, as `--moves` takes it, and the action looked at."""
        number = int(self.owner[row])
        return describe(self.game, int(self.choices[number]), self.moves[number][: self.ply[row]], action)

    def end_of(self, number: int) -> str:
        """How game `number` came to its end."""
        return describe(self.game, int(self.choices[number]), self.moves[number])

    def some(self) -> list[int]:
        """At most MOST_ROWS rows, spread evenly."""
        return np.unique(np.linspace(0, len(self.before) - 1, MOST_ROWS).astype(np.int64)).tolist()


class Broken(Exception):
    """Play cannot go on: `law` and `line` say why."""

    def __init__(self, law: str, line: str) -> None:
        super().__init__(line)
        self.law, self.line = law, line


def play_games(game: Game, seed: int, count: int) -> Sample:
    """Random games in lockstep, each from its own stream; Broken at the first thing that makes going on unsafe."""
    return _Walk(game, seed, count).run()


def raised(error: Exception) -> str:
    """One line about an exception that a rule raised."""
    return f"raised {type(error).__name__}: {' '.join(str(error).split())[:300]}"


def describe(game: Game, choice: int, moves: list[int], action: int | None = None) -> str:
    """`after "d1 c1", action 5 (c2)`; numbers stand in for moves that the game cannot write."""
    words, shown = [str(move) for move in moves], ""
    with suppress(Exception):
        state = game.start(np.array([choice]))[0]
        written = []
        for move in moves:
            written.append(game.action_to_text(state, move))
            state = game.advance(state[None], np.array([move], dtype=np.int32))[0]
        words = written
        shown = "" if action is None else f" ({game.action_to_text(state, action)})"
    if game.num_starts > 1:
        words.insert(0, f"@{choice}")
    place = f'after "{" ".join(words)}"' if words else "at the start"
    return place if action is None else f"{place}, action {action}{shown}"


def is_array(array: object, shape: tuple[int, ...], dtype: type) -> bool:
    return isinstance(array, np.ndarray) and array.shape == shape and array.dtype == dtype


def kind(array: Any) -> str:
    """dtype and shape of what should have been an array."""
    return f"{array.dtype}{list(array.shape)}" if isinstance(array, np.ndarray) else f"a {type(array).__name__}"


class _Walk:
    """Games on their way: `moves[g]` is what game g has played, `running` the numbers of those not over."""

    def __init__(self, game: Game, seed: int, count: int) -> None:
        self.game, self.seed = game, seed
        self.roomy = _with_room(game)
        self.choices = np.random.default_rng(seed).integers(max(1, game.num_starts), size=count)
        self.moves: list[list[int]] = [[] for _ in range(count)]

    def run(self) -> Sample:
        starts = self.starts()
        states, running = starts.copy(), np.arange(len(starts))
        streams = keyed_seeds(self.seed, running)
        rows: list[tuple[Any, ...]] = []
        for ply in range(self.game.max_plies):
            before = states[running]
            chosen = pick_rows(*self.legal(before, running), streams, running)
            after = self.advance(before, chosen, running)
            rows.append((running, np.full(len(running), ply), before, chosen, after))
            for number, action in zip(running, chosen, strict=True):
                self.moves[number].append(int(action))
            states[running] = after
            over = self.header("ends", after)[0] != ONGOING
            self.nothing_legal(after[over], running[over])
            running = running[~over]
            if not running.size:
                columns = [np.concatenate(column) for column in zip(*rows, strict=True)]
                return Sample(self.game, self.seed, self.choices, self.moves, starts, states, *columns)
        raise self.broken("ends", running[0], f"play goes on after max_plies={self.game.max_plies} moves")

    def broken(self, law: str, number: int, line: str) -> Broken:
        return Broken(law, f"{describe(self.game, int(self.choices[number]), self.moves[number])}: {line}")

    def starts(self) -> Int8s:
        """The initial states of the games, after a look at all initial states (or MOST_STARTS of them)."""
        game = self.game
        numbers = np.unique(np.linspace(0, game.num_starts - 1, MOST_STARTS).astype(np.int64))
        try:
            states, chosen = game.start(numbers.copy()), game.start(self.choices.copy())
        except Exception as error:  # the user's rules may fail in any way at all
            raise Broken("start", raised(error)) from error
        for asked, given in ((numbers, states), (self.choices, chosen)):
            if not is_array(given, (len(asked), game.state_size), np.int8):
                raise Broken("start", f"start gave {kind(given)}, not int8{[len(asked), game.state_size]}")
        for number, outcome, ply in zip(numbers, *self.header("start", states), strict=True):
            if outcome != ONGOING or ply != 0:
                raise Broken(
                    "start", f"initial position {number} has ply {ply} and outcome {outcome}: it is not unplayed"
                )
        return chosen

    def header(self, law: str, states: Int8s) -> tuple[Int32s, Int32s]:
        """Outcomes and plies of states."""
        try:
            outcomes, plies = self.game.outcome(states.copy()), self.game.plies(states.copy())
        except Exception as error:
            raise Broken(law, raised(error)) from error
        for name, given in (("outcome", outcomes), ("plies", plies)):
            if not is_array(given, (len(states),), np.int32):
                raise Broken(law, f"{name} gave {kind(given)}, not int32[{len(states)}]")
        return outcomes, plies

    def legal(self, states: Int8s, owner: Int64s) -> tuple[Int32s, Int32s]:
        """`legal` of states that are not over, once each is known to be a list of actions that may be played."""
        counts, actions = self.listed(states, owner)
        most = min(self.game.max_legal, actions.shape[1])
        for number, count, row in zip(owner, counts, actions, strict=True):
            if not 1 <= count <= most:
                line = f"{count} actions are legal before the end; it must be 1 to max_legal={self.game.max_legal}"
                raise self.broken("legal", number, line)
            given = row[:count]
            if np.any(given[1:] <= given[:-1]):
                raise self.broken("legal", number, f"legal is not ascending: {given.tolist()}")
            if given[0] < 0 or given[-1] >= self.game.num_actions:
                raise self.broken("legal", number, f"legal leaves 0 to {self.game.num_actions - 1}: {given.tolist()}")
        return counts, actions

    def nothing_legal(self, states: Int8s, owner: Int64s) -> None:
        """Nothing can be played in states that are over."""
        for number, count in zip(owner, self.listed(states, owner)[0], strict=True):
            if count != 0:
                raise self.broken("legal", number, f"{count} actions are legal after the end")

    def listed(self, states: Int8s, owner: Int64s) -> tuple[Int32s, Int32s]:
        try:
            counts, actions = self.roomy.legal(states.copy())
        except Exception as error:
            raise self._failed("legal", owner, error) from error
        width = actions.shape[-1] if isinstance(actions, np.ndarray) and actions.ndim else 0
        if not is_array(counts, (len(states),), np.int32) or not is_array(actions, (len(states), width), np.int32):
            raise Broken(
                "legal", f"legal gave {kind(counts)} and {kind(actions)}, not int32[B] and int32[B, max_legal]"
            )
        return counts, actions

    def advance(self, states: Int8s, actions: Int32s, owner: Int64s) -> Int8s:
        """`advance` by one legal action each."""
        try:
            after = self.game.advance(states.copy(), actions.copy())
        except Exception as error:
            raise self._failed("ends", owner, error) from error
        if not is_array(after, states.shape, np.int8):
            raise Broken("ends", f"advance gave {kind(after)}, not int8{list(states.shape)}")
        return after

    def _failed(self, law: str, owner: Int64s, error: Exception) -> Broken:
        """A batch failed: the first of its games stands for it."""
        return self.broken(law, owner[0], raised(error)) if len(owner) else Broken(law, raised(error))


def _with_room(game: Game) -> Game:
    """The same game with longer lists, so that a list beyond max_legal is seen instead of written past its end."""
    if isinstance(game, KernelGame):
        with suppress(Exception):  # a user's subclass may not be made that way
            return replace(game, max_legal=max(game.max_legal, game.num_actions) + 64)
    return game


def listed_rows(counts: Int32s, actions: Int32s) -> list[list[int]]:
    """The legal actions of each row."""
    return [row[:count].tolist() for count, row in zip(counts, actions, strict=True)]


def differing(one: NDArray[Any], other: NDArray[Any]) -> list[int]:
    """Rows in which two arrays are not the same; NaN is the same as NaN, for the law of observations to judge."""
    both_nan = (one != one) & (other != other)
    return true_rows(((one != other) & ~both_nan).reshape(len(one), -1).any(axis=1))


def true_rows(rows: Bools) -> list[int]:
    return np.flatnonzero(rows).tolist()
