"""Games and solutions to step through: a drawing for every number of moves made. Knows no page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from palaestra.arena import morpion_referee
from palaestra.base.errors import RecordError
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.overlay import overlaid
from palaestra.games.rows import ONGOING
from palaestra.games.svg import dots_document
from palaestra.live.position import Position
from palaestra.live.words import SIDES, outcome_in_words
from palaestra.runs.pgn_games import PgnGame
from palaestra.runs.solutions import Solution

MOST_MOVES = 1000  # of what is drawn move by move


@dataclass(frozen=True)
class Steps:
    """A course of play: its moves, and one SVG document before each of them and after the last."""

    moves: tuple[str, ...]
    pictures: tuple[str, ...]
    words: str = ""  # how it ended

    def __post_init__(self) -> None:
        assert len(self.pictures) == len(self.moves) + 1


def game_steps(played: PgnGame, game: Game) -> Steps:
    """A game of a PGN file by the rules of its game; RecordError if they do not allow it."""
    _refuse_long(len(played.moves))
    states, actions = played.replay(game)
    end = played.tags.get("Termination", "normal")
    words = _ending(game, states[-1]) if end in ("normal", "") else end
    return Steps(tuple(game.line_to_texts(states[0], actions)), _drawn(game, states, actions), words)


def solution_steps(solution: Solution, game: Game | None = None) -> Steps:
    """A solution that was verified. Morpion is drawn by its referee, with numbers; any other by the game's rules."""
    if morpion_referee.knows(solution.game):
        return _morpion_steps(solution)
    if game is None:
        raise RecordError(f"{solution.game!r} is drawn by its own rules, and they were not given")
    position = Position(game, " ".join(solution.rows))
    _refuse_long(len(position.actions))
    pictures = _drawn(game, position.states, position.actions)
    return Steps(position.moves, pictures, position.result or "")


def _morpion_steps(solution: Solution) -> Steps:
    grid = morpion_referee.start(solution.game)
    for row in solution.rows:
        for word in row.replace(",", " ").split():
            try:
                grid.draw(word)
            except morpion_referee.Wrong as wrong:
                raise RecordError(f"move {len(grid.lines) + 1} ({word[:20]}) is wrong: {wrong}") from None
    ends = [(line.points[0], line.points[-1]) for line in grid.lines]
    count, cross = len(ends), len(grid.cross)
    pictures = (dots_document(grid.points, ends, cross, numbered=True, made=made) for made in range(count + 1))
    return Steps(tuple(line.text for line in grid.lines), tuple(pictures), f"{count} lines")


def _drawn(game: Game, states: Sequence[Int8s], actions: Sequence[int]) -> tuple[str, ...]:
    before = [None, *zip(states, actions, strict=False)]
    return tuple(overlaid(game, state, last=last) for state, last in zip(states, before, strict=True))


def _ending(game: Game, state: Int8s) -> str:
    if int(game.outcome(state[None])[0]) == ONGOING:
        return f"not played to its end; the {SIDES[int(state[0])]} player is to move"
    return outcome_in_words(game, state)


def _refuse_long(moves: int) -> None:
    if moves > MOST_MOVES:
        raise RecordError(f"this has {moves:,} moves; up to {MOST_MOVES:,} are drawn move by move")
