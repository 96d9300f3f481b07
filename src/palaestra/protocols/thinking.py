"""What a protocol's clock lets a player do: for one question, and then it is as it was.

The clock stands in place of a player's `ms`; its `simulations` and `depth` stay, as what it never exceeds, unless the
other side names them itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from palaestra.players.alphabeta import AlphaBetaPlayer
from palaestra.players.base import Player
from palaestra.players.flat import McsPlayer
from palaestra.players.kinds import MAX_MS
from palaestra.players.tree import TreePlayer

LAG = 30.0  # milliseconds of a move that are kept for the way there and back
MOVES_LEFT = 30  # of one's own that a clock for a whole game is thought to be for, at least
SAFE = 0.8  # most of what is left that one move may take


@dataclass(frozen=True)
class Limits:
    """Of one question; what is None is as the player's text says."""

    ms: float | None = None
    simulations: int | None = None
    depth: int | None = None
    endless: bool = False  # until somebody stops it


def share(left: float, moves: float = MOVES_LEFT, increment: float = 0.0) -> float:
    """Milliseconds for the next move, of those left for so many moves, with some added after each."""
    return max(1.0, min(left / max(moves, 1.0) + increment, SAFE * left) - LAG)


@contextmanager
def limited(player: Player, limits: Limits) -> Iterator[list[str]]:
    """Let a player think within limits; gives the names of those that it does not know."""
    unknown = []
    if isinstance(player, TreePlayer):
        search = player.search
        before, changed = search.config, {}
        if limits.endless and not before.gumbel_root:
            changed = {"simulations": None, "ms": float(MAX_MS)}
        if limits.simulations is not None:
            changed = {"simulations": limits.simulations, "ms": None}
        if limits.ms is not None:
            changed["ms"] = limits.ms
        unknown = ["depth"] if limits.depth is not None else []
        search.config = before.model_copy(update=changed)
        try:
            yield unknown
        finally:
            search.config = before
    elif isinstance(player, AlphaBetaPlayer | McsPlayer):
        ms, depth = player.ms, getattr(player, "depth", None)
        if limits.ms is not None and (ms is not None or isinstance(player, AlphaBetaPlayer)):
            player.ms = limits.ms
        if isinstance(player, AlphaBetaPlayer) and limits.depth is not None:
            player.depth, player.ms = limits.depth, limits.ms
        elif limits.depth is not None:
            unknown.append("depth")
        unknown += ["nodes"] if limits.simulations is not None else []
        try:
            yield unknown
        finally:
            player.ms = ms
            if isinstance(player, AlphaBetaPlayer):
                player.depth = depth
    else:
        given = {"time": limits.ms, "nodes": limits.simulations, "depth": limits.depth}
        yield [name for name, value in given.items() if value is not None]
