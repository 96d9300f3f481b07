"""The rules of a game evaluated as they stand, question by question: for games too large to be made into a network.

A state is the frozen set of the facts that are true in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from palaestra.ggp.budget import Budget
from palaestra.ggp.machine import Machine, State, goal_value
from palaestra.ggp.prover import Prover
from palaestra.ggp.strata import Strata
from palaestra.ggp.terms import Rules, Term

SECONDS, ANSWERS = 60.0, 4_000_000  # what one question may take
ANY = "?"  # stands for what is asked


class Interpreter(Machine):
    """A machine that proves every answer from the rules themselves."""

    def __init__(self, rules: Rules, seconds: float = SECONDS, answers: int = ANSWERS) -> None:
        """BudgetError for a question that takes longer than `seconds` or more than so many answers to goals."""
        self.roles = rules.roles
        self._seconds, self._answers = seconds, answers
        self._current: State = None  # the state asked about last, of which most is known
        strata = Strata(rules.rules)
        self._prover = Prover(rules.rules, strata)
        self._initial = frozenset(fact for (fact,) in self._ask(("init", ANY)))
        self._prover = Prover(rules.rules, strata, self._initial)

    def initial(self) -> State:
        return self._initial

    def legal(self, state: State) -> list[list[Term]]:
        self._enter(state)
        return [[move for (move,) in self._ask(("legal", role, ANY))] for role in self.roles]

    def terminal(self, state: State) -> bool:
        self._enter(state)
        return bool(self._ask("terminal"))

    def goals(self, state: State) -> list[int]:
        self._enter(state)
        found = [[goal_value(value) for (value,) in self._ask(("goal", role, ANY))] for role in self.roles]
        return [max(values, default=0) for values in found]

    def facts(self, state: State) -> frozenset[Term]:
        assert isinstance(state, frozenset)
        return state

    def _follow(self, state: State, joint: Sequence[Term]) -> State:
        self._enter(state)
        self._prover.set_moves([("does", role, move) for role, move in zip(self.roles, joint, strict=True)])
        return frozenset(fact for (fact,) in self._ask(("next", ANY)))

    def _enter(self, state: State) -> None:
        if state is not self._current and state != self._current:
            self._prover.set_state(self.facts(state))
            self._current = state

    def _ask(self, goal: Term) -> list[tuple[Term, ...]]:
        return self._prover.ask(goal, Budget(self._seconds, self._answers))
