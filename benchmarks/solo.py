"""Morpion solitaire on one core: random games and NRPA playouts a second, OpenSpiel's random games beside them."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.open_spiel_peer import SoloGames
from benchmarks.table import Table
from benchmarks.timing import per_second, ratio
from palaestra.base.streams import keyed_seeds
from palaestra.games.registry import make_game
from palaestra.search.nested import nrpa

BATCH = 64  # states of six kilobytes that stay in a core's cache
NRPA_CALLS = 30  # a level: 900 playouts a search, so that a turn ends in time
TARGETS = {("morpion-5d", "random"): 100_000, ("morpion-5d", "nrpa"): 50_000}

NOTE = (
    "One core. Playouts are whole games from the start: uniformly random, 64 to a call; or those of nrpa(level=2,"
    " n=30), adaptation included. OpenSpiel has 4D alone, on a grid of 13×13, whose games are the same but for those"
    " that reach its edge; its C++ rules are driven from Python."
)


def run(rounds: int, seconds: float) -> Table:
    columns = ("what", "playouts/s", "OpenSpiel playouts/s", "over OpenSpiel", "target", "reached")
    table = Table("Games for one player", columns, NOTE)
    peer = SoloGames()
    for id in ("morpion-5d", "morpion-5t", "morpion-4d"):
        for name, work in (("random", _random(id)), ("nrpa", _nrpa(id))):
            work()  # compiles
            ours, theirs = list[float](), list[float]()
            for _ in range(rounds):
                ours.append(per_second(work, seconds))
                if (id, name) == ("morpion-4d", "random"):
                    theirs.append(per_second(peer.play, seconds))
            median, target = statistics.median(ours), TARGETS.get((id, name))
            table.add(
                f"{id}, {name}",
                median,
                statistics.median(theirs) if theirs else None,
                ratio(ours, theirs) if theirs else None,
                f"≥ {target // 1000} k/s" if target else None,
                None if target is None else "yes" if median >= target else "no",
            )
    return table


def _random(id: str) -> Callable[[], int]:
    """A batch of random games a call, every time other ones."""
    game, calls = make_game(id), iter(range(10**9))
    states = game.initial(BATCH)
    return lambda: len(game.rollout(states, keyed_seeds(next(calls), np.arange(BATCH))).outcomes)


def _nrpa(id: str) -> Callable[[], int]:
    """A search of level 2 a call, every time another one."""
    game, calls = make_game(id), iter(range(10**9))
    search = partial(nrpa, game, game.initial(1)[0], level=2, n=NRPA_CALLS)
    return lambda: search(streams=keyed_seeds(next(calls))).playouts
