"""Rules answered over relations: joins of whole tables inside a budget, and their closure.

The literal that multiplies the rows least comes next, and the size of a join is known before it is made: `Budget`
refuses it there, and whatever is kept is counted, so that no rule can hang or fill the memory. `saturate` derives all
that follows from some rules, each round from what the round before found. It knows no roles, moves or states.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from palaestra.base.types import Bools, Int64s
from palaestra.ggp.budget import Budget
from palaestra.ggp.relations import KEY_BITS, Bindings, Predicate, Relation, Terms, build, match, predicate
from palaestra.ggp.terms import Literal, Rule, Term, arguments, variables

MIXER = np.int64(0x1B873593C2B2AE35)  # odd and large: equal keys of different rows are rare


@dataclass(frozen=True, eq=False)
class Table:
    """Some ways to bind variables: `count` rows, one column per variable."""

    count: int
    columns: Bindings

    def where(self, keep: Bools) -> Table:
        if keep.all():
            return self
        return Table(int(keep.sum()), {name: column[keep] for name, column in self.columns.items()})


ONE_ROW = Table(1, {})


@dataclass(frozen=True, eq=False)
class View:
    """The table of one atom, sorted by the variables that a join already knows."""

    table: Table
    shared: tuple[str, ...]  # the variables in the key
    order: Int64s
    keys: Int64s
    bits: int
    fan_out: float  # rows per key: how much a join with this view multiplies

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in (self.order, self.keys, *self.table.columns.values()))

    @classmethod
    def of(cls, table: Table, shared: Sequence[str], bits: int) -> View:
        keys = _packed(table, shared, bits)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        distinct = 1 + int(np.count_nonzero(keys[1:] != keys[:-1]))
        return cls(table, tuple(shared), order, keys, bits, table.count / distinct)

    @property
    def compared(self) -> tuple[str, ...]:
        """Variables that equal keys do not show to be equal: all of them where keys are mixed."""
        return self.shared if len(self.shared) * self.bits > KEY_BITS else ()


def _packed(table: Table, names: Sequence[str], bits: int) -> Int64s:
    """A key for each row: the values side by side, or mixed where they need more room than a key has."""
    keys = np.zeros(table.count, dtype=np.int64)
    mixed = len(names) * bits > KEY_BITS
    for name in names:
        column = table.columns[name]
        keys = keys * MIXER + column if mixed else (keys << bits) | column
    return keys


def join(left: Table, view: View, budget: Budget, what: str) -> Table:
    """All ways to extend a row of `left` by a row of the view; the budget is asked before it is made."""
    keys = _packed(left, view.shared, view.bits)
    first = np.searchsorted(view.keys, keys, side="left")
    fits = np.searchsorted(view.keys, keys, side="right") - first
    total = int(fits.sum())
    budget.check(total, what)
    row = np.repeat(np.arange(left.count), fits)
    within = np.arange(total) - np.repeat(np.cumsum(fits) - fits, fits)
    other = view.order[np.repeat(first, fits) + within]
    columns = {name: column[row] for name, column in left.columns.items()}
    same = np.ones(total, dtype=np.bool_)
    for name in view.compared:
        same &= columns[name] == view.table.columns[name][other]
    for name, column in view.table.columns.items():
        if name not in columns:
            columns[name] = column[other]
    return Table(total, columns).where(same)


class Database:
    """Relations by predicate, within a budget."""

    def __init__(self, budget: Budget) -> None:
        self.budget, self.terms = budget, Terms(budget)
        self._relations: dict[Predicate, Relation] = {}
        # Sorted views, with the length of the relation and the width of a key for which they were made.
        self._views: dict[tuple[Term, tuple[str, ...]], tuple[int, int, View]] = {}

    def relation(self, name: Predicate) -> Relation:
        if name not in self._relations:
            self._relations[name] = Relation(name[1])
        return self._relations[name]

    def facts(self, name: Predicate) -> list[tuple[Term, ...]]:
        """The arguments of every fact of a predicate, as terms."""
        texts = self.terms.texts
        return [tuple(texts[number] for number in row) for row in self.relation(name).rows.tolist()]

    def view(self, atom: Term, shared: tuple[str, ...]) -> View:
        """The atom's table, ready to be joined on the shared variables."""
        relation, bits = self.relation(predicate(atom)), self.terms.bits
        kept = self._views.get((atom, shared))
        if kept is not None and kept[:2] == (len(relation), bits):
            return kept[2]
        what = f"the relation {predicate(atom)[0]}"
        self.budget.check(len(relation), what)
        made = View.of(Table(*match(self.terms, arguments(atom), relation.rows)), shared, bits)
        self.budget.hold(made.nbytes - (kept[2].nbytes if kept is not None else 0), what)
        self._views[atom, shared] = (len(relation), bits, made)
        return made

    def lacks(self, atom: Term, table: Table) -> Bools:
        """In which rows of the table the atom, all of whose variables are bound, is no fact."""
        rows = build(self.terms, arguments(atom), table.columns, table.count, make=False)
        return self.relation(predicate(atom)).find(rows, self.terms.bits) < 0


Negation = Callable[[Database, Literal, Table], Bools | None]


def exact(database: Database, literal: Literal, table: Table) -> Bools | None:
    """Negation as failure, for predicates whose facts are all known."""
    return database.lacks(literal.atom, table)


def solve(database: Database, rule: Rule, negation: Negation = exact, delta: tuple[int, Int64s] | None = None) -> Table:
    """All ways to satisfy a rule's body; empty tables may lack columns.

    With `delta`, literal number delta[0] is one of the rows delta[1] only. `negation` says in which rows a negated
    literal holds, or None where it is not to be asked.
    """
    what = f"the rule of line {rule.line}"
    database.budget.check(0, what)
    waiting = [literal.atom for literal in rule.body if literal.positive]
    tests = _Tests(database, rule, negation)
    table = ONE_ROW
    if delta is not None:
        table = Table(*match(database.terms, arguments(waiting[delta[0]]), delta[1]))
        del waiting[delta[0]]
    table = tests.apply(table)
    while waiting and table.count:
        views = [database.view(atom, tuple(v for v in variables(atom) if v in table.columns)) for atom in waiting]
        best = min(range(len(views)), key=lambda place: views[place].fan_out)
        del waiting[best]
        table = tests.apply(join(table, views[best], database.budget, what))
    return table


class _Tests:
    """The conditions of a rule that bind nothing, each applied as soon as its variables are known."""

    def __init__(self, database: Database, rule: Rule, negation: Negation) -> None:
        self._database, self._negation = database, negation
        self._distinct = [(variables(*pair).keys(), pair) for pair in rule.distinct]
        self._negated = [(variables(literal.atom).keys(), literal) for literal in rule.body if not literal.positive]

    def apply(self, table: Table) -> Table:
        for known in [entry for entry in self._distinct if entry[0] <= table.columns.keys()]:
            self._distinct.remove(known)
            pair = build(self._database.terms, known[1], table.columns, table.count)
            table = table.where(pair[:, 0] != pair[:, 1])
        for negated in [entry for entry in self._negated if entry[0] <= table.columns.keys()]:
            self._negated.remove(negated)
            passed = self._negation(self._database, negated[1], table)
            table = table if passed is None else table.where(passed)
        return table


def saturate(database: Database, rules: Sequence[Rule], negation: Negation = exact) -> None:
    """Add everything that the rules derive, again and again, until nothing is new."""
    found: dict[Predicate, list[Int64s]] = {}
    budget = database.budget

    def derive(rule: Rule, table: Table) -> None:
        if table.count:
            rows = build(database.terms, arguments(rule.head), table.columns, table.count)
            budget.hold(rows.nbytes, f"the rule of line {rule.line}")
            found.setdefault(predicate(rule.head), []).append(rows)

    uses: dict[Predicate, list[tuple[Rule, int]]] = {}
    for rule in rules:
        derive(rule, solve(database, rule, negation))
        positive = [literal.atom for literal in rule.body if literal.positive]
        for place, atom in enumerate(positive):
            uses.setdefault(predicate(atom), []).append((rule, place))
    while found:
        fresh: dict[Predicate, Int64s] = {}
        for name, blocks in found.items():
            what = f"the relation {name[0]}"
            budget.check(len(database.relation(name)), what)
            rows = database.relation(name).add(np.concatenate(blocks), database.terms.bits)
            budget.check(len(database.relation(name)), what)
            budget.hold(rows.nbytes - sum(block.nbytes for block in blocks), what)
            if len(rows):
                fresh[name] = rows
        found.clear()
        for name, rows in fresh.items():
            for rule, place in uses.get(name, ()):
                derive(rule, solve(database, rule, negation, (place, rows)))
