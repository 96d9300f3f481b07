"""Figures of strength against time: a map of two times with strength as colour, and Pareto fronts.

Take what they show as arguments; know no experiment and write no file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from palaestra.base.types import Float64s
from palaestra.lab.plots import BLUE, GREY, INK, STYLE
from palaestra.lab.statistics import Estimate, pareto

SIZE = (5.2, 4.2)  # inches of a panel
COLUMNS = 3
LARGE = 10_000  # from here on, thousands are written as k and millions as M


def map_figure(panels: Mapping[str, tuple[Float64s, Float64s, Float64s]], x: str, y: str, colour: str) -> Figure:
    """A panel a title: points at two times whose colour is a third number. All float64[n]."""
    with matplotlib.rc_context({**STYLE, "axes.grid.axis": "both"}):
        figure = Figure(figsize=(SIZE[0] * len(panels), SIZE[1]), layout="constrained")
        for number, (title, (across, up, shade)) in enumerate(panels.items(), start=1):
            axes = figure.add_subplot(1, len(panels), number)
            order = np.argsort(shade)  # the strongest on top
            marks = axes.scatter(across[order], up[order], c=shade[order], cmap="viridis", s=34, linewidths=0)
            axes.set(xlabel=x, ylabel=y, xlim=(0, None), ylim=(0, None))
            for axis, values in ((axes.xaxis, across), (axes.yaxis, up)):
                _large_numbers(axis, values)
            axes.set_title(title, fontsize=10, loc="left")
            figure.colorbar(marks, ax=axes, label=colour)
    return figure


def fronts_figure(panels: Mapping[str, Sequence[tuple[str, float, Estimate]]], y: str) -> Figure:
    """A panel a title, which is also its x-axis: (label, time, strength) each; the line is the Pareto front."""
    with matplotlib.rc_context(STYLE):
        rows = -(-len(panels) // COLUMNS)
        figure = Figure(figsize=(SIZE[0] * min(COLUMNS, len(panels)), SIZE[1] * rows), layout="constrained")
        for number, (title, points) in enumerate(panels.items(), start=1):
            axes = figure.add_subplot(rows, min(COLUMNS, len(panels)), number)
            front = pareto([(place, gain.value, time) for place, (_, time, gain) in enumerate(points)])
            for place, (label, time, gain) in enumerate(points):
                colour = BLUE if place in front else GREY
                axes.plot([time], [gain.value], "o", color=colour, markersize=5)
                if gain.interval is not None:
                    axes.plot([time, time], gain.interval, color=colour, linewidth=1.4, alpha=0.5)
                axes.annotate(label, (time, gain.value), xytext=(5, 4), textcoords="offset points", size=7.5, color=INK)
            steps = [points[place] for place in front]
            axes.plot([step[1] for step in steps], [step[2].value for step in steps], color=BLUE, linewidth=1.2)
            axes.margins(x=0.12, y=0.1)
            _large_numbers(axes.xaxis, [time for _, time, _ in points])
            axes.set(xlabel=title, ylabel=y)
    return figure


def _large_numbers(axis: Axis, values: Float64s | Sequence[float]) -> None:
    if len(values) and max(values) >= LARGE:
        axis.set_major_formatter(EngFormatter(sep=""))
