"""Nested searches of games with one player (sources: NMCS; NRPA): each finds a whole line of play and its outcome.

- `nmcs`, nested Monte Carlo search. Level 0 is a random game. Level l tries every legal move, each followed by a search
  of level l-1, keeps the best line seen since it began, and follows that line by one move; and so on to the end.
- `nrpa`, nested rollout policy adaptation. Level 0 is a game whose moves are drawn in proportion to exp(logit), one
  logit a code, the code being the action. Level l calls level l-1 n times, with a copy of its logits, and after each
  call adapts its own toward the best line so far: +α for each move played, -α·p for each legal move. Equally good
  lines: the newer. The logits begin at 0, or at a prior (`palaestra.search.code_prior`). Stabilised, level 1 makes
  several playouts before it adapts; with limited repetitions a level ends when its best line has come again so often.
  With a beam the top level keeps several lines (`palaestra.search.nested_beam`); actions that are images of each other
  may share a code (`palaestra.search.code_images`).

Lines are compared by their outcomes alone: every reward orders them in the same way. Compiled rules run in
`palaestra.search.nested_loops`, in short calls, so that Ctrl-C, or an event that another thread sets, is heeded at any
level; other games take the plain path, which draws the same numbers. This module knows no game's rules.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from types import ModuleType

from palaestra.base.stopping import stop_if_asked
from palaestra.base.types import Float64s, Int8s, Int32s, UInt64s
from palaestra.games.base import Game
from palaestra.games.kernel_game import KernelGame, Rules
from palaestra.search.code_images import own_codes
from palaestra.search.nested_beam import beam_nrpa
from palaestra.search.nested_plain import plain_nmcs, plain_nrpa
from palaestra.search.nested_stack import (
    BEST,
    LENGTH,
    TRIED,
    NmcsStack,
    NrpaSettings,
    NrpaStack,
    Played,
    initial_weights,
    nmcs_stack,
    nrpa_stack,
)

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
    beam: int = 1,
    images: Int32s | None = None,
) -> Found:
    """Nested rollout policy adaptation of level ≥ 1 from state int8[S], not over.

    It makes beam · playouts · n^level games at most. Draws from streams[0], in place. `logits` float64[A] is the policy
    that the search begins with, 0 by default: the top level starts there, and every level below with a copy of the
    level above. A level ends before its n calls when its best line has come `repeats` times again. With a `beam` the
    top level keeps so many lines, each with a policy. `images` (`palaestra.search.code_images`) says which actions
    share a code; their logits must be equal. `stopped` ends the search early: it then raises Stopped.
    """
    how = NrpaSettings(n, float(alpha), playouts, repeats, own_codes(game) if images is None else images)

    def search(weights: Float64s, level: int, how: NrpaSettings) -> Played:
        if isinstance(game, KernelGame):
            return compiled_nrpa(game, state, streams, level, weights, how, stopped)
        return plain_nrpa(game, state, streams, level, weights, how, stopped)

    weights = initial_weights(game, logits)
    best = search(weights, level, how) if beam == 1 else beam_nrpa(game, state, level, beam, weights, how, search)
    return Found(best.outcome, tuple(best.line), best.playouts)


def compiled_nrpa(
    game: KernelGame,
    state: Int8s,
    streams: UInt64s,
    level: int,
    weights: Float64s,
    how: NrpaSettings,
    stopped: threading.Event | None,
) -> Played:
    """`palaestra.search.nested_plain.plain_nrpa` for a game with compiled rules."""
    run = _loops(game.rules).nrpa_run
    stack = nrpa_stack(game, state, level, weights, how.images)
    limit = NEVER if how.repeats is None else how.repeats
    stop_if_asked(stopped)
    while not run(stack, level, how.n, how.alpha, how.playouts, limit, streams, game.params, QUOTA):
        stop_if_asked(stopped)
    found = _found(stack, level)
    ends = stack.offsets[level, 1 : len(found.actions) + 1].tolist()
    options = stack.options[level, : ends[-1]].tolist()
    lists = [options[begin:end] for begin, end in pairwise([0, *ends])]
    return Played(found.outcome, list(found.actions), lists, found.playouts)


def _found(stack: NmcsStack | NrpaStack, level: int) -> Found:
    record = stack.records[level]
    line = stack.lines[level, : record[LENGTH]]
    return Found(int(record[BEST]), tuple(line.tolist()), int(stack.records[0, TRIED]))


@lru_cache(maxsize=64)
def _loops(rules: Rules) -> ModuleType:
    return rules.bind("palaestra.search.nested_loops")
