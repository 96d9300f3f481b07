"""State machines: what the rules of a game say about its states, whatever way they are evaluated.

A state is opaque and hashable; moves and facts are terms. Two machines exist: the propositional network, compiled and
bit-parallel, and the interpreter of the rules for games that are too large to be made into one. Knows no search.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import TypeAlias

from palaestra.base.errors import GdlError, MoveError
from palaestra.base.text import whole_number
from palaestra.ggp.terms import Rules, Term, meant, shown

State: TypeAlias = Hashable

SECONDS, NODES = 30.0, 2_000_000  # what the grounding of a game may take by default
QUESTION_SECONDS = 1.0  # that the interpreter has at least for a question


class Machine(ABC):
    """The rules of one game over single states."""

    roles: tuple[str, ...]
    note: str = ""  # why this machine and not a faster one, for the user; empty if there is nothing to say

    @abstractmethod
    def initial(self) -> State:
        """The state before the first move."""

    @abstractmethod
    def legal(self, state: State) -> list[list[Term]]:
        """The legal moves of each role, in the order of the roles."""

    @abstractmethod
    def terminal(self, state: State) -> bool:
        """Whether the game is over."""

    @abstractmethod
    def goals(self, state: State) -> list[int]:
        """What each role has reached, 0 to 100: the highest goal that holds, 0 where none does."""

    @abstractmethod
    def facts(self, state: State) -> frozenset[Term]:
        """Everything that is true in the state, as the terms inside (true ...)."""

    @abstractmethod
    def _follow(self, state: State, joint: Sequence[Term]) -> State:
        """The state after one legal move of each role."""

    def step(self, state: State, joint: Sequence[Term]) -> State:
        """The state after one move of each role, in the order of the roles; MoveError if one is not legal."""
        return self._follow(state, self.joint(state, joint))

    def joint(self, state: State, moves: Sequence[Term]) -> list[Term]:
        """The legal moves that are meant by one term for each role, which may be in another case; MoveError if none."""
        if len(moves) != len(self.roles):
            known = ", ".join(map(shown, self.roles))
            raise MoveError(f"{len(moves)} moves were given for {len(self.roles)} roles: {known}")
        return [
            legal_move(move, legal, role)
            for role, move, legal in zip(self.roles, moves, self.legal(state), strict=True)
        ]


def make_machine(rules: Rules, seconds: float = SECONDS, nodes: int = NODES) -> Machine:
    """The propositional network if the grounding stays within `seconds` and `nodes` instances of rules.

    Otherwise the interpreter, whose `note` says why; no question to it takes longer than the grounding might have.
    """
    from palaestra.ggp.budget import BudgetError
    from palaestra.ggp.interpreter import Interpreter
    from palaestra.ggp.propnet import PropNet

    try:
        return PropNet(rules, seconds, nodes)
    except (BudgetError, MemoryError) as error:
        machine = Interpreter(rules, max(seconds, QUESTION_SECONDS))
        reason = str(error) or "there is too little memory"
        machine.note = f"the rules are interpreted, which is slow: as a network they are too large ({reason})"
        return machine


def legal_move(move: Term, legal: Sequence[Term], role: str) -> Term:
    """The legal move that a term means, in the spelling of the rules; MoveError if it is none."""
    found = meant(move, legal)
    if found is None:
        known = ", ".join(shown(term) for term in legal[:8]) + (", ..." if len(legal) > 8 else "")
        raise MoveError(f"{shown(move)} is not a legal move of {shown(role)} here; legal: {known or 'none'}")
    return found


def goal_value(term: Term) -> int:
    """The number in (goal role number)."""
    if isinstance(term, str) and (number := whole_number(term)) is not None and number <= 100:
        return number
    raise GdlError(f"{shown(term)} is not a goal; goals are whole numbers from 0 to 100")
