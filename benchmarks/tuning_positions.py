"""Positions of Connect Four 6×7 with the exact score of every move, to tune on: never the public test sets.

    pip install bitbully
    python -m benchmarks.tuning_positions tuning.json [public.json]
    palaestra evaluate RUN --games 0 --simulations 600 --positions tuning.json

Random positions in four ranges of plies. Only those count where something can be lost: no immediate win, and moves of
different results. Positions of the public file are left out.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

RANGES = {"begin-1": (1, 7, 400), "begin-2": (8, 13, 400), "middle": (14, 27, 400), "end": (28, 35, 200)}
COLUMNS = 7
SEED = 7


def main(target: Path, public: Path | None) -> None:
    from bitbully import BitBully

    taken: set[str] = set()
    if public is not None:
        taken = {entry["moves"] for entries in json.loads(public.read_text()).values() for entry in entries}
    solver, rng = BitBully(opening_book="default"), random.Random(SEED)
    sets: dict[str, list[dict[str, Any]]] = {}
    for name, (low, high, count) in RANGES.items():
        sets[name] = []
        while len(sets[name]) < count:
            moves, scores = draw(solver, rng.randint(low, high), rng)
            if scores is None or moves in taken:
                continue
            taken.add(moves)
            sets[name].append({"moves": moves, "scores": scores})
        print(f"{name}: {count} positions", file=sys.stderr)
    target.write_text(json.dumps(sets))


def draw(solver: Any, plies: int, rng: random.Random) -> tuple[str, list[int | None] | None]:
    """The moves of a random beginning, and the score of every column; None where nothing can be lost."""
    from bitbully import Board

    board, moves = Board(), ""
    for _ in range(plies):
        column = rng.choice(board.legal_moves())
        board.play(column)
        moves += str(column + 1)
        if board.is_game_over():
            return moves, None
    if board.can_win_next():
        return moves, None
    found, legal = solver.score_all_moves(board), board.legal_moves()
    scores = [int(found[column]) if column in legal else None for column in range(COLUMNS)]
    signs = {(score > 0) - (score < 0) for score in scores if score is not None}
    return moves, scores if len(signs) > 1 else None


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
