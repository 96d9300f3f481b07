"""Charts as ECharts options: one style for all of them.

Colours are variables of the page's style, so that light and dark need nothing here; those of series are Okabe and
Ito's, which people with any colour vision can tell apart. Functions that the browser runs are written here alone, and
hold nothing from outside: names and numbers travel as data. Knows no page, no file and no run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any, Literal

from palaestra.base.printable import printable
from palaestra.runs.metrics import Elo

Over = Literal["minutes", "iterations"]
Options = dict[str, Any]
Point = list[float | None]

COLOURS = tuple(f"var(--series-{number})" for number in range(1, 7))
GREY = "var(--soft)"
MOST_POINTS = 400  # of a curve: more than a screen can show
FEW = 40  # points up to which each has a mark

_NUMBER = "(v) => v == null ? '–' : Number(v).toLocaleString('en-US', {maximumSignificantDigits: 4})"
_WHISKER = """(params, api) => {
  const low = api.coord([api.value(0), api.value(1)]), high = api.coord([api.value(0), api.value(2)]);
  const style = {stroke: '%s', lineWidth: 1.5, opacity: 0.75};
  const line = (x1, y1, x2, y2) => ({type: 'line', shape: {x1, y1, x2, y2}, style});
  return {type: 'group', children: [line(low[0], low[1], high[0], high[1]),
    line(low[0] - 4, low[1], low[0] + 4, low[1]), line(high[0] - 4, high[1], high[0] + 4, high[1])]};
}"""
_BAND = """(params, api) => {
  if (params.dataIndexInside > 0) return;
  const points = [], count = params.dataInsideLength;
  for (let i = 0; i < count; i++) points.push(api.coord([api.value(0, i), api.value(2, i)]));
  for (let i = count - 1; i >= 0; i--) points.push(api.coord([api.value(0, i), api.value(1, i)]));
  return {type: 'polygon', shape: {points}, style: {fill: '%s', opacity: 0.18}};
}"""


@dataclass(frozen=True)
class Chart:
    """One chart: what it is called, what it shows in a sentence, and how it is drawn."""

    key: str
    title: str
    caption: str
    options: Options = field(repr=False)


def thin(points: Sequence[Point]) -> list[Point]:
    """At most MOST_POINTS of the points, the first and the last among them."""
    if len(points) <= MOST_POINTS:
        return list(points)
    step = (len(points) - 1) / (MOST_POINTS - 1)
    return [points[round(number * step)] for number in range(MOST_POINTS)]


# Series.


def curve(name: str, points: Iterable[Point], colour: str, **more: Any) -> Options:
    """A line through what is known of [x, y]."""
    known = thin([point for point in points if point[1] is not None])
    return {
        "type": "line",
        "name": printable(name),
        "data": known,
        "color": colour,
        "lineStyle": {"width": 2},
        "symbol": "circle",
        "symbolSize": 5,
        "showSymbol": len(known) <= FEW,
        "emphasis": {"disabled": True},
        **more,
    }


def _silent(name: str, draw: str, ends: Sequence[Point]) -> Options:
    """What is drawn between [x, low, high]; it belongs to the curve of the same name."""
    return {
        "type": "custom",
        "name": printable(name),
        "data": list(ends),
        "encode": {"x": 0, "y": [1, 2]},
        ":renderItem": draw,
        "clip": False,  # whiskers at the edge are whole
        "silent": True,
        "tooltip": {"show": False},
        "z": 1,
    }


def measured(name: str, elos: Sequence[tuple[float, Elo]], colour: str) -> list[Options]:
    """Elo with whiskers; a triangle where only one end of the interval is known: all games were won, or lost."""
    both = [[x, elo, low, high] for x, (elo, low, high) in elos if elo is not None]
    found = []
    if both:
        shown: Options = {"dimensions": ["x", "Elo", "low", "high"], "encode": {"x": 0, "y": 1, "tooltip": [1, 2, 3]}}
        found.append(curve(name, both, colour, **shown, symbolSize=7, showSymbol=True))
        found.append(_silent(name, _WHISKER % colour, [[x, low, high] for x, _, low, high in both]))
    for symbol, rotation, part in (("triangle", 0, 1), ("triangle", 180, 2)):
        ends: list[Point] = [[x, elo[part]] for x, elo in elos if elo[0] is None and elo[part] is not None]
        if ends:
            words = "at least" if part == 1 else "at most"
            found.append(
                {
                    "type": "scatter",
                    "name": printable(name),
                    "dimensions": ["x", words],
                    "encode": {"x": 0, "y": 1, "tooltip": [1]},
                    "data": ends,
                    "color": colour,
                    "symbol": symbol,
                    "symbolRotate": rotation,
                    "symbolSize": 10,
                    "emphasis": {"disabled": True},
                }
            )
    return found


def banded(name: str, points: Sequence[Point], colour: str) -> list[Options]:
    """[x, y, low, high] as a curve within a band."""
    some = thin(points)
    shown: Options = {"dimensions": ["x", "value", "low", "high"], "encode": {"x": 0, "y": 1, "tooltip": [1, 2, 3]}}
    ends: list[Point] = [[x, low, high] for x, _, low, high in some]
    return [curve(name, some, colour, **shown), _silent(name, _BAND % colour, ends)]


def scored(name: str, judged: Sequence[tuple[float, Elo]], colour: str) -> list[Options]:
    """Mean scores of evaluations with whiskers; a single game has none."""
    if not judged:
        return []
    shown: Options = {"dimensions": ["x", "mean", "low", "high"], "encode": {"x": 0, "y": 1, "tooltip": [1, 2, 3]}}
    points: list[Point] = [[x, *score] for x, score in judged]
    ends: list[Point] = [[x, low, high] for x, (_, low, high) in judged if low is not None and high is not None]
    return [curve(name, points, colour, **shown, symbolSize=7, showSymbol=True), _silent(name, _WHISKER % colour, ends)]


# The style.


def x_axis(over: Over) -> Options:
    whole = {"minInterval": 1} if over == "iterations" else {}
    return {**_axis(over), "type": "value", "min": 0, **whole, "splitLine": {"show": False}}


def y_axis(name: str, **more: Any) -> Options:
    """An axis whose name, with its unit, stands above it."""
    return {
        **_axis(name),
        "type": "value",
        "scale": True,
        "nameLocation": "end",
        "nameGap": 10,
        "nameTextStyle": {"color": GREY, "align": "left", "padding": [0, 0, 0, -24]},
        "splitLine": {"lineStyle": {"color": "var(--line)"}},
        "axisLine": {"show": False},
        **more,
    }


def _axis(name: str) -> Options:
    return {
        "name": name,
        "nameLocation": "middle",
        "nameGap": 26,
        "nameTextStyle": {"color": GREY},
        "axisLabel": {"color": GREY, "hideOverlap": True},
        "axisLine": {"lineStyle": {"color": "var(--line)"}},
        "axisTick": {"show": False},
    }


def options(series: Sequence[Options], x: Options, y: Options | list[Options], caption: str) -> Options:
    """A whole chart; a legend stands above it where there is more than one name."""
    names = list(dict.fromkeys(one["name"] for one in series))
    legend = len(names) > 1
    return {
        "animation": False,
        "aria": {"enabled": True, "label": {"description": printable(caption)}},
        "textStyle": {"fontFamily": "system-ui, -apple-system, Segoe UI, Roboto, DejaVu Sans, sans-serif"},
        "grid": {"left": 44, "right": 16 if isinstance(y, dict) else 50, "top": 58 if legend else 34, "bottom": 44},
        "legend": {
            "show": legend,
            "type": "scroll",
            "left": 0,
            "top": 0,
            "data": names,
            "icon": "roundRect",
            "itemWidth": 14,
            "itemHeight": 4,
            "textStyle": {"color": "var(--ink)"},
            "pageTextStyle": {"color": GREY},
            "pageIconColor": "var(--accent)",
        },
        "tooltip": {
            "trigger": "axis",
            "confine": True,
            "backgroundColor": "var(--card)",
            "borderColor": "var(--line)",
            "textStyle": {"color": "var(--ink)", "fontSize": 12},
            ":valueFormatter": _NUMBER,
        },
        "xAxis": x,
        "yAxis": y,
        "series": list(series),
    }


def stacked(
    iterations: Sequence[int], parts: Mapping[str, Sequence[float]], name: str, caption: str, **axis: Any
) -> Options:
    """One bar an iteration, or an area where bars would be too thin to see."""
    bars = len(iterations) <= FEW
    kept = [round(found[0] or 0) for found in thin([[float(place)] for place in range(len(iterations))])]
    shape: Options = {"type": "bar", "barCategoryGap": "25%"} if bars else {"type": "line", "showSymbol": False}
    series = [
        {
            **shape,
            "name": part,
            "stack": "all",
            "data": [round(values[place], 4) for place in kept],
            "color": colour,
            "emphasis": {"disabled": True},
            **({} if bars else {"areaStyle": {"color": colour, "opacity": 0.85}, "lineStyle": {"width": 0}}),
        }
        for (part, values), colour in zip(parts.items(), cycle(COLOURS), strict=False)
    ]
    x = {**_axis("iterations"), "type": "category", "data": [iterations[place] for place in kept]}
    return options(series, x, y_axis(name, scale=False, **axis), caption)
