"""The verdict on solutions of games for one player (`palaestra.runs.solutions`), and the picture of each.

Morpion solitaire is verified by `palaestra.arena.morpion_referee`, which shares no code with the engine; every other
game is replayed through its own rules. Where it has a referee, too (`REFEREES`), both must come to the same score. The
verdict says whether other code than the engine's verified it. This module reads and writes no file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import ModuleType

import numpy as np

from palaestra.arena import morpion_referee, packing_referee, tour_referee
from palaestra.base.errors import MoveError, RecordError
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.games.svg import dots_document
from palaestra.runs.solutions import Solution

REFEREES = (tour_referee, packing_referee)  # modules that know the rules of a game a second time


@dataclass(frozen=True)
class Verdict:
    """What checking found: the score of the moves if all are legal, and what is wrong, if anything."""

    game: str
    score: int | None
    error: str | None
    independent: bool  # whether other code than the engine's verified it
    more: int = 0  # moves that could still be made
    svg: str = ""

    @property
    def valid(self) -> bool:
        return self.error is None


def check_solution(solution: Solution, game: Game | None = None) -> Verdict:
    """Verify a solution: Morpion by its referee, any other game through `game`, and by a referee where there is one."""
    if morpion_referee.knows(solution.game):
        return _judged(solution, _referee(solution))
    if game is None:
        raise RecordError(f"{solution.game!r} is checked by its own rules, and they were not given")
    if game.players != 1:
        raise RecordError(f"a solution is of a game for one player, and {game.id} is for two")
    verdict = _replay(solution, game)
    if verdict.score is not None and (referee := next((one for one in REFEREES if one.knows(game.id)), None)):
        verdict = _second(solution, game, verdict, referee)
    return _judged(solution, verdict)


def _judged(solution: Solution, verdict: Verdict) -> Verdict:
    """A score that was claimed must be the score of the moves."""
    if verdict.score is None or verdict.score == solution.score:
        return verdict
    error = f"the file claims a score of {solution.score}, and its moves score {verdict.score}"
    return Verdict(verdict.game, verdict.score, error, verdict.independent, verdict.more)


def _numbered(solution: Solution, rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[str, str]]:
    """Each move and how a message names it: `move 17 (k14se, line 24 of the file)`."""
    number = 0
    for row, words in rows:
        for word in words:
            number += 1
            place = f", line {solution.places[row]} of the file" if solution.places else ""
            yield word, f"move {number} ({word[:20]}{place})"


def _referee(solution: Solution) -> Verdict:
    grid = morpion_referee.start(solution.game)
    rows = ((index, row.replace(",", " ").split()) for index, row in enumerate(solution.rows))
    for word, named in _numbered(solution, rows):
        try:
            grid.draw(word)
        except morpion_referee.Wrong as wrong:
            return Verdict(solution.game, None, f"{named} is wrong: {wrong}", True)
    svg = dots_document(
        grid.points, [(line.points[0], line.points[-1]) for line in grid.lines], len(grid.cross), numbered=True
    )
    return Verdict(solution.game, len(grid.lines), None, True, len(grid.legal()), svg)


def _replay(solution: Solution, game: Game) -> Verdict:
    opening = solution.rows[0].split()[0] if solution.rows[0].startswith("@") else ""
    rows = ((i, game.split_moves(row.removeprefix(opening) if i == 0 else row)) for i, row in enumerate(solution.rows))
    try:
        state = game.from_moves(opening)
        moves = list(_numbered(solution, rows))  # of rules in GDL, a line may be none at all
    except MoveError as error:
        return Verdict(game.id, None, str(error), False)
    for word, named in moves:
        try:
            action = game.text_to_action(state, word)
            state = game.advance(state[None], np.array([action], dtype=np.int32))[0]
        except MoveError as error:
            return Verdict(game.id, None, f"{named} is wrong: {error}", False)
    score = int(game.outcome(state[None])[0])
    if score == ONGOING:
        return Verdict(game.id, None, "the moves are legal but do not end the game, so there is no score", False)
    return Verdict(game.id, score, None, False, 0, game.svg(state))


def _second(solution: Solution, game: Game, verdict: Verdict, referee: ModuleType) -> Verdict:
    """What a referee says of a solution that the engine has found right."""
    words = [word for row in solution.rows for word in game.split_moves(row)]
    start = int(words.pop(0)[1:]) if words[0].startswith("@") else 0
    try:
        score = referee.judge(game.id, start, words)
    except referee.Wrong as wrong:
        return replace(verdict, score=None, error=f"its referee says: {wrong}", independent=True)
    if score != verdict.score:
        error = f"its referee counts a score of {score}, and the engine {verdict.score}"
        return replace(verdict, score=None, error=error, independent=True)
    return replace(verdict, independent=True)
