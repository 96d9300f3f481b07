"""The plots of a run, each an SVG element for a page, from the lines of its metrics.jsonl. Knows no file.

The style of all pictures stands here, too. Figures are made without matplotlib's global state, carry no date, and
number their parts by name, so that the same metrics give the same text and several figures can share one page.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from palaestra.base.printable import printable

Lines = Sequence[Mapping[str, Any]]

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


def run_plots(lines: Lines, threshold: float | None = None) -> Iterator[tuple[str, str, str]]:
    """(title, what it shows, SVG) of every plot that these lines of metrics can fill; `threshold` is the gate's."""
    plots: list[tuple[str, str, Callable[[Axes], None], bool]] = [
        (
            "Losses",
            "Mean of the last pass over the batches; all four are measured, whichever is minimised.",
            lambda axes: _losses(axes, lines),
            bool(lines),
        ),
        (
            "Strength",
            "Elo difference to players that never change, with 95 % intervals. An arrow: all games won (or lost), "
            "so only one end is known.",
            lambda axes: _elo(axes, lines),
            any(line.get("elo") for line in lines),
        ),
        (
            "Scores",
            "Self-play of an iteration: mean and highest score, and the threshold that a game has to beat; the best of "
            "the run so far, from wherever; and the mean of the agent with search, with 95 % intervals.",
            lambda axes: _scores(axes, lines),
            any(line.get("scores") for line in lines),
        ),
        (
            "Exploration",
            "By how much temperature and noise were widened because the threshold did not move.",
            lambda axes: _series(axes, lines, "exploration", "factor", ORANGE),
            any((line.get("exploration") or 1) > 1 for line in lines),
        ),
        (
            "Running Elo",
            "Elo above the earliest network by the run's own matches (gate, evaluation.history), all of them so far "
            "rated together, with 95 % intervals. It flatters: compare with a tournament of the checkpoints.",
            lambda axes: _running_elo(axes, lines),
            any(line.get("running_elo") for line in lines),
        ),
        (
            "Demerits",
            "What the agent gives away against a perfect opponent, from every start and on both sides: 0 is perfect "
            "play.",
            lambda axes: _demerits(axes, lines),
            any(line.get("demerits") for line in lines),
        ),
        (
            "What outcomes are worth",
            "The first player's value of a draw, and of the median win of an iteration, by the reward that the run "
            "has learned.",
            lambda axes: _learned(axes, lines),
            any(line.get("learned") for line in lines),
        ),
        (
            "Length of self-play games",
            "Mean plies of an iteration's games.",
            lambda axes: _series(axes, lines, "mean_plies", "plies", BLUE),
            bool(lines),
        ),
        (
            "Results of self-play",
            "Share of games won by each side.",
            lambda axes: _results(axes, lines),
            any(line["results"] for line in lines),
        ),
        (
            "Gate",
            "Candidate's share of decisive games against the network that played so far.",
            lambda axes: _gate(axes, lines, threshold),
            any(line.get("gate") for line in lines),
        ),
        (
            "Time",
            "Seconds of each stage; their sum over iterations is the run's time (Eq. 3.2).",
            lambda axes: _time(axes, lines),
            bool(lines),
        ),
        (
            "Speed of self-play",
            "Simulations a second, all threads together.",
            lambda axes: _series(axes, lines, "simulations_per_second", "simulations / s", GREEN),
            bool(lines),
        ),
        (
            "Share of self-play inside the network",
            "The rest is rules, tree search and waiting.",
            lambda axes: _share(axes, lines),
            bool(lines),
        ),
    ]
    for title, caption, draw, possible in plots:
        if possible:
            yield title, caption, _svg(draw, title, _iterations(lines))


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
    return [int(line["iteration"]) for line in lines]


def _mark(lines: Lines) -> str:
    return "o" if len(lines) <= FEW else ""


def _series(axes: Axes, lines: Lines, key: str, label: str, colour: str) -> None:
    known = [line for line in lines if line.get(key) is not None]
    axes.plot(_iterations(known), [line[key] for line in known], color=colour, marker=_mark(known), markersize=3)
    axes.set_ylabel(label)
    axes.set_ylim(bottom=0)


def _share(axes: Axes, lines: Lines) -> None:
    _series(axes, lines, "network_share", "share", PURPLE)
    axes.set_ylim(0, 1)


def _losses(axes: Axes, lines: Lines) -> None:
    for name, colour in (("policy", BLUE), ("value", ORANGE), ("sum", GREEN), ("product", PURPLE)):
        known = [line for line in lines if line["losses"].get(name) is not None]
        values = [line["losses"][name] for line in known]
        axes.plot(_iterations(known), values, color=colour, label=name, marker=_mark(known), markersize=3)
    axes.set_ylabel("loss")
    axes.set_ylim(bottom=0)
    _legend(axes, 4)


def _elo(axes: Axes, lines: Lines) -> None:
    anchors = list(dict.fromkeys(anchor for line in lines for anchor in line.get("elo") or ()))
    for anchor, colour in zip(anchors, cycle((BLUE, ORANGE, GREEN, PURPLE, RED, GREY)), strict=False):
        measured = [(line["iteration"], *line["elo"][anchor]) for line in lines if anchor in (line.get("elo") or ())]
        for iteration, elo, low, high in measured:
            if elo is not None:
                axes.plot([iteration, iteration], [low, high], color=colour, linewidth=1.2, alpha=0.6)
        points = {
            "o": [(iteration, elo) for iteration, elo, _, _ in measured if elo is not None],
            "^": [(iteration, low) for iteration, elo, low, high in measured if elo is None and high is None],
            "v": [(iteration, high) for iteration, elo, low, high in measured if elo is None and low is None],
        }
        label: str | None = anchor  # named once in the legend, whichever marks it has
        for marker, some in points.items():
            if some:
                at, heights = zip(*some, strict=True)
                line = "-" if marker == "o" else ""
                axes.plot(at, heights, linestyle=line, color=colour, marker=marker, markersize=4, label=label)
                label = None
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.set_ylabel("Elo above the anchor")
    _legend(axes, 2)


def _scores(axes: Axes, lines: Lines) -> None:
    known = [line for line in lines if line.get("scores")]
    at = _iterations(known)
    for name, colour, label in (("best", RED, "best so far"), ("highest", GREY, "highest"), ("mean", BLUE, "mean")):
        axes.plot(at, [line["scores"][name] for line in known], color=colour, label=label, linewidth=1.2)
    if ranked := [line for line in known if line.get("ranked")]:
        heights = [line["ranked"]["threshold"] for line in ranked]
        axes.step(_iterations(ranked), heights, where="post", color=ORANGE, linewidth=1.0, label="to beat")
    if judged := [line for line in known if line.get("score") and line["score"]["low"] is not None]:
        mean, low, high = ([line["score"][name] for line in judged] for name in ("mean", "low", "high"))
        axes.plot(_iterations(judged), mean, color=GREEN, marker="o", markersize=3, label="with search")
        axes.vlines(_iterations(judged), low, high, color=GREEN, linewidth=1.2, alpha=0.6)
    axes.set_ylabel("score")
    _legend(axes, 3)


def _running_elo(axes: Axes, lines: Lines) -> None:
    known = [line for line in lines if line.get("running_elo")]
    elo, plus, minus = ([line["running_elo"][name] for line in known] for name in ("elo", "plus", "minus"))
    at = _iterations(known)
    low = [middle - below for middle, below in zip(elo, minus, strict=True)]
    high = [middle + above for middle, above in zip(elo, plus, strict=True)]
    axes.fill_between(at, low, high, color=BLUE, alpha=0.15, linewidth=0)
    axes.plot(at, elo, color=BLUE, marker=_mark(known), markersize=3)
    axes.axhline(0, color=GREY, linewidth=0.8)
    axes.set_ylabel("Elo above the earliest network")


def _demerits(axes: Axes, lines: Lines) -> None:
    known = [{**line, "demerits": line["demerits"]["demerits"]} for line in lines if line.get("demerits")]
    _series(axes, known, "demerits", "demerits", RED)


def _learned(axes: Axes, lines: Lines) -> None:
    for name, colour, label in (("median_win", GREEN, "median win"), ("draw", GREY, "draw")):
        known = [line for line in lines if line.get("learned") and line["learned"][name] is not None]
        values = [line["learned"][name] for line in known]
        axes.plot(_iterations(known), values, color=colour, label=label, marker=_mark(known), markersize=3)
    axes.set_ylim(-1, 1)
    axes.set_ylabel("value")
    _legend(axes, 2)


def _results(axes: Axes, lines: Lines) -> None:
    totals = [max(sum(line["results"].values()), 1) for line in lines]
    shares = {
        name: [line["results"].get(name, 0) / total for line, total in zip(lines, totals, strict=True)]
        for name in ("first", "draw", "second")
    }
    _stacked(axes, _iterations(lines), shares, (BLUE, RULE, ORANGE))
    axes.set_ylabel("share of games")
    axes.set_ylim(0, 1)
    _legend(axes, 3)


def _gate(axes: Axes, lines: Lines, threshold: float | None) -> None:
    held = [line for line in lines if line.get("gate")]
    for accepted, colour, marker, label in ((True, GREEN, "o", "accepted"), (False, RED, "x", "rejected")):
        some = [line for line in held if line["gate"]["accepted"] == accepted]
        axes.plot(
            _iterations(some),
            [_decisive_share(line["gate"]) for line in some],
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


def _decisive_share(gate: Mapping[str, Any]) -> float:
    """Wins among decisive games; 0 where no game was, because that is a rejection."""
    decisive = gate["wins"] + gate["losses"]
    return float(gate["wins"] / decisive) if decisive else 0.0


def _time(axes: Axes, lines: Lines) -> None:
    stages = list(dict.fromkeys(stage for line in lines for stage in line["seconds"]))
    seconds = {stage: [float(line["seconds"].get(stage, 0.0)) for line in lines] for stage in stages}
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
