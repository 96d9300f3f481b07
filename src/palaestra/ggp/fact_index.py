"""Ground atoms found by a pattern: looked up by what is known of it, and giving what is not. Knows no rules.

`Access(("cell", "?x", "?y", "b"), {"?x"})` maps a value of ?x to the values of ?y in all atoms (cell ?x ?y b). Whoever
looks into it builds it first, and again when the atoms have changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from palaestra.ggp.terms import Term, arguments, is_variable, name_of

Path = tuple[int, ...]  # where a part stands in an atom: ("f", "a", ("g", "b")) has b at (2, 1)
Functor = tuple[str, int]  # a name and how many arguments it has


def functor(term: Term) -> Functor:
    return name_of(term), len(arguments(term))


def by_functor(atoms: Iterable[Term]) -> dict[Functor, list[Term]]:
    """The atoms in lists, each once."""
    found: dict[Functor, list[Term]] = {}
    for atom in dict.fromkeys(atoms):
        found.setdefault(functor(atom), []).append(atom)
    return found


class Access:
    """An index of atoms. With one known variable a key is its value, with more the tuple of them, with none ().

    A key has the list of values of the free variable, or of tuples where there are more; () where there is none.
    """

    def __init__(self, pattern: Term, known: Collection[str], source: Callable[[], Iterable[Term]]) -> None:
        self.index: dict[Any, list[Any]] = {}
        self.stale = True
        self._source = source
        self._functors: list[tuple[Path, str, int]] = []
        self._constants: list[tuple[Path, str]] = []
        self._equal: list[tuple[Path, Path]] = []
        places: dict[str, Path] = {}
        waiting: list[tuple[Path, Term]] = [((), pattern)]
        while waiting:
            path, part = waiting.pop()
            if isinstance(part, tuple):
                self._functors.append((path, name_of(part), len(part)))
                waiting.extend(((*path, place), part[place]) for place in range(len(part) - 1, 0, -1))
            elif not is_variable(part):
                self._constants.append((path, part))
            elif part in places:
                self._equal.append((places[part], path))
            else:
                places[part] = path
        self.known = tuple(name for name in places if name in known)
        self.free = tuple(name for name in places if name not in known)
        self._keys = [places[name] for name in self.known]
        self._values = [places[name] for name in self.free]

    def build(self) -> None:
        self.index.clear()
        self.stale = False
        for atom in self._source():
            if self._fits(atom):
                self.index.setdefault(_picked(atom, self._keys), []).append(_picked(atom, self._values))

    def _fits(self, atom: Term) -> bool:
        for path, name, size in self._functors:  # an outer bracket before the inner ones
            part = _at(atom, path)
            if not isinstance(part, tuple) or len(part) != size or part[0] != name:
                return False
        return all(_at(atom, path) == constant for path, constant in self._constants) and all(
            _at(atom, one) == _at(atom, other) for one, other in self._equal
        )


def _at(term: Term, path: Path) -> Term:
    for place in path:
        term = term[place]
    return term


def _picked(atom: Term, paths: list[Path]) -> Any:
    """One part as it is, several or none as a tuple."""
    return _at(atom, paths[0]) if len(paths) == 1 else tuple([_at(atom, path) for path in paths])
