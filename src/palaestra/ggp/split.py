"""Rules with many variables as several rules with few: what is joined at once is what makes a game large.

In (<= (next (at ?x)) (true (at ?x)) (does ?r (to ?y)) (distinct ?x ?y)) the role matters to one condition only. So
"somebody goes to ?y" becomes a relation of its own, and the rule has one variable less: the instances add up instead
of multiplying. The new relations' names hold a space, which no name in a text can. Knows no facts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from palaestra.ggp.budget import Budget
from palaestra.ggp.terms import Literal, Rule, Term, variables


@dataclass(frozen=True, eq=False)
class _Condition:
    """One literal or one pair of distinct terms."""

    literal: Literal | None
    pair: tuple[Term, Term] | None
    variables: frozenset[str]

    @property
    def binds(self) -> bool:
        return self.literal is not None and self.literal.positive


def split(rules: Iterable[Rule], budget: Budget, word: str = "part") -> list[Rule]:
    """Rules that derive the same, none of which joins variables that it could do without; BudgetError if it is late.

    The word and a number are the names of new relations.
    """
    found: list[Rule] = []
    for rule in rules:
        conditions = _conditions(rule)
        while (group := _separable(rule.head, conditions)) is not None:
            budget.check(0, f"the rule of line {rule.line}")
            rest = [condition for condition in conditions if condition not in group]
            outside = variables(rule.head).keys() | _variables(rest)
            kept = [name for name in variables(*_terms(group)) if name in outside]
            part: Term = (f"{word} {len(found)}", *kept) if kept else f"{word} {len(found)}"
            found.append(_rule(replace(rule, head=part), group))
            conditions = [*rest, _Condition(Literal(part), None, frozenset(kept))]
        found.append(_rule(rule, conditions))
    return found


def _separable(head: Term, conditions: list[_Condition]) -> list[_Condition] | None:
    """The conditions on one variable that the head does not have, if they leave out another; the narrowest ones."""
    best: tuple[int, list[_Condition]] | None = None
    everything = _variables(conditions)
    for name in sorted(everything - variables(head).keys()):
        group = [condition for condition in conditions if name in condition.variables]
        inside = _variables(group)
        bound = _variables(condition for condition in group if condition.binds)
        if inside != everything and inside == bound and (best is None or len(inside) < best[0]):
            best = (len(inside), group)
    return None if best is None else best[1]


def _conditions(rule: Rule) -> list[_Condition]:
    literals = [_Condition(literal, None, frozenset(variables(literal.atom))) for literal in rule.body]
    pairs = [_Condition(None, pair, frozenset(variables(*pair))) for pair in rule.distinct]
    return literals + pairs


def _rule(rule: Rule, conditions: list[_Condition]) -> Rule:
    literals = tuple(condition.literal for condition in conditions if condition.literal is not None)
    pairs = tuple(condition.pair for condition in conditions if condition.pair is not None)
    return replace(rule, body=literals, distinct=pairs)


def _terms(conditions: list[_Condition]) -> list[Term]:
    return [term for one in conditions for term in ((one.literal.atom,) if one.literal else one.pair or ())]


def _variables(conditions: Iterable[_Condition]) -> set[str]:
    return {name for condition in conditions for name in condition.variables}
