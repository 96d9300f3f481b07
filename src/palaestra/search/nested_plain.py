"""Nested search of a game without compiled rules: one position at a time, through the game's interface.

Much slower than `palaestra.search.nested_loops`, whose every random number and every answer it shares.
Iterative: a list of levels stands in for the call stack.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field, replace

import numpy as np

from palaestra.base.stopping import stop_if_asked
from palaestra.base.streams import uniform
from palaestra.base.types import Float64s, Int8s, Int32s, UInt64s
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.search.nested_stack import HEAVIEST, LIGHTEST, NOTHING, NrpaSettings, Played

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


def _weighted_game(game: Game, state: Int8s, weights: Float64s, streams: UInt64s) -> Played:
    played = Played()
    while options := _legal(game, state):
        sums = np.cumsum(weights[options])
        target = uniform(streams, 0) * sums[-1]
        action = options[min(int(np.searchsorted(sums, target, side="right")), len(options) - 1)]
        played.line.append(action)
        played.options.append(options)
        state = _after(game, state, action)
    played.outcome = _outcome(game, state)
    return played


def adapt(weights: Float64s, best: Played, alpha: float, images: Int32s) -> None:
    """Draw weights [A] toward a game, as `palaestra.search.nested_loops.adapt` does."""
    change: dict[int, float] = {}
    for action, options in zip(best.line, best.options, strict=True):
        here = weights[options]
        share = alpha / float(np.cumsum(here)[-1])
        for option, part in zip(options, (here * share).tolist(), strict=True):
            change[option] = change.get(option, 0.0) - part
        change[action] += alpha
    for code in list(change):
        together = [image for image in images[code].tolist() if image >= 0]
        if by := sum(change.pop(image, 0.0) for image in together):
            weights[together] = min(max(float(weights[code]) * math.exp(by), LIGHTEST), HEAVIEST)


def plain_nrpa(
    game: Game,
    state: Int8s,
    streams: UInt64s,
    level: int,
    weights: Float64s,
    how: NrpaSettings,
    stopped: threading.Event | None,
) -> Played:
    """The best game of one call of a level ≥ 1 that begins with weights [A]."""
    levels = np.repeat(weights[None, :], level + 1, axis=0)
    made = 0

    def search(at: int) -> Played:
        """The best game of one call of a level, which begins with the weights of the level above."""
        nonlocal made
        best, again = Played(), 0
        for _ in range(how.n):
            for _ in range(how.playouts if at == 1 else 1):
                if at == 1:
                    stop_if_asked(stopped)
                    made += 1
                    found = _weighted_game(game, state, levels[1], streams)
                else:
                    levels[at - 1] = levels[at]
                    found = search(at - 1)
                if found.outcome >= best.outcome:
                    again = again + 1 if found.line == best.line else 0
                    best = found
            adapt(levels[at], best, how.alpha, how.images)
            if how.repeats is not None and again >= how.repeats:
                break
        return best

    return replace(search(level), playouts=made)
