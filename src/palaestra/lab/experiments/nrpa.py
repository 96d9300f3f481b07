"""NRPA and its later changes on Morpion 5D, each for the same minutes of one core: how often long games are found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from palaestra.base.types import Float64s
from palaestra.lab.data import Data, Row, Value
from palaestra.lab.experiment import NO_DEPARTURE, OURS, Arm, Claim, Experiment, Identity, Scale, Scales, Table, Verdict
from palaestra.lab.experiments.solo import restarts_for
from palaestra.lab.jobs import Call, Job, Store
from palaestra.lab.statistics import mean, paired_difference

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from palaestra.lab.plan import Plan

GAME = "morpion-5d"
PLAIN = "plain"
DEEPER = "a level more, at most 5"
# One restart of each makes about a million games at level 3, but for those that end early.
OPTIONS = {
    PLAIN: "",
    "stabilised, P = 4": ", n=63, playouts=4",
    "at most 2 repetitions": ", repeats=2",
    "at most 10 repetitions": ", repeats=10",
    DEEPER: ", n=50, repeats=5",
    "α = ½": ", alpha=0.5",
    "α = 2": ", alpha=2",
    "beam of 4 lines": ", n=63, beam=4",
    "symmetric codes": ", symmetric=true",
}
SEEDS, MINUTES = 5, 4.0  # of the scale for a laptop
TOTAL = len(OPTIONS) * SEEDS * MINUTES
LONG, RECORD = 80, 82  # moves


def scores_found(
    game: str, seed: int, options: str, level: int, deeper: int, minutes: float, runs: Sequence[Path] = ()
) -> Iterable[Row]:
    """A row for each score that restarts had: how many of them."""
    player = f"nrpa(level={level + deeper}{options})"
    journal = restarts_for(game, player, seed, minutes)
    return [{"player": player, "score": score, "restarts": count} for score, count in sorted(journal.scores.items())]


@dataclass(frozen=True)
class ScoresFound:
    name: str = "scores"
    trains = False

    def jobs(self, plan: Plan) -> Sequence[Job]:
        return [self._job(plan, arm, seed) for arm, seed in plan.each()]

    def rows(self, plan: Plan, store: Store) -> Iterable[Row]:
        for arm, seed in plan.each():
            for row in store.rows(self._job(plan, arm, seed)):
                yield {"game": arm.game, "arm": arm.name, "seed": seed, "minutes": plan.values["minutes"], **row}

    def _job(self, plan: Plan, arm: Arm, seed: int) -> Call:
        arguments: Mapping[str, Value] = {"game": arm.game, "seed": seed, **plan.values, **arm.values}
        return Call(scores_found, arguments)


def an_hour(data: Data, arm: str, least: int) -> Float64s:
    """float64[S]: restarts of an arm with at least this score, in an hour of one core, by seed."""
    found = []
    for some in data.where(arm=arm).by("seed").values():
        counted = float(some.numbers("restarts")[some.numbers("score") >= least].sum())
        found.append(60.0 * counted / float(some.numbers("minutes")[0]))
    return np.array(found)


def _more(arm: str) -> Claim:
    def check(data: Data) -> Verdict:
        lead = paired_difference(an_hour(data, arm, LONG), an_hour(data, PLAIN, LONG))
        return Verdict.above(lead, 0.0, f"restarts with {LONG} moves or more in an hour of one core, minus plain")

    return Claim(f"{arm}: finds {LONG} moves more often than plain NRPA in equal time", check, ours=True)


def _table(data: Data) -> Table:
    rows = []
    for arm, some in data.by("arm").items():
        restarts, scores = some.numbers("restarts"), some.numbers("score")
        shares = [100.0 * restarts[scores >= least].sum() / restarts.sum() for least in (LONG, RECORD)]
        hourly = [str(mean(an_hour(data, arm, least))) for least in (LONG, RECORD)]
        told = (f"{restarts.sum():.0f}", *(f"{share:.1f}" for share in shares), *hourly, f"{scores.max():.0f}")
        rows.append((arm, some.texts("player")[0], *told))
    heads = ("NRPA", "player", "restarts", "≥ 80, %", "≥ 82, %", "≥ 80 an hour (95 %)", "≥ 82 an hour (95 %)", "best")
    return Table(heads, tuple(rows))


def _draw(data: Data) -> Figure:
    from palaestra.lab.experiment_plots import estimates_figure

    lines = {arm: {"here": mean(an_hour(data, arm, LONG))} for arm in data.texts("arm")}
    return estimates_figure({GAME: lines}, f"restarts with {LONG} moves or more in an hour")


EXPERIMENT = Experiment(
    identity=Identity("nrpa-settings", OURS, "NRPA", "NRPA and its later changes on Morpion, for equal times"),
    arms=tuple(
        Arm(name, GAME, values={"options": options, "deeper": int(name == DEEPER)}) for name, options in OPTIONS.items()
    ),
    scales=Scales(
        smoke=Scale("one seed, a second each, level 1", 1, {"minutes": 0.02, "level": 1}),
        laptop=Scale(
            f"{NO_DEPARTURE}; {len(OPTIONS)} arms, {SEEDS} seeds, {MINUTES:g} minutes each: {TOTAL:g} of one core",
            SEEDS,
            {"minutes": MINUTES, "level": 3},
        ),
        paper=Scale(NO_DEPARTURE, 5, {"minutes": 30.0, "level": 3}),
    ),
    measures=(ScoresFound(),),
    claims=tuple(_more(arm) for arm in OPTIONS if arm != PLAIN),
    table=_table,
    draw=_draw,
)  # fmt: skip
