"""Goals proved from rules and facts: backward chaining with tables, on a stack of its own.

A goal is a relation with values for some of its arguments; its answers are the others, kept in a table, so that nothing
is proved twice. A goal that is asked for again while it is being proved gives the answers found so far; the first goal
of such a circle is repeated until none of its tables grows (least fixpoint). Negation by failure needs complete
answers. Where relations of a cycle negate each other, what is bound elsewhere comes first, so that those relations are
asked about single atoms, and only an atom that depends on its own absence finds its answers incomplete.

Tables are kept as long as they hold: for ever, while the facts of the kinds that they depend on stay as they are, or
while the same moves are made. Proofs that may be deep are generators on an explicit stack. Knows no roles.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from itertools import islice
from typing import Any

from palaestra.base.errors import GdlError
from palaestra.ggp.budget import Budget
from palaestra.ggp.fact_index import Access, Functor, by_functor, functor
from palaestra.ggp.rule_code import Shape, Writer, canonical, compiled
from palaestra.ggp.strata import Strata
from palaestra.ggp.terms import Rule, Term, arguments, check_size, is_variable, name_of, shown, variables

Key = Any  # the value of the known argument, or the tuple of them
Answers = dict[Any, None]  # likewise of the unknown ones: each once, in the order in which they were found
Request = tuple["Question", Key, bool]  # and whether it is asked for in a negation
DEEPEST_CALL = 12  # relations below one another that are proved by plain calls
# Rows for each argument of a fact that the initial state has nothing like: where another is known, and where none is.
NEW_KIND, NEW_AND_UNKNOWN = 3.0, 30.0


class Question:
    """A relation asked with some arguments known: what has been answered, and the code for the rest."""

    def __init__(self, prover: Prover, number: int, name: str, shape: Shape) -> None:
        self.number, self.name, self.shape = number, name, shape
        self.plain = prover.is_plain(name)
        self.table: dict[Key, Answers] = {}
        self._prover = prover
        self._prove: Callable[[Key, Answers], Any] | None = None

    def prove(self, key: Key, table: Answers) -> Any:
        """Add the answers to a table: at once if it is plain, otherwise as a generator that asks for others."""
        if self._prove is None:
            self._prove = self._prover.compile(self)
        return self._prove(key, table)

    def ask(self, key: Key) -> Answers:
        """The answers of a plain question."""
        table: Answers = {}
        self.prove(key, table)
        self.table[key] = table
        return table


class Prover:
    """The rules of a game, and what has been found out by them."""

    def __init__(self, rules: Sequence[Rule], strata: Strata, samples: Iterable[Term] = ()) -> None:
        """`samples` are facts of a typical state, which tell conditions that leave few rows from others."""
        self._strata = strata
        self._rules: dict[str, list[Rule]] = {}
        for rule in rules:
            if rule.body or rule.distinct:
                self._rules.setdefault(name_of(rule.head), []).append(rule)
        self._facts = by_functor(rule.head for rule in rules if not (rule.body or rule.distinct))
        self._samples = by_functor(samples)
        self._fan_outs: dict[Term, float] = {}
        self._like: dict[str, str] = {}  # relations made of what is left of long rules, and whose rules those were
        self._state: dict[Functor, list[Term]] = {}
        self._does: list[Term] = []
        self._questions: dict[tuple[str, Shape], Question] = {}
        self._accesses: dict[Term, tuple[int, Access]] = {}
        self._constants: dict[Term, str] = {}
        self._spent = [0, 0]  # rows since the last look at the budget, answers of the goal that is asked for
        self._budget = Budget()
        self._goal: Term = ""
        self._namespace: dict[str, Any] = {
            "ONE": (None,),
            "NOTHING": (),
            "check": self._check,
            "check_size": check_size,
            "spent": self._spent,
        }

    # What is given.

    def set_state(self, facts: Iterable[Term]) -> None:
        """What is true from now on; nobody does anything."""
        before, self._state = self._state, by_functor(facts)
        changed = {kind for kind in before.keys() | self._state.keys() if not self._same(before, kind)}
        self.set_moves(())
        if not changed:
            return
        for question in self._questions.values():
            kinds = self._strata.kinds(self._like.get(question.name, question.name))
            if question.table and (kinds is None or not kinds.isdisjoint(changed)):
                question.table.clear()
        for atom, (_, access) in self._accesses.items():
            if name_of(atom) == "true":
                access.stale = True

    def _same(self, before: dict[Functor, list[Term]], kind: Functor) -> bool:
        return set(before.get(kind, ())) == set(self._state.get(kind, ()))

    def set_moves(self, does: Sequence[Term]) -> None:
        """What is done in the state, as atoms (does role move)."""
        if list(does) == self._does:
            return
        self._does = list(does)
        for question in self._questions.values():
            if question.table and self._strata.depends_on_moves(self._like.get(question.name, question.name)):
                question.table.clear()
        for atom, (_, access) in self._accesses.items():
            if name_of(atom) == "does":
                access.stale = True

    # Questions.

    def ask(self, goal: Term, budget: Budget) -> list[tuple[Term, ...]]:
        """The arguments that are asked for by variables, in all atoms that hold and fit the goal."""
        self._budget, self._goal, self._spent[:] = budget, goal, [0, 0]
        inside = arguments(goal)
        shape = tuple(not is_variable(argument) for argument in inside)
        known = [argument for argument, given in zip(inside, shape, strict=True) if given]
        key = known[0] if len(known) == 1 else tuple(known)
        if self.is_given(name_of(goal)):
            _, access = self.access(goal, ())
            if access.stale:
                access.build()
            found: Iterable[Any] = access.index.get((), ())
        else:
            found = self._answers(self.question(name_of(goal), shape), key)
        return [(answer,) for answer in found] if len(shape) - sum(shape) == 1 else list(found)

    def _answers(self, question: Question, key: Key) -> Answers:
        known = question.table.get(key)
        if known is not None:
            return known
        return question.ask(key) if question.plain else _Stack().run(question, key)

    def _check(self, rows: int, table: Answers) -> int:
        """Look at the budget; the number of rows to go on counting from."""
        self._spent[0] = 0
        self._budget.check(self._spent[1] + len(table), f"the answer to {shown(self._goal)}")
        return 0

    # What code is made of: see `palaestra.ggp.rule_code.Library`.

    def compile(self, question: Question) -> Callable[[Key, Answers], Any]:
        """The function that proves a question."""
        known = [f"?+{place}" for place, given in enumerate(question.shape) if given]
        names = [f"?{'+' if given else '-'}{place}" for place, given in enumerate(question.shape)]
        atom = (question.name, *names) if names else question.name
        own = self._facts.get(functor(atom), [])
        if own:
            facts = Access(atom, known, lambda: own)
            facts.build()
            self._namespace[f"f{question.number}"] = facts.index.get
        return compiled(Writer(self, question).write(self._rules[question.name], bool(own)), self._namespace)

    def is_given(self, name: str) -> bool:
        return name not in self._rules

    def is_late(self, name: str) -> bool:
        return name in self._strata.tangled

    def is_plain(self, name: str) -> bool:
        return self._strata.height(self._like.get(name, name)) <= DEEPEST_CALL

    def constant(self, term: Term) -> str:
        if term not in self._constants:
            self._constants[term] = f"k{len(self._constants)}"
            self._namespace[self._constants[term]] = term
        return self._constants[term]

    def question(self, name: str, shape: Shape) -> Question:
        found = self._questions.get((name, shape))
        if found is None:
            number = len(self._questions)
            found = self._questions[name, shape] = Question(self, number, name, shape)
            self._namespace |= {f"q{number}": found, f"t{number}": found.table.get}
        return found

    def access(self, atom: Term, known: Sequence[str]) -> tuple[int, Access]:
        pattern = canonical(atom, known)
        found = self._accesses.get(pattern)
        if found is None:
            number = len(self._accesses)
            found = self._accesses[pattern] = number, self._open(pattern)
            access = found[1]
            self._namespace |= {f"a{number}": access, f"i{number}": access.index, f"g{number}": access.index.get}
        return found

    def _open(self, pattern: Term, state: dict[Functor, list[Term]] | None = None) -> Access:
        """An index of what is given when it is built, or of another state."""
        known = [name for name in variables(pattern) if name.startswith("?+")]
        if name_of(pattern) == "does":
            return Access(pattern, known, lambda: self._does)
        if name_of(pattern) != "true":
            return Access(pattern, known, lambda: self._facts.get(functor(pattern), ()))
        fact = arguments(pattern)[0]
        return Access(fact, known, lambda: _of_kind(self._state if state is None else state, fact))

    def fan_out(self, atom: Term, known: Sequence[str]) -> float:
        """How many rows a look into the facts gives, on average."""
        if name_of(atom) == "does":
            return 1.0
        pattern = canonical(atom, known)
        if pattern not in self._fan_outs:
            access = self._open(pattern, self._samples)
            access.build()
            rows = sum(map(len, access.index.values()))
            guess = (
                len(access.free) * (NEW_KIND if access.known else NEW_AND_UNKNOWN) if name_of(atom) == "true" else 0.0
            )
            self._fan_outs[pattern] = rows / len(access.index) if rows else guess
        return self._fan_outs[pattern]

    def add_rest(self, rule: Rule, like: str) -> str:
        name = f"rest {len(self._like)}"  # a name with a space, which no text can have
        self._like[name] = self._like.get(like, like)
        head = (name, *arguments(rule.head)) if arguments(rule.head) else name
        self._rules[name] = [Rule(head, rule.body, rule.distinct, rule.line, rule.column)]
        return name


def _of_kind(facts: dict[Functor, list[Term]], pattern: Term) -> Iterable[Term]:
    """The facts that a pattern may fit."""
    if is_variable(pattern):
        return [fact for kind in facts.values() for fact in kind]
    return facts.get(functor(pattern), ())


class _Frame:
    """A proof on the stack."""

    def __init__(self, question: Question, key: Key, table: Answers, depth: int, waiting: int, negated: bool) -> None:
        self.goal, self.table, self.depth, self.waiting, self.negated = (question, key), table, depth, waiting, negated
        self.size = 0  # of all tables of its circle after the last pass
        self.begin()

    def begin(self) -> None:
        question, key = self.goal
        self.run: Generator[Request, Iterable[Any] | None, None] = question.prove(key, self.table)
        self.lowest = self.depth + 1  # the lowest depth whose goal it has asked for


class _Stack:
    """Proves a goal and whatever it asks for."""

    def __init__(self) -> None:
        self._frames: list[_Frame] = []
        self._depth: dict[tuple[Question, Key], int] = {}  # of goals that are being proved
        self._circle: dict[tuple[Question, Key], int] = {}  # goals that wait for a lower one, and its depth
        self._tables: dict[tuple[Question, Key], Answers] = {}  # of both

    def run(self, question: Question, key: Key) -> Answers:
        self._push(question, key, negated=False)
        answers: Iterable[Any] | None = None
        while True:
            frame = self._frames[-1]
            try:
                wanted, key, negated = frame.run.send(answers)
            except StopIteration:
                answers = self._end(frame)
                if not self._frames:
                    return frame.table
                continue
            goal = (wanted, key)
            begun = self._depth.get(goal, self._circle.get(goal))
            if begun is not None:
                _refuse(goal, negated)
                frame.lowest = min(frame.lowest, begun)
                answers = list(self._tables[goal])
            elif wanted.plain:
                answers = wanted.ask(key)
            else:
                self._push(wanted, key, negated)
                answers = None

    def _push(self, question: Question, key: Key, negated: bool) -> None:
        goal, depth = (question, key), len(self._frames)
        self._depth[goal] = depth
        table = self._tables.setdefault(goal, {})
        self._frames.append(_Frame(question, key, table, depth, len(self._circle), negated))

    def _end(self, frame: _Frame) -> Iterable[Any] | None:
        """After a pass: None if there is to be another one, or what whoever asked is told."""
        members = list(islice(self._circle, frame.waiting, None))
        if frame.lowest == frame.depth:
            size = len(frame.table) + sum(len(self._tables[member]) for member in members)
            if size > frame.size:  # somebody was given too few answers: once more
                frame.size = size
                for member in members:
                    del self._circle[member]
                frame.begin()
                return None
        self._frames.pop()
        del self._depth[frame.goal]
        if frame.lowest < frame.depth:
            _refuse(frame.goal, frame.negated)
            self._circle[frame.goal] = frame.lowest
            self._frames[-1].lowest = min(self._frames[-1].lowest, frame.lowest)
            return list(frame.table)
        for question, key in (*members, frame.goal):
            self._circle.pop((question, key), None)
            question.table[key] = self._tables.pop((question, key))
        return frame.table


def _refuse(goal: tuple[Question, Key], negated: bool) -> None:
    """GdlError if incomplete answers are asked for in a negation."""
    if negated:
        raise GdlError(f"{shown(goal[0].name)} depends on its own absence in this state; negation must be stratified")
