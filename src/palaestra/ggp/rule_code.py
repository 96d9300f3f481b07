"""Rules as Python code: one function for a relation and the places in which it is asked with known arguments.

    (<= (near ?x ?y) (true (at ?x)) (link ?x ?y) (not (shut ?y)))       asked for ?y, with ?x known

    def prove(key, table):
        ...
        for _ in ONE:                             # a rule: `continue` gives it up, or goes on with the next row
            if key not in i0: continue            # facts by what is known of them (palaestra.ggp.fact_index)
            rows = g1(key, NOTHING)
            for v0 in rows:
                rows = t2(v0)                     # answers of another relation, proved where they are not there yet
                if rows is None: rows = q2.ask(v0)
                if rows: continue
                table[v0] = None

No name of the rules stands in the code: terms are k0, k1 …, variables v0, v1 …. Conditions come in the order in which
they leave fewest rows, tests as soon as they can be made. A relation that is recursive, or very deep, is proved by a
generator, which asks for answers by `yield`, so that no rules can overflow the stack. Knows no state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from palaestra.ggp.fact_index import Access
from palaestra.ggp.terms import Literal, Rule, Term, arguments, is_variable, name_of, substitute, variables

MOST_LOOPS = 16  # in one another; Python allows twenty
PATIENCE = 4096  # rows between two looks at the budget
UNKNOWN_ARGUMENT, NOTHING_KNOWN = 6.0, 40.0  # rows for each argument that is asked of a relation, by guess

Shape = tuple[bool, ...]  # which arguments are known


class Question(Protocol):
    """A relation and which of its arguments are known."""

    number: int
    name: str
    shape: Shape
    plain: bool  # proved by a function; otherwise by a generator


class Library(Protocol):
    """What code needs from whoever runs it: names for everything that it reads."""

    def constant(self, term: Term) -> str: ...
    def access(self, atom: Term, known: Sequence[str]) -> tuple[int, Access]: ...
    def question(self, name: str, shape: Shape) -> Question: ...
    def is_given(self, name: str) -> bool: ...  # only by facts
    def is_late(self, name: str) -> bool: ...  # asked last, see `palaestra.ggp.prover`
    def fan_out(self, atom: Term, known: Sequence[str]) -> float: ...
    def add_rest(self, rule: Rule, like: str) -> str: ...


class Writer:
    """The code of one question."""

    def __init__(self, library: Library, question: Question) -> None:
        self._library, self._question = library, question
        self._lines: list[str] = []
        self._accesses: dict[int, None] = {}
        self._names = 0

    def write(self, rules: Sequence[Rule], facts: bool) -> str:
        """The source of the function for all rules of the relation, and for its facts if it has some."""
        known = [f"b{place}" for place in range(sum(self._question.shape))]
        if facts:
            self._lines += [f"    for row in f{self._question.number}(key, NOTHING):", "        table[row] = None"]
        for rule in rules:
            _RuleWriter(self, rule, known).write()
        begin = ["def prove(key, table):", "    n = 0"]
        if known:
            begin.append(f"    {_tuple(known) if len(known) > 1 else 'b0'} = key")
        begin += [f"    if a{number}.stale: a{number}.build()" for number in self._accesses]
        end = [f"    {line}" for line in self.finish()]
        if not self._question.plain:
            end += ["    return", "    yield"]
        return "\n".join([*begin, *self._lines, *end])

    def finish(self) -> list[str]:
        return ["spent[0] += n + 1", "spent[1] += len(table)", f"if spent[0] > {PATIENCE}: check(0, table)"]

    def line(self, depth: int, text: str) -> None:
        self._lines.append("    " * depth + text)

    def fresh(self, letter: str) -> str:
        self._names += 1
        return f"{letter}{self._names}"

    def use(self, number: int) -> None:
        self._accesses[number] = None

    @property
    def library(self) -> Library:
        return self._library

    @property
    def question(self) -> Question:
        return self._question


class _RuleWriter:
    """The loops of one rule."""

    def __init__(self, writer: Writer, rule: Rule, known: Sequence[str]) -> None:
        self._writer, self._library, self._rule, self._known = writer, writer.library, rule, known
        self._depth, self._loops = 1, 0
        self._costs: dict[Term, tuple[tuple[str, ...], int, float]] = {}  # variables, unknown ones, what they cost
        self._bound: dict[str, str] = {}  # variables, and the names of their values in the code
        self._waiting = [literal.atom for literal in rule.body if literal.positive]
        self._tests: list[tuple[Literal | None, tuple[Term, Term] | None]] = [(None, pair) for pair in rule.distinct]
        negated = [literal for literal in rule.body if not literal.positive]
        for literal in sorted(negated, key=lambda one: not self._library.is_given(name_of(one.atom))):
            self._tests.append((literal, None))

    def write(self) -> None:
        self._loop("_", "ONE")
        shape, head = self._writer.question.shape, arguments(self._rule.head)
        asked = [argument for argument, given in zip(head, shape, strict=True) if given]
        self._match(list(zip(asked, self._known, strict=True)))
        self._test()
        while self._waiting:
            if self._loops > MOST_LOOPS and len(self._waiting) > 1:
                self._hand_on()
            atom = min(self._waiting, key=self._cost)
            self._waiting.remove(atom)
            self._join(atom)
            self._test()
        self._line(f"table[{self._values([a for a, given in zip(head, shape, strict=True) if not given])}] = None")
        if all(shape):
            for line in [*self._writer.finish(), "return"]:
                self._line(line)

    def _line(self, text: str) -> None:
        self._writer.line(self._depth, text)

    def _loop(self, targets: str, rows: str) -> None:
        self._line(f"for {targets} in {rows}:")
        self._depth += 1
        self._loops += 1

    def _hand_on(self) -> None:
        """Make what is left of a very long rule a relation of its own, asked with what is known here."""
        left = [Literal(atom) for atom in self._waiting] + [literal for literal, _ in self._tests if literal]
        pairs = tuple(pair for _, pair in self._tests if pair)
        needed = variables(*(literal.atom for literal in left), *(term for pair in pairs for term in pair))
        given = variables(self._rule.head)
        kept = [name for name in needed if name in self._bound or name in given]
        rest = Rule(("", *kept), tuple(left), pairs, self._rule.line, self._rule.column)
        name = self._library.add_rest(rest, self._writer.question.name)
        self._waiting, self._tests = [(name, *kept) if kept else name], []

    def _cost(self, atom: Term) -> float:
        """About how many rows a condition makes of one; the first of equals in the text is taken."""
        names, last, cost = self._costs.get(atom, (tuple(variables(atom)), -1, 0.0))
        unknown = sum(name not in self._bound for name in names)
        if unknown != last:
            if self._library.is_given(name_of(atom)):
                cost = self._library.fan_out(atom, [name for name in names if name in self._bound]) if unknown else -1.0
            elif self._library.is_late(name_of(atom)):
                cost = float("inf")
            else:
                cost = (unknown or 0.1) * (NOTHING_KNOWN if unknown == len(names) > 0 else UNKNOWN_ARGUMENT)
            self._costs[atom] = names, unknown, cost
        return cost

    def _test(self) -> None:
        """Whatever can be tested now."""
        for test in list(self._tests):
            literal, pair = test
            if any(name not in self._bound for name in variables(*((literal.atom,) if literal else pair or ()))):
                continue
            self._tests.remove(test)
            if pair is not None:
                self._line(f"if {self._value(pair[0])} == {self._value(pair[1])}: continue")
            elif literal is not None and self._library.is_given(name_of(literal.atom)):
                self._look_up(literal.atom, "in")
            elif literal is not None:
                self._ask(literal.atom, negated=True)
                self._line("if rows: continue")

    def _join(self, atom: Term) -> None:
        if not self._library.is_given(name_of(atom)):
            self._ask_and_match(atom)
        elif all(name in self._bound for name in variables(atom)):
            self._look_up(atom, "not in")
        else:
            number, key, free = self._access(atom)
            targets = [self._bind(name) for name in free]
            self._rows_of(f"g{number}({key}, NOTHING)", targets)

    def _look_up(self, atom: Term, relation: str) -> None:
        number, key, _ = self._access(atom)
        self._line(f"if {key} {relation} i{number}: continue")

    def _access(self, atom: Term) -> tuple[int, str, list[str]]:
        """The number of an index, the key to look up, and the variables that its rows give."""
        names = variables(atom)
        number, _ = self._library.access(atom, [name for name in names if name in self._bound])
        self._writer.use(number)
        known = [name for name in names if name in self._bound]
        return number, self._values(known), [name for name in names if name not in self._bound]

    def _rows_of(self, rows: str, targets: Sequence[str]) -> None:
        self._line(f"rows = {rows}")
        self._line("n += len(rows)")
        self._line(f"if n > {PATIENCE}: n = check(n, table)")
        self._loop(targets[0] if len(targets) == 1 else _tuple(targets), "rows")

    def _ask(self, atom: Term, negated: bool = False) -> list[Term]:
        """Put the answers to a relation into `rows`; the arguments that they give."""
        inside = arguments(atom)
        shape = tuple(all(name in self._bound for name in variables(argument)) for argument in inside)
        question = self._library.question(name_of(atom), shape)
        key = self._values([argument for argument, given in zip(inside, shape, strict=True) if given])
        if not key.isidentifier():
            name = self._writer.fresh("w")
            self._line(f"{name} = {key}")
            key = name
        self._line(f"rows = t{question.number}({key})")
        way = f"q{question.number}.ask({key})" if question.plain else f"yield q{question.number}, {key}, {negated}"
        self._line(f"if rows is None: rows = {way}")
        return [argument for argument, given in zip(inside, shape, strict=True) if not given]

    def _ask_and_match(self, atom: Term) -> None:
        free = self._ask(atom)
        if not free:
            self._line("if not rows: continue")
            return
        targets: list[str] = []
        later: list[tuple[Term, str]] = []
        for argument in free:
            if isinstance(argument, str) and argument not in self._bound:
                targets.append(self._bind(argument))
            else:
                targets.append(self._writer.fresh("w"))
                later.append((argument, targets[-1]))
        self._rows_of("rows", targets)
        self._match(later)

    def _bind(self, variable: str) -> str:
        self._bound[variable] = self._writer.fresh("v")
        return self._bound[variable]

    def _match(self, pairs: list[tuple[Term, str]]) -> None:
        """Go on only where each value, given by its name in the code, is its pattern; binds variables."""
        waiting = pairs[::-1]
        while waiting:
            pattern, value = waiting.pop()
            if is_variable(pattern) and name_of(pattern) not in self._bound:
                if value.isidentifier():
                    self._bound[name_of(pattern)] = value
                else:
                    self._line(f"{self._bind(name_of(pattern))} = {value}")
            elif all(name in self._bound for name in variables(pattern)):
                self._line(f"if {value} != {self._value(pattern)}: continue")
            else:
                part = self._writer.fresh("w")
                self._line(f"{part} = {value}")
                name = self._library.constant(name_of(pattern))
                size = len(arguments(pattern)) + 1
                self._line(f"if type({part}) is not tuple or len({part}) != {size} or {part}[0] != {name}: continue")
                inside = [(inner, f"{part}[{place + 1}]") for place, inner in enumerate(arguments(pattern))]
                waiting.extend(reversed(inside))

    def _values(self, terms: Sequence[Term]) -> str:
        """One term as it is, several or none as a tuple."""
        values = [self._value(term) for term in terms]
        return values[0] if len(values) == 1 else _tuple(values)

    def _value(self, term: Term) -> str:
        """A term whose variables are bound; brackets in it get names of their own first, so that none are deep."""
        done: list[str] = []
        work: list[tuple[Term, bool]] = [(term, False)]
        while work:
            part, opened = work.pop()
            if opened:
                count = len(arguments(part))
                values = [self._library.constant(name_of(part)), *done[-count:]]
                del done[-count:]
                done.append(self._writer.fresh("w"))
                self._line(f"{done[-1]} = {_tuple(values)}")
                inside = [f"type({value})" for value in values[1:] if not value.startswith("k")]
                self._line(f"if tuple in {_tuple(inside)}: check_size({done[-1]})")
            elif is_variable(part):
                done.append(self._bound[name_of(part)])
            elif not variables(part):
                done.append(self._library.constant(part))
            else:
                work.append((part, True))
                work.extend((inner, False) for inner in reversed(arguments(part)))
        return done[0]


def _tuple(values: Sequence[str]) -> str:
    return f"({', '.join(values)}{',' if len(values) == 1 else ''})"


def compiled(source: str, namespace: dict[str, Any]) -> Callable[..., Any]:
    """The function `prove` of a source; the names in it mean what the namespace says."""
    exec(compile(source, "<rules>", "exec"), namespace)  # the source is made of numbered names only
    function: Callable[..., Any] = namespace["prove"]
    return function


def canonical(atom: Term, known: Sequence[str]) -> Term:
    """The atom with its variables numbered, known and unknown ones apart: equal for conditions that need one index."""
    names = variables(atom)
    return substitute(atom, {name: f"?{'+' if name in known else '-'}{place}" for place, name in enumerate(names)})
