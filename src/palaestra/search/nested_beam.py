"""The top level of NRPA with a beam: it keeps several lines, each with the policy that leads to it (sources: NRPA).

A step calls the level below once for every pair of policy and line, keeps the best pairs of old and new, and draws each
policy toward its line. Where there are fewer lines than places, the policy that the search began with stays among them.
Two lines that end in the same position count as one: most games can reach it by the same moves in very many orders,
which would soon be all that the beam holds.

The level below is compiled or not, as its caller likes; this level makes one step in thousands of games.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from palaestra.base.types import Float64s, Int8s
from palaestra.games.base import Game
from palaestra.search.nested_plain import adapt
from palaestra.search.nested_stack import NrpaSettings, Played

Search = Callable[[Float64s, int, NrpaSettings], Played]  # weights [A], level ≥ 1, settings -> the best game of a call


@dataclass(frozen=True, eq=False)
class _Pair:
    weights: Float64s  # [A]
    played: Played
    end: bytes  # the position in which the line ends


def beam_nrpa(
    game: Game, state: Int8s, level: int, beam: int, weights: Float64s, how: NrpaSettings, search: Search
) -> Played:
    """The best game of a level ≥ 1 that keeps `beam` pairs and begins with weights [A]; a beam of 1 is plain NRPA."""
    below = (level - 1, how) if level > 1 else (1, replace(how, n=1))  # level 0: the games of one step of level 1
    kept, again, made = [_Pair(weights, Played(), state.tobytes())], 0, 0
    for _ in range(how.n):
        best, found = kept[0].played.line, list[_Pair]()
        for pair in kept:
            played = search(pair.weights, *below)
            made += played.playouts
            again += played.line == best
            found.append(_Pair(pair.weights, played, _end(game, state, played.line)))
        kept = [_adapted(pair, how) for pair in _best([*found, *kept], beam)]
        if kept[0].played.line != best:
            again = 0
        if how.repeats is not None and again >= how.repeats:
            break
    return replace(kept[0].played, playouts=made)


def _best(pairs: list[_Pair], beam: int) -> list[_Pair]:
    """The `beam` best with different ends, best first; of equals those that come first."""
    chosen: dict[bytes, _Pair] = {}
    for pair in sorted(pairs, key=lambda pair: -pair.played.outcome):
        chosen.setdefault(pair.end, pair)
    return list(chosen.values())[:beam]


def _adapted(pair: _Pair, how: NrpaSettings) -> _Pair:
    weights = pair.weights.copy()
    adapt(weights, pair.played, how.alpha, how.images)
    return replace(pair, weights=weights)


def _end(game: Game, state: Int8s, line: list[int]) -> bytes:
    for action in line:
        state = game.advance(state[None], np.array([action], dtype=np.int32))[0]
    return state.tobytes()
