"""A game in GDL of any number of roles, who move at once: what each may do, who is a person, and how it stands.

Games that are played in turn are a `GameInPlay`; this is for all others. Every role moves in every turn, and a role
with a single move is not asked. Knows the rules as a state machine, and players as movers of network matches.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TypedDict

from palaestra.base.errors import GdlError, MoveError
from palaestra.base.text import refuse_long
from palaestra.games.base import MOST_MOVES, RULES
from palaestra.games.svg import Point
from palaestra.ggp.board_drawing import BoardDrawing, draw_board
from palaestra.ggp.board_layout import Board, draw, find_board, natural_order
from palaestra.ggp.kif import read_kif
from palaestra.ggp.machine import Machine, State, legal_move, make_machine
from palaestra.ggp.movers import Mover, make_mover
from palaestra.ggp.propnet import PropNet
from palaestra.ggp.rules import load_rules, parse_rules, rulesheet, rulesheet_names
from palaestra.ggp.terms import Rules, Term, term_text
from palaestra.live.targets import grouped

START_SECONDS, MOVE_SECONDS = 10.0, 1.0  # for a mover to get ready, and for a move where its text says nothing
Turn = tuple[str, ...]  # a move of every role, in the order of the roles


class TargetDocument(TypedDict):
    """An area of a drawing as JSON; moves are numbers in a role's list of legal ones."""

    moves: list[int]
    name: str
    outline: list[Point]


class RoleDocument(TypedDict):
    """A game of roles as JSON."""

    game: str
    roles: list[str]
    turns: list[list[str]]
    legal: dict[str, list[str]]  # of each role
    over: bool
    goals: dict[str, int] | None  # 0 to 100, once it is over
    board: str  # the cells of a board and all other facts, in letters
    svg: str  # the same as a drawing; empty where the rules have no board
    targets: dict[str, list[TargetDocument]]  # of each role: where its moves stand in the drawing
    note: str  # about the rules, if there is something to tell


class RolePlay:
    """One game, as it stands after some turns.

    >>> game = RolePlay("gdl:tic_tac_toe-3x3")
    >>> game.roles, game.choices("o")
    (('x', 'o'), ['noop'])
    >>> game.play({"x": "(mark 2 2)"}).turns
    [('(mark 2 2)', 'noop')]
    """

    def __init__(self, game: str, turns: Sequence[Sequence[str]] = ()) -> None:
        """`game` is gdl:FILE.kif, or the name of a rulesheet of the package after gdl:."""
        self.game = game
        self.rules = rules_of(game)
        self.machine: Machine = make_machine(self.rules)
        self._board = self._find_board()
        self._drawing = self._find_drawing()
        self.turns: list[Turn] = []
        self._states: list[State] = [self.machine.initial()]
        self.go(turns)

    @property
    def roles(self) -> tuple[str, ...]:
        return self.rules.roles

    @property
    def state(self) -> State:
        return self._states[-1]

    @property
    def is_over(self) -> bool:
        return self.machine.terminal(self.state)

    @property
    def goals(self) -> dict[str, int] | None:
        """What each role has reached, 0 to 100; None while the game goes on."""
        return dict(zip(self.roles, self.machine.goals(self.state), strict=True)) if self.is_over else None

    def choices(self, role: str) -> list[str]:
        """The moves that a role may make, as people write them; none once the game is over."""
        if self.is_over:
            return []
        legal = self.machine.legal(self.state)[self.roles.index(self.rules.role(role))]
        return [term_text(move) for move in sorted(legal, key=natural_order)]

    def play(self, moves: Mapping[str, str]) -> RolePlay:
        """One turn; a role with a single move need not be named. MoveError if a move is missing or not legal."""
        if self.is_over:
            raise MoveError("the game is over")
        legal = self.machine.legal(self.state)
        joint: list[Term] = []
        for role, choices in zip(self.roles, legal, strict=True):
            if role not in moves and len(choices) > 1:
                raise MoveError(f"{role} has to move: it has {len(choices)} moves to choose from")
            joint.append(legal_move(_term(moves[role]), choices, role) if role in moves else choices[0])
        self._states.append(self.machine.step(self.state, joint))
        self.turns.append(tuple(map(term_text, joint)))
        return self

    def undo(self) -> RolePlay:
        """Take one turn back."""
        if not self.turns:
            raise MoveError("there is no turn to take back")
        self.turns.pop()
        self._states.pop()
        return self

    def go(self, turns: Sequence[Sequence[str]]) -> RolePlay:
        """The game after other turns; what both begin with is not played again."""
        wanted = [tuple(turn) for turn in turns]
        for turn in wanted:
            if len(turn) != len(self.roles):
                raise MoveError(f"a turn has {len(turn)} moves, and the game {len(self.roles)} roles")
        while self.turns != wanted[: len(self.turns)]:
            self.undo()
        for turn in wanted[len(self.turns) :]:
            self.play(dict(zip(self.roles, turn, strict=True)))
        return self

    def _find_board(self) -> Board | None:
        return find_board(self.rules, self.machine.all_facts) if isinstance(self.machine, PropNet) else None

    def _find_drawing(self) -> BoardDrawing | None:
        moves = (move for own in self.machine.moves for move in own) if isinstance(self.machine, PropNet) else ()
        return draw_board(self._board, self.roles, moves)

    def _targets(self, role: str) -> list[TargetDocument]:
        if self._drawing is None:
            return []
        moves = self.choices(role)
        spots = {number: spot for number, move in enumerate(moves) if (spot := self._drawing.spot(_term(move)))}
        return [
            {"moves": list(one.actions), "name": one.name, "outline": list(one.outline)}
            for one in grouped({number: spot.outline for number, spot in spots.items()}, dict(enumerate(moves)))
        ]

    def document(self) -> RoleDocument:
        """The game as JSON."""
        return {
            "game": self.game,
            "roles": list(self.roles),
            "turns": [list(turn) for turn in self.turns],
            "legal": {role: self.choices(role) for role in self.roles},
            "over": self.is_over,
            "goals": self.goals,
            "board": draw(self._board, self.machine.facts(self.state)),
            "svg": "" if self._drawing is None else self._drawing.svg(self.machine.facts(self.state)),
            "targets": {role: self._targets(role) for role in self.roles},
            "note": self.machine.note,
        }

    def __repr__(self) -> str:
        how = f"over, {self.goals}" if self.is_over else f"turn {len(self.turns) + 1}"
        return f"{self.game}: {how}\n{draw(self._board, self.machine.facts(self.state))}"


class RoleMover:
    """A player's text in one role of one game; it follows the turns and chooses."""

    def __init__(self, game: str, role: str, player: str, seed: int = 0) -> None:
        rules = rules_of(game)
        self.role = rules.role(role)
        self._rules, self._player, self._seed = rules, player, seed
        self._mover: Mover | None = None
        self._turns: list[Turn] = []

    def choose(self, turns: Sequence[Sequence[str]]) -> str:
        """Its move after some turns; the game is not over there."""
        given = [tuple(turn) for turn in turns]
        if self._mover is None or self._turns != given[: len(self._turns)]:
            self._mover, self._turns = make_mover(self._player, self._seed), []
            self._mover.begin(self._rules, self.role, time.monotonic() + START_SECONDS, MOVE_SECONDS)
        for turn in given[len(self._turns) :]:
            self._mover.played([_term(move) for move in turn])
        self._turns = given
        return term_text(self._mover.choose(time.monotonic() + MOVE_SECONDS, lambda move: None))


def rules_of(game: str) -> Rules:
    """The rules of gdl:FILE.kif or of a rulesheet of the package; GdlError if there are none."""
    if not game.startswith(RULES):
        raise GdlError(f"{game!r} is not a game in GDL; for example gdl:FILE.kif")
    name = game.removeprefix(RULES)
    return parse_rules(rulesheet(name)) if name in rulesheet_names() else load_rules(name)


def _term(text: str) -> Term:
    """A move from a text; MoveError if it is not one term."""
    refuse_long(text, "a move", MoveError, MOST_MOVES)
    try:
        forms = read_kif(text)
    except GdlError as error:
        raise MoveError(f"{text!r} cannot be read as a move ({error}); for example (mark 1 1)") from None
    if len(forms) != 1:
        raise MoveError(f"{text!r} is not one move; for example (mark 1 1)")
    return forms[0].term
