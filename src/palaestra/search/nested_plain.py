"""Nested search of a game without compiled rules: one position at a time, through the game's interface.

Much slower than `palaestra.search.nested_loops`, whose every random number and every answer it shares.
Iterative: a list of levels stands in for the call stack.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field

import numpy as np

from palaestra.base.stopping import stop_if_asked
from palaestra.base.streams import uniform
from palaestra.base.types import Float64s, Int8s, UInt64s
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.search.nested_stack import HEAVIEST, LIGHTEST, NOTHING, initial_weights

Answer = tuple[int, tuple[int, ...], int]  # outcome, actions, playouts


def _legal(game: Game, state: Int8s) -> list[int]:
    """The legal actions, ascending; none when play is over."""
    counts, actions = game.legal(state[None, :])
    return [int(action) for action in actions[0, : counts[0]]]


def _after(game: Game, state: Int8s, action: int) -> Int8s:
    return game.advance(state[None, :], np.array([action], dtype=np.int32))[0]


def _outcome(game: Game, state: Int8s) -> int:
    return int(game.outcome(state[None, :])[0])


@dataclass
class _Level:
    """A level of nested Monte Carlo search that stands at `state`, `path` away from the root."""

    state: Int8s
    path: list[int]
    waiting: list[int]  # moves not yet tried, the next one last
    best: int = NOTHING
    line: list[int] = field(default_factory=list)

    def absorb(self, outcome: int, line: list[int]) -> None:
        if outcome > self.best:
            self.best, self.line = outcome, line


def plain_nmcs(
    game: Game, state: Int8s, streams: UInt64s, level: int, stopped: threading.Event | None = None
) -> Answer:
    """`palaestra.search.nested.nmcs`."""
    levels = [_Level(state, [], _legal(game, state)[::-1])]
    playouts = 0
    while True:
        here = levels[-1]
        if not here.waiting:  # every move was tried: follow the best line by one
            action = here.line[len(here.path)]
            here.state = _after(game, here.state, action)
            here.path = [*here.path, action]
            here.waiting = _legal(game, here.state)[::-1]
            if not here.waiting:
                levels.pop()
                if not levels:
                    return here.best, tuple(here.line), playouts
                levels[-1].absorb(here.best, here.line)
            continue
        stop_if_asked(stopped)
        action = here.waiting.pop()
        child = _after(game, here.state, action)
        path = [*here.path, action]
        if len(levels) < level and _outcome(game, child) == ONGOING:
            levels.append(_Level(child, path, _legal(game, child)[::-1]))
            continue
        played = game.rollout(child[None, :], streams, trace=True)
        assert played.moves is not None and played.lengths is not None
        here.absorb(int(played.outcomes[0]), path + played.moves[0, : played.lengths[0]].tolist())
        playouts += 1


@dataclass
class _Game:
    """A finished game: what was legal at each step, and what was played."""

    outcome: int = NOTHING
    line: list[int] = field(default_factory=list)
    options: list[list[int]] = field(default_factory=list)


def _weighted_game(game: Game, state: Int8s, weights: Float64s, streams: UInt64s) -> _Game:
    played = _Game()
    while options := _legal(game, state):
        sums = np.cumsum(weights[options])
        target = uniform(streams, 0) * sums[-1]
        action = options[min(int(np.searchsorted(sums, target, side="right")), len(options) - 1)]
        played.line.append(action)
        played.options.append(options)
        state = _after(game, state, action)
    played.outcome = _outcome(game, state)
    return played


def _adapt(weights: Float64s, best: _Game, alpha: float) -> None:
    change: dict[int, float] = {}
    for action, options in zip(best.line, best.options, strict=True):
        share = alpha / float(np.cumsum(weights[options])[-1])
        for option in options:
            change[option] = change.get(option, 0.0) - weights[option] * share
        change[action] += alpha
    for code, by in change.items():
        weights[code] = min(max(weights[code] * math.exp(by), LIGHTEST), HEAVIEST)


def plain_nrpa(
    game: Game,
    state: Int8s,
    streams: UInt64s,
    level: int,
    n: int,
    alpha: float,
    logits: Float64s | None,
    stopped: threading.Event | None,
    playouts: int,
    repeats: int | None,
) -> Answer:
    """`palaestra.search.nested.nrpa`."""
    weights = initial_weights(game, level, logits)
    made = 0

    def search(at: int) -> _Game:
        """The best game of one call of a level, which begins with the weights of the level above."""
        nonlocal made
        best, again = _Game(), 0
        for _ in range(n):
            for _ in range(playouts if at == 1 else 1):
                if at == 1:
                    stop_if_asked(stopped)
                    made += 1
                    found = _weighted_game(game, state, weights[1], streams)
                else:
                    weights[at - 1] = weights[at]
                    found = search(at - 1)
                if found.outcome >= best.outcome:
                    again = again + 1 if found.line == best.line else 0
                    best = found
            _adapt(weights[at], best, alpha)
            if repeats is not None and again >= repeats:
                break
        return best

    found = search(level)
    return found.outcome, tuple(found.line), made
