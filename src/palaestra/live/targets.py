"""Where a person points in a game's drawing to make a move. Coordinates are those of the drawing (`Game.svg`).

Most games: the place that shows the move. Connect Four: the whole column. Opposition: the square to go to, and the own
king, which only shows where it may go. Lines of Morpion: the point that they add, or near the line. Items of bin
packing cover each other: the corner where they go. Where several moves share a place, the person is asked which one.
Knows no rules: which moves are legal and where they are drawn is the game's own knowledge.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from palaestra.games.connect_four import ConnectFour
from palaestra.games.opposition import OppositionGame
from palaestra.games.overlay import has_spots
from palaestra.games.svg import CELL, DOT_STEP, MARGIN, Point, Spot, area_spot, grid_spot
from palaestra.live.position import Position

AROUND_POINT, AROUND_LINE = (
    0.6 * DOT_STEP,
    0.35 * DOT_STEP,
)  # how far beside a line's new point, or the line, one may point


@dataclass(frozen=True)
class Target:
    """An area of the drawing; the moves that it stands for, none if it is the piece that moves."""

    actions: tuple[int, ...]
    name: str  # for people
    outline: tuple[Point, ...]


def targets(position: Position) -> list[Target]:
    """Every legal move that has a place in the drawing, in exactly one target; those that share a place together."""
    game, state = position.game, position.state
    if not has_spots(game) or position.is_over:
        return []
    names = {action: text for text, action in position.legal.items()}
    spots = {action: spot for action in names if (spot := game.spot(state, action, state)) is not None}
    sizes = {_size(spot) for spot in spots.values() if not _is_line(spot)}
    areas = {action: _area(position, spot, len(sizes) > 1) for action, spot in spots.items()}
    return grouped(areas, names) + _pieces(position)


def grouped(areas: Mapping[int, tuple[Point, ...]], names: Mapping[int, str]) -> list[Target]:
    """Targets from the area and the name of each move; those that share an area together."""
    shared: dict[tuple[Point, ...], list[int]] = {}
    for action, area in areas.items():
        shared.setdefault(area, []).append(action)
    return [Target(tuple(some), _name([names[action] for action in some]), area) for area, some in shared.items()]


def moves_near(position: Position, point: Point) -> list[int]:
    """The moves that are lines and meant by a point: those whose new point is near, otherwise the lines near it."""
    game, state = position.game, position.state
    if not has_spots(game) or position.is_over:
        return []
    spots = [(action, game.spot(state, action, state)) for action in position.legal.values()]
    lines = [(action, spot) for action, spot in spots if spot is not None and _is_line(spot)]
    closest = min((math.dist(spot.at, point) for _, spot in lines), default=math.inf)
    if closest <= AROUND_POINT:
        return [action for action, spot in lines if math.dist(spot.at, point) == closest]
    return [action for action, spot in lines if _distance(spot, point) <= AROUND_LINE]


def line_of(position: Position, action: int) -> Spot | None:
    """Where a move is drawn."""
    return position.game.spot(position.state, action, position.state)


def _area(position: Position, spot: Spot, overlapping: bool) -> tuple[Point, ...]:
    game, (x, y) = position.game, spot.at
    if _is_line(spot):
        reach = 0.5 * DOT_STEP
        return area_spot(x - reach, y - reach, 2 * reach, 2 * reach).outline
    if isinstance(game, ConnectFour):
        return area_spot(spot.outline[0][0], MARGIN, CELL, game.rows * CELL).outline
    return area_spot(*spot.outline[0], CELL, CELL).outline if overlapping else spot.outline


def _pieces(position: Position) -> list[Target]:
    """The piece of the side to move, where there is only one and the drawing shows it."""
    if not isinstance(position.game, OppositionGame):
        return []
    king = position.game.kings(position.state)[position.to_play]
    if king is None:
        return []
    return [Target((), "your king", grid_spot(position.game.height - 1 - king[1], king[0]).outline)]


def _name(moves: list[str]) -> str:
    return moves[0] if len(moves) == 1 else f"{len(moves)} moves: {', '.join(moves[:6])}" + (" …" if moves[6:] else "")


def _is_line(spot: Spot) -> bool:
    return len(spot.outline) == 2


def _size(spot: Spot) -> tuple[float, float]:
    """Width and height of an area's frame, as far as letters on a screen differ."""
    columns, rows = zip(*spot.outline, strict=True)
    return round(max(columns) - min(columns), 2), round(max(rows) - min(rows), 2)


def _distance(line: Spot, point: Point) -> float:
    """From a point to a line between two points."""
    (x1, y1), (x2, y2) = line.outline
    along = ((point[0] - x1) * (x2 - x1) + (point[1] - y1) * (y2 - y1)) / ((x2 - x1) ** 2 + (y2 - y1) ** 2)
    share = min(max(along, 0.0), 1.0)
    return math.dist(point, (x1 + share * (x2 - x1), y1 + share * (y2 - y1)))
