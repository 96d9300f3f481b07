"""Which size of network for the time: a small one, a larger one, and a small one that grows into it (`growth.nets`)."""

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


def _lead(data: Data, other: str) -> Estimate:
    elos = elo_by_arm(data) if len(data) else {}
    if not {GROWING, other} <= elos.keys():
        return Estimate(math.nan)
    return paired_difference(elos[GROWING], elos[other])


def _stronger(other: str) -> Claim:
    def check(data: Data) -> Verdict:
        return Verdict.above(_lead(data, other), 0.0, f"Elo, {GROWING} minus {other}")

    return Claim(f"a network that grows is stronger than {other} throughout, at equal time", check, ours=True)


def _table(data: Data) -> Table:
    elos = elo_by_arm(data)
    rows = [(name, str(mean(elos[name])), str(_lead(data, name)) if name != GROWING else "") for name in elos]
    return Table(("network", "Elo (95 %)", f"Elo, {GROWING} minus this (95 %)"), tuple(rows))


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
                "one seed, three iterations", 1, {"iterations": 3, "games": 2, "simulations": 2},
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
        claims=(_stronger(SMALL), _stronger(LARGE)),
        table=_table,
        draw=_draw,
    ),
)  # fmt: skip
