"""The slower path: a game written as an ordinary Python class, one state at a time, with no Numba.

    class Race(PlainRules[tuple[int, ...]]):              # who says 10 wins; one adds 1 or 2
        def start(self, choice): return (0, 0)            # the count, and whose turn it is
        def mover(self, state): return state[1]
        def moves(self, state): return [a for a in (0, 1) if state[0] + a < 10]
        def play(self, state, action): return (state[0] + action + 1, 1 - state[1])
        def result(self, state): return None if state[0] < 10 else (1 if state[1] == 1 else -1)

    GAME = PythonGame.of(Race(), id="race", num_actions=2, max_plies=10, tiebreak="plies")

A state is a tuple of integers from -128 to 127, always of one length. A class of your own serves as well: give the
rules `encode` (state → such a tuple) and `decode` (back). Every call decodes afresh, so `play` may change the state it
is given and return it. The adapter keeps the ply and turns results into ordered outcomes; two states are the same
position when their numbers and their plies are the same.

Misuse is a `GameError` of one line that names the method. This module knows no particular game.
"""

from __future__ import annotations

import hashlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from palaestra.base.errors import GameError, PalaestraError
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s
from palaestra.games.base import ActionLayout, Game, Tiebreak
from palaestra.games.kernel_game import state_bytes
from palaestra.games.rows import HEADER, ONGOING

State = TypeVar("State")


class PlainRules(ABC, Generic[State]):
    """What an author writes; the first five methods are needed, the rest have something to fall back on."""

    @abstractmethod
    def start(self, choice: int) -> State:
        """Initial position number `choice` (0 in a game with one)."""

    @abstractmethod
    def mover(self, state: State) -> int:
        """Whose turn it is: 0 for the first player, 1 for the second."""

    @abstractmethod
    def moves(self, state: State) -> Iterable[int]:
        """The legal actions, in any order; not asked once there is a result."""

    @abstractmethod
    def play(self, state: State, action: int) -> State:
        """The state after a legal action."""

    @abstractmethod
    def result(self, state: State) -> int | None:
        """None while play goes on; then positive if the first player has won, negative if not, 0 for a draw.

        With tiebreak "margin" or "score" the number itself counts, otherwise only its sign.
        """

    def encode(self, state: State) -> Sequence[int]:
        """The state as integers from -128 to 127, always equally many."""
        return tuple(state)  # type: ignore[arg-type]  # a state that is no tuple brings its own encode

    def decode(self, numbers: tuple[int, ...]) -> State:
        """The inverse of `encode`."""
        return numbers  # type: ignore[return-value]  # as above

    def planes(self, state: State) -> ArrayLike:
        """What a network sees, [C, H, W] from the mover's side; by default the state's numbers and whose turn it is."""
        numbers = np.array(self.encode(state), dtype=np.float32)
        return np.stack([numbers, np.full_like(numbers, self.mover(state))])[:, None, :]

    def draw(self, state: State) -> str:
        """A drawing for the terminal."""
        return str(state)

    def move_text(self, state: State, action: int) -> str:
        """How a person writes an action: one word."""
        return str(action)

    def score(self, state: State) -> int:
        """A rough estimate from the first player's side, for players that look a few plies ahead."""
        return 0


@dataclass(frozen=True, eq=False, kw_only=True)
class PythonGame(Game):
    """The batch interface over plain rules: loops in Python. Made by `PythonGame.of`."""

    rules: PlainRules[Any]
    length: int  # integers in a state
    stamp: str = field(init=False, repr=False)  # of the file that the rules were read from

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "stamp", _file_stamp(type(self.rules)))

    @property
    def fingerprint(self) -> str:
        return f"{super().fingerprint} rules {self.stamp}"

    @classmethod
    def of(
        cls,
        rules: PlainRules[Any],
        *,
        id: str,
        num_actions: int,
        max_plies: int,
        max_legal: int | None = None,
        num_starts: int = 1,
        players: int = 2,
        tiebreak: Tiebreak = "none",
        largest_outcome: int = 0,
        version: int = 1,
        action_layout: ActionLayout = "",
        goal: str = "",
    ) -> PythonGame:
        """The game of these rules; sizes that can be seen in the initial position are taken from it."""
        first = _ask(id, rules, "start", 0)
        numbers = tuple(_ask(id, rules, "encode", first))
        planes = np.asarray(_ask(id, rules, "planes", first), dtype=np.float32)
        if planes.ndim != 3:
            raise GameError(f"{id}: planes gave {list(planes.shape)} numbers; channels × height × width are needed")
        return cls(
            id=id,
            num_actions=num_actions,
            max_plies=max_plies,
            max_legal=max_legal or num_actions,
            state_size=state_bytes(len(numbers)),
            observation_shape=(planes.shape[0], planes.shape[1], planes.shape[2]),
            version=version,
            action_layout=action_layout,
            goal=goal,
            players=players,
            tiebreak=tiebreak,
            largest_outcome=largest_outcome,
            num_starts=num_starts,
            rules=rules,
            length=len(numbers),
        )

    # One row: bytes to the user's state and back.

    def ask(self, method: str, *arguments: Any) -> Any:
        """Call one of the rules; whatever it raises becomes a GameError that names it."""
        return _ask(self.id, self.rules, method, *arguments)

    def unpack(self, row: Int8s) -> Any:
        """The user's own state."""
        return self.ask("decode", tuple(row[HEADER : HEADER + self.length].tolist()))

    def pack(self, state: Any, ply: int) -> Int8s:
        """int8[S] of a user's state, header included."""
        numbers = _integers(self.id, "encode", self.ask("encode", state))
        if len(numbers) != self.length:
            raise GameError(f"{self.id}: a state of {len(numbers)} numbers; the initial one has {self.length}")
        if numbers and not -128 <= min(numbers) <= max(numbers) <= 127:
            raise GameError(f"{self.id}: a state holds {min(numbers)} to {max(numbers)}; -128 to 127 fit into a byte")
        mover = self.ask("mover", state)
        if mover not in (0, 1):
            raise GameError(f"{self.id}: mover gave {mover!r}; it is 0 or 1")
        row = np.zeros(self.state_size, dtype=np.int8)
        row[0] = mover
        row[2:4] = np.array([ply], dtype=np.int16).view(np.int8)
        row[4:8] = np.array([self._outcome(state, ply)], dtype=np.int32).view(np.int8)
        row[HEADER : HEADER + self.length] = numbers
        return row

    def _outcome(self, state: Any, ply: int) -> int:
        result = self.ask("result", state)
        if result is None:
            return ONGOING
        if not isinstance(result, int | np.integer) or not -(2**31) < result < 2**31:
            raise GameError(
                f"{self.id}: result gave {result!r}; None, or a whole number below 2**31 in size, is needed"
            )
        if self.tiebreak in ("margin", "score"):
            return int(result)
        size = self.max_plies + 1 - ply if self.tiebreak == "plies" else 1
        return size if result > 0 else -size if result < 0 else 0

    def _moves(self, row: Int8s) -> list[int]:
        """Ascending; empty after the end."""
        if self.outcome(row[None])[0] != ONGOING:
            return []
        moves = sorted(_integers(self.id, "moves", self.ask("moves", self.unpack(row))))
        if len(moves) > self.max_legal:
            raise GameError(f"{self.id}: moves gave {len(moves)} actions; max_legal is {self.max_legal}")
        if moves and not 0 <= moves[0] <= moves[-1] < self.num_actions:
            raise GameError(f"{self.id}: moves gave {moves}; actions are 0 to {self.num_actions - 1}")
        return moves

    # The batch interface.

    def start(self, choices: Int64s) -> Int8s:
        return self._rows([self.pack(self.ask("start", int(choice)), 0) for choice in choices])

    def advance(self, states: Int8s, actions: Int32s) -> Int8s:
        plies = self.plies(states) + 1
        return self._rows(
            [
                self.pack(self.ask("play", self.unpack(row), int(action)), int(ply))
                for row, action, ply in zip(states, actions, plies, strict=True)
            ]
        )

    def legal(self, states: Int8s) -> tuple[Int32s, Int32s]:
        counts = np.zeros(len(states), dtype=np.int32)
        actions = np.zeros((len(states), self.max_legal), dtype=np.int32)
        for i, row in enumerate(states):
            moves = self._moves(row)
            counts[i] = len(moves)
            actions[i, : len(moves)] = moves
        return counts, actions

    def observe(self, states: Int8s) -> Float32s:
        planes = np.empty((len(states), *self.observation_shape), dtype=np.float32)
        for i, row in enumerate(states):
            seen = np.asarray(self.ask("planes", self.unpack(row)))
            if seen.shape != self.observation_shape:
                raise GameError(
                    f"{self.id}: planes gave {list(seen.shape)}; at the start {list(self.observation_shape)}"
                )
            planes[i] = seen
        return planes

    def score(self, states: Int8s) -> Int32s:
        return np.array([self.ask("score", self.unpack(row)) for row in states], dtype=np.int32)

    def render(self, state: Int8s) -> str:
        return str(self.ask("draw", self.unpack(state)))

    def action_to_text(self, state: Int8s, action: int) -> str:
        return str(self.ask("move_text", self.unpack(state), int(action)))

    def _rows(self, rows: list[Int8s]) -> Int8s:
        return np.stack(rows) if rows else np.zeros((0, self.state_size), dtype=np.int8)


def _file_stamp(rules: type) -> str:
    """A hash of the file that a class stands in; empty for a class typed at a prompt."""
    try:
        return hashlib.sha256(Path(inspect.getfile(rules)).read_bytes()).hexdigest()[:32]
    except (OSError, TypeError):
        return ""


def _ask(id: str, rules: PlainRules[Any], method: str, *arguments: Any) -> Any:
    try:
        return getattr(rules, method)(*arguments)
    except PalaestraError:
        raise
    except Exception as error:  # the user's own code may fail in any way at all
        reason = " ".join(str(error).split())
        raise GameError(f"{id}: {method} raised {type(error).__name__}: {reason}") from error


def _integers(id: str, method: str, given: Any) -> list[int]:
    """A list of Python integers, from whatever a rule returned."""
    try:
        numbers = list(given)
    except TypeError:
        raise GameError(f"{id}: {method} gave {given!r}; whole numbers in a tuple or list are needed") from None
    for number in numbers:
        if not isinstance(number, int | np.integer):
            raise GameError(f"{id}: {method} gave {number!r} among its numbers; whole numbers are needed")
    return [int(number) for number in numbers]
