"""Goals proved from rules and facts: backward chaining with tables, on a stack of its own.

A goal is an atom in which ANY stands for every unknown part. Its answers are kept in a table, so that nothing is proved
twice. A goal that is asked for again while it is being proved gives the answers found so far; the first goal of such a
circle is repeated until none of its tables grows (least fixpoint). Negation by failure needs complete answers, which
stratified rules guarantee. Proofs are generators on an explicit stack: their depth is bounded by memory alone.

Knows no roles, moves or states.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Generator, Iterable, Iterator, Mapping, Sequence

from palaestra.ggp.budget import Budget
from palaestra.ggp.terms import Literal, Rule, Term, arguments, name_of, shown, variables

ANY = "?"  # no constant: it would be a variable
Bindings = dict[str, Term]
Answers = dict[Term, None]  # ground atoms, each once, in the order in which they were found
Proof = Generator[Term, Iterable[Term] | None, Answers]
CHECK_EVERY = 1024  # steps between two looks at the clock


def filled(pattern: Term, bindings: Mapping[str, Term]) -> Term:
    """The pattern with its variables replaced, by ANY where they are not bound."""
    if isinstance(pattern, tuple):
        return tuple([filled(part, bindings) for part in pattern])
    return bindings.get(pattern, ANY) if pattern[:1] == "?" else pattern


def is_ground(goal: Term) -> bool:
    return all(map(is_ground, goal)) if isinstance(goal, tuple) else goal != ANY


def matched(pattern: Term, term: Term, bindings: Bindings) -> bool:
    """Whether the pattern can be a term, which is ground or has ANY in it; extends the bindings by what is known."""
    if isinstance(pattern, tuple):
        if isinstance(term, tuple):
            if len(pattern) != len(term):
                return False
            return all([matched(part, other, bindings) for part, other in zip(pattern, term, strict=True)])
        return term == ANY
    if pattern[:1] != "?":
        return pattern == term or term == ANY
    known = bindings.get(pattern)
    if known is None:
        if is_ground(term):
            bindings[pattern] = term
        return True
    return known == term or not is_ground(term)


def fits(goal: Term, atom: Term) -> bool:
    """Whether a ground atom is an instance of a goal."""
    if isinstance(goal, tuple) and isinstance(atom, tuple):
        return len(goal) == len(atom) and all(map(fits, goal, atom))
    return goal in (ANY, atom)


class Index:
    """Ground atoms, found by name and by any one argument."""

    def __init__(self, atoms: Iterable[Term]) -> None:
        self._all = dict.fromkeys(atoms)
        self._lists: dict[object, list[Term]] = {}
        for atom in self._all:
            name = (name_of(atom), len(arguments(atom)))
            self._lists.setdefault(name, []).append(atom)
            for place, argument in enumerate(arguments(atom)):
                self._lists.setdefault((name, place, argument), []).append(atom)

    def candidates(self, goal: Term) -> Iterable[Term]:
        """Atoms among which all are that fit the goal."""
        if goal == ANY:
            return self._all
        name = (name_of(goal), len(arguments(goal)))
        best: Sequence[Term] = self._lists.get(name, ())
        for place, argument in enumerate(arguments(goal)):
            if best and is_ground(argument):
                found = self._lists.get((name, place, argument), ())
                best = found if len(found) < len(best) else best
        return best


Step = tuple[Literal | None, tuple[Term, Term] | None]  # a literal, or a pair that must differ


class CompiledRule:
    """A rule with its tests put as early as the positive literals allow."""

    def __init__(self, rule: Rule) -> None:
        self.head = rule.head
        self.steps: list[Step] = []
        tests: list[tuple[set[str], Step]] = [(set(variables(*pair)), (None, pair)) for pair in rule.distinct]
        tests += [(set(variables(lit.atom)), (lit, None)) for lit in rule.body if not lit.positive]
        bound = set[str]()
        for literal in (None, *(literal for literal in rule.body if literal.positive)):
            if literal is not None:
                self.steps.append((literal, None))
                bound |= variables(literal.atom).keys()
            self.steps += [test for needed, test in tests if needed <= bound]
            tests = [(needed, test) for needed, test in tests if not needed <= bound]


class Prover:
    """The rules of a game, and the tables of goals that no state changes."""

    def __init__(self, rules: Sequence[Rule], changing: Container[str]) -> None:
        self.changing = changing
        self.rules: dict[str, list[CompiledRule]] = {}
        for rule in rules:
            if rule.body or rule.distinct:
                self.rules.setdefault(name_of(rule.head), []).append(CompiledRule(rule))
        self.facts = Index(rule.head for rule in rules if not (rule.body or rule.distinct))
        self.tables: dict[Term, Answers] = {}

    def given(self, facts: Iterable[Term] = (), does: Iterable[Term] = ()) -> Given:
        """Questions about a state: what is true in it, and what is done there, as atoms (does role move)."""
        return Given(self, Index(facts), Index(does))


class Given:
    """Answers to goals in one state."""

    def __init__(self, prover: Prover, state: Index, does: Index) -> None:
        self._prover, self._state, self._does = prover, state, does
        self._complete: dict[Term, Answers] = {}
        self._tables: dict[Term, Answers] = {}  # of goals that are not complete
        self._depth: dict[Term, int] = {}  # of goals that are being proved
        self._lowest: list[int] = []  # by depth: the lowest depth that the goal there has asked for
        self._circle: dict[Term, int] = {}  # goals that wait for a lower one to be complete, and its depth
        self._found, self._steps = 0, 0  # answers and steps so far
        self._budget = Budget()  # of the question that is being answered
        self._goal: Term = ANY

    def ask(self, goal: Term, budget: Budget) -> list[Term]:
        """All ground atoms that hold and fit the goal."""
        self._budget, self._goal = budget, goal
        known = self._known(goal)
        return [atom for atom in (self._run(goal) if known is None else known) if fits(goal, atom)]

    def _run(self, goal: Term) -> Iterable[Term]:
        """Prove a goal, and whatever it asks for, on a stack of proofs."""
        stack = [self._prove(goal)]
        answers: Answers | None = None
        while stack:
            try:
                wanted = stack[-1].send(answers)
                stack.append(self._prove(wanted))
                answers = None
            except StopIteration as end:
                stack.pop()
                answers = end.value
        assert answers is not None
        return answers

    def _count(self) -> None:
        """Called at every step of a proof."""
        self._steps += 1
        if self._steps % CHECK_EVERY == 0:
            self._budget.check(self._found, f"the answer to {shown(self._goal)}")

    def _known(self, goal: Term) -> Iterable[Term] | None:
        """Answers that are at hand, perhaps with others that do not fit; None if the goal has to be proved first."""
        name = name_of(goal)
        if name == "true":
            return [("true", fact) for fact in self._state.candidates(arguments(goal)[0])]
        if name == "does":
            return self._does.candidates(goal)
        if name not in self._prover.rules:
            return self._prover.facts.candidates(goal)
        complete = self._complete if name in self._prover.changing else self._prover.tables
        if goal in complete:
            return complete[goal]
        begun = self._depth.get(goal, self._circle.get(goal))
        if begun is None:
            return None
        self._lowest[-1] = min(self._lowest[-1], begun)
        return list(self._tables[goal])

    def _prove(self, goal: Term) -> Proof:
        """A proof that asks for other goals by yielding them, and returns the answers."""
        depth, waiting = len(self._lowest), len(self._circle)
        self._depth[goal] = depth
        self._lowest.append(depth + 1)
        table = self._tables.setdefault(goal, {})
        while True:
            before, self._lowest[depth] = self._found, depth + 1
            yield from self._once(goal, table)
            lowest = self._lowest[depth]
            members = list(itertools.islice(self._circle, waiting, None))
            if lowest != depth or self._found == before:
                break
            for member in members:  # somebody was given too few answers: once more
                del self._circle[member]
        self._lowest.pop()
        del self._depth[goal]
        if lowest < depth:
            self._circle[goal] = lowest
            self._lowest[-1] = min(self._lowest[-1], lowest)
            return dict(table)
        for member in (*members, goal):
            self._circle.pop(member, None)
            complete = self._complete if name_of(member) in self._prover.changing else self._prover.tables
            complete[member] = self._tables.pop(member)
        return table

    def _once(self, goal: Term, table: Answers) -> Proof:
        """Everything that facts and rules say about a goal, taking the tables as they are."""
        for atom in self._prover.facts.candidates(goal):
            self._add(table, atom)
        for rule in self._prover.rules[name_of(goal)]:
            first: Bindings = {}
            if not matched(rule.head, goal, first):
                continue
            trail: list[Iterator[Bindings]] = [iter((first,))]  # after so many steps: the ways to go on, one by one
            while trail:
                bindings = next(trail[-1], None)
                if bindings is None:
                    trail.pop()
                    continue
                self._count()
                place = len(trail) - 1
                if place == len(rule.steps):
                    self._add(table, filled(rule.head, bindings))
                    continue
                literal, pair = rule.steps[place]
                if literal is None:
                    assert pair is not None
                    if filled(pair[0], bindings) != filled(pair[1], bindings):
                        trail.append(iter((bindings,)))
                    continue
                wanted = filled(literal.atom, bindings)
                answers = self._known(wanted)
                if answers is None:
                    answers = yield wanted
                    assert answers is not None
                if literal.positive:
                    trail.append(self._extended(bindings, literal.atom, answers))
                elif not any(fits(wanted, atom) for atom in answers):
                    trail.append(iter((bindings,)))
        return table

    def _extended(self, bindings: Bindings, pattern: Term, answers: Iterable[Term]) -> Iterator[Bindings]:
        """The bindings with which the pattern is an answer, one after another: there may be very many."""
        for atom in answers:
            self._count()
            extended = dict(bindings)
            if matched(pattern, atom, extended):
                yield extended

    def _add(self, table: Answers, atom: Term) -> None:
        if atom not in table:
            table[atom] = None
            self._found += 1
