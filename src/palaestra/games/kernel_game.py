"""Games whose rules are compiled functions of one state; the loops over batches come from `palaestra.games.loops`.

A game's author writes four functions (and two more if wanted: symmetries, a static score), each `@njit`, of one state:

    start(state, choice, p)             fill a zeroed state with initial position `choice`
    play(state, action, p) -> outcome   make a legal move in place, set whose turn is next, say ONGOING or the outcome
    legal(state, actions, p) -> count   write the legal actions in ascending order (the game is not over)
    observe(state, planes, p)           fill zeroed planes [C, H, W] from the mover's side
    permute(state, out, cells, actions, swap, p)
                                        fill the zeroed body of `out` with the image of `state`
    score(state, p) -> int              optional: a rough static estimate from the first player's side (material,
                                        distance to the goal), for players that look only a few plies ahead

`p` is an int64 vector of whatever the rules need to know: board sizes, masks, tables. The header (whose turn, ply,
outcome) is kept by the loops, except that `play` sets the next mover.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError

from palaestra.base.errors import GameError
from palaestra.base.jit import bind, fingerprint, kernel, reason
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s, UInt64s
from palaestra.games.base import Game, Playouts
from palaestra.games.rows import HEADER
from palaestra.games.symmetry import Symmetry


@kernel
def no_permute(state: Int8s, out: Int8s, cells: Int32s, actions: Int32s, swap: bool, p: Int64s) -> None:
    """Stands in where a game has no symmetries; never called then."""


@kernel
def no_score(state: Int8s, p: Int64s) -> int:
    """Nothing is known before the end."""
    return 0


# Free names of the templates, for readers and type checkers only: `bind` supplies a game's own.
start: Any
play: Any
legal: Any
observe: Any
permute: Any
score: Any
move: Any

LOOPS = "palaestra.games.loops"


@dataclass(frozen=True)
class Rules:
    """The compiled functions of one game."""

    start: Any
    play: Any
    legal: Any
    observe: Any
    permute: Any = no_permute
    score: Any = no_score
    # Taken when the rules are made, so that a file edited afterwards cannot pass for the code that was read from it.
    stamp: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name, function in self.functions().items():
            if not isinstance(function, Dispatcher):
                raise GameError(f"the rule {name!r} is {function!r}: a compiled function is needed, put @njit above it")
        object.__setattr__(self, "stamp", fingerprint(self.functions()))

    def functions(self) -> dict[str, Any]:
        """The functions by name, as the templates call them."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.init}

    def bind(self, template: str, others: Mapping[str, Any] | None = None) -> ModuleType:
        """The template's loops compiled with these rules and `others`, functions that are not the game's.

        Beside them, `move` is that of `palaestra.games.loops`.
        """
        functions, stamp = {**self.functions(), **(others or {})}, self.stamp
        if template != LOOPS:
            functions["move"] = self.bind(LOOPS).move
        if others:
            stamp = hashlib.sha256(f"{stamp} {fingerprint(others)}".encode()).hexdigest()
        return bind(template, functions, self.play.py_func.__module__, stamp)


def state_bytes(body: int) -> int:
    """Size of a state with `body` bytes of its own, rounded up to whole 64-bit words."""
    return HEADER + (body + 7) // 8 * 8


@dataclass(frozen=True, eq=False, kw_only=True)
class KernelGame(Game):
    """A game given by compiled rules and their parameters."""

    rules: Rules
    params: Int64s

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "params", np.ascontiguousarray(self.params, dtype=np.int64).reshape(-1))

    @property
    def fingerprint(self) -> str:
        return f"{super().fingerprint} rules {self.rules.stamp}"

    @cached_property
    def _loops(self) -> ModuleType:
        return self.rules.bind(LOOPS)

    def _run(self, loop: str, *arguments: Any) -> Any:
        return self.call(getattr(self._loops, loop), *arguments)

    def call(self, loop: Any, *arguments: Any) -> Any:
        """Call a loop bound with the rules; rules that do not compile are the author's to mend, in one line."""
        try:
            return loop(*arguments)
        except NumbaError as error:
            raise GameError(f"{self.id}: its rules do not compile: {reason(error)}") from error

    def start(self, choices: Int64s) -> Int8s:
        states = np.empty((len(choices), self.state_size), dtype=np.int8)
        self._run("initial_rows", np.ascontiguousarray(choices, dtype=np.int64), self.params, states)
        return states

    def advance(self, states: Int8s, actions: Int32s) -> Int8s:
        after = _own_copy(states)
        self._run("advance_rows", after, _int32(actions), self.params)
        return after

    def legal(self, states: Int8s) -> tuple[Int32s, Int32s]:
        counts = np.empty(len(states), dtype=np.int32)
        actions = np.empty((len(states), self.max_legal), dtype=np.int32)
        self._run("legal_rows", np.ascontiguousarray(states), self.params, counts, actions)
        return counts, actions

    def step(self, states: Int8s, actions: Int32s) -> tuple[Int8s, Int32s, Int32s]:
        after = _own_copy(states)
        counts = np.empty(len(states), dtype=np.int32)
        following = np.empty((len(states), self.max_legal), dtype=np.int32)
        self._run("step_rows", after, _int32(actions), self.params, counts, following)
        return after, counts, following

    def observe(self, states: Int8s) -> Float32s:
        planes = np.zeros((len(states), *self.observation_shape), dtype=np.float32)
        self._run("observe_rows", np.ascontiguousarray(states), self.params, planes)
        return planes

    def permute(self, states: Int8s, symmetry: Symmetry, swap: bool = False) -> Int8s:
        if self.rules.permute is no_permute:
            return super().permute(states, symmetry, swap)
        if swap and self.exchange is None:
            raise GameError(f"{self.id}: its players cannot change places")
        images = np.empty_like(states, order="C")
        cells, actions = _int32(symmetry.cells), _int32(symmetry.actions)
        self._run("permute_rows", np.ascontiguousarray(states), cells, actions, swap, self.params, images)
        return images

    def rollout(self, states: Int8s, streams: UInt64s, trace: bool = False) -> Playouts:
        ends = _own_copy(states)
        scratch = np.empty(self.max_legal, dtype=np.int32)
        if not trace:
            self._run("rollout_rows", ends, streams, self.params, scratch)
            return Playouts(ends, self.outcome(ends))
        lengths = np.zeros(len(states), dtype=np.int32)
        moves = np.zeros((len(states), self.max_plies), dtype=np.int32)
        movers = np.zeros(moves.shape, dtype=np.int8)
        self._run("traced_rollout_rows", ends, streams, self.params, scratch, lengths, moves, movers)
        return Playouts(ends, self.outcome(ends), lengths, moves, movers)

    def score(self, states: Int8s) -> Int32s:
        scores = np.empty(len(states), dtype=np.int32)
        self._run("score_rows", np.ascontiguousarray(states), self.params, scores)
        return scores

    def count_leaves(self, state: Int8s, depth: int) -> int:
        return int(self._run("count_leaves", np.ascontiguousarray(state), depth, self.params, self.max_legal))


def _own_copy(states: Int8s) -> Int8s:
    return np.array(states, dtype=np.int8, order="C")


def _int32(actions: Int32s) -> Int32s:
    return np.ascontiguousarray(actions, dtype=np.int32)
