"""A game's drawing with something laid over it: a shade and a number for each move, the last move, the winning line.

Data in, a complete SVG document out, for a file or a page. Where moves stand in a drawing is each game's own knowledge
(`Game.spot`, `Game.deciding`); no rules are known here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.svg import Point, Spot, label

SHADE, LAST, DECIDING = "#d9480f", "#e5007d", "#00b36b"


@lru_cache(maxsize=64)
def has_spots(game: Game) -> bool:
    """Whether the game's drawing shows moves: some move of the first position has a place in it."""
    state = game.start(np.zeros(1, dtype=np.int64))[0]
    counts, actions = game.legal(state[None])
    return any(game.spot(state, int(action), state) is not None for action in actions[0, : counts[0]])


def overlaid(
    game: Game,
    state: Int8s,
    shades: Mapping[int, float] | None = None,
    numbers: Mapping[int, str] | None = None,
    last: tuple[Int8s, int] | None = None,
    played_in: Int8s | None = None,
) -> str:
    """The drawing of `state` as a document, with shades in [0, 1] and short texts by action.

    The actions are those of `played_in`, by default of the state itself. `last` is the state before and the action that
    led here. Moves without a place on the board, such as a pass, are left out, and so are those whose number would
    stand on a darker move: items of bin packing may all go to one corner.
    """
    shades, numbers = shades or {}, numbers or {}
    before = state if played_in is None else played_in
    layer: list[str] = []
    labels: list[str] = []
    shown: list[Spot] = []
    for action in sorted({*shades, *numbers}, key=lambda action: (-shades.get(action, 0.0), action)):
        spot = game.spot(before, action, state)
        if spot is None or any(_covers(spot, other.at) or _covers(other, spot.at) for other in shown):
            continue
        shown.append(spot)
        layer.append(_shaded(spot, min(max(shades.get(action, 0.0), 0.0), 1.0)))
        if action in numbers:
            labels.append(_number(spot, numbers[action]))
    layer.reverse()  # the darkest on top
    layer += [_outlined(spot, DECIDING, 4.0) for spot in game.deciding(state)]
    if last is not None and (spot := game.spot(*last, state)) is not None:
        layer.append(_outlined(spot, LAST, 2.5))
    head, end, _ = game.svg(state).rpartition("</svg>")
    return "\n".join([head.rstrip("\n"), *layer, *labels, end]) + "\n"


def _covers(spot: Spot, point: Point) -> bool:
    """Whether a point lies within a spot's frame; a line covers only the place of its number."""
    if len(spot.outline) == 2:
        return math.dist(spot.at, point) < spot.size
    columns, rows = zip(*spot.outline, strict=True)
    return min(columns) < point[0] < max(columns) and min(rows) < point[1] < max(rows)


def _shaded(spot: Spot, shade: float) -> str:
    if len(spot.outline) == 2:
        strength = f'stroke-width="{1.5 + 5 * shade:.2f}" stroke-opacity="{0.3 + 0.6 * shade:.2f}"'
        return f'<path d="{_path(spot)}" stroke="{SHADE}" {strength}/>'
    return (
        f'<path d="{_path(spot)}Z" fill="#ffffff" fill-opacity="{0.2 + 0.4 * shade:.2f}"/>'
        f'<path d="{_path(spot)}Z" fill="{SHADE}" fill-opacity="{0.85 * math.sqrt(shade):.2f}"/>'
    )


def _outlined(spot: Spot, colour: str, width: float) -> str:
    end = "" if len(spot.outline) == 2 else "Z"
    stroke = f'stroke="{colour}" stroke-width="{width:g}" stroke-linejoin="round"'
    return f'<path d="{_path(spot)}{end}" fill="none" {stroke}/>'


def _path(spot: Spot) -> str:
    return "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in spot.outline)


def _number(spot: Spot, text: str) -> str:
    """Dark on a light edge, so that it can be read on every colour."""
    halo = 'stroke="#ffffff" stroke-width="3" stroke-linejoin="round" paint-order="stroke" font-weight="bold" '
    return label(*spot.at, text, spot.size).replace("<text ", f"<text {halo}", 1)
