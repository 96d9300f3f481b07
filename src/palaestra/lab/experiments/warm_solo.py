"""A warm start for one player: none, a fixed one, and an adaptive one that ends when the plain search is ahead.

All runs have the preset ranked and equal minutes. Strength is the mean score of the agent over beginnings that are the
same in every evaluation; `switch` is the last iteration of a warm start.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import TYPE_CHECKING

from palaestra.lab.claims import arm_above
from palaestra.lab.data import Data, Row
from palaestra.lab.experiment import NO_DEPARTURE, OURS, Arm, Claim, Experiment, Identity, Scale, Scales, Table
from palaestra.lab.measures import Curves
from palaestra.lab.statistics import mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from palaestra.runs.metrics import Lines

GAME, PRESET = "bin_packing-2d", "ranked"
NONE, FIXED, ADAPTIVE = "no warm start", "5 iterations of rollouts", "adaptive rollouts"
STEPS = 6  # points of a curve
JUDGED = ("evaluation.anchors=[]", "solo.every=0", "evaluation.games=64", "evaluation.simulations=50")
OFTEN = "evaluation.every=2"
ROLLOUTS = "warm.enhancement=rollout"


def read_scores(lines: Lines) -> Iterable[Row]:
    """Rows at even steps of a run's time: the mean score of the last evaluation before, and the last warm iteration."""
    judged = [(line.elapsed, line.score.mean) for line in lines if line.score is not None]
    times = [when for when, _ in judged]
    end = lines[-1].elapsed if lines else 0.0
    switch = max((line.iteration for line in lines if line.warm is not None), default=0)
    rows: list[Row] = []
    for step in range(1, STEPS + 1):
        known = len(times) if step == STEPS else bisect_right(times, end * step / STEPS)
        score = judged[known - 1][1] if known else None
        rows.append({"share": step / STEPS, "score": score, "switch": switch, "iterations": len(lines)})
    return rows


def _better(text: str, one: str, other: str, share: float) -> Claim:
    claim = arm_above(text, one, other, "score", "mean score")
    return Claim(text, lambda data: claim.check(data.where(share=share)), ours=True)


def _table(data: Data) -> Table:
    rows = []
    for arm, some in data.by("arm").items():
        last = some.where(share=1.0)
        scores = [str(mean(some.where(share=share).per_seed("score"))) for share in (2 / STEPS, 0.5, 1.0)]
        told = (", ".join(f"{one:.0f}" for one in last.per_seed(name)) for name in ("switch", "iterations"))
        rows.append((arm, *scores, *told))
    heads = ("arm", "score at ⅓ of the time", "at ½", "at the end (95 %)", "last warm iteration", "iterations")
    return Table(heads, tuple(rows))


def _draw(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import curves_figure

    curves = {arm: some.curve("score", "share") for arm, some in data.by("arm").items()}
    return curves_figure({GAME: curves}, "share of the time", "mean score")


EXPERIMENT = Experiment(
    identity=Identity("warm-solo", OURS, "Warm starts", "one player with no warm start, a fixed and an adaptive one"),
    arms=(
        Arm(NONE, GAME, (*JUDGED, OFTEN)),
        Arm(FIXED, GAME, (*JUDGED, OFTEN, ROLLOUTS, "warm.length=5")),
        Arm(ADAPTIVE, GAME, (*JUDGED, OFTEN, ROLLOUTS, "warm.adaptive=true")),
    ),
    scales=Scales(
        smoke=Scale(
            "one seed, three iterations", 1, {"iterations": 3},
            ("net=mlp8x1", "selfplay.games=2", "selfplay.search.simulations=2"),
            instead={
                OFTEN: "evaluation.every=1", JUDGED[2]: "evaluation.games=2", JUDGED[3]: "evaluation.simulations=2",
            },
        ),
        laptop=Scale(NO_DEPARTURE, 3, {"minutes": 3.0}),
        paper=Scale(NO_DEPARTURE, 5, {"minutes": 20.0}),
    ),
    measures=(Curves(PRESET, read_scores),),
    claims=(
        _better("an adaptive warm start helps one player early, at a third of the time", ADAPTIVE, NONE, 2 / STEPS),
        _better("an adaptive warm start is still ahead in the end", ADAPTIVE, NONE, 1.0),
        _better("an adaptive warm start is better than a fixed one in the end", ADAPTIVE, FIXED, 1.0),
    ),
    table=_table,
    draw=_draw,
    reading="an evaluation takes from a run's time, in all arms alike",
)  # fmt: skip
