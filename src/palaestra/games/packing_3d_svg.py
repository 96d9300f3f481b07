"""A pile of boxes seen from the front right, as an SVG document. No game's rules are known here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from palaestra.games.svg import GRID, INK, document, label

Sides = tuple[int, int, int]  # width, depth, height
Placed = tuple[int, int, int, Sides]  # column, row and layer of the corner, sides

UNIT = 18.0  # length of a side of 1 on the screen
_ACROSS, _DOWN = 0.866 * UNIT, 0.5 * UNIT
_LEFT, _TOP = 15 * _ACROSS + 20, 15 * UNIT + 10  # where the corner of the bench is
_HALF = 0.45  # scale of the items beside the bench
COLOURS = ("#8fb8de", "#f2b77c", "#a8d5a2", "#e6a0a0", "#c5b0e0", "#e3d37a", "#8fd0cb", "#d9a8c7")


def bench_point(col: float, row: float, layer: float) -> tuple[float, float]:
    """Where a point of the bench is drawn."""
    return _LEFT + (col - row) * _ACROSS, _TOP + (col + row) * _DOWN - layer * UNIT


def drawing(
    bench: int, placed: Sequence[Placed], box: Sides, chosen: Sides | None, left: Sequence[Sides], words: str
) -> str:
    """The bench with its pile and the box around it; beside it the chosen item, and below that the items left."""
    body = []
    for i in range(bench + 1):
        ways = ((bench_point(i, 0, 0), bench_point(i, bench, 0)), (bench_point(0, i, 0), bench_point(bench, i, 0)))
        body += [f'<path d="{_path(way)}" stroke="{GRID}" stroke-opacity="0.4"/>' for way in ways]
    body += [part for item in _from_behind(placed) for part in _block(item, _numbered(placed, item))]
    if box[0]:
        body.append(_frame(box))
    lowest = 0.0
    for number, (item, x, y, wide, high) in enumerate(tiles(bench, [*([chosen] if chosen else []), *left])):
        corner = (x + item[1] * _ACROSS * _HALF, y + item[2] * UNIT * _HALF)
        body += _faces((0, 0, 0, item), corner, _HALF, strong=bool(chosen) and number == 0)
        body.append(label(x + wide / 2, y + high + 9, "x".join(map(str, item)), 10))
        lowest = max(lowest, y + high)
    foot = max(_TOP + 2 * bench * _DOWN + 14, lowest + 24)
    body.append(label(_LEFT, foot + 8, words))
    return document(_beside(bench) + 200, foot + 26, body)


def tiles(bench: int, items: Sequence[Sides]) -> Iterator[tuple[Sides, float, float, float, float]]:
    """The items beside the bench, each with the left, top, width and height of its picture."""
    right = _beside(bench)
    x, y, below = right, 24.0, 0.0
    for item in items:
        wide, high = (item[0] + item[1]) * _ACROSS * _HALF, (item[2] * UNIT + (item[0] + item[1]) * _DOWN) * _HALF
        if x + wide > right + 190:
            x, y, below = right, y + below + 24, 0.0
        yield item, x, y, wide, high
        x, below = x + wide + 14, max(below, high)


def _beside(bench: int) -> float:
    return _LEFT + bench * _ACROSS + 40


def _from_behind(placed: Sequence[Placed]) -> list[Placed]:
    """The items in an order in which none hides one that is drawn after it."""
    waiting, order = list(placed), list[Placed]()
    while waiting:
        free = [one for one in waiting if not any(_is_behind(other, one) for other in waiting if other is not one)]
        chosen = min(free or waiting, key=lambda one: (one[0] + one[1] + one[2], one))
        waiting.remove(chosen)
        order.append(chosen)
    return order


def _is_behind(one: Placed, other: Placed) -> bool:
    """Whether an item must be drawn before the other: it lies further left, back or down, and not the reverse."""
    both = list(zip(one[:3], one[3], other[:3], other[3], strict=True))
    return any(a + long <= b for a, long, b, _ in both) and not any(b + long <= a for a, _, b, long in both)


def _numbered(placed: Sequence[Placed], item: Placed) -> int:
    return placed.index(item) + 1


def _block(item: Placed, number: int) -> list[str]:
    col, row, layer, (width, depth, height) = item
    top = bench_point(col + width / 2, row + depth / 2, layer + height)
    return [*_faces(item, (_LEFT, _TOP), 1.0), label(*top, str(number), 12)]


def _faces(item: Placed, corner: tuple[float, float], scale: float, strong: bool = False) -> list[str]:
    """The three sides that are seen: top, front left, front right."""
    col, row, layer, (width, depth, height) = item
    colour = COLOURS[sum(side * factor for side, factor in zip(sorted(item[3]), (7, 3, 1), strict=True)) % len(COLOURS)]

    def at(x: float, y: float, z: float) -> tuple[float, float]:
        return corner[0] + (x - y) * _ACROSS * scale, corner[1] + ((x + y) * _DOWN - z * UNIT) * scale

    far, near, up = col + width, row + depth, layer + height
    sides = (
        ((col, row, up), (far, row, up), (far, near, up), (col, near, up)),
        ((col, near, layer), (far, near, layer), (far, near, up), (col, near, up)),
        ((far, row, layer), (far, near, layer), (far, near, up), (far, row, up)),
    )
    pen = f'stroke="{INK}" stroke-width="{2 if strong else 1}" stroke-linejoin="round"'
    shades = ("0", "0.12", "0.28")
    parts = []
    for corners, shade in zip(sides, shades, strict=True):
        outline = f'd="{_path([at(*one) for one in corners])}Z"'
        parts.append(f'<path {outline} fill="{colour}" {pen}/>')
        if shade != "0":
            parts.append(f'<path {outline} fill="#000000" fill-opacity="{shade}"/>')
    return parts


def _frame(box: Sides) -> str:
    """The edges of the box that are in front."""
    width, depth, height = box
    edges = (
        ((width, 0, 0), (width, depth, 0), (0, depth, 0)),
        ((0, depth, 0), (0, depth, height), (width, depth, height), (width, 0, height), (width, 0, 0)),
        ((width, depth, 0), (width, depth, height)),
        ((0, depth, height), (0, 0, height), (width, 0, height)),
    )
    lines = "".join(_path([bench_point(*point) for point in edge]) for edge in edges)
    return (
        f'<path d="{lines}" fill="none" stroke="{INK}" stroke-width="2" stroke-dasharray="5 4" stroke-opacity="0.8"/>'
    )


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
