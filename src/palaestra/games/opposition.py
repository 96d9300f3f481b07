"""Opposition: two lone kings race past each other to the far side of a w×h board (sources: opposition).

     9  . k .
     8  . . .            actions, seen by the mover,        0 1 2
        ...              whose forward is up the page:      3 . 4
     2  . . .                                               5 6 7
     1  K . .
        a b c

K is the first player's king and starts anywhere on rank 1; k starts anywhere on the last rank: w² initial positions,
choice = K's column · w + k's column. A move is one step in any of eight directions that stays on the board. Entering
the enemy's back rank or capturing the king wins; there is no check; ply 20h without either is a draw. A king on a
board of two columns or more always has a step, so nobody is ever without a move.

Actions are steps relative to the mover: forward is towards the enemy's back rank, left and right are the same for
both. A step is written as the square it leads to (b2). The body of a state is (column, rank) of K, then of k, counted
from 0; a captured king stands on (-1, -1). p = (w, h, absolute).

`opposition-3x9-absolute` is the game as Schmidt et al. show it to a network (sources: input planes): nothing is turned
round for the second player. Its actions are steps on the board as drawn (the top row is up, towards the last rank, for
both), and its five planes have the first player's king in one and the second's in another, whoever is to move.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np

from palaestra.base.errors import GameError, MoveError
from palaestra.base.jit import inlined, kernel
from palaestra.base.types import Float32s, Int8s, Int32s, Int64s
from palaestra.games.kernel_game import KernelGame, Rules, state_bytes
from palaestra.games.rows import HEADER, ONGOING, mover, ply, set_mover, win_by_plies
from palaestra.games.svg import Spot, grid_spot, pieces_document
from palaestra.games.symmetry import Symmetry, cell_map, identity

STEPS = ((-1, 1), (0, 1), (1, 1), (-1, 0), (1, 0), (-1, -1), (0, -1), (1, -1))  # (column, forward) by action
PLIES_PER_RANK = 20
CAPTURED = -1
GLYPHS = ("K", "k")
LIMITS = ((2, 8), (3, 26))  # least and most columns, least and most ranks


@kernel
def start(state: Int8s, choice: int, p: Int64s) -> None:
    state[HEADER] = choice // p[0]
    state[HEADER + 2] = choice % p[0]
    state[HEADER + 3] = p[1] - 1


@inlined
def step_of(action: int) -> tuple[np.int64, np.int64]:
    """(columns to the right, ranks forward) of an action: the 3×3 block read row by row without its centre."""
    place = action + 1 if action >= 4 else action
    row = (place >= 3) + (place >= 6)
    return np.int64(place - 3 * row - 1), np.int64(1 - row)


@inlined
def faces_up(player: int, p: Int64s) -> bool:
    """Whether the player's forward is towards the last rank."""
    return player == 0 or p[2] != 0


@inlined
def play(state: Int8s, action: int, p: Int64s) -> np.int64:
    player = mover(state)
    set_mover(state, 1 - player)
    own, other = HEADER + 2 * player, HEADER + 2 - 2 * player
    right, forward = step_of(action)
    col = state[own] + right
    rank = state[own + 1] + (forward if faces_up(player, p) else -forward)
    state[own] = col
    state[own + 1] = rank
    won = rank == (p[1] - 1 if player == 0 else 0)
    if state[other] == col and state[other + 1] == rank:
        state[other] = CAPTURED
        state[other + 1] = CAPTURED
        won = True
    max_plies = PLIES_PER_RANK * p[1]
    if won:
        return np.int64(win_by_plies(player, ply(state), max_plies))
    return np.int64(0) if ply(state) == max_plies else np.int64(ONGOING)


@inlined
def legal(state: Int8s, actions: Int32s, p: Int64s) -> int:
    player = mover(state)
    col = state[HEADER + 2 * player]
    rank = state[HEADER + 2 * player + 1]
    ahead = p[1] - 1 - rank if faces_up(player, p) else rank
    behind = p[1] - 1 - ahead
    count = 0
    for action in range(8):
        right, forward = step_of(action)
        if 0 <= col + right < p[0] and (forward <= 0 or ahead > 0) and (forward >= 0 or behind > 0):
            actions[count] = action
            count += 1
    return count


@kernel
def observe_as_drawn(state: Int8s, planes: Float32s, p: Int64s) -> None:
    """The paper's planes (sources: input planes), ε = 1 / (w·h), the last rank in row 0.

    The first player's king 1 and all else -ε; the second's likewise; 0.1·ply·ε; ε if the first player is to move, -ε
    if the second; ε.
    """
    epsilon = np.float32(1.0) / np.float32(p[0] * p[1])
    planes[0] = -epsilon
    planes[1] = -epsilon
    for king in range(2):
        col, rank = state[HEADER + 2 * king], state[HEADER + 2 * king + 1]
        if rank != CAPTURED:
            planes[king, p[1] - 1 - rank, col] = 1.0
    planes[2] = np.float32(0.1) * np.float32(ply(state)) * epsilon
    planes[3] = epsilon if mover(state) == 0 else -epsilon
    planes[4] = epsilon


@kernel
def observe(state: Int8s, planes: Float32s, p: Int64s) -> None:
    """Planes: the mover's king, the opponent's, ply / max_plies; the mover's forward is towards row 0."""
    if p[2] != 0:
        observe_as_drawn(state, planes, p)
        return
    player = mover(state)
    for king in range(2):
        col, rank = state[HEADER + 2 * king], state[HEADER + 2 * king + 1]
        if rank != CAPTURED:
            planes[0 if king == player else 1, p[1] - 1 - rank if player == 0 else rank, col] = 1.0
    planes[2] = np.float32(ply(state)) / np.float32(PLIES_PER_RANK * p[1])


@kernel
def permute(state: Int8s, out: Int8s, cells: Int32s, actions: Int32s, swap: bool, p: Int64s) -> None:
    """Cells are numbered from the top left of the board as drawn, with the last rank on top."""
    for king in range(2):
        col, rank = np.int64(state[HEADER + 2 * king]), np.int64(state[HEADER + 2 * king + 1])
        target = HEADER + 2 * (1 - king if swap else king)
        if rank == CAPTURED:
            out[target] = CAPTURED
            out[target + 1] = CAPTURED
        else:
            image = np.int64(cells[(p[1] - 1 - rank) * p[0] + col])
            out[target] = image % p[0]
            out[target + 1] = p[1] - 1 - image // p[0]


@kernel
def score(state: Int8s, p: Int64s) -> np.int64:
    """Ranks that the first player has gained minus those of the second; a captured king has gained none."""
    first = state[HEADER + 1] if state[HEADER + 1] != CAPTURED else 0
    second = p[1] - 1 - state[HEADER + 3] if state[HEADER + 3] != CAPTURED else 0
    return np.int64(first - second)


RULES = Rules(start, play, legal, observe, permute, score)


@dataclass(frozen=True, eq=False, kw_only=True)
class OppositionGame(KernelGame):
    """Text and pictures of two kings."""

    width: int
    height: int
    absolute: bool  # whether both players see and move on the board as drawn

    def kings(self, state: Int8s) -> list[tuple[int, int] | None]:
        """(column, rank) of the first and of the second player's king, None for one that was captured."""
        squares = state[HEADER : HEADER + 4].reshape(2, 2).tolist()
        return [None if rank == CAPTURED else (col, rank) for col, rank in squares]

    def action_to_text(self, state: Int8s, action: int) -> str:
        square = self._target(state, action)
        return "-" if square is None else _square(*square)

    def _target(self, state: Int8s, action: int) -> tuple[int, int] | None:
        """(column, rank) that the mover's king steps to; None if it was captured."""
        player = int(state[0])
        king = self.kings(state)[player]
        right, forward = STEPS[action]
        up = -forward if player and not self.absolute else forward
        return None if king is None else (king[0] + right, king[1] + up)

    def render(self, state: Int8s) -> str:
        board = [["."] * self.width for _ in range(self.height)]
        for king, glyph in zip(self.kings(state), GLYPHS, strict=True):
            if king is not None:
                board[king[1]][king[0]] = glyph
        lines = [f"{rank + 1:3d} " + " ".join(board[rank]) for rank in reversed(range(self.height))]
        return "\n".join([*lines, "    " + " ".join(ascii_lowercase[: self.width])])

    def svg(self, state: Int8s) -> str:
        places = zip(self.kings(state), "♔♚", strict=True)
        pieces = {(self.height - 1 - king[1], king[0]): glyph for king, glyph in places if king is not None}
        return pieces_document(self.height, self.width, pieces, [str(rank) for rank in range(self.height, 0, -1)])

    def spot(self, state: Int8s, action: int, drawn: Int8s) -> Spot | None:
        """The square that the king goes to."""
        if (square := self._target(state, action)) is None:
            return None
        return grid_spot(self.height - 1 - square[1], square[0])

    def state_to_text(self, state: Int8s) -> str:
        """Squares of both kings (- when captured), player to move, ply, and the outcome once play is over."""
        words = ["-" if king is None else _square(*king) for king in self.kings(state)]
        words += [str(int(state[0])), str(int(self.plies(state[None])[0]))]
        outcome = int(self.outcome(state[None])[0])
        return " ".join(words if outcome == ONGOING else [*words, str(outcome)])

    def state_from_text(self, text: str) -> Int8s:
        state = np.zeros(self.state_size, dtype=np.int8)
        try:
            one, two, mover, ply, *rest = text.split()
            if one == two:
                raise ValueError("two kings on one square")
            state[HEADER : HEADER + 4] = [*self._parse_square(one), *self._parse_square(two)]
            state[0] = ("0", "1").index(mover)
            state[2:4] = np.array([range(self.max_plies + 1).index(int(ply))], dtype=np.int16).view(np.int8)
            state[4:8] = np.array([int(rest[0]) if rest else ONGOING], dtype=np.int32).view(np.int8)
        except (ValueError, IndexError, OverflowError):
            raise MoveError(
                f"{text!r} is not a position of {self.id}; an initial one is 'a1 b{self.height} 0 0'"
            ) from None
        return state

    def _parse_square(self, word: str) -> tuple[int, int]:
        if word == "-":
            return CAPTURED, CAPTURED
        return ascii_lowercase[: self.width].index(word[0]), range(1, self.height + 1).index(int(word[1:]))


def _square(col: int, rank: int) -> str:
    return f"{ascii_lowercase[col]}{rank + 1}"


def make(parts: tuple[int | str, ...]) -> OppositionGame:
    """`opposition-WxH`: width × height, as in the paper; a third part, "absolute", is the paper's view."""
    width, height = (int(part) for part in parts[:2])
    absolute = parts[2:] == ("absolute",)
    (least_w, most_w), (least_h, most_h) = LIMITS
    if not (least_w <= width <= most_w and least_h <= height <= most_h):
        raise GameError(
            f"opposition-{width}x{height}: the board is {least_w} to {most_w} wide and {least_h} to {most_h} high, "
            "WIDTHxHEIGHT: opposition-3x9"
        )
    mirrored = np.array([STEPS.index((-right, forward)) for right, forward in STEPS], dtype=np.int32)
    exchanged = np.array(
        [STEPS.index((right, -forward if absolute else forward)) for right, forward in STEPS], dtype=np.int32
    )
    return OppositionGame(
        id=f"opposition-{width}x{height}" + ("-absolute" if absolute else ""),
        rules=RULES,
        params=np.array([width, height, absolute], dtype=np.int64),
        width=width,
        height=height,
        absolute=absolute,
        num_actions=8,
        action_layout="global",
        max_plies=PLIES_PER_RANK * height,
        max_legal=8,
        state_size=state_bytes(4),
        observation_shape=(5 if absolute else 3, height, width),
        tiebreak="plies",
        symmetries=(
            identity(width * height, 8),
            Symmetry("mirror left-right", cell_map(height, width, lambda r, c: (r, width - 1 - c)), mirrored),
        ),
        exchange=Symmetry("mirror top-bottom", cell_map(height, width, lambda r, c: (height - 1 - r, c)), exchanged),
        num_starts=width * width,
        glyphs=GLYPHS,
        goal="Bring your king to the enemy's back rank, or capture the enemy's king: K goes up to the last rank, "
        "k down to rank 1.",
    )
