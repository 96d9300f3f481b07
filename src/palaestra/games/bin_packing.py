"""Bin packing: one player puts the pieces of a cut square together again, in a small box (sources: bin packing).

         a b c d e …      Initial position k cuts a 10×10 square into N pieces by straight cuts, each through one whole
      1  1 1 1 2 2        piece: the items. A move places one of them, either way round, on a bench of 15×15 cells and
      2  1 1 1 2 2        as far into its top left corner as it goes there: it could slide neither left nor up by one
      3  3 . . 2 2        cell. Play ends when all are placed in a box of L×W from the corner. The original reward is
      4  3                2·√(total area) / (L + W) = 20 / (L + W): 1 for the square itself, which is always possible.

The outcome is 31 - (L + W): 11 for the square, one less for every row or column that the box is larger. If nothing that
is left fits on the bench any more, play ends with 0; that befalls 2 in 10,000 random games with ten items.

A move is written width x height @ the cell of the item's top left corner: `3x2@a1`. The body of a state and the rules
are in `palaestra.games.bin_packing_rules`.

Actions are (height, width, cell): 10·10 planes of 15·15 cells, of which a few dozen are legal. Why so:

- It is the choice of the original: item, orientation and place, in one move. Two moves (item, then place) would double
  the plies and leave codes that mean nothing by themselves, where "the 3×2 goes to a1" means the same at any time: what
  NRPA and RAVE learn by. The planes are what a convolutional policy head gives.
- Items are named by their size, not by a number: equal items are one choice, an item is a choice for each way round,
  and the number of actions is the same for 10 items and for 50, so that a network may serve all.
- Corners lose nothing. Sliding the items of a packing left and up, as long as any can, gives one in a box no larger
  where none can slide; and whatever stops an item from the left or above can be placed before it, because disjoint
  convex sets can always be taken away one by one in any one direction (here down and right).
- Nor does the bench where it matters: a box with more than 15 columns or rows has L + W ≥ 23, a reward below 0.87.

The only symmetry is the transpose, because the corner is one of four. A network sees the occupied cells, the box and
what is left: once as a picture, h×w at row h and column w, which holds everything, and once as ten even planes, the
sides of each length, because a convolution cannot carry what stands in the picture to where it is needed. Which item a
cell belongs to is kept for drawings only.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from string import ascii_lowercase
from textwrap import fill

import numpy as np

from palaestra.base.errors import GameError, MoveError
from palaestra.base.types import Float32s, Int8s, Int32s
from palaestra.games.bin_packing_rules import (
    BENCH,
    CELLS,
    LEFT,
    PLACED,
    PLANES,
    RULES,
    SHAPES,
    SQUARE,
    STATE_SIZE,
    WORST,
    box,
    clear,
)
from palaestra.games.kernel_game import KernelGame
from palaestra.games.packing_3d import make as make_3d
from palaestra.games.rows import ONGOING
from palaestra.games.svg import CELL, GRID, INK, MARGIN, Spot, area_spot, document, label
from palaestra.games.symmetry import Symmetry, cell_map, identity

ITEMS = (2, 50)  # fewest and most
USUAL_ITEMS = 10
NUM_STARTS = 100_000
COLOURS = ("#8fb8de", "#f2b77c", "#a8d5a2", "#e6a0a0", "#c5b0e0", "#e3d37a", "#8fd0cb", "#d9a8c7")

Item = tuple[int, int]  # width and height
Placed = tuple[int, int, Item]  # row and column of the top left cell, item


@dataclass(frozen=True, eq=False, kw_only=True)
class BinPackingGame(KernelGame):
    """Text and pictures of items on the bench."""

    num_items: int

    def reward(self, outcomes: Int32s) -> Float32s:
        """float32: the original's reward, 20 / (L + W); 0 where not everything could be placed."""
        sides = np.where(outcomes > 0, WORST + 1 - outcomes, np.inf)
        return np.asarray(2 * SQUARE / sides, dtype=np.float32)

    def placed(self, state: Int8s) -> list[Placed]:
        """The items on the bench, from top to bottom and left to right."""
        shapes = state[PLACED : PLACED + CELLS]
        return [(*divmod(cell, BENCH), _item(int(shapes[cell]) - 1)) for cell in np.flatnonzero(shapes).tolist()]

    def left(self, state: Int8s) -> list[Item]:
        """The items still to be placed, the longer side as width, largest first."""
        counts = state[LEFT : LEFT + SHAPES].tolist()
        lying = [_item(shape) for shape in range(SHAPES) if shape % SQUARE >= shape // SQUARE]
        return sorted((item for item in lying for _ in range(counts[_shape(item)])), key=_size, reverse=True)

    def numbered(self, state: Int8s) -> list[tuple[int, Placed]]:
        """The placed items with their numbers: 1 is the largest of all; of equal ones the first on the bench."""
        placed = self.placed(state)
        order = sorted([_lying(item) for _, _, item in placed] + self.left(state), key=_size, reverse=True)
        following = {item: order.index(item) + 1 for item in set(order)}
        found = []
        for row, col, item in placed:
            found.append((following[_lying(item)], (row, col, item)))
            following[_lying(item)] += 1
        return found

    # Moves.

    def action_to_text(self, state: Int8s, action: int) -> str:
        shape, cell = divmod(action, CELLS)
        return _placement(*divmod(cell, BENCH), _item(shape))

    def text_to_action(self, state: Int8s, text: str) -> int:
        counts, actions = self.legal(state[None])
        legal, wanted = actions[0, : counts[0]].tolist(), text.strip()
        if not legal:
            raise MoveError(f"the game is over: {wanted!r} cannot be played")
        try:
            action = _read_placement(wanted)
        except ValueError:
            example = self.action_to_text(state, legal[-1])
            raise MoveError(f"{wanted!r} is not a move: write WIDTHxHEIGHT@CELL, for example {example}") from None
        if action in legal:
            return action
        shape = action // CELLS
        size = _size_text(_item(shape))
        cells = [_cell(*divmod(other % CELLS, BENCH)) for other in legal if other // CELLS == shape]
        if cells:
            raise MoveError(f"{wanted[:40]!r} is not a legal move here; {size} can be placed at {', '.join(cells)}")
        why = "fits nowhere" if state[LEFT + shape] > 0 else "is not left"
        raise MoveError(f"{wanted[:40]!r} is not a legal move here: {size} {why}; left: {_list(self.left(state))}")

    # Positions.

    def state_to_text(self, state: Int8s) -> str:
        """The placed items joined by commas, a slash, the items left joined by commas."""
        placed = ",".join(_placement(*one) for one in self.placed(state))
        return f"{placed}/{','.join(_size_text(item) for item in self.left(state))}"

    def state_from_text(self, text: str) -> Int8s:
        """The position with these items, whatever their order.

        The placed ones are played as they become legal. That finds an order if there is one: no item takes away what
        stops another from sliding.
        """
        try:
            before, after = text.strip().split("/")
            waiting = {_read_placement(word) for word in before.split(",") if word}
            items = [_item(action // CELLS) for action in waiting]
            items += [_read_size(word) for word in after.split(",") if word]
            state = self._start_with(items)
            while waiting:
                counts, actions = self.legal(state[None])
                action = next(action for action in actions[0, : counts[0]].tolist() if action in waiting)
                waiting.discard(action)
                state = self.advance(state[None], np.array([action], dtype=np.int32))[0]
        except (ValueError, StopIteration):
            example = self.state_to_text(self.start(np.zeros(1, dtype=np.int64))[0])
            raise MoveError(
                f"{text!r} is not a position of {self.id}: placed items, a slash, items left, {self.num_items} of them "
                f"with an area of {SQUARE * SQUARE}; an initial one is {example!r}"
            ) from None
        return state

    def _start_with(self, items: list[Item]) -> Int8s:
        """The initial position with these items; ValueError unless they are as many and as large as they should be."""
        if len(items) != self.num_items or sum(width * height for width, height in items) != SQUARE * SQUARE:
            raise ValueError("other items than the game has")
        state = np.zeros(self.state_size, dtype=np.int8)
        state[4:8] = np.array([ONGOING], dtype=np.int32).view(np.int8)
        clear(state)
        for width, height in items:
            for item in {(width, height), (height, width)}:
                state[LEFT + _shape(item)] += 1
        return state

    # Drawings.

    def render(self, state: Int8s) -> str:
        """The bench with the numbers of the items, the box, and what is left."""
        bench = [[" ."] * BENCH for _ in range(BENCH)]
        for number, (top, left, (width, height)) in self.numbered(state):
            for row in range(top, top + height):
                bench[row][left : left + width] = [f"{number:2d}"] * width
        lines = ["     " + "  ".join(ascii_lowercase[:BENCH])]
        lines += [f"{row + 1:3d} " + " ".join(cells) for row, cells in enumerate(bench)]
        return "\n".join([*lines, *(fill(words, 90) for words in self._words(state))])

    def _words(self, state: Int8s) -> list[str]:
        """What is left to place, and the box with its reward."""
        left = self.left(state)
        rows, cols = box(state)
        words = [f"left, either way round: {_list(left)}"] if left else []
        if int(self.outcome(state[None])[0]) == 0:
            words.append("it fits nowhere: reward 0")
        elif self.placed(state):
            reward = 2 * SQUARE / max(2 * SQUARE, rows + cols)
            words.append(f"box {cols}x{rows}, reward {reward:.3f}" + (" at most" if left else ""))
        return words

    def spot(self, state: Int8s, action: int, drawn: Int8s) -> Spot | None:
        """The cells that the item would cover."""
        shape, cell = divmod(action, CELLS)
        (width, height), (row, col) = _item(shape), divmod(cell, BENCH)
        return area_spot(MARGIN + col * CELL, MARGIN + row * CELL, width * CELL, height * CELL)

    def svg(self, state: Int8s) -> str:
        """The bench on the left with the box around the placed items; the items left on the right, at half size."""
        margin, half = MARGIN, CELL / 2
        side = BENCH * CELL
        body = [f'<rect x="{margin}" y="{margin}" width="{side}" height="{side}" fill="none" stroke="{INK}"/>']
        for i in range(BENCH):
            at = margin + i * CELL
            body.append(f'<path d="M{at} {margin}v{side}M{margin} {at}h{side}" stroke="{GRID}" stroke-opacity="0.4"/>')
            body += [label(at + half, margin / 2, ascii_lowercase[i]), label(margin / 2, at + half, str(i + 1))]
        numbered = self.numbered(state)
        for number, (row, col, item) in numbered:
            body += _tile(margin + col * CELL, margin + row * CELL, item, CELL, number)
        rows, cols = box(state)
        edge = f'width="{cols * CELL}" height="{rows * CELL}" fill="none" stroke="{INK}" stroke-width="3"'
        body.append(f'<rect x="{margin}" y="{margin}" {edge}/>')
        x, y, below = 2.0 * margin + side, float(margin), 0.0
        right = x + SQUARE * half
        for item in self.left(state):
            if x + item[0] * half > right:
                x, y, below = 2.0 * margin + side, y + below + half / 2, 0.0
            body += _tile(x, y, item, half)
            x, below = x + item[0] * half + half / 2, max(below, item[1] * half)
        foot = max(margin + side, y + below)
        if numbered:
            body.append(label(margin + side / 2, foot + margin / 2, self._words(state)[-1]))
        return document(right + margin, foot + margin, body)


def _tile(x: float, y: float, item: Item, unit: float, number: int | None = None) -> list[str]:
    """An item of an SVG, with its number and its size where there is room for them."""
    width, height = item[0] * unit, item[1] * unit
    colour = COLOURS[(5 * max(item) + min(item)) % len(COLOURS)]
    size = f'width="{width:g}" height="{height:g}"'
    tile = [f'<rect x="{x:g}" y="{y:g}" {size} fill="{colour}" stroke="{INK}" rx="3"/>']
    words = [] if number is None else [(str(number), 15.0)]
    if number is None or item[1] > 1:
        words.append((_size_text(item), 9.0))
    for line, (word, letters) in enumerate(words):
        tile.append(label(x + width / 2, y + height / 2 + 16 * (line - (len(words) - 1) / 2), word, letters))
    return tile


# An item is (width, height) to people and a shape 10·(height - 1) + width - 1 to the rules.


def _item(shape: int) -> Item:
    return shape % SQUARE + 1, shape // SQUARE + 1


def _shape(item: Item) -> int:
    return SQUARE * (item[1] - 1) + item[0] - 1


def _lying(item: Item) -> Item:
    return max(item), min(item)


def _size(item: Item) -> tuple[int, int]:
    """What items are ordered by: area, then the longer side."""
    return item[0] * item[1], max(item)


def _size_text(item: Item) -> str:
    return f"{item[0]}x{item[1]}"


def _cell(row: int, col: int) -> str:
    return f"{ascii_lowercase[col]}{row + 1}"


def _placement(row: int, col: int, item: Item) -> str:
    return f"{_size_text(item)}@{_cell(row, col)}"


def _list(items: list[Item]) -> str:
    """ "5x2, 3 of 2x1"."""
    counted = Counter(_size_text(item) for item in items)
    return ", ".join(size if count == 1 else f"{count} of {size}" for size, count in counted.items()) or "nothing"


def _numbers(pattern: str, text: str, most: int) -> list[int]:
    """The numbers in a text of this pattern; ValueError if it is another text or they are not from 1 to `most`."""
    match = re.fullmatch(pattern, text, flags=re.ASCII | re.IGNORECASE)
    numbers = [int(number) for number in match.groups()] if match else []
    if not numbers or not all(1 <= number <= most for number in numbers):
        raise ValueError(text)
    return numbers


def _read_size(text: str) -> Item:
    """The item written so; ValueError if there is none."""
    width, height = _numbers(r"(\d{1,2})x(\d{1,2})", text, SQUARE)
    return width, height


def _read_placement(text: str) -> int:
    """The action written so, legal or not; ValueError if there is none."""
    size, cell = text.split("@")
    (row,) = _numbers(r"[a-z](\d{1,2})", cell, BENCH)
    col = ascii_lowercase[:BENCH].index(cell[0].lower())
    return _shape(_read_size(size)) * CELLS + (row - 1) * BENCH + col


def _most_legal(items: int) -> int:
    """A bound on the number of legal moves.

    With m items placed one shape has at most 2m corners. At a corner it touches two of m + 2 obstacles, the items and
    the two walls: one on its left and one above. Grown by the shape, disjoint convex obstacles become pseudo-discs, and
    the pairs of them that meet on the outline of their union are the edges of a planar graph (Kedem, Livne, Pach and
    Sharir 1986). Those that make a corner, l on the left and u above, have l's right edge left of u's and l's lower
    edge below u's: a pair makes one corner at most, and three never make three, because the corner of the first and the
    last would lie inside the grown one between. A planar graph on m + 2 points without triangles has at most
    2 (m + 2) - 4 edges. The shapes are twice the number of different items that the area left is enough for.
    """
    areas = sorted(long * short for long in range(1, SQUARE + 1) for short in range(1, long + 1))
    enough = np.cumsum(areas)
    bounds = []
    for m in range(items):
        kinds = min(items - m, int(np.searchsorted(enough, SQUARE * SQUARE - m, side="right")))
        bounds.append(2 * kinds * max(1, 2 * m))
    return max(bounds)


def make(parts: tuple[int | str, ...]) -> KernelGame:
    """`bin_packing-2d` with ten items, `bin_packing-2d-N` with N; `bin_packing-3d` likewise."""
    items = int(parts[1]) if len(parts) > 1 else USUAL_ITEMS
    return make_3d(items) if parts[0] == "3d" else make_2d(items)


def make_2d(items: int) -> BinPackingGame:
    """`bin_packing-2d` with so many items."""
    least, most = ITEMS
    if not least <= items <= most:
        raise GameError(f"bin_packing-2d-{items}: there are {least} to {most} items, for example bin_packing-2d-20")
    cells = cell_map(BENCH, BENCH, lambda row, col: (col, row))
    shapes = cell_map(SQUARE, SQUARE, lambda row, col: (col, row))
    num_actions = SHAPES * CELLS
    return BinPackingGame(
        id="bin_packing-2d" if items == USUAL_ITEMS else f"bin_packing-2d-{items}",
        rules=RULES,
        params=np.array([items], dtype=np.int64),
        num_items=items,
        num_actions=num_actions,
        action_layout="cells",
        max_plies=items,
        max_legal=_most_legal(items),
        state_size=STATE_SIZE,
        observation_shape=(PLANES, BENCH, BENCH),
        players=1,
        tiebreak="score",
        goal="Place all the pieces so that the box around them, from the top left corner, is as small as possible.",
        largest_outcome=WORST + 1 - 2 * SQUARE,
        symmetries=(
            identity(CELLS, num_actions),
            Symmetry("transpose", cells, (shapes[:, None] * CELLS + cells[None, :]).reshape(-1).astype(np.int32)),
        ),
        num_starts=NUM_STARTS,
    )
