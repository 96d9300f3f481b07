"""Nested searches of games with one player (sources: NMCS; NRPA): each finds a whole line of play and its outcome.

- `nmcs`, nested Monte Carlo search. Level 0 is a random game. Level l tries every legal move, each followed by a search
  of level l-1, keeps the best line seen since it began, and follows that line by one move; and so on to the end.
- `nrpa`, nested rollout policy adaptation. Level 0 is a game whose moves are drawn in proportion to exp(logit), one
  logit a code, the code being the action. Level l calls level l-1 n times, with a copy of its logits, and after each
  call adapts its own toward the best line so far: +α for each move played, -α·p for each legal move. Equally good
  lines: the newer. The logits begin at 0, or at a prior (`palaestra.search.code_prior`). Stabilised, level 1 makes
  several playouts before it adapts; with limited repetitions a level ends when its best line has come again so often.

Lines are compared by their outcomes alone: every reward orders them in the same way. Compiled rules run in
`palaestra.search.nested_loops`, in short calls, so that Ctrl-C, or an event that another thread sets, is heeded at any
level; other games take the plain path, which draws the same numbers. This module knows no game's rules.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from types import ModuleType

from palaestra.base.stopping import stop_if_asked
from palaestra.base.types import Float64s, Int8s, UInt64s
from palaestra.games.base import Game
from palaestra.games.kernel_game import KernelGame, Rules
from palaestra.search.nested_plain import plain_nmcs, plain_nrpa
from palaestra.search.nested_stack import BEST, LENGTH, TRIED, NmcsStack, NrpaStack, nmcs_stack, nrpa_stack

NEVER = 2**62  # more repetitions than any level has calls
QUOTA = 4096  # playouts in one compiled call: a fraction of a second, after which Python looks at its signals


@dataclass(frozen=True)
class Found:
    """The best line of a search: its outcome, its actions from the position searched, and what it cost."""

    outcome: int
    actions: tuple[int, ...]
    playouts: int


def nmcs(game: Game, state: Int8s, streams: UInt64s, level: int, stopped: threading.Event | None = None) -> Found:
    """Nested Monte Carlo search of level ≥ 1 from state int8[S], not over; draws from streams[0], in place.

    `stopped` ends it early: it then raises Stopped.
    """
    if not isinstance(game, KernelGame):
        return Found(*plain_nmcs(game, state, streams, level, stopped))
    loops = _loops(game.rules)
    stack = nmcs_stack(game, state, level)
    loops.nmcs_open(stack, level, game.params)
    at = level
    while at <= level:
        stop_if_asked(stopped)
        at = loops.nmcs_run(stack, at, level, streams, game.params, QUOTA)
    return _found(stack, level)


def nrpa(
    game: Game,
    state: Int8s,
    streams: UInt64s,
    level: int,
    n: int = 100,
    alpha: float = 1.0,
    logits: Float64s | None = None,
    stopped: threading.Event | None = None,
    *,
    playouts: int = 1,
    repeats: int | None = None,
) -> Found:
    """Nested rollout policy adaptation of level ≥ 1 from state int8[S], not over: playouts · n^level games at most.

    Draws from streams[0], in place. `logits` float64[A] is the policy that the search begins with, 0 by default: the
    top level starts there, and every level below with a copy of the level above. A level ends
    before its n calls when its best line has come `repeats` times again. `stopped` ends the search early: it then
    raises Stopped.
    """
    if not isinstance(game, KernelGame):
        return Found(*plain_nrpa(game, state, streams, level, n, alpha, logits, stopped, playouts, repeats))
    run = _loops(game.rules).nrpa_run
    stack = nrpa_stack(game, state, level, logits)
    limit = NEVER if repeats is None else repeats
    stop_if_asked(stopped)
    while not run(stack, level, n, float(alpha), playouts, limit, streams, game.params, QUOTA):
        stop_if_asked(stopped)
    return _found(stack, level)


def _found(stack: NmcsStack | NrpaStack, level: int) -> Found:
    record = stack.records[level]
    line = stack.lines[level, : record[LENGTH]]
    return Found(int(record[BEST]), tuple(line.tolist()), int(stack.records[0, TRIED]))


@lru_cache(maxsize=64)
def _loops(rules: Rules) -> ModuleType:
    return rules.bind("palaestra.search.nested_loops")
