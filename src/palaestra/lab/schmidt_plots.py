"""Pictures of learning without a reward metric: demerits over generations, what outcomes are worth, and bars of duels.

Takes curves and numbers as they are; knows no experiment and writes no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from palaestra.arena.statistics import mean_and_margin
from palaestra.base.types import Float32s, Float64s, Int32s
from palaestra.lab.plots import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, RED, STYLE, whole_numbers

COLOURS = (GREY, PURPLE, ORANGE, RED, BLUE, GREEN)
BARS = 10  # about as many error bars a curve
PANELS = 3  # of duels beside each other


def demerits_figure(curves: Mapping[str, Float64s], anchors: Mapping[str, float]) -> Figure:
    """Demerits [S, G] over generations by label: means over seeds with 95 % intervals at some generations.

    `anchors` are demerits of known players, drawn as horizontal lines.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(7.6, 4.4), layout="constrained")
        axes = figure.add_subplot()
        for number, (colour, (label, curve)) in enumerate(zip(cycle(COLOURS), curves.items(), strict=False)):
            generations = np.arange(1, curve.shape[1] + 1)
            mean, margin = mean_and_margin(curve)
            axes.plot(generations, mean, label=label, color=colour, linewidth=1.4)
            if margin is not None:
                every = max(1, len(generations) // BARS)
                some = slice(number * every // len(curves), None, every)
                # Bars of different curves stand beside each other, pale and behind the curves, which they would hide.
                shift = every * 0.6 * ((number + 0.5) / len(curves) - 0.5) if every == 1 else 0.0
                low, high = mean[some] - margin[some], mean[some] + margin[some]
                axes.vlines(generations[some] + shift, low, high, color=colour, linewidth=1.0, alpha=0.45, zorder=1)
        for label, height in anchors.items():
            axes.axhline(height, color=GREY, linestyle=":", linewidth=1.0)
            axes.annotate(label, (1.0, height), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize=8)
        highest = max([*anchors.values(), *(float(curve.max()) for curve in curves.values())])
        axes.set_ylim(bottom=-0.3, top=1.08 * max(highest, 1.0))  # intervals of few seeds reach beyond what there is
        whole_numbers(axes)
        axes.set_xlabel("generation")
        axes.set_ylabel("demerits against perfect play")
        axes.legend(fontsize=8, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def worth_figure(outcomes: Int32s, panels: Mapping[str, Mapping[int, Float32s]]) -> Figure:
    """What the first player's outcomes, ascending, are worth at some generations: a panel a reward (Figure 1)."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6 * len(panels), 3.4), layout="constrained")
        grid = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (title, curves) in zip(grid, panels.items(), strict=True):
            for colour, (generation, worth) in zip(cycle((GREEN, ORANGE, BLUE)), curves.items(), strict=False):
                axes.plot(outcomes, worth, color=colour, label=f"generation {generation}")
            axes.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
            axes.set_title(title, fontsize=10)
            axes.set_xlabel("loss, early to late  |  win, late to early")
            axes.set_ylabel("reward of the first player")
            axes.set_ylim(-1.05, 1.05)
            axes.legend(fontsize=8, loc="upper left")
    return figure


def duel_figure(panels: Mapping[str, Mapping[str, Mapping[str, Float64s]]]) -> Figure:
    """Bars with 95 % intervals over seeds: panel -> opponent -> agent -> values [S] (NaN where a seed has none)."""
    with matplotlib.rc_context(STYLE):
        cols, rows = min(len(panels), PANELS), -(-len(panels) // PANELS)
        figure = Figure(figsize=(4.8 * cols, 3.6 * rows), layout="constrained")
        for number, (title, opponents) in enumerate(panels.items(), start=1):
            axes = figure.add_subplot(rows, cols, number)
            _bars(axes, opponents)
            axes.set_xticks(range(len(opponents)), [f"against\n{name}" for name in opponents], fontsize=8)
            axes.set_title(title, fontsize=10, loc="left")
        named: dict[str, Any] = {}  # every panel has the same agents: one legend for all, where it hides no title
        for axes in figure.axes:
            named |= {label: bar for bar, label in zip(*axes.get_legend_handles_labels(), strict=True)}
        figure.legend(
            handles=list(named.values()), labels=list(named), fontsize=8, ncols=len(named), loc="outside upper right"
        )
    return figure


def _bars(axes: Axes, opponents: Mapping[str, Mapping[str, Float64s]]) -> None:
    """A group of bars for each opponent, a colour for each agent."""
    agents = list(dict.fromkeys(agent for values in opponents.values() for agent in values))
    width = 0.8 / len(agents)
    for number, (agent, colour) in enumerate(zip(agents, cycle((BLUE, ORANGE, GREEN)), strict=False)):
        shift = (number - (len(agents) - 1) / 2) * width
        label: str | None = agent  # named once in the legend
        for place, values in enumerate(opponents.values()):
            known = values[agent][np.isfinite(values[agent])] if agent in values else np.empty(0)
            if known.size:
                mean, margin = mean_and_margin(known[:, None])
                axes.bar(place + shift, mean, width, yerr=margin, color=colour, label=label,
                         error_kw={"ecolor": INK, "elinewidth": 1.0, "capsize": 2})  # fmt: skip
                label = None
