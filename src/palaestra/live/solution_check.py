"""A solution of a game for one player that was read from a file and verified, as an object and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from palaestra.arena import morpion_referee
from palaestra.arena.solutions import Verdict, check_solution
from palaestra.base.errors import RecordError
from palaestra.games.base import Game
from palaestra.games.registry import make_stored_game
from palaestra.runs.solutions import Solution, parse_solution, read_text


class SolutionDocument(TypedDict):
    """What the check says, as JSON. `claimed` is the score that the file gives."""

    game: str
    valid: bool
    score: int | None
    error: str | None
    claimed: int
    moves_left: int | None
    independent: bool


@dataclass(frozen=True)
class CheckedSolution:
    """A solution and the verdict on it."""

    file: str
    solution: Solution
    verdict: Verdict

    def document(self) -> SolutionDocument:
        verdict = self.verdict
        return {
            "game": verdict.game,
            "valid": verdict.valid,
            "score": verdict.score,
            "error": verdict.error,
            "claimed": self.solution.score,
            "moves_left": verdict.more if verdict.score is not None else None,
            "independent": verdict.independent,
        }


def check_file(file: str, game: str | None = None) -> CheckedSolution:
    """Read a solution and verify it: Morpion by a referee of its own, other games by replaying them.

    `game` names the rules where they are code of the user's own: what a file says is never imported by itself.
    """
    solution = parse_solution(read_text(Path(file)), file)
    return CheckedSolution(file, solution, check_solution(solution, _rules(solution, game, file)))


def _rules(solution: Solution, game: str | None, file: str) -> Game | None:
    """The rules to replay by; none for Morpion."""
    if morpion_referee.knows(solution.game):
        if game is not None:
            raise RecordError(f"{file} is of {solution.game}, which has a referee of its own: leave out --game {game}")
        return None
    return make_stored_game(solution.game, file, id=solution.game, given=game)
