"""Elo over iterations: a tournament's ratings of checkpoints, beside the running Elo of the runs that made them.

The two are measured on scales that differ by a constant, so each run's running Elo is shifted to agree with the
tournament at the run's first checkpoint that both know: what lies between the lines afterwards is what training
believed and a tournament does not confirm (sources: training Elo; L6; L8). Reads metrics of runs; draws nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from palaestra.arena.ratings import Ratings
from palaestra.arena.statistics import student_95
from palaestra.base.errors import PalaestraError
from palaestra.learn.running_elo import running_elos
from palaestra.players.registry import find_checkpoint
from palaestra.players.runs import StoredRun


class Point(NamedTuple):
    """An Elo with the ends of its interval, 95 %: elo - minus … elo + plus."""

    elo: float
    plus: float
    minus: float


@dataclass(frozen=True)
class Curve:
    """The Elo of one run's checkpoints, which all played alike."""

    run: str
    last: int  # iterations that the run has
    played_as: str  # the players' text without run and iteration, for example "run(simulations=50)"
    tournament: Mapping[int, Point]  # iteration -> Elo
    training: Mapping[int, Point]  # the same of the running Elo, shifted; empty where the run played no matches


def curves_of(ratings: Ratings) -> list[Curve]:
    """One curve for each run with at least two rated checkpoints and each way that they played."""
    groups: dict[tuple[str, str], tuple[StoredRun, dict[int, Point]]] = {}
    for row in np.flatnonzero(ratings.games):
        try:
            found = find_checkpoint(ratings.players[row])
        except PalaestraError:  # no player of ours, or its run is gone: a rating stays a rating
            continue
        if found is not None:
            run, iteration, played_as = found
            _, points = groups.setdefault((run.name, played_as), (run, {}))
            points[iteration] = Point(float(ratings.elo[row]), float(ratings.plus[row]), float(ratings.minus[row]))
    return [
        Curve(name, run.iteration, played_as, dict(sorted(points.items())), _training(run, points))
        for (name, played_as), (run, points) in groups.items()
        if len(points) > 1
    ]


def mean_over_runs(curves: Sequence[Mapping[int, Point]], lasts: Sequence[int]) -> Iterator[tuple[int, Point]]:
    """(iteration, mean Elo with its 95 % interval over the runs); a single run keeps its own intervals.

    Between checkpoints the earlier network is the one that plays (a gate let no other pass), so that its Elo holds
    until the next. Only iterations that all runs have reached count: a mean over ever fewer runs would jump.
    """
    if not all(curves):
        return
    begin, end = max(min(curve) for curve in curves), min(lasts)
    for iteration in sorted({number for curve in curves for number in curve if begin <= number <= end}):
        points = [curve[max(number for number in curve if number <= iteration)] for curve in curves]
        if len(points) == 1:
            yield iteration, points[0]
        else:
            elos = [point.elo for point in points]
            half = student_95(len(elos) - 1) * stdev(elos) / math.sqrt(len(elos))
            yield iteration, Point(fmean(elos), half, half)


def _training(run: StoredRun, tournament: Mapping[int, Point]) -> dict[int, Point]:
    """The running Elo of the run's checkpoints over its whole history, on the tournament's scale."""
    running = running_elos(run.home.metrics(run.manifest))
    known = [iteration for iteration in run.checkpoints if iteration in running]
    shared = min((iteration for iteration in known if iteration in tournament), default=None)
    if shared is None:
        return {}
    shift = tournament[shared].elo - running[shared].elo
    return {i: Point(running[i].elo + shift, running[i].plus, running[i].minus) for i in known}
