"""Table 6.2 of the thesis: after how many iterations the adaptive warm start switches to plain self-play.

Every run plays E games of an enhancement against the default search in each iteration, learns from all of them, and
switches after the first iteration in which the default search has the better balance (sources: Alg. 6). A run ends with
its switch, because nothing after it is asked for. One that has not switched at the last iteration counts as if it had
switched there, so that such means are too small.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.types import Float64s
from palaestra.lab.catalogue import published
from palaestra.lab.data import Data, Row
from palaestra.lab.experiment import Arm, Claim, Experiment, Published, Scale, Scales, Table, Verdict
from palaestra.lab.measures import Curves
from palaestra.lab.statistics import Estimate, beside, mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from palaestra.runs.metrics import Lines, MetricsLine

GAMES = ("connect_four-6x6", "othello-6x6", "gobang-6x6")
NAMES = {"rollout": "Rollout", "rave": "Rave", "rora": "RoRa", "wro": "WRo", "wrora": "WRoRa"}
RUNS = 8  # of every number in the thesis
SWITCHES = {  # mean and standard deviation over these runs, on the three games
    "rollout": ((6.63, 3.04), (5.50, 1.73), (1.38, 0.48)),
    "rave": ((2.38, 1.22), (3.13, 2.67), (1.13, 0.33)),
    "rora": ((7.75, 4.74), (5.13, 1.36), (1.13, 0.33)),
    "wro": ((4.25, 1.56), (4.38, 1.65), (1.13, 0.33)),
    "wrora": ((4.38, 1.58), (4.00, 1.00), (1.25, 0.43)),
}
PUBLISHED = tuple(
    Published(NAMES[name], game, middle, "Table 6.2", "iterations", spread)
    for name, row in SWITCHES.items()
    for game, (middle, spread) in zip(GAMES, row, strict=True)
)


def switched(line: MetricsLine) -> bool:
    """Whether the default search had the better balance in an iteration: only that is a switch, not the limit."""
    return line.warm is not None and (line.warm.balance or 0) > 0


def read_balances(lines: Lines) -> Iterable[Row]:
    return [
        {"iteration": line.iteration, "balance": line.warm.balance, "switched": int(switched(line))}
        for line in lines
        if line.warm is not None
    ]


def _switches(data: Data) -> Float64s:
    """float64[S]: the last iteration of every seed: that of its switch, or the limit."""
    return np.array([one.numbers("iteration").max() for one in data.by("seed").values()])


def _agrees(known: Published) -> Claim:
    def check(data: Data) -> Verdict:
        rows = data.where(game=known.game, arm=known.arm)
        if not len(rows):
            return Verdict.open(f"{known.game} was not played")
        lead = beside(_switches(rows), known.value, known.spread or 0.0, RUNS)
        return Verdict.near(lead, 0.0, 3.0, f"iterations, here minus published {known.value:g} ± {known.spread:g}")

    return Claim(f"{known.arm} switches after {known.value:g} iterations at {known.game}", check)


def _table(data: Data) -> Table:
    rows = []
    for game, some in data.by("game").items():
        for arm, one in some.by("arm").items():
            known = [p for p in PUBLISHED if (p.arm, p.game) == (arm, game)]
            words = f"{known[0].value:g} ± {known[0].spread:g}" if known else "–"
            late = sum(not seed.total("switched") for seed in one.by("seed").values())
            rows.append((game, arm, str(mean(_switches(one))), str(len(one.by("seed"))), str(late), words))
    heads = ("game", "enhancement", "switch after iteration (95 %)", "runs", "not switched", "published, mean ± sd")
    return Table(heads, tuple(rows))


def _draw(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import estimates_figure

    panels: dict[str, dict[str, dict[str, Estimate]]] = {
        game: {arm: {"here": mean(_switches(one))} for arm, one in some.by("arm").items()}
        for game, some in data.by("game").items()
    }
    crosses = {(p.game, p.arm, "here"): p.value for p in PUBLISHED}
    return estimates_figure(panels, "switch after iteration", published=crosses)


EXPERIMENT = Experiment(
    identity=published("table-6.2"),
    arms=tuple(
        Arm(
            NAMES[name],
            game,
            (
                f"warm.enhancement={name}",
                "warm.adaptive=true",
                "evaluation.every=0",
                "evaluation.anchors=[]",
                f"selfplay.search.simulations={200 if game.startswith('gobang') else 100}",
            ),
        )
        for game in GAMES
        for name in SWITCHES
    ),
    scales=Scales(
        smoke=Scale(
            "one seed, 2 iterations of 4 games with 4 simulations, network b1c4",
            1,
            {"iterations": 2},
            ("net=b1c4", "selfplay.games=4", "selfplay.search.simulations=4", "learn.epochs=1"),
        ),
        laptop=Scale("network b3c32, at most 20 iterations", 8, {"iterations": 20}, ("net=b3c32",)),
        paper=Scale(
            "at most 20 iterations",
            8,
            {"iterations": 20},
        ),
    ),
    measures=(Curves("thesis", read_balances, switched),),
    claims=tuple(map(_agrees, PUBLISHED)),
    table=_table,
    draw=_draw,
    published=PUBLISHED,
    reading="Gobang has m = 200; the switch is the first iteration in which the default search wins more than it loses",
)
