"""The charts of a run, and of several runs over each other, from their lines of metrics. Knows no page and no file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import cycle
from typing import Any

from palaestra.runs.metrics import Elo, Gate, Lines, MetricsLine
from palaestra.web.charts import (
    COLOURS,
    GREY,
    Chart,
    Options,
    Over,
    Point,
    banded,
    curve,
    measured,
    options,
    scored,
    stacked,
    x_axis,
    y_axis,
)


def at(line: MetricsLine, over: Over) -> float:
    """Where a line stands on the x-axis."""
    return round(line.elapsed / 60, 3) if over == "minutes" else float(line.iteration)


# One run.


def run_charts(lines: Lines, over: Over, threshold: float | None = None) -> list[Chart]:
    """Every chart that these lines can fill, the most telling first; `threshold` is the gate's."""
    found = []
    for key, title, caption, draw in _CHARTS:
        if (drawn := draw(lines, over, caption, threshold)) is not None:
            found.append(Chart(key, title, caption, drawn))
    return found


def _strength(lines: Lines, over: Over, caption: str, threshold: float | None) -> Options | None:
    anchors = list(dict.fromkeys(anchor for line in lines for anchor in line.elo or ()))
    series = [
        one
        for anchor, colour in zip(anchors, cycle(COLOURS), strict=False)
        for one in measured(f"against {anchor}", elos_of(lines, anchor, over), colour)
    ]
    return options(series, x_axis(over), y_axis("Elo above the anchor"), caption) if series else None


def elos_of(lines: Lines, anchor: str, over: Over) -> list[tuple[float, Elo]]:
    """(x, Elo with its interval) of every evaluation against an anchor."""
    return [(at(line, over), line.elo[anchor]) for line in lines if line.elo and anchor in line.elo]


def _scores(lines: Lines, over: Over, caption: str, threshold: float | None) -> Options | None:
    known = [(at(line, over), line.scores) for line in lines if line.scores is not None]
    if not known:
        return None
    series = [
        curve("best so far", [[x, scores.best] for x, scores in known], COLOURS[3], step="end"),
        curve("highest", [[x, scores.highest] for x, scores in known], COLOURS[4]),
        curve("mean", [[x, scores.mean] for x, scores in known], COLOURS[0]),
    ]
    beat: list[Point] = [[at(line, over), line.ranked.threshold] for line in lines if line.ranked is not None]
    if any(point[1] is not None for point in beat):
        series.append(curve("to beat", beat, COLOURS[1], step="end"))
    judged: list[tuple[float, Elo]] = [
        (at(line, over), (line.score.mean, line.score.low, line.score.high)) for line in lines if line.score is not None
    ]
    return options([*series, *scored("with search", judged, COLOURS[2])], x_axis(over), y_axis("score"), caption)


def _losses(lines: Lines, over: Over, caption: str, threshold: float | None) -> Options | None:
    parts: dict[str, Callable[[MetricsLine], float | None]] = {
        "policy": lambda line: line.losses.policy,
        "value": lambda line: line.losses.value,
        "sum": lambda line: line.losses.sum,
    }
    series = [
        curve(name, [[at(line, over), part(line)] for line in lines], colour)
        for (name, part), colour in zip(parts.items(), COLOURS, strict=False)
    ]
    return options(series, x_axis(over), y_axis("loss"), caption) if lines else None


def _running(lines: Lines, over: Over, caption: str, threshold: float | None) -> Options | None:
    points: list[Point] = [
        [at(line, over), found.elo, found.elo - found.minus, found.elo + found.plus]
        for line in lines
        if (found := line.running_elo) is not None
    ]
    series = banded("running Elo", points, COLOURS[0])
    return options(series, x_axis(over), y_axis("Elo above the first"), caption) if points else None


def _one(name: str, value: Callable[[MetricsLine], float | None], colour: str) -> Any:
    """A chart of a single curve."""

    def draw(lines: Lines, over: Over, caption: str, threshold: float | None) -> Options | None:
        points: list[Point] = [[at(line, over), value(line)] for line in lines]
        if all(point[1] is None for point in points):
            return None
        axis = y_axis(name, scale=False, min=0)
        return options([curve(name, points, colour)], x_axis(over), axis, caption)

    return draw


def _speed(lines: Lines, over: Over, caption: str, threshold: float | None) -> Options | None:
    known = [line for line in lines if line.seconds.selfplay > 0]
    games: list[Point] = [[at(line, over), round(line.games / line.seconds.selfplay, 2)] for line in known]
    positions: list[Point] = [[at(line, over), round(line.positions / line.seconds.selfplay, 1)] for line in known]
    series = [
        curve("games / s", games, COLOURS[0]),
        curve("positions / s", positions, COLOURS[1], yAxisIndex=1),
    ]
    right = y_axis("positions / s", scale=False, min=0, splitLine={"show": False})
    right["nameTextStyle"] = {"color": GREY, "align": "right", "padding": [0, -40, 0, 0]}
    axes = [y_axis("games / s", scale=False, min=0), right]
    return options(series, x_axis(over), axes, caption) if known else None


def _time(lines: Lines, over: Over, caption: str, threshold: float | None) -> Options | None:
    spent = [line.seconds.by_stage() for line in lines]
    stages = list(dict.fromkeys(stage for each in spent for stage in each))
    seconds = {STAGE_WORDS.get(stage, stage): [each.get(stage, 0.0) for each in spent] for stage in stages}
    shown = {stage: values for stage, values in seconds.items() if any(values)}
    return stacked([line.iteration for line in lines], shown, "seconds", caption) if shown else None


def _results(lines: Lines, over: Over, caption: str, threshold: float | None) -> Options | None:
    known = [line for line in lines if line.results is not None]
    results = [line.results for line in known if line.results is not None]
    shares = {
        "first player wins": [100 * one.first / max(one.games, 1) for one in results],
        "draw": [100 * one.draw / max(one.games, 1) for one in results],
        "second player wins": [100 * one.second / max(one.games, 1) for one in results],
    }
    return stacked([line.iteration for line in known], shares, "games, %", caption, max=100) if known else None


def _gate(lines: Lines, over: Over, caption: str, threshold: float | None) -> Options | None:
    series: list[Options] = []
    for accepted, colour, symbol in ((True, COLOURS[2], "circle"), (False, COLOURS[3], "diamond")):
        points: list[Point] = [
            [at(line, over), round(100 * _decisive(line.gate), 1)]
            for line in lines
            if line.gate is not None and line.gate.accepted == accepted
        ]
        if points:
            name = "accepted" if accepted else "rejected"
            series.append(
                curve(name, points, colour, lineStyle={"width": 0}, symbol=symbol, symbolSize=9, showSymbol=True)
            )
    if series and threshold is not None:
        rule = {"color": GREY, "type": "dashed"}
        series[0]["markLine"] = {
            "silent": True, "symbol": "none", "label": {"show": False}, "lineStyle": rule,
            "data": [{"yAxis": 100 * threshold}],
        }  # fmt: skip
    axis = y_axis("decisive games won, %", scale=False, min=0, max=100)
    return options(series, x_axis(over), axis, caption) if series else None


def _decisive(gate: Gate) -> float:
    """The candidate's share of decisive games; 0 where no game was, because that is a rejection."""
    decisive = gate.wins + gate.losses
    return gate.wins / decisive if decisive else 0.0


def _learned(lines: Lines, over: Over, caption: str, threshold: float | None) -> Options | None:
    known = [(at(line, over), line.learned) for line in lines if line.learned is not None]
    series = [
        curve("median win", [[x, found.median_win] for x, found in known], COLOURS[2]),
        curve("draw", [[x, found.draw] for x, found in known], COLOURS[5]),
    ]
    return options(series, x_axis(over), y_axis("value", min=-1, max=1), caption) if known else None


STAGE_WORDS = {"selfplay": "self-play", "deep": "deep search"}
_CHARTS: tuple[tuple[str, str, str, Callable[[Lines, Over, str, float | None], Options | None]], ...] = (
    (
        "strength",
        "Strength",
        "Elo difference to players that never change, with 95 % intervals. A triangle: all games won, or lost, so only"
        " one end is known.",
        _strength,
    ),
    (
        "scores",
        "Scores",
        "Self-play of an iteration, the score that a game has to beat, the best of the run so far, and the agent with"
        " search, with 95 % intervals.",
        _scores,
    ),
    ("losses", "Losses", "Mean over the batches of an iteration's last pass.", _losses),
    (
        "demerits",
        "Demerits",
        "What the agent gives away against perfect play, from every start and on both sides: 0 is perfect.",
        _one("demerits", lambda line: None if line.demerits is None else line.demerits.demerits, COLOURS[3]),
    ),
    (
        "running",
        "Running Elo",
        "By the run's own matches, all so far rated together, with 95 % intervals. It flatters; tournaments do not.",
        _running,
    ),
    ("gate", "Gate", "The candidate's share of decisive games against the network that played so far.", _gate),
    ("speed", "Speed", "Of self-play, all threads together.", _speed),
    ("time", "Time", "Seconds of each stage of an iteration.", _time),
    ("results", "Results of self-play", "How the games of an iteration ended.", _results),
    (
        "length",
        "Length of games",
        "Mean plies of an iteration's games.",
        _one("plies", lambda line: line.mean_plies, COLOURS[0]),
    ),
    (
        "learned",
        "What outcomes are worth",
        "The first player's value of a draw, and of the median win, by the reward that the run has learned.",
        _learned,
    ),
    (
        "exploration",
        "Exploration",
        "By how much temperature and noise were widened because the score to beat did not move.",
        _one("factor", lambda line: line.exploration if (line.exploration or 1.0) > 1 else None, COLOURS[1]),
    ),
)


# Several runs.

LOSSES = ("policy", "value", "sum")
OVERS: tuple[Over, ...] = ("minutes", "iterations")


def anchors_of(runs: Mapping[str, Lines]) -> list[str]:
    """The anchors that any of the runs met: those that all of them met first, random last, because all beat it."""
    met = [{anchor for line in lines for anchor in line.elo or ()} for lines in runs.values()]
    every = {anchor for some in met for anchor in some}
    return sorted(every, key=lambda anchor: (-sum(anchor in some for some in met), anchor == "random", anchor))


def compared(runs: Mapping[str, Lines], anchor: str | None, loss: str = LOSSES[0]) -> list[Chart]:
    """Strength and losses of several runs, over minutes and over iterations; a colour is a run's in all of them."""
    coloured = list(zip(runs.items(), cycle(COLOURS), strict=False))
    found: list[Chart] = []
    for over in OVERS:
        caption = f"Elo above {anchor}, with 95 % intervals."
        series = [
            one
            for (name, lines), colour in coloured
            for one in (measured(name, elos_of(lines, anchor, over), colour) if anchor is not None else ())
        ]
        if series:
            drawn = options(series, x_axis(over), y_axis("Elo above the anchor"), caption)
            found.append(Chart(f"elo-{over}", f"Strength over {over}", caption, drawn))
    for over in OVERS:
        caption = "Mean score of the agent with search, with 95 % intervals, or without evaluations that of self-play."
        series = [one for (name, lines), colour in coloured for one in _mean_scores(name, lines, over, colour)]
        if series:
            drawn = options(series, x_axis(over), y_axis("score"), caption)
            found.append(Chart(f"score-{over}", f"Score over {over}", caption, drawn))
    for over in OVERS:
        caption = f"The {loss} term of the loss, mean over the batches of an iteration's last pass."
        series = [
            curve(name, [[at(line, over), getattr(line.losses, loss)] for line in lines], colour)
            for (name, lines), colour in coloured
        ]
        drawn = options(series, x_axis(over), y_axis(f"{loss} loss"), caption)
        found.append(Chart(f"loss-{over}", f"Loss over {over}", caption, drawn))
    return found


def _mean_scores(name: str, lines: Lines, over: Over, colour: str) -> list[Options]:
    judged: list[tuple[float, Elo]] = [
        (at(line, over), (line.score.mean, line.score.low, line.score.high)) for line in lines if line.score is not None
    ]
    if judged:
        return scored(name, judged, colour)
    played: list[Point] = [[at(line, over), line.scores.mean] for line in lines if line.scores is not None]
    return [curve(name, played, colour)] if played else []
