"""The rules of a game in the order in which they can be answered, and which of them a question needs.

A relation is *fixed* if it depends on neither state nor moves: it is answered once for the whole game. It is *tangled*
if it lies on a cycle of relations through a negation; its atoms may be free of such cycles all the same, and whoever
answers them has to go by atoms. Knows no facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from palaestra.ggp.dependence import Graph, components, dependence
from palaestra.ggp.terms import Rule, Term, arguments, is_variable, name_of

CHANGING = ("true", "does")  # the relations that say what differs from state to state
MOST_KINDS = 32  # of facts on which a relation is known to depend; with more, it is taken to depend on all

Kinds = frozenset[tuple[str, int]] | None  # names and numbers of arguments of facts; None for all there are
NO_KINDS: Kinds = frozenset()


class Strata:
    """Rules by relation, and relations in order of dependence."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules: dict[str, list[Rule]] = {}
        for rule in rules:
            self._rules.setdefault(name_of(rule.head), []).append(rule)
        self._graph = dependence(rules)
        self._number = components(self._graph)  # the number of a body is never below that of its head
        knots = {self._number[name_of(rule.head)] for rule in rules if self._negates_its_own(rule)}
        self.tangled = frozenset(relation for relation, number in self._number.items() if number in knots)
        self._users: dict[str, list[str]] = {}
        for head, bodies in self._graph.items():
            for body in bodies:
                self._users.setdefault(body, []).append(head)
        self._changing = _reached((*CHANGING, *self.tangled), self._users)

    def _negates_its_own(self, rule: Rule) -> bool:
        own = self._number[name_of(rule.head)]
        return any(not literal.positive and self._number[name_of(literal.atom)] == own for literal in rule.body)

    def is_fixed(self, name: str) -> bool:
        """Whether a relation is the same in all states, whatever is done, and depends on nothing tangled."""
        return name not in self._changing

    def needed(self, names: Iterable[str]) -> set[str]:
        """The relations on which some relations depend, themselves included."""
        return _reached(names, self._graph)

    def layers(self, names: set[str]) -> list[list[Rule]]:
        """The rules of some relations: those of later lists ask earlier ones, and only negate earlier ones."""
        found: dict[int, list[Rule]] = {}
        for name in self._rules:  # in the order of the text
            if name in names:
                found.setdefault(self._number[name], []).extend(self._rules[name])
        return [found[number] for number in sorted(found, reverse=True)]

    # For answers that are kept, and for proofs: see `palaestra.ggp.prover`.

    def kinds(self, name: str) -> Kinds:
        """The kinds of facts of a state on which a relation depends."""
        return self._dependence[self._number[name]][0] if name in self._number else NO_KINDS

    def depends_on_moves(self, name: str) -> bool:
        return name in self._moving

    def height(self, name: str) -> float:
        """How many relations with rules stand below one another, from this one on; infinite for recursive ones."""
        return self._dependence[self._number[name]][1] if name in self._number else 0

    @cached_property
    def _moving(self) -> set[str]:
        return _reached(("does",), self._users)

    @cached_property
    def _dependence(self) -> dict[int, tuple[Kinds, float]]:
        """The kinds of facts and the height of all relations with one number."""
        found: dict[int, tuple[Kinds, float]] = {}
        for relation in sorted(self._graph, key=self._number.__getitem__, reverse=True):
            own = self._number[relation]
            kinds, height = found.get(own, (NO_KINDS, 0.0))
            for rule in self._rules.get(relation, ()):
                if rule.body or rule.distinct:
                    height = max(height, 1.0)
                for literal in rule.body:
                    body = self._number[name_of(literal.atom)]
                    if name_of(literal.atom) == "true":
                        kinds = _joined(kinds, _kinds_of(arguments(literal.atom)[0]))
                    elif body == own:
                        height = float("inf")
                    else:
                        kinds, height = _joined(kinds, found[body][0]), max(height, found[body][1] + 1)
            found[own] = kinds, height
        return found


def _kinds_of(fact: Term) -> Kinds:
    return None if is_variable(fact) else frozenset([(name_of(fact), len(arguments(fact)))])


def _joined(one: Kinds, other: Kinds) -> Kinds:
    if one is None or other is None or len(one | other) > MOST_KINDS:
        return None
    return one if other <= one else one | other


def _reached(starts: Iterable[str], graph: Graph | dict[str, list[str]]) -> set[str]:
    found, waiting = set[str](), list(starts)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(graph.get(name, ()))
    return found
