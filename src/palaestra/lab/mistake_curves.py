"""Mistakes over the minutes of a run: its networks at times that double, on positions where every move is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from palaestra.games.base import Game
from palaestra.lab.plots import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, STYLE
from palaestra.learn.oracles import ErrorRate, PositionSet, error_rates
from palaestra.players.runs import StoredRun

COLOURS = (BLUE, ORANGE, GREEN, RED, PURPLE, GREY)
PANEL = (3.6, 3.4)  # inches


@dataclass(frozen=True)
class Point:
    """How often the network of one iteration errs, by set and number of simulations."""

    iteration: int
    minutes: float  # of the run when the network was made
    rates: tuple[ErrorRate, ...]


def moments(run: StoredRun, count: int) -> dict[int, float]:
    """Iteration -> minutes of at most `count` networks, as `halved` chooses them; none before the first trained one."""
    lines = run.home.metrics(run.manifest)
    minutes = {line.iteration: line.elapsed / 60 for line in lines if line.iteration in run.checkpoints}
    return halved(minutes, lines[-1].elapsed / 60, count) if lines else {}


def halved(minutes: Mapping[int, float], end: float, count: int) -> dict[int, float]:
    """Those of the iterations, ascending with their minutes, that were the newest at `end`, half of it, a quarter, …"""
    chosen: dict[int, float] = {}
    for halvings in reversed(range(count)):
        if made := [iteration for iteration, at in minutes.items() if at <= end / 2**halvings]:
            chosen[made[-1]] = minutes[made[-1]]
    return chosen


def curve(
    game: Game,
    run: StoredRun,
    sets: Sequence[PositionSet],
    simulations: Sequence[int],
    at: Mapping[int, float],
    known: Mapping[int, Sequence[ErrorRate]],
    **settings: Any,
) -> Iterator[Point]:
    """The points of a run at some `moments` of it; `settings` are those of `error_rates`, and `known` what it said."""
    for iteration, minutes in at.items():
        rates = known.get(iteration)
        if rates is None:
            rates = error_rates(game, run.network(iteration), run.search, sets, simulations, **settings)
        yield Point(iteration, minutes, tuple(rates))


def by_simulations(points: Sequence[Point]) -> dict[int, dict[str, list[ErrorRate]]]:
    """Simulations -> set -> its rates, one a point."""
    table: dict[int, dict[str, list[ErrorRate]]] = {}
    for point in points:
        for rate in point.rates:
            table.setdefault(rate.simulations, {}).setdefault(rate.positions_of, []).append(rate)
    return table


def mistakes_figure(points: Sequence[Point]) -> Figure:
    """One panel for each number of simulations, one curve a set, with 95 % intervals."""
    table, minutes = by_simulations(points), np.array([point.minutes for point in points])
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(PANEL[0] * len(table), PANEL[1]), layout="constrained")
        panels = np.atleast_1d(figure.subplots(1, len(table)))
        for axes, (simulations, sets) in zip(panels, table.items(), strict=True):
            _draw(axes, minutes, sets)
            axes.set_title(f"{simulations:,} simulations" if simulations else "network alone", fontsize=9.5)
        panels[0].set_ylabel("mistakes, %")
        panels[0].legend(fontsize=7.5)
    return figure


def _draw(axes: Axes, minutes: Any, sets: Mapping[str, Sequence[ErrorRate]]) -> None:
    for colour, (name, rates) in zip(COLOURS * len(sets), sets.items(), strict=False):
        middle = np.array([100 * rate.rate for rate in rates])
        low, high = (np.array([100 * rate.interval[end] for rate in rates]) for end in (0, 1))
        axes.plot(minutes, middle, color=colour, marker="o", markersize=3, linewidth=1.4, label=name)
        axes.fill_between(minutes, low, high, color=colour, alpha=0.12, linewidth=0)
    axes.set_ylim(bottom=0)
    minutes_axis(axes, minutes)


def minutes_axis(axes: Axes, minutes: Any) -> None:
    """A logarithmic axis with a tick at each of these minutes, which double."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(minutes))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels([f"{at:.2g}" if at < 10 else f"{at:.0f}" for at in minutes])
    axes.set_xlabel("minutes")
