"""Pictures of searches for one player: scores over time, from their journals. Writes no file."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from palaestra.base.types import Float64s
from palaestra.lab.plots import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, STYLE
from palaestra.lab.rating_plots import shortened
from palaestra.lab.solve_folder import Journal

COLOURS = (BLUE, ORANGE, GREEN, PURPLE, RED, GREY)
SIZE = (7.2, 4.2)  # inches
MOST_DOTS = 5000  # restarts that are drawn one by one; of more, every n-th
EARLIEST = 0.01  # seconds: what ended sooner is drawn here, because the axis of time is logarithmic
# Where the axis of time has marks: 1, 3 and 10 of what people count in.
TIMES = (
    *(0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0, 180.0, 600.0, 1800.0),
    *(3600.0 * hours for hours in (1, 3, 10, 24, 72, 240, 720)),
)


def scores_over_time(journals: Sequence[Journal]) -> Figure:
    """The best score so far over the seconds of solving: one colour a player, one thin line a journal (a seed).

    Where a player has several journals a thick line shows the mean of their best, from when all have one until the
    first of them ends; where it has one, that line is thick, and dots show the best of every piece of work.
    """
    by_player: dict[str, list[Journal]] = {}
    for journal in journals:
        if journal.entries:
            by_player.setdefault(journal.about.player, []).append(journal)
    games = sorted({journal.about.game for journal in journals})
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=SIZE, layout="constrained")
        axes = figure.add_subplot()
        for colour, (player, some) in zip(cycle(COLOURS), by_player.items(), strict=False):
            _draw(axes, shortened(player), some, colour)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(FixedLocator(TIMES))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: time_in_words(seconds)))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("time of solving")
        axes.set_ylabel(f"best score so far, {', '.join(games)}")
        if by_player:
            axes.legend(fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))  # curves may lie anywhere
    return figure


def best_so_far(journal: Journal) -> tuple[Float64s, Float64s]:
    """Seconds float64[N], ascending, and the best score at each of them float64[N]: one point a piece of work."""
    seconds = np.array([entry.seconds for entry in journal.entries])
    scores = np.array([max(entry.scores) for entry in journal.entries], dtype=np.float64)
    order = np.argsort(seconds, kind="stable")
    return seconds[order], np.maximum.accumulate(scores[order])


def mean_of_best(curves: Sequence[tuple[Float64s, Float64s]]) -> tuple[Float64s, Float64s]:
    """The mean of several such curves at all their times, from when every one has begun until the first ends."""
    begin, end = max(times[0] for times, _ in curves), min(times[-1] for times, _ in curves)
    at = np.unique(np.concatenate([times for times, _ in curves]))
    at = at[(at >= begin) & (at <= end)]
    bests = [best[np.searchsorted(times, at, side="right") - 1] for times, best in curves]
    return at, np.mean(bests, axis=0)


def _draw(axes: Axes, label: str, journals: Sequence[Journal], colour: str) -> None:
    curves = [best_so_far(journal) for journal in journals]
    for times, best in curves:
        alone = len(curves) == 1
        axes.step(_shown(times), best, where="post", color=colour, linewidth=1.8 if alone else 0.8,
                  alpha=1.0 if alone else 0.5, label=label if alone else None)  # fmt: skip
    if len(curves) == 1:
        every = -(-len(journals[0].entries) // MOST_DOTS)
        dots = [(entry.seconds, max(entry.scores)) for entry in journals[0].entries[::every]]
        times, scores = np.array(dots, dtype=np.float64).T
        axes.plot(_shown(times), scores, linestyle="", marker="o", markersize=2.5, color=colour, alpha=0.35)
        return
    times, mean = mean_of_best(curves)
    if len(times):
        axes.step(_shown(times), mean, where="post", color=colour, linewidth=2.0, label=f"{label}, {len(curves)} seeds")


def _shown(seconds: Float64s) -> Float64s:
    return np.maximum(seconds, EARLIEST)


def time_in_words(seconds: float) -> str:
    """ "30 ms", "3 s", "10 min", "3 h", "10 d"."""
    for size, unit in ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{1000 * seconds:.3g} ms"
