"""Pictures of tabular learning: win rates over matches.

Takes curves and numbers as they are; knows no experiment and writes no file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palaestra.arena.statistics import mean_and_margin
from palaestra.base.types import Float64s, Int64s
from palaestra.lab.plots import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, RULE, STYLE
from palaestra.learn.tabular import Curve

COLOURS = (BLUE, ORANGE, GREEN, RED, PURPLE)
PANEL = (5.2, 3.4)  # inches
COLUMNS = 3  # panels in a row, at most


def curves_figure(
    panels: Mapping[str, Mapping[str, Curve]],
    ceilings: Mapping[str, Mapping[str, float]],
    greedy_from: Mapping[str, int] | None = None,
) -> Figure:
    """One panel a title, one line a curve: from point to point with 95 % intervals, and dashed over all matches so far.

    `ceilings` has for each title the horizontal lines to draw, by name; from `greedy_from` on, ε is 0: shaded.
    """
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(PANEL[0] * columns, PANEL[1] * rows), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes, (title, curves) in zip(grid, panels.items(), strict=False):
            for colour, (label, curve) in zip(cycle(COLOURS), curves.items(), strict=False):
                _draw(axes, curve.matches, curve.rates, label, colour)
                axes.plot(curve.matches, 100 * curve.so_far.mean(axis=0), color=colour, linestyle="--", linewidth=0.9)
            for label, ceiling in ceilings.get(title, {}).items():
                _ceiling(axes, label, ceiling)
            last = max(int(curve.matches[-1]) for curve in curves.values())
            if greedy_from is not None and greedy_from.get(title, last) < last:
                axes.axvspan(greedy_from[title], last, color=RULE, alpha=0.4, linewidth=0)
            axes.set_title(title, fontsize=10)
            _name(axes, "matches")
        for axes in grid[len(panels) :]:
            axes.remove()
    return figure


def _draw(axes: Axes, at: Sequence[int] | Int64s, rates: Float64s, label: str, colour: str) -> None:
    """The mean of rates [R, P] with its intervals, in percent."""
    mean, margin = mean_and_margin(100 * rates)
    axes.plot(at, mean, label=label, color=colour, marker="o", markersize=3)
    if margin is not None:
        low, high = np.maximum(mean - margin, 0), np.minimum(mean + margin, 100)  # no rate lies beyond
        axes.fill_between(at, low, high, color=colour, alpha=0.15, linewidth=0)


def _ceiling(axes: Axes, label: str, ceiling: float) -> None:
    axes.axhline(100 * ceiling, color=GREY, linestyle=":", linewidth=1.2, label=f"{label} {100 * ceiling:.1f} %")


def _name(axes: Axes, what: str) -> None:
    axes.set_xlabel(what)
    axes.set_ylabel("win rate, %, draws ½")
    axes.legend(fontsize=8, loc="lower right")  # curves rise, so that this corner is free
