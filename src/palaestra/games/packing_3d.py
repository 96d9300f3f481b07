"""Bin packing in three dimensions: one player puts the pieces of a cut cube together again (sources: bin packing).

      Initial position k cuts a cube of 10×10×10 into N pieces by plane cuts, each through one whole piece: the items.
      Two moves place one of them. The first chooses it and how it stands, `4x3x2`: width, depth, height. The second
      chooses the cell of a bench of 15×15 over which its back left corner is let down, `c5`. It comes to rest on what
      lies there. It must be a place from which it could slide neither left nor back by one cell.

      Play ends when all are placed, in a box of L×W×H from the corner. The original reward is 3·V^⅔ / (LW + WH + HL) =
      300 / (LW + WH + HL): 1 for the cube itself, which is always possible.

The outcome is 676 - (LW + WH + HL): 376 for the cube. If the chosen item would stand out above 15 layers everywhere,
play ends with 0.

Why two moves: item, orientation and place in one move, as in two dimensions, would be 225,000 actions. Why letting
down loses nothing that matters: put the pieces of the cube back in the order of their layers, then rows, then columns.
Nothing lies above a piece whose turn it is, and on its left and behind it lies something as high as its floor, because
the cube has no holes: so the cube can always be built. The rules are in `palaestra.games.packing_3d_rules`.
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
from palaestra.games.kernel_game import KernelGame
from palaestra.games.packing_3d_rules import (
    BENCH,
    CELLS,
    CHOSEN,
    CUBE,
    ITEM,
    LEFT,
    PILE,
    PLACED,
    PLANES,
    RULES,
    SHAPES,
    SIZE_OF,
    SIZES,
    WORST,
    box,
    state_size,
)
from palaestra.games.packing_3d_svg import Placed, Sides, bench_point, drawing, tiles
from palaestra.games.rows import ONGOING
from palaestra.games.svg import Spot, area_spot
from palaestra.games.symmetry import Symmetry, cell_map, identity

ITEMS = (2, 50)  # fewest and most
USUAL_ITEMS = 10
NUM_STARTS = 100_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Packing3dGame(KernelGame):
    """Text and pictures of items in a pile."""

    num_items: int

    def reward(self, outcomes: Int32s) -> Float32s:
        """float32: the original's reward, 300 / (LW + WH + HL); 0 where not everything could be placed."""
        surface = np.where(outcomes > 0, WORST + 1 - outcomes, np.inf)
        return np.asarray(3 * CUBE * CUBE / surface, dtype=np.float32)

    def placed(self, state: Int8s) -> list[Placed]:
        """The items of the pile in their order: column, row and layer of the corner, sides."""
        top = np.zeros((BENCH, BENCH), dtype=np.int64)
        found: list[Placed] = []
        for number in range(int(self.plies(state[None])[0]) // 2):
            at = PLACED + ITEM * number
            col, row, width, depth, height = state[at : at + ITEM].tolist()
            under = top[row : row + depth, col : col + width]
            layer = int(under.max())
            under[:] = layer + height
            found.append((col, row, layer, (width, depth, height)))
        return found

    def left(self, state: Int8s) -> list[Sides]:
        """The items that were not chosen yet, each as long side, middle side, short side; the largest first."""
        counts = state[LEFT : LEFT + len(SIZES)].tolist()
        lying: list[Sides] = [(c, b, a) for (a, b, c), count in zip(SIZES, counts, strict=True) for _ in range(count)]
        return sorted(lying, key=lambda item: (item[0] * item[1] * item[2], item), reverse=True)

    def chosen(self, state: Int8s) -> Sides | None:
        """The item that is to be placed now, as it stands."""
        width, depth, height = state[CHOSEN : CHOSEN + 3].tolist()
        return (width, depth, height) if width else None

    # Text.

    def action_to_text(self, state: Int8s, action: int) -> str:
        return _sides_text(_sides(action)) if action < SHAPES else _cell_name(action - SHAPES)

    def text_to_action(self, state: Int8s, text: str) -> int:
        counts, actions = self.legal(state[None])
        legal, wanted = actions[0, : counts[0]].tolist(), text.strip().lower()
        if not legal:
            raise MoveError(f"the game is over: {wanted[:40]!r} cannot be played")
        try:
            action = _read_action(wanted)
        except ValueError:
            action = -1
        if action in legal:
            return action
        item = self.chosen(state)
        if item is None:
            raise MoveError(
                f"{wanted[:40]!r} is no item that is left; choose one and how it stands, WIDTHxDEPTHxHEIGHT, of"
                f" {_list(self.left(state))}"
            )
        cells = ", ".join(_cell_name(other - SHAPES) for other in legal)
        raise MoveError(f"{wanted[:40]!r} is no place for {_sides_text(item)} here; there are {cells}")

    def state_to_text(self, state: Int8s) -> str:
        """Placed items in their order joined by commas, a slash, the chosen one if any, a slash, the items left."""
        placed = ",".join(
            f"{_sides_text(sides)}@{_cell_name(BENCH * row + col)}" for col, row, _, sides in self.placed(state)
        )
        item = self.chosen(state)
        return f"{placed}/{'' if item is None else _sides_text(item)}/{','.join(map(_sides_text, self.left(state)))}"

    def state_from_text(self, text: str) -> Int8s:
        """The position with these items, the placed ones in this order."""
        try:
            before, item, after = text.strip().split("/")
            actions = [_read_action(part) for word in before.split(",") if word for part in word.split("@")]
            actions += [_read_action(item)] if item else []
            items = [action for action in actions if action < SHAPES]
            items += [_read_action(word) for word in after.split(",") if word]
            state = self._start_with(items)
            for action in actions:
                counts, legal = self.legal(state[None])
                if action not in legal[0, : counts[0]].tolist():
                    raise ValueError(text)
                state = self.advance(state[None], np.array([action], dtype=np.int32))[0]
        except ValueError:
            example = self.state_to_text(self.start(np.zeros(1, dtype=np.int64))[0])
            raise MoveError(
                f"{text[:80]!r} is not a position of {self.id}: placed items, a slash, the chosen one, a slash, items"
                f" left, {self.num_items} of them with a volume of {CUBE**3}; an initial one is {example!r}"
            ) from None
        return state

    def _start_with(self, shapes: list[int]) -> Int8s:
        """The initial position with these items; ValueError unless they are as many and as large as they should be."""
        volumes = [int(np.prod(_sides(shape))) for shape in shapes if shape < SHAPES]
        if len(volumes) != len(shapes) or len(shapes) != self.num_items or sum(volumes) != CUBE**3:
            raise ValueError("other items than the game has")
        state = np.zeros(self.state_size, dtype=np.int8)
        state[4:8] = np.array([ONGOING], dtype=np.int32).view(np.int8)
        for shape in shapes:
            state[LEFT + SIZE_OF[shape]] += 1
        return state

    # Drawings.

    def render(self, state: Int8s) -> str:
        """How high the pile is on each cell, and what is left."""
        lines = ["     " + "  ".join(ascii_lowercase[:BENCH])]
        for row in range(BENCH):
            heights = state[PILE + BENCH * row : PILE + BENCH * (row + 1)].tolist()
            lines.append(f"{row + 1:3d} " + " ".join(f"{height or '.':>2}" for height in heights))
        return "\n".join([*lines, *(fill(words, 90) for words in self._words(state))])

    def _words(self, state: Int8s) -> list[str]:
        """What is left to place, what was chosen, and the box with its reward."""
        left, item = self.left(state), self.chosen(state)
        words = [f"left, any way round: {_list(left)}"] if left else []
        words += [] if item is None else [f"to be placed: {_sides_text(item)}"]
        cols, rows, layers = box(state)
        if int(self.outcome(state[None])[0]) == 0:
            words.append("it fits nowhere: reward 0")
        elif cols:
            reward = 3 * CUBE * CUBE / max(3 * CUBE * CUBE, cols * rows + rows * layers + layers * cols)
            words.append(f"box {cols}x{rows}x{layers}, reward {reward:.3f}" + (" at most" if left or item else ""))
        return words

    def spot(self, state: Int8s, action: int, drawn: Int8s) -> Spot | None:
        """The floor that the item would stand on; of the choice of an item its picture beside the bench, if there."""
        item = self.chosen(state)
        if action < SHAPES:
            size, first = sorted(_sides(action)), self.chosen(drawn)
            pictures = list(tiles(BENCH, [*([first] if first else []), *self.left(drawn)]))[bool(first) :]
            areas = (area_spot(*where) for one, *where in pictures if sorted(one) == size)
            return next(areas, None)
        if item is None:
            return None
        row, col = divmod(action - SHAPES, BENCH)
        width, depth, _ = item
        under = drawn[PILE : PILE + CELLS].reshape(BENCH, BENCH)[row : row + depth, col : col + width]
        layer = float(under.max(initial=0))
        corners = ((col, row), (col + width, row), (col + width, row + depth), (col, row + depth))
        return Spot(
            tuple(bench_point(x, y, layer) for x, y in corners), bench_point(col + width / 2, row + depth / 2, layer)
        )

    def svg(self, state: Int8s) -> str:
        """The pile seen from the front right, and beside it the items left, the chosen one first."""
        return drawing(
            BENCH, self.placed(state), box(state), self.chosen(state), self.left(state), self._words(state)[-1]
        )


def _sides(shape: int) -> Sides:
    return shape // 100 + 1, shape // 10 % 10 + 1, shape % 10 + 1


def _sides_text(sides: Sides) -> str:
    return "x".join(map(str, sides))


def _cell_name(cell: int) -> str:
    return f"{ascii_lowercase[cell % BENCH]}{cell // BENCH + 1}"


def _list(items: list[Sides]) -> str:
    """ "5x2x1, 3 of 2x1x1"."""
    counted = Counter(map(_sides_text, items))
    return ", ".join(size if count == 1 else f"{count} of {size}" for size, count in counted.items()) or "nothing"


def _read_action(text: str) -> int:
    """The action written so, legal or not; ValueError if there is none."""
    if match := re.fullmatch(r"([1-9]|10)x([1-9]|10)x([1-9]|10)", text, flags=re.ASCII):
        width, depth, height = map(int, match.groups())
        return 100 * (width - 1) + 10 * (depth - 1) + height - 1
    if match := re.fullmatch(r"([a-o])([1-9]|1[0-5])", text, flags=re.ASCII):
        return SHAPES + BENCH * (int(match[2]) - 1) + ascii_lowercase.index(match[1])
    raise ValueError(text)


def make(items: int) -> Packing3dGame:
    """`bin_packing-3d` with ten items, `bin_packing-3d-N` with N."""
    least, most = ITEMS
    if not least <= items <= most:
        raise GameError(f"bin_packing-3d-{items}: there are {least} to {most} items, for example bin_packing-3d-20")
    cells = cell_map(BENCH, BENCH, lambda row, col: (col, row))
    turned = [100 * (shape // 10 % 10) + 10 * (shape // 100) + shape % 10 for shape in range(SHAPES)]
    num_actions = SHAPES + CELLS
    actions = np.array([*turned, *(SHAPES + cells)], dtype=np.int32)
    return Packing3dGame(
        id="bin_packing-3d" if items == USUAL_ITEMS else f"bin_packing-3d-{items}",
        rules=RULES,
        params=np.array([items], dtype=np.int64),
        num_items=items,
        num_actions=num_actions,
        max_plies=2 * items,
        max_legal=max(6 * items, CELLS),
        state_size=state_size(items),
        observation_shape=(PLANES, BENCH, BENCH),
        players=1,
        tiebreak="score",
        goal="Stack all the pieces so that the box around them, from the corner, has as little surface as possible.",
        largest_outcome=WORST + 1 - 3 * CUBE * CUBE,
        symmetries=(identity(CELLS, num_actions), Symmetry("transpose", cells, actions)),
        num_starts=NUM_STARTS,
    )
