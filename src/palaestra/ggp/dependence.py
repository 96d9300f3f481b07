"""Which relation depends on which, and the laws of GDL about it; GdlError names the relations of a forbidden way.

Negation is stratified: no relation depends on its own absence. Recursion ends: what a rule asks of a relation on its
own cycle is constant, stands in the head, or is bound by a relation outside the cycle, if only inside a function there,
as a cell's row in (true (cell ?row ...)). The initial state depends on no state, and what is asked of a state (legal,
goal, terminal) on no move.
"""

from __future__ import annotations

from collections.abc import Sequence

from palaestra.ggp.terms import Rule, arguments, complaint, name_of, shown, variables

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


def check_dependence(rules: Sequence[Rule]) -> None:
    """Raise GdlError if relations depend on each other in a way that GDL forbids."""
    graph = dependence(rules)
    for relation, forbidden, reason in APART:
        way = _way(graph, relation, forbidden)
        if way:
            rule = graph[relation][way[1]]
            raise complaint(rule, f"{_way_text(way)}: {relation} depends on {forbidden}; {reason}")
    component = components(graph)
    for rule in rules:
        _check_cycles(rule, graph, component)


def dependence(rules: Sequence[Rule]) -> Graph:
    """The graph of some rules; every relation has an entry."""
    graph: Graph = {}
    for rule in rules:
        bodies = graph.setdefault(name_of(rule.head), {})
        for literal in rule.body:
            bodies.setdefault(name_of(literal.atom), rule)
            graph.setdefault(name_of(literal.atom), {})
    return graph


def components(graph: Graph) -> dict[str, int]:
    """A number for each relation, equal for those that depend on each other, and never lower than its head's.

    Kosaraju's algorithm: whatever comes first in the walk's order and is reached backwards belongs together.
    """
    reverse: dict[str, list[str]] = {relation: [] for relation in graph}
    for relation, bodies in graph.items():
        for body in bodies:
            reverse[body].append(relation)
    number: dict[str, int] = {}
    for count, start in enumerate(reversed(_finished(graph))):
        waiting = [start]
        while waiting:
            relation = waiting.pop()
            if relation not in number:
                number[relation] = count
                waiting.extend(reverse[relation])
    return number


def _finished(graph: Graph) -> list[str]:
    """The relations in the order in which a depth-first walk leaves them."""
    seen: set[str] = set()
    finished: list[str] = []
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


def _check_cycles(rule: Rule, graph: Graph, component: dict[str, int]) -> None:
    """Refuse negation on a cycle, and recursion that could go on for ever."""
    head = name_of(rule.head)
    own = component[head]
    given, bound = set(arguments(rule.head)), set[str]()
    for literal in rule.body:
        if component[name_of(literal.atom)] != own:
            if literal.positive:
                bound.update(variables(literal.atom))
        elif not literal.positive:
            way = _cycle_text(graph, head, name_of(literal.atom), "not ")
            raise complaint(rule, f"{way}: {shown(head)} depends on its own absence; negation must be stratified")
    for literal in rule.body:
        if component[name_of(literal.atom)] == own:
            for argument in arguments(literal.atom):
                if argument not in given and not bound.issuperset(variables(argument)):
                    way = _cycle_text(graph, head, name_of(literal.atom))
                    raise complaint(rule, f"{way}: in this recursion {shown(argument)} {RECURSION}")


def _cycle_text(graph: Graph, head: str, body: str, mark: str = "") -> str:
    """The relations of a cycle that goes from a rule's head to one of its conditions, which is marked."""
    back = _way(graph, body, head)[1:] if body != head else []
    return _way_text([head, mark + body, *back])


def _way_text(way: Sequence[str]) -> str:
    names = [shown(relation) for relation in way]
    return " -> ".join(names if len(names) <= 8 else [*names[:5], "...", *names[-2:]])
