"""A position of a game and how it came about: the moves so far, the legal ones, the drawing, the document."""

from __future__ import annotations

from functools import cached_property
from typing import TypedDict

import numpy as np

from palaestra.base.errors import MoveError
from palaestra.base.text import whole_number
from palaestra.base.types import Int8s
from palaestra.games.base import Game
from palaestra.games.overlay import overlaid
from palaestra.games.registry import make_game
from palaestra.games.rows import ONGOING
from palaestra.live.words import SIDES, outcome_in_words


class PositionDocument(TypedDict):
    """A position as JSON."""

    game: str
    moves: list[str]
    start: int  # number of the initial position
    to_play: str | None  # first or second; null once the game is over
    legal: list[str]
    outcome: int | None  # the first player's, larger is better; null while nothing is decided
    result: str | None  # the same for people
    board: str


class Position:
    """A game's position after some moves; it never changes, and `after` gives the next one.

    >>> position = Position("tic_tac_toe-3x3", "b2 a1")
    >>> position.legal_moves
    ['b1', 'c1', 'a2', 'c2', 'a3', 'b3', 'c3']
    >>> position.after("a3").moves
    ('b2', 'a1', 'a3')
    """

    def __init__(self, game: Game | str, moves: str = "") -> None:
        """`moves` are written as the game writes them; @K in front picks initial position K."""
        self.game = make_game(game) if isinstance(game, str) else game
        self.states: tuple[Int8s, ...] = tuple(self.game.replay(moves))  # from the initial one to this one
        pairs = zip(self.states, self.states[1:], strict=False)
        self.actions = tuple(action_between(self.game, before, after) for before, after in pairs)
        first = moves.split(maxsplit=1)[0] if moves.strip() else ""
        self.start = (whole_number(first[1:]) or 0) if first.startswith("@") else 0

    @classmethod
    def at_start(cls, game: Game, start: int = 0) -> Position:
        """One of the game's initial positions."""
        return cls(game, f"@{start}")

    def after(self, move: str | int) -> Position:
        """The position after one more move, its text or the number of its action; MoveError if it is illegal."""
        if isinstance(move, str):
            action = self.game.text_to_action(self.state, move)
        elif move in self.legal.values():
            action = int(move)
        else:
            raise MoveError(f"action {move} is not legal here; legal: {', '.join(self.legal) or 'none'}")
        advanced = self.game.advance(self.state[None], np.array([action], dtype=np.int32))[0]
        return self._like((*self.states, advanced), (*self.actions, action))

    def back(self, plies: int = 1) -> Position:
        """The position so many moves earlier; MoveError if there were fewer."""
        if not 0 <= plies <= len(self.actions):
            raise MoveError(f"there are {len(self.actions)} moves to take back, not {plies}")
        left = len(self.actions) - plies
        return self._like(self.states[: left + 1], self.actions[:left])

    def _like(self, states: tuple[Int8s, ...], actions: tuple[int, ...]) -> Position:
        other = object.__new__(type(self))
        other.game, other.start, other.states, other.actions = self.game, self.start, states, actions
        return other

    @property
    def state(self) -> Int8s:
        """int8[S], as rules and searches take it."""
        return self.states[-1]

    @property
    def to_play(self) -> int:
        """The side to move: 0 moved first."""
        return int(self.state[0])

    @cached_property
    def legal(self) -> dict[str, int]:
        """The legal moves as people write them, and their actions; none once the game is over."""
        return {text: action for action, text in legal_texts(self.game, self.state)}

    @property
    def legal_moves(self) -> list[str]:
        return list(self.legal)

    @cached_property
    def moves(self) -> tuple[str, ...]:
        """The moves so far as people write them."""
        return tuple(self.game.line_to_texts(self.states[0], self.actions))

    @property
    def text(self) -> str:
        """The moves in one line, from which `Position` makes this position again."""
        return " ".join(([f"@{self.start}"] if self.game.num_starts > 1 else []) + list(self.moves))

    @property
    def is_over(self) -> bool:
        return self.outcome is not None

    @property
    def outcome(self) -> int | None:
        """The first player's outcome, larger is better; None while the game goes on."""
        outcome = int(self.game.outcome(self.state[None])[0])
        return None if outcome == ONGOING else outcome

    @property
    def result(self) -> str | None:
        """ "the first player wins at ply 7"; None while the game goes on."""
        return outcome_in_words(self.game, self.state) if self.is_over else None

    @property
    def last(self) -> tuple[Int8s, int] | None:
        """The state before the last move, and that move's action."""
        return (self.states[-2], self.actions[-1]) if self.actions else None

    def svg(self) -> str:
        """The board as an SVG document; the last move and a winning line are marked."""
        return overlaid(self.game, self.state, last=self.last)

    def document(self) -> PositionDocument:
        """The position as JSON."""
        return {
            "game": self.game.id,
            "moves": list(self.moves),
            "start": self.start,
            "to_play": None if self.is_over else SIDES[self.to_play],
            "legal": self.legal_moves,
            "outcome": self.outcome,
            "result": self.result,
            "board": self.game.render(self.state),
        }

    def __repr__(self) -> str:
        words = self.result or (f"{SIDES[self.to_play]} player to move" if self.game.players == 2 else "to move")
        return f"{self.game.id} after {self.text or 'no move'}: {words}\n{self.game.render(self.state)}"

    def _repr_svg_(self) -> str:
        return self.svg()


def legal_texts(game: Game, state: Int8s) -> list[tuple[int, str]]:
    """(action, text) of every legal move."""
    counts, actions = game.legal(state[None])
    return [(int(action), game.action_to_text(state, int(action))) for action in actions[0, : counts[0]]]


def action_between(game: Game, before: Int8s, after: Int8s) -> int:
    """A legal action that leads from one state to the other."""
    counts, actions = game.legal(before[None])
    legal = actions[0, : counts[0]]
    followers = game.advance(np.repeat(before[None], len(legal), axis=0), legal)
    return int(legal[np.flatnonzero((followers == after).all(axis=1))[0]])
