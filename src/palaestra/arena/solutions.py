"""Solutions of games for one player: a text file that says all, its picture, and the verdict on it.

    # palaestra check-solution FILE verifies this
    # found by nrpa(level=3), seed 0, restart 17
    game: morpion-5d
    score: 82
    moves:
    n11e
    …

Lines that begin with # are for people. After `moves:` stand the moves as a person writes them, as many to a line as one
likes; @K in front of them picks initial position K.

Morpion solitaire is verified by `palaestra.arena.morpion_referee`, which shares no code with the engine; every other
game is replayed through its own rules. Where it has a referee, too (`REFEREES`), both must come to the same score. The
verdict says whether other code than the engine's verified it. This module reads and writes no file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType

import numpy as np

from palaestra.arena import morpion_referee, packing_referee, tour_referee
from palaestra.base.errors import MoveError, RecordError
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.rows import ONGOING
from palaestra.games.svg import dots_document

HEAD = "# palaestra check-solution FILE verifies this"
EXAMPLE = 'a solution has the lines "game: morpion-5d", "score: 82", "moves:" and then its moves'
MOST_CHARACTERS = 1_000_000
REFEREES = (tour_referee, packing_referee)  # modules that know the rules of a game a second time
_FIELD = re.compile(r"(game|score|moves)\s*:\s*(.*)")


@dataclass(frozen=True)
class Solution:
    """A game's id, the score that is claimed, the lines of moves, and what people may want to know."""

    game: str
    score: int
    rows: tuple[str, ...]
    notes: tuple[str, ...] = ()
    places: tuple[int, ...] = field(default=(), compare=False)  # line of the file that each row stands on

    def __str__(self) -> str:
        notes = [f"# {note}" for note in self.notes]
        return "\n".join([HEAD, *notes, f"game: {self.game}", f"score: {self.score}", "moves:", *self.rows, ""])


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


def parse_solution(text: str, name: str) -> Solution:
    """The solution in a file's text; RecordError, which begins with `name`, if it is none."""
    if len(text) > MOST_CHARACTERS:
        raise RecordError(f"{name} is no solution: it has more than {MOST_CHARACTERS:,} characters")
    given: dict[str, str] = {}
    notes, rows, places = list[str](), list[str](), list[int]()
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if line.startswith("#"):
            notes.append(line[1:].strip())
        elif line and "moves" in given:
            rows.append(line)
            places.append(number)
        elif line:
            match = _FIELD.fullmatch(line)
            if match is None or match[1] in given:
                what = "cannot be read" if match is None else f"gives {match[1]} a second time"
                raise RecordError(f"{name}: line {number} {what}; {EXAMPLE}")
            given[match[1]] = match[2]
            if match[1] == "moves" and match[2]:
                rows.append(match[2])
                places.append(number)
    there = {"game": given.get("game"), "score": given.get("score"), "moves": rows}
    if missing := [key for key, value in there.items() if not value]:
        raise RecordError(f"{name} is no solution: it has no {' and no '.join(missing)}; {EXAMPLE}")
    if not re.fullmatch(r"-?[0-9]{1,9}", given["score"]):
        raise RecordError(f"{name}: the score is {given['score'][:40]!r}, not a whole number; {EXAMPLE}")
    return Solution(given["game"], int(given["score"]), tuple(rows), tuple(notes), tuple(places))


def make_solution(game: Game, opening: str, actions: Sequence[int], notes: Sequence[str] = ()) -> Solution:
    """The solution that plays `opening`, which may begin with @K, and then `actions`, to the end."""
    state = game.from_moves(opening)
    rows = [opening] if opening else []
    for action in actions:
        rows.append(game.action_to_text(state, int(action)))
        state = _after(game, state, int(action))
    return Solution(game.id, int(game.outcome(state[None])[0]), tuple(rows), tuple(notes))


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


def final_state(solution: Solution, game: Game) -> Int8s:
    """The state int8[S] in which the moves end; MoveError if they are not legal."""
    return game.from_moves(" ".join(solution.rows))


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
            state = _after(game, state, game.text_to_action(state, word))
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


def _after(game: Game, state: Int8s, action: int) -> Int8s:
    return game.advance(state[None], np.array([action], dtype=np.int32))[0]
