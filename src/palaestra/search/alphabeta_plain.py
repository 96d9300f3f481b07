"""Alpha-beta in ordinary Python, through the public interface of a game: for games without compiled rules.

It gives the same values, proofs and ties as `alphabeta_loops`, whose docstring explains the method, and is the
readable statement of it. All moves of a position are played in one batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.search.alphabeta_table import EXACT, LOWER, UPPER
from palaestra.search.alphabeta_values import SCALE, Iteration, Limits, Terms, worth


@dataclass(frozen=True)
class Known:
    """A remembered result; the bound says whether the value is exact, or at most or at least the true one."""

    value: int
    depth: int
    bound: int
    proven: bool
    action: int

    def answers(self, depth: int, alpha: int, beta: int) -> bool:
        if self.depth != depth and not self.proven:
            return False
        return (
            self.bound == EXACT
            or (self.bound == LOWER and self.value >= beta)
            or (self.bound == UPPER and self.value <= alpha)
        )


class Frame:
    """A position on the path from the root, with its moves still to be searched."""

    def __init__(
        self, key: bytes, first_player: bool, children: list[tuple[int, Int8s]], depth: int, alpha: int, beta: int
    ) -> None:
        self.key, self.first_player, self.depth = key, first_player, depth
        self.alpha, self.beta, self.floor, self.ceiling = alpha, beta, alpha, beta
        self.best: int | None = None
        self.choice = self.current = -1
        self.proven = True
        self.children: Iterator[tuple[int, Int8s]] = iter(children)

    def absorb(self, value: int, proven: bool, slack: int) -> None:
        """Take the value of the current move in; a cut rests on that move alone."""
        if self.best is None or (value > self.best if self.first_player else value < self.best):
            self.best, self.choice = value, self.current
        if self.first_player:
            self.alpha = max(self.alpha, value - slack)
        else:
            self.beta = min(self.beta, value + slack)
        self.proven = proven if self.cut else self.proven and proven

    @property
    def cut(self) -> bool:
        return self.alpha >= self.beta

    def known(self, settled: bool) -> Known:
        assert self.best is not None
        bound = UPPER if self.best <= self.floor else LOWER if self.best >= self.ceiling else EXACT
        proven = self.proven or (settled and abs(self.best) >= SCALE)
        return Known(self.best, self.depth, bound, proven, self.choice)


class PlainSearch:
    """Iterations over a dictionary of positions, emptied when it holds `entries`."""

    def __init__(self, game: Game, terms: Terms, entries: int) -> None:
        self.game, self.terms, self.entries = game, terms, entries
        self.nodes = 0
        self._table: dict[bytes, Known] = {}

    def begin(self, state: Int8s) -> None:
        self.nodes = 0
        self._table.clear()

    def iterate(self, state: Int8s, depth: int, alpha: int, beta: int, limits: Limits) -> Iteration | None:
        stack = [self._open(state, depth, alpha, beta)]
        root_actions: list[int] = []
        root_values: list[int] = []

        def absorb(value: int, proven: bool) -> None:
            frame = stack[-1]
            if len(stack) == 1:
                root_actions.append(frame.current)
                root_values.append(value)
            frame.absorb(value, proven, slack=1 if len(stack) == 1 else 0)

        while True:
            frame = stack[-1]
            action, child = (-1, state) if frame.cut else next(frame.children, (-1, state))
            if action < 0:
                known = frame.known(self.terms.settled)
                self._remember(frame.key, known)
                stack.pop()
                if not stack:
                    actions, values = np.array(root_actions, dtype=np.int32), np.array(root_values, dtype=np.int64)
                    return Iteration(known.value, known.proven, actions, values)
                absorb(known.value, known.proven)
                continue
            if limits.reached(self.nodes):
                return None
            self.nodes += 1
            frame.current = action
            if (result := self._leaf(child, frame)) is not None:
                absorb(*result)
            else:
                stack.append(self._open(child, frame.depth - 1, frame.alpha, frame.beta))

    def _leaf(self, child: Int8s, parent: Frame) -> tuple[int, bool] | None:
        """(value, proven) of a position that needs no search, else None."""
        over = bool(self.game.outcome(child[None])[0] != ONGOING)
        if over or parent.depth == 1:
            return int(worth(self.game, child[None], self.terms)[0]), over
        known = self._table.get(child.tobytes())
        if known is not None and known.answers(parent.depth - 1, parent.alpha, parent.beta):
            return known.value, known.proven
        return None

    def _open(self, state: Int8s, depth: int, alpha: int, beta: int) -> Frame:
        counts, listed = self.game.legal(state[None])
        actions = listed[0, : counts[0]]
        after = self.game.advance(np.repeat(state[None], len(actions), axis=0), actions)
        children = [(int(action), child) for action, child in zip(actions, after, strict=True)]
        key = state.tobytes()
        if (known := self._table.get(key)) is not None:
            children.sort(key=lambda move: move[0] != known.action)
        return Frame(key, int(state[0]) == 0, children, depth, alpha, beta)

    def _remember(self, key: bytes, known: Known) -> None:
        if len(self._table) >= self.entries:
            self._table.clear()
        self._table[key] = known

    def recall(self, state: Int8s, proven: bool = False) -> int | None:
        known = self._table.get(state.tobytes())
        if known is None or known.bound != EXACT or (proven and not known.proven):
            return None
        return known.action
