"""The rules of a game evaluated as they stand, question by question: for games too large to be made into a network.

A state is the frozen set of the facts that are true in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from palaestra.errors import GdlError
from palaestra.ggp.budget import Budget
from palaestra.ggp.machine import Machine, State, goal_value
from palaestra.ggp.prover import ANY, Given, Prover
from palaestra.ggp.strata import Strata
from palaestra.ggp.terms import Rules, Term, arguments

SECONDS, ANSWERS = 60.0, 4_000_000  # what one question may take


class Interpreter(Machine):
    """A machine that proves every answer from the rules themselves."""

    def __init__(self, rules: Rules, seconds: float = SECONDS, answers: int = ANSWERS) -> None:
        """BudgetError for a question that takes longer than `seconds` or more than so many answers to goals."""
        self.roles = rules.roles
        strata = Strata(rules.rules)
        self._prover = Prover(rules.rules, strata.changing)
        self._seconds, self._answers = seconds, answers
        self._last: tuple[State, Given] | None = None  # what is known of the state asked about last

    def initial(self) -> State:
        return frozenset(arguments(atom)[0] for atom in self._ask(self._prover.given(), ("init", ANY)))

    def legal(self, state: State) -> list[list[Term]]:
        known = self._known(state)
        return [[arguments(atom)[1] for atom in self._ask(known, ("legal", role, ANY))] for role in self.roles]

    def terminal(self, state: State) -> bool:
        return bool(self._ask(self._known(state), "terminal"))

    def goals(self, state: State) -> list[int]:
        known = self._known(state)
        found = [[arguments(atom)[1] for atom in self._ask(known, ("goal", role, ANY))] for role in self.roles]
        return [max(map(goal_value, values), default=0) for values in found]

    def facts(self, state: State) -> frozenset[Term]:
        assert isinstance(state, frozenset)
        return state

    def _follow(self, state: State, joint: Sequence[Term]) -> State:
        does = [("does", role, move) for role, move in zip(self.roles, joint, strict=True)]
        known = self._prover.given(self.facts(state), does)
        return frozenset(arguments(atom)[0] for atom in self._ask(known, ("next", ANY)))

    def _known(self, state: State) -> Given:
        last = self._last
        if last is None or last[0] != state:
            self._last = last = (state, self._prover.given(self.facts(state)))
        return last[1]

    def _ask(self, known: Given, goal: Term) -> list[Term]:
        try:
            return known.ask(goal, Budget(self._seconds, self._answers))
        except GdlError:
            self._last = None  # a proof that was broken off leaves its tables half full
            raise
        except RecursionError:
            self._last = None
            raise GdlError("the rules make terms that are nested too deep to be compared") from None
