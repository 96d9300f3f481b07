"""How moves and boards of PGX's games are written.

Cells of tic_tac_toe, othello, go and hex are a1, b1, … from the top left corner, columns of connect_four 1 to 7. Moves
of chess and gardner_chess are written as the UCI protocol does, those of shogi and animal_shogi as the USI protocol
does. PGX turns most boards so that the mover plays upwards; here they stand as they are for the first player.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from palaestra.games.text_board import CHESSMEN, TextBoard

STONES = {"tic_tac_toe": (3, 3), "connect_four": (6, 7), "othello": (8, 8), "hex": (11, 11)}
_PASS = {"othello": "pass", "go": "pass", "hex": "swap"}


def stones(name: str) -> tuple[int, int] | None:
    """Rows and columns of a board of stones; None for other games."""
    if name.startswith("go_"):
        size = int(name.rpartition("x")[2])
        return size, size
    return STONES.get(name)


def move_text(name: str, state: Any, mover: int, action: int) -> str:
    """An action of one state, as a person writes it."""
    if name == "connect_four":
        return str(action + 1)
    if (size := stones(name)) is not None:
        rows, cols = size
        if action == rows * cols:
            return _PASS[name.partition("_")[0]]
        return f"{chr(97 + action % cols)}{action // cols + 1}"
    return {"chess": _of_chess, "gardner_chess": _of_gardner, "shogi": _of_shogi, "animal_shogi": _of_animals}[name](
        state, mover, action
    )


def _of_chess(state: Any, mover: int, action: int) -> str:
    from pgx._src.games.chess import FROM_PLANE

    return _chess_move(np.asarray(state._x.board), 8, 73, np.asarray(FROM_PLANE), mover, action)


def _of_gardner(state: Any, mover: int, action: int) -> str:
    from pgx._src.gardner_chess_utils import TO_MAP

    return _chess_move(np.asarray(state._board), 5, 49, np.asarray(TO_MAP), mover, action)


def _chess_move(board: NDArray[Any], size: int, planes: int, goals: NDArray[Any], mover: int, action: int) -> str:
    """Squares count upwards in each column, from the mover's side; the first nine planes are promotions."""
    begin, plane = divmod(action, planes)
    end = int(goals[begin, plane])

    def square(at: int) -> str:
        col, row = divmod(at, size)
        return f"{chr(97 + col)}{(size - 1 - row if mover else row) + 1}"

    promoted = "rbn"[plane // 3] if plane < 9 else "q" if board[begin] == 1 and end % size == size - 1 else ""
    return f"{square(begin)}{square(end)}{promoted}"


def _of_shogi(state: Any, mover: int, action: int) -> str:
    from pgx._src.games.shogi import Action

    move = Action._from_dlshogi_action(state._x, action)

    def square(at: int) -> str:
        at = 80 - at if mover else at
        return f"{at // 9 + 1}{chr(97 + at % 9)}"

    if bool(move.is_drop):
        return f"{'PLNSBRG'[int(move.piece)]}*{square(int(move.to))}"
    return f"{square(int(move.from_))}{square(int(move.to))}{'+' if bool(move.is_promotion) else ''}"


def _of_animals(state: Any, mover: int, action: int) -> str:
    from pgx.animal_shogi import Action

    move = Action._from_label(action)

    def square(at: int) -> str:
        at = 11 - at if mover else at
        return f"{at // 4 + 1}{chr(97 + at % 4)}"

    if bool(move.is_drop):
        return f"{'PBR'[int(move.drop_piece)]}*{square(int(move.to))}"
    return f"{square(int(move.from_))}{square(int(move.to))}"


def board_of(name: str, state: Any, mover: int, planes: NDArray[Any]) -> TextBoard:
    """The board of one state; `planes` is what the mover sees, [C, H, W]."""
    if stones(name) is not None:
        return _of_stones(planes, mover, name == "hex")
    if name in ("chess", "gardner_chess"):
        size = 8 if name == "chess" else 5
        board = np.asarray(state._x.board if name == "chess" else state._board).reshape(size, size)
        board = -board[:, ::-1] if mover else board
        letters = " PNBRQKkqrbnp"
        cells = [[CHESSMEN.get(letters[int(piece)], "") for piece in row] for row in np.rot90(board)]
        return TextBoard(_cells(cells), _numbers(size)[::-1], _letters(size))
    board = np.asarray(state._board if name == "animal_shogi" else state._x.board)
    kinds = ["P", "B", "R", "K", "G"] if name == "animal_shogi" else ["P", "L", "N", "S", "B", "R", "G", "K"]
    kinds += [] if name == "animal_shogi" else ["+P", "+L", "+N", "+S", "+B", "+R"]
    height, half = (4, 5) if name == "animal_shogi" else (9, 14)
    if mover:
        board = np.where(board < 0, board, (board + half) % (2 * half))[::-1]
    pieces = [*kinds, *map(str.lower, kinds), ""]
    cells = [[pieces[int(piece)] for piece in row] for row in np.rot90(board.reshape(-1, height), k=3)]
    return TextBoard(_cells(cells), _letters(height), _numbers(len(cells[0]))[::-1])


def _of_stones(planes: NDArray[Any], mover: int, leans: bool) -> TextBoard:
    mine, yours = ("O", "X") if mover else ("X", "O")
    cells = [
        [mine if own else yours if other else "" for own, other in zip(row, others, strict=True)]
        for row, others in zip(planes[0].tolist(), planes[1].tolist(), strict=True)
    ]
    return TextBoard(_cells(cells), _numbers(len(cells)), _letters(len(cells[0])), leans)


def _cells(cells: list[list[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, cells))


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(str(number) for number in range(1, count + 1))


def _letters(count: int) -> tuple[str, ...]:
    return tuple(chr(97 + number) for number in range(count))
