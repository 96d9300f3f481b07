"""The plots of a run, each an SVG element for a page, from the lines of its metrics.jsonl. Knows no file.

The style of all pictures stands here, too. Figures are made without matplotlib's global state, carry no date, and
number their parts by name, so that the same metrics give the same text and several figures can share one page.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle
from typing import Any, NamedTuple

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from palaestra.base.printable import printable
from palaestra.runs.metrics import Gate, Lines, MetricsLine

# Okabe and Ito's colours, which people with any colour vision can tell apart.
BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#6b7280"
INK, RULE = "#1f2430", "#d9d9d9"
SIZE = (5.6, 3.1)  # inches
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 9.5,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "text.parse_math": False,  # a name may hold dollars
    "svg.fonttype": "none",  # words stay words: smaller, and they can be searched for
}
FEW = 40  # iterations up to which every one is a bar and has a mark


class RunPlot(NamedTuple):
    """A plot of a run's lines; `draw` is also given the gate's threshold, `shown_by` says which lines fill it."""

    title: str
    caption: str
    draw: Callable[[Axes, Lines, float | None], None]
    shown_by: Callable[[MetricsLine], bool]


def run_plots(lines: Lines, threshold: float | None = None) -> Iterator[tuple[str, str, str]]:
    """(title, what it shows, SVG) of every plot that these lines of metrics can fill; `threshold` is the gate's."""
    for plot in PLOTS:
        if any(map(plot.shown_by, lines)):
            yield (
                plot.title,
                plot.caption,
                _svg(partial(_drawn, plot, lines, threshold), plot.title, _iterations(lines)),
            )


def _drawn(plot: RunPlot, lines: Lines, threshold: float | None, axes: Axes) -> None:
    plot.draw(axes, lines, threshold)


def picture(figure: Figure, format: str, **options: Any) -> bytes:
    """A figure as an SVG or PNG file, always the same bytes; names from outside stand in it as text alone."""
    data = io.BytesIO()
    metadata: dict[str, Any] = {"Date": None, "Creator": None} if format == "svg" else {"Software": None}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # a box stands in the picture for it
        figure.savefig(data, format=format, metadata=metadata, **options)
    return printable(data.getvalue().decode()).encode() if format == "svg" else data.getvalue()


def whole_numbers(axes: Axes, numbers: Sequence[int] = ()) -> None:
    """Ticks of the x-axis at whole numbers alone, however few are drawn; `numbers` are on it in any case."""
    low, high = axes.get_xlim()
    middle = (low + high) / 2
    axes.set_xlim(
        min(low, *(number - 0.5 for number in (middle, *numbers))),
        max(high, *(number + 0.5 for number in (middle, *numbers))),
    )
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))


def _svg(draw: Callable[[Axes], None], name: str, iterations: Sequence[int]) -> str:
    """A plot over iterations, for a page."""

    def over_iterations(figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.set_xlabel("iteration")
        draw(axes)
        whole_numbers(axes, iterations)

    return element(over_iterations, name)


def element(draw: Callable[[Figure], None], name: str, size: tuple[float, float] = SIZE) -> str:
    """A figure as one <svg> element without a header; `name` tells its identifiers from other figures'."""
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        body = picture(figure, "svg", transparent=True).decode()
    svg = body[body.index("<svg") :]
    prefix = "".join(character if character.isalnum() else "-" for character in name.lower())
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{prefix}-", svg)


def _legend(axes: Axes, columns: int) -> None:
    """Above the plot, where it hides nothing."""
    axes.legend(ncols=columns, loc="lower center", bbox_to_anchor=(0.5, 1.0))


def _iterations(lines: Lines) -> list[int]:
    return [line.iteration for line in lines]


def _curve(axes: Axes, values: Mapping[int, float | None], colour: str, label: str | None = None) -> None:
    """A line through what is known of iteration -> value."""
    known = {iteration: value for iteration, value in values.items() if value is not None}
    marker = "o" if len(known) <= FEW else ""
    axes.plot(list(known), list(known.values()), color=colour, label=label, marker=marker, markersize=3)


def _series(axes: Axes, values: Mapping[int, float | None], label: str, colour: str) -> None:
    _curve(axes, values, colour)
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)


def _share(axes: Axes, lines: Lines) -> None:
    _series(axes, {line.iteration: line.network_share for line in lines}, "share", PURPLE)
    axes.set_ylim(0, 1)


def _speed(axes: Axes, lines: Lines) -> None:
    _series(axes, {line.iteration: line.simulations_per_second for line in lines}, "simulations / s", GREEN)


def _losses(axes: Axes, lines: Lines) -> None:
    _curve(axes, {line.iteration: line.losses.policy for line in lines}, BLUE, "policy")
    _curve(axes, {line.iteration: line.losses.value for line in lines}, ORANGE, "value")
    _curve(axes, {line.iteration: line.losses.sum for line in lines}, GREEN, "sum")
    _curve(axes, {line.iteration: line.losses.product for line in lines}, PURPLE, "product")
    axes.set_ylabel("loss")
    axes.set_ylim(bottom=0)
    _legend(axes, 4)


def _elo(axes: Axes, lines: Lines) -> None:
    anchors = list(dict.fromkeys(anchor for line in lines for anchor in line.elo or ()))
    for anchor, colour in zip(anchors, cycle((BLUE, ORANGE, GREEN, PURPLE, RED, GREY)), strict=False):
        measured = [(line.iteration, *line.elo[anchor]) for line in lines if line.elo and anchor in line.elo]
        for iteration, elo, low, high in measured:
            if elo is not None:
                ends = [math.nan if end is None else end for end in (low, high)]
                axes.plot([iteration, iteration], ends, color=colour, linewidth=1.2, alpha=0.6)
        points: dict[str, list[tuple[int, float | None]]] = {
            "o": [(iteration, elo) for iteration, elo, _, _ in measured if elo is not None],
            "^": [(iteration, low) for iteration, elo, low, high in measured if elo is None and high is None],
            "v": [(iteration, high) for iteration, elo, low, high in measured if elo is None and low is None],
        }
        label: str | None = anchor  # named once in the legend, whichever marks it has
        for marker, some in points.items():
            if known := {iteration: height for iteration, height in some if height is not None}:
                style = "-" if marker == "o" else ""
                at, heights = list(known), list(known.values())
                axes.plot(at, heights, linestyle=style, color=colour, marker=marker, markersize=4, label=label)
                label = None
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.set_ylabel("Elo above the anchor")
    _legend(axes, 2)


def _scores(axes: Axes, lines: Lines) -> None:
    known = [(line.iteration, line.scores) for line in lines if line.scores is not None]
    at = [iteration for iteration, _ in known]
    axes.plot(at, [scores.best for _, scores in known], color=RED, label="best so far", linewidth=1.2)
    axes.plot(at, [scores.highest for _, scores in known], color=GREY, label="highest", linewidth=1.2)
    axes.plot(at, [scores.mean for _, scores in known], color=BLUE, label="mean", linewidth=1.2)
    beat = {
        line.iteration: line.ranked.threshold for line in lines if line.ranked and line.ranked.threshold is not None
    }
    if beat:
        axes.step(list(beat), list(beat.values()), where="post", color=ORANGE, linewidth=1.0, label="to beat")
    judged = [
        (line.iteration, line.score.mean, line.score.low, line.score.high)
        for line in lines
        if line.score is not None and line.score.low is not None and line.score.high is not None
    ]
    if judged:
        when, mean, low, high = zip(*judged, strict=True)
        axes.plot(when, mean, color=GREEN, marker="o", markersize=3, label="with search")
        axes.vlines(when, low, high, color=GREEN, linewidth=1.2, alpha=0.6)
    axes.set_ylabel("score")
    _legend(axes, 3)


def _running_elo(axes: Axes, lines: Lines) -> None:
    known = {line.iteration: line.running_elo for line in lines if line.running_elo is not None}
    low = [found.elo - found.minus for found in known.values()]
    high = [found.elo + found.plus for found in known.values()]
    axes.fill_between(list(known), low, high, color=BLUE, alpha=0.15, linewidth=0)
    _curve(axes, {iteration: found.elo for iteration, found in known.items()}, BLUE)
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.set_ylabel("Elo above the earliest network")


def _demerits(axes: Axes, lines: Lines) -> None:
    known = {line.iteration: line.demerits.demerits for line in lines if line.demerits is not None}
    _series(axes, known, "demerits", RED)


def _learned(axes: Axes, lines: Lines) -> None:
    known = {line.iteration: line.learned for line in lines if line.learned is not None}
    _curve(axes, {iteration: found.median_win for iteration, found in known.items()}, GREEN, "median win")
    _curve(axes, {iteration: found.draw for iteration, found in known.items()}, GREY, "draw")
    axes.set_ylim(-1, 1)
    axes.set_ylabel("value")
    _legend(axes, 2)


def _results(axes: Axes, lines: Lines) -> None:
    known = [(line.iteration, line.results, max(line.results.games, 1)) for line in lines if line.results is not None]
    shares = {
        "first": [results.first / games for _, results, games in known],
        "draw": [results.draw / games for _, results, games in known],
        "second": [results.second / games for _, results, games in known],
    }
    _stacked(axes, [iteration for iteration, _, _ in known], shares, (BLUE, RULE, ORANGE))
    axes.set_ylabel("share of games")
    axes.set_ylim(0, 1)
    _legend(axes, 3)


def _gate(axes: Axes, lines: Lines, threshold: float | None) -> None:
    held = [(line.iteration, line.gate) for line in lines if line.gate is not None]
    for accepted, colour, marker, label in ((True, GREEN, "o", "accepted"), (False, RED, "x", "rejected")):
        some = {iteration: _decisive_share(gate) for iteration, gate in held if gate.accepted == accepted}
        axes.plot(
            list(some),
            list(some.values()),
            linestyle="",
            color=colour,
            marker=marker,
            markersize=5,
            label=label,
        )
    if threshold is not None:
        axes.axhline(threshold, color=GREY, linewidth=0.9, linestyle="--")
    axes.set_ylim(-0.04, 1.04)
    axes.set_ylabel("share of decisive games")
    _legend(axes, 2)


def _decisive_share(gate: Gate) -> float:
    """Wins among decisive games; 0 where no game was, because that is a rejection."""
    decisive = gate.wins + gate.losses
    return gate.wins / decisive if decisive else 0.0


def _time(axes: Axes, lines: Lines) -> None:
    spent = [line.seconds.by_stage() for line in lines]
    stages = list(dict.fromkeys(stage for each in spent for stage in each))
    seconds = {stage: [each.get(stage, 0.0) for each in spent] for stage in stages}
    colours = (BLUE, ORANGE, GREEN, PURPLE, RED, GREY)
    _stacked(axes, _iterations(lines), seconds, tuple(colours[i % len(colours)] for i in range(len(stages))))
    axes.set_ylabel("seconds")
    _legend(axes, 4)


def _stacked(axes: Axes, at: list[int], parts: Mapping[str, list[float]], colours: Sequence[str]) -> None:
    """One bar an iteration, or an area where bars would be too thin to see."""
    if len(at) > FEW:
        axes.stackplot(at, list(parts.values()), labels=list(parts), colors=list(colours), linewidth=0)
    else:
        floor = [0.0] * len(at)
        for (name, heights), colour in zip(parts.items(), colours, strict=True):
            axes.bar(at, heights, bottom=floor, width=0.8, color=colour, label=name)
            floor = [low + height for low, height in zip(floor, heights, strict=True)]


PLOTS = (
    RunPlot(
        "Losses",
        "Mean of the last pass over the batches; all four are measured, whichever is minimised.",
        lambda axes, lines, threshold: _losses(axes, lines),
        lambda line: True,
    ),
    RunPlot(
        "Strength",
        (
            "Elo difference to players that never change, with 95 % intervals. An arrow: all games won (or lost), "
            "so only one end is known."
        ),
        lambda axes, lines, threshold: _elo(axes, lines),
        lambda line: bool(line.elo),
    ),
    RunPlot(
        "Scores",
        (
            "Self-play of an iteration: mean and highest score, and the threshold that a game has to beat; the best of "
            "the run so far, from wherever; and the mean of the agent with search, with 95 % intervals."
        ),
        lambda axes, lines, threshold: _scores(axes, lines),
        lambda line: bool(line.scores),
    ),
    RunPlot(
        "Exploration",
        "By how much temperature and noise were widened because the threshold did not move.",
        lambda axes, lines, threshold: _series(
            axes, {line.iteration: line.exploration for line in lines}, "factor", ORANGE
        ),
        lambda line: (line.exploration or 1.0) > 1,
    ),
    RunPlot(
        "Running Elo",
        (
            "Elo above the earliest network by the run's own matches (gate, evaluation.history), all of them so far "
            "rated together, with 95 % intervals. It flatters: compare with a tournament of the checkpoints."
        ),
        lambda axes, lines, threshold: _running_elo(axes, lines),
        lambda line: bool(line.running_elo),
    ),
    RunPlot(
        "Demerits",
        (
            "What the agent gives away against a perfect opponent, from every start and on both sides: 0 is perfect "
            "play."
        ),
        lambda axes, lines, threshold: _demerits(axes, lines),
        lambda line: bool(line.demerits),
    ),
    RunPlot(
        "What outcomes are worth",
        (
            "The first player's value of a draw, and of the median win of an iteration, by the reward that the run "
            "has learned."
        ),
        lambda axes, lines, threshold: _learned(axes, lines),
        lambda line: bool(line.learned),
    ),
    RunPlot(
        "Length of self-play games",
        "Mean plies of an iteration's games.",
        lambda axes, lines, threshold: _series(
            axes, {line.iteration: line.mean_plies for line in lines}, "plies", BLUE
        ),
        lambda line: True,
    ),
    RunPlot(
        "Results of self-play",
        "Share of games won by each side.",
        lambda axes, lines, threshold: _results(axes, lines),
        lambda line: bool(line.results),
    ),
    RunPlot(
        "Gate",
        "Candidate's share of decisive games against the network that played so far.",
        lambda axes, lines, threshold: _gate(axes, lines, threshold),
        lambda line: bool(line.gate),
    ),
    RunPlot(
        "Time",
        "Seconds of each stage; their sum over iterations is the run's time (Eq. 3.2).",
        lambda axes, lines, threshold: _time(axes, lines),
        lambda line: True,
    ),
    RunPlot(
        "Speed of self-play",
        "Simulations a second, all threads together.",
        lambda axes, lines, threshold: _speed(axes, lines),
        lambda line: True,
    ),
    RunPlot(
        "Share of self-play inside the network",
        "The rest is rules, tree search and waiting.",
        lambda axes, lines, threshold: _share(axes, lines),
        lambda line: True,
    ),
)
