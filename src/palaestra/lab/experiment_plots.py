"""Figures of experiments: curves with bands over seeds, and estimates with intervals beside published numbers.

Take what they show as arguments; know no experiment and write no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from palaestra.arena.statistics import mean_and_margin
from palaestra.base.types import Float64s
from palaestra.lab.plots import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RED, STYLE, whole_numbers
from palaestra.lab.statistics import Estimate

COLOURS = (BLUE, ORANGE, GREEN, RED, PURPLE, GREY)
STYLES = ("-", "--", ":")  # for more curves than colours
PANEL, ALONE = (4.9, 3.4), (7.4, 4.2)  # inches of one of several panels, and of a single one
ELO_SPAN = 100.0  # that an axis of Elo has at least
COLUMNS = 3  # panels beside each other
PUBLISHED = "published"  # the label of its marks, last in the legend
MOST_BESIDE = 60  # characters of names below a panel that fit beside each other
Limits = tuple[float | None, float | None]  # of the y-axis
Curve = tuple[Float64s, Float64s]  # [X] and [S, X], as `Data.curve` gives them


def curves_figure(
    panels: Mapping[str, Mapping[str, Curve]],
    x: str,
    y: str,
    *,
    levels: Mapping[str, float] | None = None,
    limits: Limits = (None, None),
    log: bool = False,
    span: float = 0.0,
) -> Figure:
    """A panel a title, a line a label: means over seeds with 95 % bands. `levels` are horizontal lines by name.

    The y-axis reaches over at least `span`, so that what hardly differs looks alike.
    """
    with matplotlib.rc_context(STYLE):
        figure, grid = _panels(list(panels))
        for axes, curves in zip(grid, panels.values(), strict=True):
            draw_curves(axes, curves, x, y, levels or {}, log=log)
            axes.set_ylim(*limits)
            _stretch(axes, span)
        _one_legend(figure, grid)
    return figure


def draw_curves(
    axes: Axes, curves: Mapping[str, Curve], x: str, y: str, levels: Mapping[str, float], *, log: bool = False
) -> None:
    """One panel of `curves_figure`, for figures that show something else beside it."""
    for number, (label, (at, values)) in enumerate(curves.items()):
        _draw_curve(axes, at, values, label, number)
    for label, height in levels.items():
        axes.axhline(height, color=GREY, linestyle=":", linewidth=1.0)
        axes.annotate(label, (1, height), xycoords=("axes fraction", "data"), ha="right", va="bottom", size=7.5)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    if log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    elif all(np.all(at == np.round(at)) for at, _ in curves.values()):
        whole_numbers(axes)


def estimates_figure(
    panels: Mapping[str, Mapping[str, Mapping[str, Estimate]]],
    y: str,
    *,
    published: Mapping[tuple[str, str, str], float] | None = None,
    level: float | None = None,
    limits: Limits = (None, None),
    span: float = 0.0,
) -> Figure:
    """Points with 95 % intervals: panel -> group on the x-axis -> label -> estimate. Crosses are published numbers.

    `span` as in `curves_figure`.
    """
    labels = list(dict.fromkeys(label for groups in panels.values() for some in groups.values() for label in some))
    with matplotlib.rc_context(STYLE):
        figure, grid = _panels(list(panels))
        for axes, (title, groups) in zip(grid, panels.items(), strict=True):
            for at, (group, some) in enumerate(groups.items()):
                for place, (label, found) in enumerate(some.items()):
                    shift = 0.7 * ((place + 0.5) / len(some) - 0.5)
                    known = None if published is None else published.get((title, group, label))
                    _draw_estimate(axes, at + shift, found, label, labels.index(label), known)
            if level is not None:
                axes.axhline(level, color=GREY, linestyle=":", linewidth=1.0)
            axes.set_xticks(range(len(groups)), list(groups), fontsize=8)
            if len(groups) > 4 and sum(len(group) + 2 for group in groups) > MOST_BESIDE:
                axes.tick_params(axis="x", rotation=30)
                for text in axes.get_xticklabels():
                    text.set(horizontalalignment="right", rotation_mode="anchor")
            axes.set_xlim(-0.6, len(groups) - 0.4)
            axes.set_ylim(*limits)
            _stretch(axes, span)
            axes.set_ylabel(y)
        _one_legend(figure, grid)
    return figure


def _stretch(axes: Axes, span: float) -> None:
    low, high = axes.get_ylim()
    if high - low < span:
        axes.set_ylim((low + high - span) / 2, (low + high + span) / 2)


def _panels(titles: list[str]) -> tuple[Figure, list[Axes]]:
    columns = 2 if len(titles) == 4 else min(COLUMNS, max(1, len(titles)))
    rows, size = max(1, -(-len(titles) // columns)), PANEL if len(titles) > 1 else ALONE
    figure = Figure(figsize=(size[0] * columns, size[1] * rows + 0.4), layout="constrained")
    grid = [figure.add_subplot(rows, columns, number + 1) for number in range(len(titles))]
    for axes, title in zip(grid, titles, strict=True):
        axes.set_title(title, fontsize=10, loc="left")
    return figure, grid


def _draw_curve(axes: Axes, at: Float64s, values: Float64s, label: str, number: int) -> None:
    if not at.size:
        return
    colour, style = COLOURS[number % len(COLOURS)], STYLES[number // len(COLOURS) % len(STYLES)]
    mean, margin = mean_and_margin(values)
    marker = "o" if at.size <= 12 else ""
    above = 2 + 1 / (2 + number)  # the first are on top, where curves are the same for a while
    axes.plot(
        at, mean, label=label, color=colour, linestyle=style, linewidth=1.4, marker=marker, markersize=3, zorder=above
    )
    if margin is not None:
        # Intervals of two or three seeds may reach far beyond everything that was seen: the axes follow the means.
        low, high = axes.get_ylim() if axes.lines[:-1] else (mean.min(), mean.max())
        axes.fill_between(at, mean - margin, mean + margin, color=colour, alpha=0.13, linewidth=0)
        low, high = min(low, mean.min()), max(high, mean.max())
        room = 0.08 * (high - low) or 0.5
        axes.set_ylim(min(low, mean.min() - room), max(high, mean.max() + room))


def _draw_estimate(axes: Axes, at: float, found: Estimate, label: str, number: int, published: float | None) -> None:
    colour = COLOURS[number % len(COLOURS)]
    axes.plot([at], [found.value], "o", color=colour, markersize=5, label=label)
    if found.interval is not None:
        axes.plot([at, at], found.interval, color=colour, linewidth=1.6, alpha=0.7)
    if published is not None:
        axes.plot([at], [published], "x", color=INK, markersize=6, label=PUBLISHED)


def _one_legend(figure: Figure, grid: list[Axes]) -> None:
    """All panels have the same labels: one legend above them, where it hides nothing."""
    named: dict[str, Any] = {}
    for axes in grid:
        for mark, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, mark)
    named = dict(sorted(named.items(), key=lambda item: item[0] == PUBLISHED))
    if len(named) > 1:
        columns = min(len(named), 6 if len(grid) > 1 else 2 if max(map(len, named)) > 14 else 4)
        figure.legend(
            handles=list(named.values()), labels=list(named), fontsize=8, ncols=columns, loc="outside upper center"
        )
