"""Which relation depends on which, and the laws of GDL about it; GdlError names the relations of a forbidden way.

Negation is stratified: nothing depends on its own absence. Recursion ends: what a rule asks of a relation on its own
cycle is constant, stands in the head, or is bound by a relation outside the cycle, if only inside a function there, as
a cell's row in (true (cell ?row ...)). The initial state depends on no state, and what is asked of a state (legal,
goal, terminal) on no move.

Where relations make a forbidden cycle, their rules are looked at one by one: (<= (goal ?r 0) (not (goal ?r 100))) asks
for no head of a rule that asks for it again. If the rules make a cycle through a negation, too, only single atoms can
tell (`palaestra.ggp.soundness`), and UnstratifiedError says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import TypeVar

from palaestra.base.errors import GdlError
from palaestra.ggp.terms import Literal, Rule, Term, arguments, complaint, is_variable, name_of, shown, variables

Node = TypeVar("Node", bound=Hashable)

Graph = dict[str, dict[str, Rule]]  # from a relation to those in its bodies, with the first rule that says so

# What must not depend on what, and why.
APART = (
    ("init", "true", "there is no state before the initial one"),
    ("init", "does", "nobody moves before the initial state"),
    ("legal", "does", "what is legal is asked before anybody moves"),
    ("goal", "does", "goals are asked of a state, not of a move"),
    ("terminal", "does", "the end is asked of a state, not of a move"),
)
RECURSION = "must be constant, stand in the head, or be bound by a relation outside the cycle"
ANY_RULE = -1  # in place of the number of a rule
MOST_PAIRS = 1_000_000  # of a condition and a head that are compared; beyond, they are taken to match


class UnstratifiedError(GdlError):
    """Rules that go in a circle through a negation; their atoms may still not."""


def check_dependence(rules: Sequence[Rule]) -> None:
    """GdlError if relations depend on each other in a way that GDL forbids, UnstratifiedError if perhaps."""
    graph = dependence(rules)
    for relation, forbidden, reason in APART:
        way = _way(graph, relation, forbidden)
        if way:
            rule = graph[relation][way[1]]
            raise complaint(rule, f"{_way_text(way)}: {relation} depends on {forbidden}; {reason}")
    number = components(graph)
    suspected: dict[int, list[Rule]] = {
        number[name_of(rule.head)]: [] for rule in rules if _flaw(rule, _same_number(rule, number))
    }
    for rule in rules:
        if (own := number[name_of(rule.head)]) in suspected:
            suspected[own].append(rule)
    doubt: Exception | None = None
    for members in suspected.values():
        cycles = _Cycles(members, number)
        for place, rule in enumerate(members):
            if flaw := _flaw(rule, cycles.of(place)):
                error = _complaint(rule, *flaw, graph)
                if not isinstance(error, UnstratifiedError):
                    raise error
                doubt = doubt or error
    if doubt:
        raise doubt


def dependence(rules: Sequence[Rule]) -> Graph:
    """The graph of some rules; every relation has an entry."""
    graph: Graph = {}
    for rule in rules:
        bodies = graph.setdefault(name_of(rule.head), {})
        for literal in rule.body:
            bodies.setdefault(name_of(literal.atom), rule)
            graph.setdefault(name_of(literal.atom), {})
    return graph


def components(graph: Mapping[Node, Collection[Node]]) -> dict[Node, int]:
    """A number for each node, equal for those that depend on each other, and never lower than its head's.

    Kosaraju's algorithm: whatever comes first in the walk's order and is reached backwards belongs together.
    """
    reverse: dict[Node, list[Node]] = {relation: [] for relation in graph}
    for relation, bodies in graph.items():
        for body in bodies:
            reverse[body].append(relation)
    number: dict[Node, int] = {}
    for count, start in enumerate(reversed(_finished(graph))):
        waiting = [start]
        while waiting:
            relation = waiting.pop()
            if relation not in number:
                number[relation] = count
                waiting.extend(reverse[relation])
    return number


def _finished(graph: Mapping[Node, Collection[Node]]) -> list[Node]:
    """The nodes in the order in which a depth-first walk leaves them."""
    seen: set[Node] = set()
    finished: list[Node] = []
    for start in graph:
        path = [(start, iter(graph[start]))] if start not in seen else []
        seen.add(start)
        while path:
            relation, bodies = path[-1]
            fresh = next((body for body in bodies if body not in seen), None)
            if fresh is None:
                finished.append(relation)
                path.pop()
            else:
                seen.add(fresh)
                path.append((fresh, iter(graph[fresh])))
    return finished


def _way(graph: Graph, start: str, end: str) -> list[str]:
    """A shortest way of at least one step from a relation to another, both included; empty if there is none."""
    came_from: dict[str, str] = {}
    frontier = [start] if start in graph else []
    while frontier and end not in came_from:
        following = []
        for relation in frontier:
            for body in graph[relation]:
                if body not in came_from:
                    came_from[body] = relation
                    following.append(body)
        frontier = following
    if end not in came_from:
        return []
    way = [end, came_from[end]]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return way[::-1]


OnCycle = Callable[[Literal], bool]  # whether a condition of a rule leads back to the rule


def _same_number(rule: Rule, number: dict[str, int]) -> OnCycle:
    own = number[name_of(rule.head)]
    return lambda literal: number[name_of(literal.atom)] == own


class _Cycles:
    """The rules of relations that depend on each other, and which of their conditions lead back to the same rule."""

    def __init__(self, rules: Sequence[Rule], number: dict[str, int]) -> None:
        heads: dict[tuple[str, Term | None], list[int]] = {}
        for place, rule in enumerate(rules):
            heads.setdefault(_begin(rule.head), []).append(place)
        every: dict[str, list[int]] = {}
        for (name, _), places in heads.items():
            every.setdefault(name, []).extend(places)
        pairs = 0
        self._matching: list[dict[Literal, list[int]]] = []  # by rule and condition: the rules whose head it may be
        for rule in rules:
            found: dict[Literal, list[int]] = {}
            for literal in filter(_same_number(rule, number), rule.body):
                name, first = _begin(literal.atom)
                places = every[name] if first is None else heads.get((name, first), []) + heads.get((name, None), [])
                pairs += len(places)
                if pairs > MOST_PAIRS:
                    found[literal] = [ANY_RULE]
                else:
                    found[literal] = [place for place in places if _may_match(literal.atom, rules[place].head)]
            self._matching.append(found)
        graph = {
            place: dict.fromkeys(other for others in found.values() for other in others)
            for place, found in enumerate(self._matching)
        }
        graph[ANY_RULE] = dict.fromkeys(range(len(rules)))
        self._number = components(graph)

    def of(self, place: int) -> OnCycle:
        own = self._number[place]
        return lambda literal: any(self._number[other] == own for other in self._matching[place].get(literal, ()))


def _begin(atom: Term) -> tuple[str, Term | None]:
    """The name of an atom, and its first argument if that is a constant."""
    inside = arguments(atom)
    return name_of(atom), inside[0] if inside and isinstance(inside[0], str) and not is_variable(inside[0]) else None


def _may_match(one: Term, other: Term) -> bool:
    """Whether some atom may be an instance of both, each with variables of its own."""
    waiting = [(one, other)]
    while waiting:
        left, right = waiting.pop()
        if is_variable(left) or is_variable(right):
            continue
        if isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right):
            waiting.extend(zip(left, right, strict=True))
        elif left != right:
            return False
    return True


def _flaw(rule: Rule, on_cycle: OnCycle) -> tuple[Literal, Term | None] | None:
    """A condition on the rule's own cycle that is negated, or that may go on for ever because of an argument."""
    given, bound = set(arguments(rule.head)), set[str]()
    own = [literal for literal in rule.body if on_cycle(literal)]
    for literal in own:
        if not literal.positive:
            return literal, None
    if own:
        outside = (literal.atom for literal in rule.body if literal.positive and literal not in own)
        bound.update(variables(*outside))
    for literal in own:
        for argument in arguments(literal.atom):
            if argument not in given and not bound.issuperset(variables(argument)):
                return literal, argument
    return None


def _complaint(rule: Rule, literal: Literal, argument: Term | None, graph: Graph) -> GdlError:
    head, body = name_of(rule.head), name_of(literal.atom)
    if argument is not None:
        return complaint(rule, f"{_cycle_text(graph, head, body)}: in this recursion {shown(argument)} {RECURSION}")
    way = _cycle_text(graph, head, body, "not ")
    absence = f"{shown(head)} depends on its own absence; negation must be stratified"
    return UnstratifiedError(str(complaint(rule, f"{way}: {absence}")))


def _cycle_text(graph: Graph, head: str, body: str, mark: str = "") -> str:
    """The relations of a cycle that goes from a rule's head to one of its conditions, which is marked."""
    back = _way(graph, body, head)[1:] if body != head else []
    return _way_text([head, mark + body, *back])


def _way_text(way: Sequence[str]) -> str:
    names = [shown(relation) for relation in way]
    return " -> ".join(names if len(names) <= 8 else [*names[:5], "...", *names[-2:]])
