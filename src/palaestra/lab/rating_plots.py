"""Pictures of ratings: Elo with intervals, the cross table as a heat map, Elo over iterations. PNG or SVG by ending.

Figures take what they show as arguments; `tournament_figures` alone knows what a tournament is and writes files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

from palaestra.arena.ratings import Ratings, Results, rate
from palaestra.base.atomic import write_file
from palaestra.base.errors import ConfigError
from palaestra.base.types import Float64s
from palaestra.lab.elo_curves import Curve, Point, curves_of, mean_over_runs
from palaestra.lab.plots import BLUE, GREEN, INK, ORANGE, PURPLE, RED, STYLE, picture, whole_numbers

if TYPE_CHECKING:
    from palaestra.arena.tournament import Tournament

FORMATS = ("png", "svg")
DPI = 160  # of PNG
NAME = 42  # characters of a player's text that are shown
SCORES = LinearSegmentedColormap.from_list("scores", (ORANGE, "#f7f5f0", BLUE))  # ½ is pale


def figure_format(path: Path) -> str:
    """`png` or `svg`; ConfigError for any other ending, to be asked before hours of play."""
    ending = path.suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise ConfigError(f"a picture's file must end in .png or .svg, not {path.name!r}; for example ratings.png")
    return ending


def tournament_figures(tournament: Tournament, path: Path, ratings: Ratings | None = None) -> list[Path]:
    """Write the pictures of a tournament and return their files: `path` with the ratings, NAME-crosstable beside it,
    and NAME-iterations where several checkpoints of a run took part. `ratings` are the tournament's own by default."""
    figure_format(path)
    rated = rate(tournament.results) if ratings is None else ratings
    players = [rated.players[row] for row in rated.order()]
    figures = {
        path: ratings_figure(rated),
        path.with_stem(f"{path.stem}-crosstable"): crosstable_figure(players, scores_of(tournament.results, players)),
    }
    if curves := curves_of(rated):
        figures[path.with_stem(f"{path.stem}-iterations")] = elo_over_iterations_figure(curves)
    for file, figure in figures.items():
        save_figure(figure, file)
    return list(figures)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure in the format of the file's ending, whole or not at all; the same figure gives the same bytes."""
    ending = figure_format(path)
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": path.stem}):
        data = picture(figure, ending, dpi=DPI)
    write_file(path, data)


def scores_of(results: Results, players: Sequence[str]) -> Float64s:
    """float64[P, P]: the row's points per game against the column, in the order of `players`; NaN without a game."""
    place = {player: row for row, player in enumerate(players)}
    to = np.array([place.get(player, -1) for player in results.players], dtype=np.int64)
    points = np.zeros((len(players), len(players)))
    games = np.zeros_like(points)
    total = results.wins + results.draws + results.losses
    first, second = to[results.first], to[results.second]
    np.add.at(points, (first, second), results.wins + results.draws / 2)
    np.add.at(points, (second, first), results.losses + results.draws / 2)
    np.add.at(games, (first, second), total)
    np.add.at(games, (second, first), total)
    return np.divide(points, games, out=np.full_like(points, np.nan), where=games > 0)


def ratings_figure(ratings: Ratings) -> Figure:
    """A dot with its 95 % interval for each player that has played, the best on top."""
    order = [row for row in ratings.order() if ratings.games[row]]
    at, names = np.arange(len(order)), labels([ratings.players[row] for row in order])
    with matplotlib.rc_context({**STYLE, "axes.grid.axis": "x", "axes.spines.left": False, "ytick.major.size": 0}):
        figure = Figure(figsize=(4.4 + _width(names), 0.9 + 0.26 * len(order)), layout="constrained")
        axes = figure.add_subplot()
        spans = np.array([ratings.minus, ratings.plus])[:, order]
        axes.errorbar(ratings.elo[order], at, xerr=spans, fmt="o", color=BLUE, markersize=4.5, elinewidth=1.4)
        axes.set_yticks(at, names)
        axes.set_ylim(len(order) - 0.4, -0.6)
        axes.set_xlabel("Elo, with 95 % intervals")
    return figure


def crosstable_figure(players: Sequence[str], scores: Float64s) -> Figure:
    """A heat map of float64[P, P]: the row's score against the column in percent; pairings without a game are blank."""
    count = len(players)
    side = max(0.36 * count, 1.6)
    names = labels(players)
    margin = 0.5 + _width(names)
    with matplotlib.rc_context({**STYLE, "axes.grid": False, "xtick.major.size": 0, "ytick.major.size": 0}):
        figure = Figure(figsize=(side + margin, side + margin), layout="constrained")
        axes = figure.add_subplot()
        axes.imshow(np.ma.masked_invalid(scores), cmap=SCORES, vmin=0, vmax=1)
        axes.spines[:].set_visible(False)
        axes.set_xticks(range(count), names, rotation=90)
        axes.set_yticks(range(count), names)
        axes.xaxis.tick_top()
        for row, column in zip(*np.nonzero(np.isfinite(scores)), strict=True):
            score = scores[row, column]
            colour = "white" if score > 0.85 else INK  # the blue end is dark, the orange one is not
            axes.text(column, row, f"{100 * score:.0f}", ha="center", va="center", fontsize=8, color=colour)
        axes.set_xlabel("points of the row's player against the column's, %")
    return figure


def elo_over_iterations_figure(runs: Sequence[Curve]) -> Figure:
    """Tournament Elo of checkpoints and the running Elo of training over the iterations: means over the runs with
    their 95 % intervals, and every run as a thin line. Of a single run the intervals are those of its ratings."""
    ways = list(dict.fromkeys(curve.played_as for curve in runs))
    names = list(dict.fromkeys(curve.run for curve in runs))
    # The running Elo belongs to the run however its checkpoints played: one of the copies is drawn.
    trained = list({curve.run: curve for curve in reversed(runs) if curve.training}.values())
    legend: dict[str, Any] = {}
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(6.8, 4.2), layout="constrained")
        axes = figure.add_subplot()
        if trained:
            lasts = [curve.last for curve in trained]
            label = "running Elo of training, shifted to agree at the first checkpoint"
            legend[label] = _draw(axes, [curve.training for curve in trained], lasts, ORANGE, band=True)
        for way, colour in zip(ways, cycle((BLUE, GREEN, PURPLE, RED)), strict=False):
            group = [curve for curve in runs if curve.played_as == way]
            lasts = [curve.last for curve in group]
            label = "tournament Elo" if len(ways) == 1 else f"tournament Elo, {shortened(way)}"
            legend[label] = _draw(axes, [curve.tournament for curve in group], lasts, colour, band=False)
        whole_numbers(axes)
        axes.set_xlabel("iteration")
        what = f"run {shortened(names[0])}" if len(names) == 1 else f"mean of {len(names)} runs"
        axes.set_ylabel(f"Elo, {what}, 95 % intervals")
        axes.legend(legend.values(), legend, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return figure


def _draw(axes: Axes, curves: Sequence[Mapping[int, Point]], lasts: Sequence[int], colour: str, band: bool) -> Any:
    """One group of curves: the runs thinly where there are several, and their mean with intervals, as a band or bars.

    Returns the mean's line, for the legend.
    """
    if len(curves) > 1:
        for curve in curves:
            axes.plot(list(curve), [point.elo for point in curve.values()], color=colour, linewidth=0.8, alpha=0.35)
    means = dict(mean_over_runs(curves, lasts))
    at, elos = list(means), np.array([point.elo for point in means.values()])
    minus, plus = (np.array([getattr(point, arm) for point in means.values()]) for arm in ("minus", "plus"))
    if band:  # bars of both lines would hide each other
        axes.fill_between(at, elos - minus, elos + plus, color=colour, alpha=0.15, linewidth=0)
        return axes.plot(at, elos, color=colour, marker="o", markersize=3.5)[0]
    return axes.errorbar(
        at, elos, yerr=[minus, plus], color=colour, marker="o", markersize=3.5, capsize=2, elinewidth=1
    )


def _width(names: Sequence[str]) -> float:
    """Inches that the longest name takes."""
    return 0.075 * max(map(len, names), default=0)


def labels(players: Sequence[str]) -> list[str]:
    """The players' texts, shortened where they can still be told apart."""
    short = [shortened(player) for player in players]
    return short if len(set(short)) == len(set(players)) else list(players)


def shortened(text: str) -> str:
    """The text, with its middle left out where it is long."""
    half = NAME // 2
    return text if len(text) <= NAME else f"{text[: half - 1]}…{text[-half:]}"
