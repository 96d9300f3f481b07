"""Programs as players: `gtp:gnugo --mode gtp`, `uci:stockfish(ms=100)`.

A program is told the moves of a game and asked for its next one. One process serves all games of a player: it is told
another game from its beginning when that game's turn comes. A program that dies, hangs, gives up or talks nonsense
raises EngineError, which costs it that game; it is started afresh for the next, and given up after a few failures in a
row. What is said to it is in `engines_gtp` and `engines_uci`.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from palaestra.base.errors import EngineError, PlayerError
from palaestra.base.streams import Rng
from palaestra.base.text import clip
from palaestra.base.types import Int8s, Int32s, Int64s
from palaestra.base.user_code import may_start
from palaestra.games.base import Game
from palaestra.players.base import Player
from palaestra.players.engines_process import EngineProcess, words_of

START = 60.0  # seconds, at least, that a program has for its first answers: some read large networks
MOST_FAILURES = 3  # in a row, after which a program is not asked any more: waiting for one that hangs takes long


class EnginePlayer(Player):
    """A program; `wait` are the seconds for an answer in a game, after which it counts as hanging.

    It is started here: PlayerError if that is not allowed, or if it cannot play this game.
    """

    follows = True

    def __init__(self, game: Game, text: str, command: str, wait: float) -> None:
        super().__init__(game, text)
        if not may_start(command):
            raise PlayerError(
                f"the command {clip(command)} is not started because a file, a setting or a page names it: only as a"
                " player that you type, as in: palaestra match GAME 'gtp:gnugo --mode gtp' random"
            )
        if game.players != 2:
            raise PlayerError(f"{text}: {game.id} has one player, and programs play games for two")
        self.wait = self._patience = wait
        self._prepare()
        self._words = words_of(command)
        self._process: EngineProcess | None = None
        self._failures = 0
        self._games: dict[int, tuple[int, tuple[int, ...]]] = {}  # by slot: the start, and the moves since then
        self._answers: dict[int, tuple[bytes, int | EngineError]] = {}  # by slot: to which state it said what
        try:
            self._begin()
        except EngineError as error:
            self._stop()
            raise PlayerError(f"{error}") from None

    # What a protocol gives.

    @abstractmethod
    def _prepare(self) -> None:
        """Find out how the game's moves are written; GameError if this protocol cannot write them."""

    @abstractmethod
    def _greet(self, process: EngineProcess) -> None:
        """Get a fresh process ready for games; EngineError if it does not answer as it should."""

    @abstractmethod
    def _ask(self, process: EngineProcess, states: Sequence[Int8s], actions: Sequence[int]) -> int:
        """The program's action in the last of the states, to which the actions led from the first."""

    # The player.

    def follow(self, slot: int, start: int, moves: Sequence[int]) -> None:
        self._games[slot] = start, tuple(moves)

    def act(self, states: Int8s, rng: Rng, slots: Int64s | None = None) -> Int32s:
        numbers = [None] * len(states) if slots is None else slots.tolist()
        return np.array([self._answer(state, slot) for state, slot in zip(states, numbers, strict=True)], np.int32)

    def forget(self, slots: Int64s | None = None) -> None:
        for slot in list(self._games) if slots is None else slots.tolist():
            self._games.pop(slot, None)
            self._answers.pop(slot, None)

    def _answer(self, state: Int8s, slot: int | None) -> int:
        """The action; asked once more about the same turn of a game, it says the same without asking the program."""
        known = None if slot is None else self._answers.get(slot)
        if known is None or known[0] != state.tobytes():
            known = state.tobytes(), self._guarded(state, slot)
            if slot is not None:
                self._answers[slot] = known
        if isinstance(known[1], EngineError):
            raise known[1]
        return known[1]

    def _guarded(self, state: Int8s, slot: int | None) -> int | EngineError:
        states, actions = self._course(state, slot)
        if self._failures >= MOST_FAILURES:
            return EngineError(f"{self.text} failed {MOST_FAILURES} times in a row and is not asked any more")
        counts, legal = self.game.legal(state[None])
        try:
            if counts[0] == 1:
                return int(legal[0, 0])  # nothing to ask: the program hears of it with the next moves
            action = self._ask(self._begin(), states, actions)
        except EngineError as error:
            self._failures += 1
            self._stop()
            return error
        self._failures = 0
        return action

    def _course(self, state: Int8s, slot: int | None) -> tuple[list[Int8s], tuple[int, ...]]:
        """Every state from the start to this one, and the actions between them; PlayerError if they are not known."""
        start, actions = self._games.get(slot, (0, ())) if slot is not None else (0, ())
        if start != 0:
            raise PlayerError(f"{self.text} cannot be told that a game of {self.game.id} begins in position {start}")
        states = [self.game.start(np.zeros(1, dtype=np.int64))[0]]
        for action in actions:
            states.append(self.game.advance(states[-1][None], np.array([action], dtype=np.int32))[0])
        if states[-1].tobytes() != state.tobytes():
            raise PlayerError(
                f"{self.text} must be told the moves of a game, and here nobody knows them; try play or match"
            )
        return states, actions

    # The process.

    def _begin(self) -> EngineProcess:
        if self._process is None:
            self._process = EngineProcess(self._words, self.text)
            self._patience = max(self.wait, START)
            self._greet(self._process)
        self._patience = self.wait
        return self._process

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
        self._process = None

    def _deadline(self, thinking: float = 0.0) -> float:
        """When the program counts as hanging, if it may think so many seconds."""
        return time.monotonic() + self._patience + thinking
