"""Terms, literals and rules as plain data, and the few operations on them. Knows no text format and no game.

A term is a `str`, a constant or a variable such as "?x", or a tuple whose first entry names a function or a relation:
("cell", "1", "?column", "x"). Names that differ in case differ, as on the public servers. Nothing here recurses, so
that no input can overflow the stack.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from palaestra.base.errors import GdlError

Term: TypeAlias = str | tuple["Term", ...]

SHOWN = 80  # characters of a term in a message
LARGEST = 10_000  # words of a term that rules make
DEEPEST = 500  # brackets within brackets: Python compares nested tuples by recursion, and gives up at a thousand


class Placed(Protocol):
    """Something that stands somewhere in a text; both count from 1."""

    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


@dataclass(frozen=True)
class Literal:
    """A condition of a rule: a relation with its arguments, which must hold or, if not positive, must not."""

    atom: Term
    positive: bool = True


@dataclass(frozen=True)
class Rule:
    """The head holds if the whole body does and both terms of every pair in `distinct` differ. A fact has no body."""

    head: Term
    body: tuple[Literal, ...] = ()
    distinct: tuple[tuple[Term, Term], ...] = ()
    line: int = 1
    column: int = 1


@dataclass(frozen=True)
class Rules:
    """A checked game: its roles in the order of their facts, all rules and facts, and the text they came from."""

    roles: tuple[str, ...]
    rules: tuple[Rule, ...]
    source: str

    def role(self, name: str) -> str:
        """The role that a name means, in the spelling of the rules; GdlError if it is none of them."""
        role = meant(name, self.roles)
        if role is None:
            raise GdlError(f"{shown(name)} is no role of these rules; they are {', '.join(map(shown, self.roles))}")
        return name_of(role)


def is_variable(term: Term) -> bool:
    return isinstance(term, str) and term.startswith("?")


def name_of(atom: Term) -> str:
    """The relation or function of an atom or term, which is the term itself where it has no arguments."""
    while isinstance(atom, tuple):
        atom = atom[0]
    return atom


def arguments(atom: Term) -> tuple[Term, ...]:
    """What follows the name; nothing for a constant or a proposition."""
    return atom[1:] if isinstance(atom, tuple) else ()


def subterms(term: Term) -> Iterator[Term]:
    """The term itself and everything inside its brackets that is no name, outermost first."""
    waiting: list[Term] = [term]
    while waiting:
        term = waiting.pop()
        yield term
        waiting.extend(reversed(arguments(term)))


def check_size(term: Term) -> None:
    """GdlError for a term that rules have made too large: it is compared and printed part by part."""
    depth, seen, level = 0, 0, [term]
    while level := [part for part in level if isinstance(part, tuple)]:
        depth, seen = depth + 1, seen + sum(map(len, level))
        if depth > DEEPEST or seen > LARGEST:
            raise GdlError(
                f"the rules make terms that are too large: nested deeper than {DEEPEST}, or {LARGEST:,} words"
            )
        level = [inner for part in level for inner in arguments(part)]


def words(term: Term) -> int:
    """How many names, constants and variables a term has."""
    return sum(1 for _ in subterms(term))


def variables(*terms: Term) -> dict[str, None]:
    """The variables of some terms, each once, in order of appearance."""
    return {part: None for term in terms for part in subterms(term) if isinstance(part, str) and part[:1] == "?"}


def substitute(term: Term, bindings: Mapping[str, str]) -> Term:
    """The term with each bound variable replaced by its atom."""
    if not bindings:
        return term
    levels: list[list[Term]] = [[]]
    waiting: list[Term | None] = [term]  # None closes a bracket
    while waiting:
        part = waiting.pop()
        if part is None:
            closed = tuple(levels.pop())
            levels[-1].append(closed)
        elif isinstance(part, tuple):
            levels.append([])
            waiting.append(None)
            waiting.extend(reversed(part))
        else:
            levels[-1].append(bindings.get(part, part))
    return levels[0][0]


def term_text(term: Term) -> str:
    """The term in KIF, on one line: (cell 1 ?column x)."""
    words: list[str] = []
    waiting: list[Term] = [term]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            words.append("(")
            waiting.append(")")
            waiting.extend(reversed(part))
        else:
            words.append(part)
    return " ".join(words).replace("( ", "(").replace(" )", ")")


def meant(term: Term, known: Iterable[Term]) -> Term | None:
    """Which one of some terms a term means: itself, or the only one that is the same but for case or (x) for x."""
    known = list(known)
    if term in known:
        return term
    alike = [one for one in known if _plain(one) == _plain(term)]
    return alike[0] if len(alike) == 1 else None


def _plain(term: Term) -> str:
    text = term_text(term).lower()
    return text[1:-1] if isinstance(term, tuple) and len(term) == 1 else text


def shown(term: Term) -> str:
    """The term for a message, cut where it is very long."""
    text = term_text(term)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def complaint(place: Placed, message: str) -> GdlError:
    """The error that says where in the text something is wrong."""
    return GdlError(f"line {place.line}, column {place.column}: {message}")
