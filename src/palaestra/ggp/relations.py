"""Ground terms by number, and relations over them as arrays with one row per fact.

Every ground term has a number (`Terms`), a relation is an array of numbers, and patterns are matched against, or filled
in for, whole columns at a time. `palaestra.ggp.joins` answers rules on top of this. Nothing here knows a game.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from palaestra.base.types import Bools, Int64s
from palaestra.ggp.budget import Budget, BudgetError
from palaestra.ggp.terms import DEEPEST, LARGEST, Term, arguments, is_variable, name_of

Predicate = tuple[str, int]  # name and number of arguments
Bindings = dict[str, Int64s]  # one column of term numbers per variable

KEY_BITS = 62  # of a key that holds several columns: an int64 that stays positive
UNKNOWN = -1  # stands for a term that has no number
TERM_BYTES = 500  # that a term takes, about: tuples, numbers and entries of dictionaries
CHECK_EVERY = 4096  # terms between two looks at the budget


def predicate(atom: Term) -> Predicate:
    """What an atom is about, or the functor of a compound term."""
    return name_of(atom), len(arguments(atom))


class Column:
    """A growing array of int64."""

    def __init__(self) -> None:
        self._buffer, self._size = np.zeros(64, dtype=np.int64), 0

    def extend(self, values: Sequence[int]) -> None:
        end = self._size + len(values)
        if end > len(self._buffer):
            self._buffer = np.concatenate((self._buffer, np.zeros(end, dtype=np.int64)))
        self._buffer[self._size : end] = values
        self._size = end

    @property
    def values(self) -> Int64s:
        return self._buffer[: self._size]


class Terms:
    """Ground terms by number: a compound term knows its functor and where the numbers of its arguments stand.

    BudgetError where terms take too much time or memory, or grow for ever.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.texts: list[Term] = []
        self._depths: list[int] = []  # brackets within brackets of each
        self._sizes: list[int] = []  # words of each
        self._numbers: dict[str | tuple[int, ...], int] = {}
        self._functors: dict[Predicate, int] = {}
        self._functor, self._start, self._arguments = Column(), Column(), Column()

    @property
    def bits(self) -> int:
        """Bits that hold any number given out so far, plus one."""
        return (len(self.texts) + 1).bit_length()

    def constant(self, name: str) -> int:
        if name not in self._numbers:
            self._numbers[name] = self._add(name, -1, ())
        return self._numbers[name]

    def compounds(self, name: Predicate, columns: Sequence[Int64s], make: bool = True) -> Int64s:
        """Numbers of the terms with these arguments, row by row; without `make`, UNKNOWN for those never seen."""
        rows = np.stack(columns, axis=1)
        (keys,) = row_keys(self.bits, rows)
        _, first, back = np.unique(keys, return_index=True, return_inverse=True)
        functor = self._functor_number(name)
        numbers = np.empty(len(first), dtype=np.int64)
        for place, row in enumerate(rows[first].tolist()):
            if place % CHECK_EVERY == 0:
                self._budget.check(len(self.texts), "the list of terms")
            key = (-1 - functor, *row)
            number = self._numbers.get(key, UNKNOWN)
            if number == UNKNOWN and make:
                text = (name[0], *(self.texts[argument] for argument in row))
                number = self._numbers[key] = self._add(text, functor, row)
            numbers[place] = number
        return numbers[back.reshape(-1)]

    def matching(self, column: Int64s, name: Predicate) -> tuple[Bools, list[Int64s]]:
        """Which numbers are terms with this functor, and the columns of their arguments (only for those rows)."""
        hits = self._functor.values[column] == self._functor_number(name)
        start = self._start.values[column[hits]]
        return hits, [self._arguments.values[start + place] for place in range(name[1])]

    def _functor_number(self, name: Predicate) -> int:
        return self._functors.setdefault(name, len(self._functors))

    def _add(self, text: Term, functor: int, numbers: Sequence[int]) -> int:
        depth = 1 + max((self._depths[number] for number in numbers), default=-1)
        size = 1 + sum(self._sizes[number] for number in numbers)
        if depth > DEEPEST:
            raise BudgetError(f"terms with {name_of(text)} are nested deeper than {DEEPEST}")
        if size > LARGEST:
            raise BudgetError(f"terms with {name_of(text)} have more than {LARGEST:,} words")
        self._budget.hold(TERM_BYTES, "the list of terms")
        self._depths.append(depth)
        self._sizes.append(size)
        self._functor.extend([functor])
        self._start.extend([len(self._arguments.values)])
        self._arguments.extend(numbers)
        self.texts.append(text)
        return len(self.texts) - 1


def row_keys(bits: int, *blocks: Int64s) -> list[Int64s]:
    """One int64 per row of each block int64[n, k], equal exactly where rows are equal, also between blocks.

    They are in the order of the rows. No value has more than `bits` bits, and most have far fewer.
    """
    rows = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    keys, used = np.zeros(len(rows), dtype=np.int64), 0
    for place in range(rows.shape[1] if len(rows) else 0):
        width = min(bits, int(rows[:, place].max() - UNKNOWN).bit_length())
        if used + width > KEY_BITS:  # number the keys so far, which makes them short again
            keys = np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64)
            used = len(rows).bit_length()
        keys = (keys << width) | (rows[:, place] - UNKNOWN)
        used += width
    return np.split(keys, np.cumsum([len(block) for block in blocks])[:-1])


class Relation:
    """Facts of one predicate: rows int64[n, arity], each once, in the order in which they were found."""

    def __init__(self, arity: int) -> None:
        self.rows: Int64s = np.zeros((0, arity), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, rows: Int64s, bits: int) -> Int64s:
        """Add what is not there yet, and return it."""
        old, new = row_keys(bits, self.rows, rows)
        keys, first = np.unique(new, return_index=True)
        unknown = np.ones(len(first), dtype=np.bool_)
        if len(keys):  # each old row is looked up among the new ones, which are fewer
            place = np.minimum(np.searchsorted(keys, old), len(keys) - 1)
            unknown[place[keys[place] == old]] = False
        fresh = rows[np.sort(first[unknown])]
        if len(fresh):
            self.rows = np.concatenate((self.rows, fresh))
        return fresh

    def find(self, rows: Int64s, bits: int) -> Int64s:
        """Where each row stands in the relation, -1 where it does not."""
        if not len(self.rows):
            return np.full(len(rows), -1, dtype=np.int64)
        own, asked = row_keys(bits, self.rows, rows)
        order = np.argsort(own, kind="stable")
        found = order[np.minimum(np.searchsorted(own[order], asked), len(own) - 1)]
        return np.where(own[found] == asked, found, -1)


def build(terms: Terms, patterns: Sequence[Term], bindings: Bindings, count: int, make: bool = True) -> Int64s:
    """int64[count, patterns]: each pattern with its variables filled in; `make` as in `Terms.compounds`."""
    done: list[Int64s] = []
    work: list[tuple[Term, bool]] = [(pattern, False) for pattern in reversed(patterns)]
    while work:
        term, opened = work.pop()
        inner = arguments(term)
        if opened:
            columns = done[-len(inner) :]
            del done[-len(inner) :]
            done.append(terms.compounds(predicate(term), columns, make))
        elif inner:
            work.append((term, True))
            work.extend((part, False) for part in reversed(inner))
        elif is_variable(term):
            done.append(bindings[name_of(term)])
        else:
            done.append(np.full(count, terms.constant(name_of(term)), dtype=np.int64))
    return np.stack(done, axis=1) if done else np.zeros((count, 0), dtype=np.int64)


def match(terms: Terms, patterns: Sequence[Term], rows: Int64s) -> tuple[int, Bindings]:
    """How many rows int64[n, patterns] fit the patterns, and the variables' values in those."""
    count, found = len(rows), Bindings()
    work: list[tuple[Term, Int64s]] = [(pattern, rows[:, place]) for place, pattern in enumerate(patterns)]
    while work:
        pattern, column = work.pop()
        inner: list[tuple[Term, Int64s]] = []
        if parts := arguments(pattern):
            hits, columns = terms.matching(column, predicate(pattern))
            inner = list(zip(parts, columns, strict=True))
        elif not is_variable(pattern):
            hits = column == terms.constant(name_of(pattern))
        elif (name := name_of(pattern)) in found:
            hits = found[name] == column
        else:
            found[name] = column
            continue
        if not hits.all():
            count = int(hits.sum())
            found = {name: values[hits] for name, values in found.items()}
            work = [(waiting, values[hits]) for waiting, values in work]
        work.extend(inner)
    return count, found
