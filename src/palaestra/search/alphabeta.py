"""Alpha-beta over ordered outcomes: iterative deepening, exact when it reaches the end. Knows no game.

`alphabeta_values` says what values mean and when one is proven; deepening stops at a proven root.

**Ties.** The window at the root stays one below the best value, so every root move that is exactly as good as the best
shows its exact value, and all of those, and only those, are in `Result.actions`.

Each search forgets the table of the one before: its result depends on the position and the limits alone. Games with
compiled rules run in `alphabeta_loops`, in slices of a millisecond or so between which the clock is read; all others in
`alphabeta_plain`, which gives the same values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba.core.errors import NumbaError

from palaestra.base.compiling import clock
from palaestra.base.errors import GameError
from palaestra.base.jit import reason
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.kernel_game import KernelGame
from palaestra.games.rows import ONGOING
from palaestra.games.symmetry import Symmetry
from palaestra.search import alphabeta_loops as layout
from palaestra.search.alphabeta_plain import PlainSearch
from palaestra.search.alphabeta_table import MAX_ACTIONS, MAX_GENERATION, NO_ACTION, make_table
from palaestra.search.alphabeta_values import SCALE, UNBOUNDED, Backend, Iteration, Limits, Terms

SLICE_SECONDS = 0.001  # between two looks at the clock
SYMMETRIC_PLIES = 8  # below a symmetric root: images of a position share one entry down to here


@dataclass(frozen=True, eq=False)
class Result:
    """The best moves of one position and what they are worth, from the first player's view."""

    value: int  # outcome * SCALE, or an estimate below SCALE
    proven: bool
    actions: list[int]  # all moves as good as the best, ascending
    depth: int  # plies of the last finished iteration
    nodes: int

    @property
    def outcome(self) -> int | None:
        """The outcome under perfect play, once proven."""
        return self.value // SCALE if self.proven else None


class AlphaBeta:
    """Searches positions of one game; `entries` is the size of the transposition table."""

    def __init__(self, game: Game, entries: int = 2**18, estimates: bool = True) -> None:
        self.game = game
        terms = Terms.of(game, estimates)
        self.backend: Backend
        if isinstance(game, KernelGame) and game.num_actions <= MAX_ACTIONS:
            self.backend = CompiledSearch(game, terms, entries)
        else:
            self.backend = PlainSearch(game, terms, entries)

    def search(self, state: Int8s, depth: int | None = None, ms: float | None = None) -> Result:
        """Deepen ply by ply to `depth`, for `ms` milliseconds or until proven; the first ply is always finished."""
        limits = Limits() if ms is None else Limits(deadline=clock() + ms / 1000.0)
        left = self.game.max_plies - int(self.game.plies(state[None])[0])
        last = left if depth is None else min(depth, left)
        self.backend.begin(state)
        found = self.backend.iterate(state, 1, -UNBOUNDED, UNBOUNDED, Limits())
        assert found is not None
        reached = 1
        while reached < last and not found.proven and not limits.reached(self.backend.nodes):
            deeper = self.backend.iterate(state, reached + 1, -UNBOUNDED, UNBOUNDED, limits)
            if deeper is None:
                break
            found, reached = deeper, reached + 1
        return self._result(found, reached)

    def _result(self, found: Iteration, depth: int) -> Result:
        ties = sorted(int(a) for a in found.actions[found.values == found.value])
        return Result(found.value, found.proven, ties, depth, self.backend.nodes)

    def line(self, state: Int8s, action: int, longest: int) -> list[int]:
        """The principal variation that begins with `action`, as far as the table remembers it."""
        pv: list[int] = []
        following: int | None = action
        while following is not None and len(pv) < longest:
            pv.append(following)
            state = self.game.advance(state[None], np.array([following], dtype=np.int32))[0]
            following = self.backend.recall(state) if self.game.outcome(state[None])[0] == ONGOING else None
        return pv


class CompiledSearch:
    """Iterations in compiled slices; see `alphabeta_loops` for the arrays."""

    def __init__(self, game: KernelGame, terms: Terms, entries: int) -> None:
        self.game = game
        self._loops = game.rules.bind("palaestra.search.alphabeta_loops")
        self._table = make_table(entries)
        self._registers = np.zeros(layout.REGISTERS, dtype=np.int64)
        self._registers[layout.UNIT] = terms.unit
        self._registers[layout.LIMIT] = terms.limit
        self._registers[layout.SCALE] = SCALE
        self._registers[layout.SETTLED] = terms.settled
        self._history = np.zeros((2, game.num_actions), dtype=np.int64)
        self._root_values = np.zeros(game.max_legal, dtype=np.int64)
        self._slice = 64  # nodes, adapted to the game's speed
        self._use_symmetries(game.symmetries[:1])
        self._resize(4)
        self._compile()

    @property
    def nodes(self) -> int:
        return int(self._registers[layout.NODES])

    def _use_symmetries(self, symmetries: Sequence[Symmetry]) -> None:
        """A group of symmetries, identity first, whose images of a position count as the same."""
        cells = np.stack([symmetry.cells for symmetry in symmetries]).astype(np.int32)
        images = np.stack([symmetry.actions for symmetry in symmetries]).astype(np.int32)
        self._symmetries: layout.Images = cells, images, np.argsort(images, axis=1).astype(np.int32)

    def _resize(self, depth: int) -> None:
        """Room for `depth` plies below the root."""
        rows, most = depth + 2, self.game.max_legal
        words = np.zeros((rows, self.game.state_size // 8), dtype=np.uint64)
        self._states = words.view(np.int8)
        self._actions = np.zeros((rows, most), dtype=np.int32)
        self._frames = np.zeros((rows, layout.FRAME), dtype=np.int64)
        keys, merits = np.zeros((rows, 2), dtype=np.uint64), np.zeros((rows, most), dtype=np.int64)
        self._path: layout.Path = self._states, words, keys, self._actions, merits, self._frames
        self._cuts: layout.Cuts = np.full((rows, 2), NO_ACTION, dtype=np.int32), self._history

    def _compile(self) -> None:
        """Compile, or load from the cache, before any clock runs; GameError if the game's rules do not compile."""
        state = self.game.start(np.zeros(1, dtype=np.int64))[0]
        try:
            self.begin(state)
            self.iterate(state, 1, -UNBOUNDED, UNBOUNDED, Limits())
            self.recall(state)
        except NumbaError as error:
            raise GameError(f"{self.game.id}: its rules do not compile: {reason(error)}") from error

    def begin(self, state: Int8s) -> None:
        registers = self._registers
        if registers[layout.GENERATION] == MAX_GENERATION:
            self._table[:] = 0
            registers[layout.GENERATION] = 0
        registers[layout.GENERATION] += 1
        registers[layout.NODES] = 0
        # Only a symmetry that leaves the root alone makes whole subtrees alike; others are not worth their time.
        self._use_symmetries([s for s in self.game.symmetries if (self.game.permute(state[None], s) == state).all()])
        ply = int(self.game.plies(state[None])[0])
        registers[layout.IMAGES_UNTIL] = ply + SYMMETRIC_PLIES if len(self._symmetries[0]) > 1 else 0
        killers, history = self._cuts
        killers[:] = NO_ACTION
        history[:] = 0

    def iterate(self, state: Int8s, depth: int, alpha: int, beta: int, limits: Limits) -> Iteration | None:
        if depth + 2 > len(self._states):
            self._resize(min(2 * depth, self.game.max_plies))
        self._states[0] = state
        path, cuts, registers, rest = self._path, self._cuts, self._registers, (self._symmetries, self.game.params)
        self._loops.begin(depth, alpha, beta, path, cuts, self._table, registers, *rest)
        while True:
            before, began = self.nodes, clock()
            registers[layout.STOP_AT] = min(before + self._slice, limits.nodes)
            self._loops.run(path, cuts, self._table, self._root_values, registers, *rest)
            speed = (self.nodes - before) / max(clock() - began, 1e-9)
            self._slice = int(min(max(SLICE_SECONDS * speed, 1), 2 * self._slice))
            if registers[layout.LEVEL] == layout.DONE:
                break
            if limits.reached(self.nodes):
                return None
        root = self._frames[0]
        searched = int(root[layout.NEXT])
        return Iteration(
            int(root[layout.BEST]),
            bool(root[layout.PROVEN]),
            self._actions[0, :searched].copy(),
            self._root_values[:searched].copy(),
        )

    def recall(self, state: Int8s, proven: bool = False) -> int | None:
        self._states[0] = state
        action = self._loops.recall(
            self._path, self._table, self._registers, self._symmetries, proven, self.game.params
        )
        return None if action == NO_ACTION else int(action)
