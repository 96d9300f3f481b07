"""The rules of a game in the order in which they can be answered, and which of them a question needs.

A relation is *fixed* if it depends on neither state nor moves: it is answered once for the whole game. Knows no facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from palaestra.ggp.dependence import Graph, components, dependence
from palaestra.ggp.terms import Rule, name_of

CHANGING = ("true", "does")  # the relations that say what differs from state to state


class Strata:
    """Rules by relation, and relations in order of dependence."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules: dict[str, list[Rule]] = {}
        for rule in rules:
            self._rules.setdefault(name_of(rule.head), []).append(rule)
        self._graph = dependence(rules)
        self._number = components(self._graph)  # the number of a body is never below that of its head
        users: dict[str, list[str]] = {}
        for head, bodies in self._graph.items():
            for body in bodies:
                users.setdefault(body, []).append(head)
        self.changing = frozenset(_reached(CHANGING, users))  # relations that may differ from state to state

    def is_fixed(self, name: str) -> bool:
        """Whether a relation is the same in all states, whatever is done."""
        return name not in self.changing

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


def _reached(starts: Iterable[str], graph: Graph | dict[str, list[str]]) -> set[str]:
    found, waiting = set[str](), list(starts)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(graph.get(name, ()))
    return found
