"""The reference for the machines: GDL by backward chaining, one goal at a time, as slow and as plain as it can be.

A goal is proved from facts and rules, its answers are kept in a table, and passes are repeated until no table grows, so
that recursion of any kind ends. It shares nothing with the machines but the terms that the parser makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from palaestra.ggp.terms import Rule, Rules, Term

Bindings = dict[str, Term]
STATE = frozenset({"true", "does"})


def is_variable(term: Term) -> bool:
    return isinstance(term, str) and term.startswith("?")


def name(atom: Term) -> str:
    return atom if isinstance(atom, str) else str(atom[0])


def substitute(term: Term, bindings: Bindings) -> Term:
    while isinstance(term, str) and term in bindings:
        term = bindings[term]
    return term if isinstance(term, str) else tuple(substitute(part, bindings) for part in term)


def unify(a: Term, b: Term, bindings: Bindings) -> Bindings | None:
    """The bindings with which both terms are equal, or None; what is given is left alone."""
    a, b = substitute(a, bindings), substitute(b, bindings)
    if a == b:
        return bindings
    if isinstance(a, str) and is_variable(a):
        return {**bindings, a: b}
    if isinstance(b, str) and is_variable(b):
        return {**bindings, b: a}
    if isinstance(a, str) or isinstance(b, str) or len(a) != len(b):
        return None
    found: Bindings | None = bindings
    for left, right in zip(a, b, strict=True):
        found = unify(left, right, found) if found is not None else None
    return found


def renamed(term: Term, names: dict[str, str], prefix: str) -> Term:
    """The term with its variables numbered in order of appearance: goals that differ in names only become equal."""
    if isinstance(term, str):
        return names.setdefault(term, f"{prefix}{len(names)}") if is_variable(term) else term
    return tuple(renamed(part, names, prefix) for part in term)


class Prover:
    """Answers to goals, given what is true and what is done."""

    def __init__(self, rules: dict[str, list[Rule]], given: Iterable[Term], tables: dict[Term, set[Term]]) -> None:
        self.rules, self.given = rules, list(given)
        self.tables, self.complete = dict(tables), set(tables)
        self.visited: set[Term] = set()
        self.grew = False

    def ask(self, goal: Term) -> set[Term]:
        """All ground instances of the goal that hold."""
        goal = renamed(goal, {}, "?goal")
        if goal not in self.complete:
            outside = self.visited
            while True:
                self.visited, self.grew = set(), False
                self.prove(goal)
                if not self.grew:
                    break
            self.complete |= self.visited
            self.visited, self.grew = outside, True  # whoever asks in the middle of a pass makes another one
        return self.tables[goal]

    def prove(self, goal: Term) -> set[Term]:
        """The answers that one pass finds."""
        goal = renamed(goal, {}, "?goal")
        table = self.tables.setdefault(goal, set())
        if goal in self.complete or goal in self.visited:
            return set(table)
        self.visited.add(goal)
        before = len(table)
        if name(goal) in STATE:
            table.update(fact for fact in self.given if unify(goal, fact, {}) is not None)
        for rule in self.rules.get(name(goal), ()):
            bindings = unify(goal, rule.head, {})
            if bindings is not None:
                table.update(substitute(rule.head, found) for found in list(self.solutions(rule, bindings)))
        self.grew = self.grew or len(table) > before
        return set(table)

    def solutions(self, rule: Rule, bindings: Bindings) -> Iterator[Bindings]:
        found = [bindings]
        for literal in rule.body:
            if literal.positive:
                found = [
                    extended
                    for known in found
                    for fact in self.prove(substitute(literal.atom, known))
                    if (extended := unify(literal.atom, fact, known)) is not None
                ]
        for known in found:
            differ = all(substitute(a, known) != substitute(b, known) for a, b in rule.distinct)
            negated = (substitute(literal.atom, known) for literal in rule.body if not literal.positive)
            if differ and not any(self.ask(atom) for atom in negated):
                yield known


class Plain:
    """The same questions as a `Machine`; a state is the frozen set of its facts."""

    def __init__(self, rules: Rules) -> None:
        self.roles = rules.roles
        self.rules: dict[str, list[Rule]] = {}
        for rule in rules.rules:
            names: dict[str, str] = {}
            body = tuple(type(lit)(renamed(lit.atom, names, "?rule"), lit.positive) for lit in rule.body)
            pairs = tuple((renamed(a, names, "?rule"), renamed(b, names, "?rule")) for a, b in rule.distinct)
            apart = Rule(renamed(rule.head, names, "?rule"), body, pairs)
            self.rules.setdefault(name(rule.head), []).append(apart)
        self.changing = set(STATE)
        while (
            grown := {
                head
                for head, own in self.rules.items()
                if any(name(literal.atom) in self.changing for rule in own for literal in rule.body)
            }
            - self.changing
        ):
            self.changing |= grown
        self.tables: dict[Term, set[Term]] = {}  # of goals that no state changes

    def initial(self) -> frozenset[Term]:
        return frozenset(atom[1] for atom in self.ask(("init", "?fact")))

    def legal(self, state: frozenset[Term]) -> list[list[Term]]:
        return [sorted((atom[2] for atom in self.ask(("legal", role, "?m"), state)), key=str) for role in self.roles]

    def terminal(self, state: frozenset[Term]) -> bool:
        return bool(self.ask("terminal", state))

    def goals(self, state: frozenset[Term]) -> list[int]:
        found = [[int(atom[2]) for atom in self.ask(("goal", role, "?value"), state)] for role in self.roles]
        return [max(values, default=0) for values in found]

    def step(self, state: frozenset[Term], joint: Sequence[Term]) -> frozenset[Term]:
        return frozenset(atom[1] for atom in self.ask(("next", "?fact"), state, joint))

    def ask(self, goal: Term, state: frozenset[Term] = frozenset(), joint: Sequence[Term] = ()) -> set[Term]:
        """All instances of a goal in a state, while the roles do a joint move."""
        does = zip(self.roles, joint, strict=True) if joint else ()
        given: list[Term] = [*(("true", fact) for fact in state), *(("does", *pair) for pair in does)]
        prover = Prover(self.rules, given, self.tables)
        answers = prover.ask(goal)
        self.tables.update((g, prover.tables[g]) for g in prover.complete if name(g) not in self.changing)
        return answers
