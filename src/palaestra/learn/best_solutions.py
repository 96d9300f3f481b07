"""The best solutions that a run finds: each its own file in the run's folder, and never deleted.

    solutions/SCORE-NNNN-WHO-GAME.txt   iteration NNNN, from self-play, deep-search or evaluation; and its picture, .svg

A file is written as soon as the games of a stage are over, verified and whole, before the iteration is saved: a process
that is killed after that has lost nothing. The iteration is then played again and finds the same, in a file of the same
name. Where a game has many starts, what one of them allows says little about another; the best outcome of all is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from palaestra.arena.solutions import check_solution
from palaestra.base.atomic import make_folder, write_file
from palaestra.base.errors import RunError
from palaestra.base.text import whole_number
from palaestra.games.base import Game
from palaestra.runs.folder import SOLUTIONS
from palaestra.runs.game_record import GameRecord
from palaestra.runs.solutions import Solution, make_solution


class BestSolutions:
    """The record of a run and the folder that proves it."""

    def __init__(self, folder: Path, game: Game, notes: str, best: int | None) -> None:
        """`best` is the record so far; `notes` say in a solution's file what found it."""
        self.folder, self.game, self.notes, self.best = folder / SOLUTIONS, game, notes, best

    def see(self, games: Sequence[GameRecord], iteration: int) -> None:
        """Keep the best of these games, of equals the first, if it is better than all before."""
        top = max(games, key=lambda game: game.final_outcome)
        if self.best is None or top.final_outcome > self.best:
            self._write(top, iteration)
            self.best = top.final_outcome

    def _write(self, played: GameRecord, iteration: int) -> None:
        opening = f"@{played.start}" if self.game.num_starts > 1 else ""
        note = f"found by {self.notes}, iteration {iteration}, {played.first}, game {played.number}"
        who = played.first.replace(" ", "-")
        name = f"{played.final_outcome:03d}-{iteration:04d}-{who}-{played.number:04d}"
        make_folder(self.folder)
        found = make_solution(self.game, opening, played.moves, [note])
        write_solution(self.folder / name, found, self.game, played.final_outcome)


def write_solution(path: Path, found: Solution, game: Game, score: int) -> None:
    """Write a solution with its picture, `path`.txt and .svg; RunError if the referee finds another score."""
    verdict = check_solution(found, game)
    if not verdict.valid or verdict.score != score:
        raise RunError(f"{path.name} is no valid solution ({verdict.error}); please report it")
    write_file(path.with_name(f"{path.name}.svg"), verdict.svg.encode())
    write_file(path.with_name(f"{path.name}.txt"), str(found).encode())


def best_file(folder: Path) -> Path | None:
    """The file of the best solution in a run's folder; None if there is none."""
    return max((folder / SOLUTIONS).glob("*.txt"), default=None, key=lambda path: (_score(path), path.name))


def _score(path: Path) -> int:
    text = path.stem.partition("-")[0]
    return -1 if (score := whole_number(text)) is None else score
