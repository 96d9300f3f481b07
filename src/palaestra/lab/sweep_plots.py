"""The pictures of a sweep, each an SVG element for its page. Knows outcomes and numbers, no file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from palaestra.lab.plots import BLUE, GREY, INK, ORANGE, RULE, element
from palaestra.lab.sweep_analysis import Correlation, Elo
from palaestra.lab.sweep_space import Parameter
from palaestra.lab.sweep_trial import Outcome

LABELS = {"elo": "Elo", "minutes": "minutes", "loss": "loss"}
COLUMNS = 3  # slices beside each other


def short(parameter: str) -> str:
    """The last part of a setting's name."""
    return parameter.rpartition(".")[2]


def pareto_plot(costs: Mapping[int, float], elos: Mapping[int, Elo], front: Sequence[int]) -> str:
    """Elo over minutes with intervals; the front is a line with the trials' numbers."""

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        for number, elo in elos.items():
            colour = ORANGE if number in front else GREY
            axes.plot([costs[number]] * 2, [elo.low, elo.high], color=colour, linewidth=1.0, alpha=0.6)
            axes.plot(costs[number], elo.elo, "o", color=colour, markersize=4)
        steps = [(costs[number], elos[number].elo) for number in front]
        axes.step([x for x, _ in steps], [y for _, y in steps], where="post", color=ORANGE, linewidth=1.2)
        for number in front:
            at = (costs[number], elos[number].elo)
            axes.annotate(str(number), at, xytext=(4, 4), textcoords="offset points", color=INK, fontsize=8)
        axes.set_xlabel("minutes of self-play, training and gate")
        axes.set_ylabel("Elo")

    return element(draw, "pareto")


def importance_plot(shares: Mapping[str, Mapping[str, float]]) -> str:
    """One bar a parameter and objective."""
    names = list(dict.fromkeys(name for by_name in shares.values() for name in by_name))[::-1]

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        height = 0.8 / max(len(shares), 1)
        for index, (objective, by_name) in enumerate(shares.items()):
            at = np.arange(len(names)) + (len(shares) / 2 - index - 0.5) * height
            widths = [by_name.get(name, 0.0) for name in names]
            axes.barh(at, widths, height, color=(BLUE, ORANGE, GREY)[index % 3], label=LABELS[objective])
        axes.set_yticks(range(len(names)), [short(name) for name in names])
        axes.set_xlabel("share of the variance")
        axes.grid(axis="x")
        axes.grid(visible=False, axis="y")
        axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))

    return element(draw, "importances", (5.6, max(3.1, 0.38 * len(names) + 1.0)))


def correlation_plot(found: Sequence[Correlation]) -> str:
    """Rank correlations with their intervals, one row a parameter."""
    names = list(dict.fromkeys(one.parameter for one in found))[::-1]
    objectives = list(dict.fromkeys(one.objective for one in found))

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.axvline(0.0, color=GREY, linewidth=0.8)
        for index, objective in enumerate(objectives):
            colour = (BLUE, ORANGE, GREY)[index % 3]
            rows = [one for one in found if one.objective == objective]
            at = [names.index(one.parameter) + 0.22 * (len(objectives) / 2 - index - 0.5) for one in rows]
            for y, one in zip(at, rows, strict=True):
                axes.plot([one.low, one.high], [y, y], color=colour, linewidth=1.4, alpha=0.7)
            axes.plot([one.rho for one in rows], at, "o", color=colour, markersize=4, label=LABELS[objective])
        axes.set_yticks(range(len(names)), [short(name) for name in names])
        axes.set_xlim(-1.02, 1.02)
        axes.set_xlabel("Spearman's ρ with 95 % interval")
        axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))

    return element(draw, "correlations", (5.6, max(3.1, 0.38 * len(names) + 1.0)))


def slice_plot(parameters: Sequence[Parameter], outcomes: Sequence[Outcome], elos: Mapping[int, Elo]) -> str:
    """Elo over each parameter, all trials."""
    rows = -(-len(parameters) // COLUMNS)

    def draw(figure: Figure) -> None:
        grid = figure.subplots(rows, COLUMNS, sharey=True, squeeze=False)
        for axes, parameter in zip(grid.flat, parameters, strict=False):
            _slice(axes, parameter, outcomes, elos)
        for axes in grid.flat[len(parameters) :]:
            axes.set_visible(False)
        for axes in grid[:, 0]:
            axes.set_ylabel("Elo")

    return element(draw, "slices", (8.4, 2.3 * rows))


def _slice(axes: Axes, parameter: Parameter, outcomes: Sequence[Outcome], elos: Mapping[int, Elo]) -> None:
    for outcome in outcomes:
        if (elo := elos.get(outcome.number)) is None:
            continue
        x = place(parameter, outcome)
        axes.plot([x, x], [elo.low, elo.high], color=RULE, linewidth=1.0)
        axes.plot(x, elo.elo, "o", color=BLUE, markersize=3.5, alpha=0.8)
    if parameter.choices:
        axes.set_xticks(range(len(parameter.choices)), list(map(str, parameter.choices)))
        axes.set_xlim(-0.5, len(parameter.choices) - 0.5)
    elif parameter.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter("{x:g}")
        axes.xaxis.set_minor_formatter("")
    axes.set_xlabel(short(parameter.name))


def place(parameter: Parameter, outcome: Outcome) -> float:
    """Where a trial lies on a parameter's axis; choices lie side by side."""
    value = outcome.values[parameter.name]
    return float(parameter.choices.index(value)) if parameter.choices else parameter.number(value)


def parallel_plot(parameters: Sequence[Parameter], outcomes: Sequence[Outcome], elos: Mapping[int, Elo]) -> str:
    """Every trial a line through its values, coloured by Elo; the strongest lie on top."""
    done = sorted((one for one in outcomes if one.number in elos), key=lambda one: elos[one.number].elo)
    lines = np.array([[_height(parameter, outcome) for parameter in parameters] for outcome in done])

    def draw(figure: Figure) -> None:
        axes = figure.add_subplot()
        at = list(range(len(parameters)))
        segments = [np.column_stack([at, line]) for line in lines]
        drawn = LineCollection(segments, cmap="cividis", linewidths=1.3, alpha=0.85)
        drawn.set_array(np.array([elos[outcome.number].elo for outcome in done]))
        axes.add_collection(drawn)
        for x, parameter in zip(at, parameters, strict=True):
            axes.axvline(x, color=RULE, linewidth=0.8, zorder=0)
            low, high = _ends(parameter)
            axes.annotate(low, (x, 0), xytext=(0, -11), textcoords="offset points", ha="center", fontsize=7)
            axes.annotate(high, (x, 1), xytext=(0, 4), textcoords="offset points", ha="center", fontsize=7)
        axes.set_xlim(-0.3, len(parameters) - 0.7)
        axes.set_ylim(-0.12, 1.1)
        axes.set_xticks(at, [short(parameter.name) for parameter in parameters], rotation=20, ha="right")
        axes.set_yticks([])
        axes.grid(visible=False)
        figure.colorbar(drawn, ax=axes, label="Elo")

    return element(draw, "parallel", (8.4, 3.6))


def _height(parameter: Parameter, outcome: Outcome) -> float:
    """From 0 to 1 along a parameter's axis."""
    if parameter.choices:
        return place(parameter, outcome) / max(len(parameter.choices) - 1, 1)
    low, high, value = parameter.low, parameter.high, place(parameter, outcome)
    if parameter.log:
        low, high, value = (float(np.log(number)) for number in (low, high, value))
    return (value - low) / (high - low)


def _ends(parameter: Parameter) -> tuple[str, str]:
    if parameter.choices:
        return str(parameter.choices[0]), str(parameter.choices[-1])
    return f"{parameter.low:g}", f"{parameter.high:g}"
