"""Solutions that are known already, as a search that should look elsewhere is told of them (sources: NRPA)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from palaestra.base.errors import MoveError, RecordError
from palaestra.base.text import clip
from palaestra.base.types import Float64s
from palaestra.games.base import Game
from palaestra.runs.solutions import line_of, parse_solutions, read_text
from palaestra.search.code_images import symmetries_of


@dataclass(frozen=True, eq=False)
class KnownGrids:
    """Of each action, how many of the solutions play it."""

    shares: Float64s  # [A] from 0 to 1; a solution plays what it or an image of it plays
    digest: str  # of the file


def read_known_grids(file: str, game: Game) -> KnownGrids:
    """The solutions in a file (`palaestra.runs.solutions`); RecordError if they are none of this game."""
    text = read_text(Path(file))
    solutions = parse_solutions(text, file)
    total = np.zeros(game.num_actions, dtype=np.float64)
    for number, solution in enumerate(solutions, start=1):
        if not game.is_called(solution.game):
            named = clip(solution.game)
            raise RecordError(f"{file} has a solution of {named}, and only those of {game.id} can be avoided")
        try:
            start, actions = line_of(solution, game)
        except MoveError as error:
            raise RecordError(f"{file}: solution {number} cannot be played: {error}") from None
        played = np.zeros(game.num_actions, dtype=np.bool_)
        for symmetry in symmetries_of(game, start):
            played[symmetry.actions[actions]] = True
        total += played
    return KnownGrids(total / len(solutions), hashlib.sha256(text.encode()).hexdigest()[:16])
