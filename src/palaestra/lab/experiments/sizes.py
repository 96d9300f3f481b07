"""What is strongest for the time at Connect Four: sizes of the network, growing (`growth.nets`), settings of `fast`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from palaestra.lab.data import Data
from palaestra.lab.experiment import NO_DEPARTURE, OURS, Arm, Claim, Experiment, Identity, Scale, Scales, Table, Verdict
from palaestra.lab.measures import Tournament
from palaestra.lab.statistics import Estimate, elo_by_arm, mean, paired_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRESET = "fast"
GAME = "connect_four-6x7"
SMALL, LARGE, GROWING = "b3c32", "b4c48", "b3c32, then b4c48"
QUIET = ("evaluation.every=0", "evaluation.anchors=[]")
GROWTH = ('growth.nets=["b4c48"]', "growth.after=[0.2]")


# Settings of `fast` that a sweep on a smaller board and in shorter runs found better, one at a time.
AS_IT_IS = "fast"
CHANGES = {
    "2 samples a position": "learn.samples_per_position=2.0",
    "1.5 samples a position": "learn.samples_per_position=1.5",
    "16 simulations": "selfplay.search.simulations=16",
    "64 simulations": "selfplay.search.simulations=64",
}
TINY = {"iterations": 3, "games": 2, "simulations": 2}


def lead(data: Data, arm: str, over: str) -> Estimate:
    """Elo of an arm minus another's, seed by seed."""
    elos = elo_by_arm(data) if len(data) else {}
    if not {arm, over} <= elos.keys():
        return Estimate(math.nan)
    return paired_difference(elos[arm], elos[over])


def _stronger(text: str, arm: str, over: str) -> Claim:
    def check(data: Data) -> Verdict:
        return Verdict.above(lead(data, arm, over), 0.0, f"Elo, {arm} minus {over}")

    return Claim(f"{text} at equal time", check, ours=True)


def _table(data: Data, one: str) -> Table:
    """Every arm, and how far it is behind one of them."""
    elos = elo_by_arm(data)
    rows = [(name, str(mean(elos[name])), str(lead(data, one, name)) if name != one else "") for name in elos]
    return Table(("runs", "Elo (95 %)", f"Elo, {one} minus this (95 %)"), tuple(rows))


def _draw(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import ELO_SPAN, estimates_figure

    lines = {name: {"here": mean(elos)} for name, elos in elo_by_arm(data).items() if name != "random"}
    return estimates_figure({GAME: lines}, "Elo, mean of all players 0", span=ELO_SPAN)


EXPERIMENTS = (
    Experiment(
        identity=Identity("network-sizes", OURS, "Sizes", "a small network, a larger one, and one that grows"),
        arms=(
            Arm(SMALL, GAME, (f"net={SMALL}", *QUIET)),
            Arm(LARGE, GAME, (f"net={LARGE}", *QUIET)),
            Arm(GROWING, GAME, (f"net={SMALL}", *QUIET, *GROWTH)),
        ),
        scales=Scales(
            smoke=Scale(
                "one seed, three iterations", 1, TINY,
                ("selfplay.games=2", "selfplay.search.simulations=2"),
                boards={GAME: "connect_four-4x4"},
                instead={
                    f"net={SMALL}": "net=b1c8", f"net={LARGE}": "net=b1c16", GROWTH[0]: 'growth.nets=["b1c16"]',
                },
            ),
            laptop=Scale(NO_DEPARTURE, 3, {"minutes": 10.0, "games": 40, "simulations": 50}),
            paper=Scale(NO_DEPARTURE, 5, {"minutes": 60.0, "games": 100, "simulations": 100}),
        ),
        measures=(Tournament(PRESET),),
        claims=tuple(
            _stronger(f"a network that grows is stronger than {other} throughout,", GROWING, other)
            for other in (SMALL, LARGE)
        ),
        table=lambda data: _table(data, GROWING),
        draw=_draw,
    ),
    Experiment(
        identity=Identity("fast-settings", OURS, "Settings", "the preset fast with one setting changed"),
        arms=(
            Arm(AS_IT_IS, GAME, QUIET),
            *(Arm(name, GAME, (*QUIET, change)) for name, change in CHANGES.items()),
        ),
        scales=Scales(
            smoke=Scale(
                "one seed, three iterations", 1, TINY, ("net=b1c8", "selfplay.games=2"),
                boards={GAME: "connect_four-4x4"},
                instead={change: change.partition("=")[0] + "=2" for change in CHANGES.values()},
            ),
            laptop=Scale(NO_DEPARTURE, 3, {"minutes": 8.0, "games": 40, "simulations": 50}),
            paper=Scale(NO_DEPARTURE, 5, {"minutes": 60.0, "games": 100, "simulations": 100}),
        ),
        measures=(Tournament(PRESET),),
        claims=tuple(_stronger(f"fast with {name} is stronger than as it is,", name, AS_IT_IS) for name in CHANGES),
        table=lambda data: _table(data, AS_IT_IS),
        draw=_draw,
    ),
)  # fmt: skip
