"""Rules that derive only what is asked for: large relations get one more condition, that somebody wants to know.

    (<= (count ?n) (sum inner 0 ?n x))            (sum ?place ?m ?n ?mark) is asked with ?place and ?m known only:

    ("asked sum" inner 0)
    (<= (sum ?place ?m ?n ?mark) ("asked sum" ?place ?m) ...)

What nobody asks for is not derived, in whatever state (magic sets, Bancilhon and others 1986, here with one choice of
known arguments for each relation). The names of the new relations hold a space, which no name in a text can. Knows no
facts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from palaestra.ggp.terms import Literal, Rule, Term, arguments, name_of, variables

FEWEST_ARGUMENTS = 4  # of a relation that may be large
PREFIX = "asked "


def asked(name: str) -> str:
    """The relation of what somebody wants to know of a relation."""
    return PREFIX + name


def is_asked(name: str) -> bool:
    return name.startswith(PREFIX)


def on_demand(rules: Sequence[Rule], exempt: Collection[str]) -> tuple[list[Rule], list[Rule]]:
    """The rules, with relations of many arguments restricted to what is asked of them, and the rules that say what is.

    Relations that are exempt stay whole.
    """
    names = {name_of(rule.head) for rule in rules if len(arguments(rule.head)) >= FEWEST_ARGUMENTS}
    known = {name: set(range(_arity(rules, name))) for name in names - set(exempt)}
    while True:
        last = {name: set(places) for name, places in known.items()}
        for rule in rules:
            for literal, bound, _ in _calls(rule, known):
                given = {place for place, part in enumerate(arguments(literal.atom)) if bound >= variables(part).keys()}
                known[name_of(literal.atom)] &= given
        if known == last:
            break
    known = {name: places for name, places in known.items() if places}
    restricted: list[Rule] = []
    requests: list[Rule] = []
    for rule in rules:
        wanted = _wanted(rule.head, known)
        restricted.append(replace(rule, body=(*wanted, *rule.body)))
        for literal, _, before in _calls(rule, known):
            request = _request(literal.atom, known)
            body = _connected(request, [literal.atom for literal in wanted] + before)
            requests.append(replace(rule, head=request, body=tuple(map(Literal, body)), distinct=()))
    return restricted, requests


def _connected(request: Term, atoms: list[Term]) -> list[Term]:
    """Those atoms that say something about the variables of a request, if only through others."""
    names, size = set(variables(request)), -1
    while len(names) > size:
        size = len(names)
        for atom in atoms:
            if not names.isdisjoint(variables(atom)):
                names |= variables(atom).keys()
    return [atom for atom in atoms if not names.isdisjoint(variables(atom))]


def _arity(rules: Sequence[Rule], name: str) -> int:
    return next(len(arguments(rule.head)) for rule in rules if name_of(rule.head) == name)


def _calls(rule: Rule, known: dict[str, set[int]]) -> list[tuple[Literal, set[str], list[Term]]]:
    """Each condition on a restricted relation, the variables that are bound before it is asked, and what binds them.

    Conditions on other relations come first, restricted ones in the order of the text, negated ones last.
    """
    free = [literal.atom for literal in rule.body if literal.positive and name_of(literal.atom) not in known]
    own = [literal for literal in rule.body if name_of(literal.atom) in known]
    places = known.get(name_of(rule.head), set())
    bound = set(variables(*(part for place, part in enumerate(arguments(rule.head)) if place in places)))
    bound |= variables(*free).keys()
    before, found = list(free), []
    for literal in sorted(own, key=lambda literal: not literal.positive):
        found.append((literal, set(bound), list(before)))
        if literal.positive:
            bound |= variables(literal.atom).keys()
            before.append(literal.atom)
    return found


def _request(atom: Term, known: dict[str, set[int]]) -> Term:
    name = name_of(atom)
    return (asked(name), *(part for place, part in enumerate(arguments(atom)) if place in known[name]))


def _wanted(head: Term, known: dict[str, set[int]]) -> tuple[Literal, ...]:
    return (Literal(_request(head, known)),) if name_of(head) in known else ()
