"""Rules from KIF: from the forms of a text to the checked rules of a game. Knows no state and plays nothing.

A form is a fact, (role x), or a rule, (<= head condition ...). Conditions may nest `not`, `or` and `and`; here they
are multiplied out, so that the body of a `Rule` is a plain conjunction: (<= p (or a b) c) becomes two rules. `distinct`
goes beside the body, and (not (distinct ?x a)) puts a in place of ?x.

Real files differ in their spelling, and all of these are read: (role x), (ROLE x), (role (x)), (<= (role x)), role(x).
Words of GDL are read in either case. Other names keep their spelling, and x and X differ, as on the public servers;
only where the rules could not be played so, they are taken for the same, in the spelling that comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from palaestra.base.errors import GdlError
from palaestra.base.reading import opened
from palaestra.ggp.check import KEYWORDS, OPERATORS, check_rules, roles_of
from palaestra.ggp.dependence import UnstratifiedError
from palaestra.ggp.kif import USUAL, Limits, Located, read_kif
from palaestra.ggp.terms import (
    Literal,
    Rule,
    Rules,
    Term,
    arguments,
    complaint,
    is_variable,
    name_of,
    shown,
    substitute,
    subterms,
    term_text,
    words,
)

__all__ = [
    "Literal",
    "Rule",
    "Rules",
    "Term",
    "load_rules",
    "parse_rules",
    "rulesheet",
    "rulesheet_names",
    "term_text",
]

# A list that shares its tail with others, so that alternatives of one rule need not copy what they have in common.
Chain: TypeAlias = tuple[Literal, "Chain"] | None


def load_rules(path: str | Path, limits: Limits = USUAL) -> Rules:
    """The rules in a file; GdlError names the file and the place in it."""
    try:
        most = 4 * limits.characters  # bytes of so many characters in UTF-8; of a larger file no more is read
        with opened(path) as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise GdlError(f"the text has more than {limits.characters:,} characters")
        return parse_rules(data.decode("utf-8"), limits)
    except (OSError, ValueError) as error:  # a path may hold a NUL, and a file other bytes than UTF-8
        reason = error.strerror if isinstance(error, OSError) else "not a text in UTF-8"
        raise GdlError(f"cannot read {str(path)!r}: {reason}; rules in GDL are a text file such as game.kif") from error
    except GdlError as error:
        raise GdlError(f"{str(path)!r}: {error}") from error


def parse_rules(text: str, limits: Limits = USUAL) -> Rules:
    """The rules in a text, read and checked; `source` is the text."""
    forms = [Located(_tidy(form), form.line, form.column) for form in _join_roles(read_kif(text, limits))]
    try:
        return _checked(forms, text, limits)
    except GdlError as flaw:
        try:
            alike = _in_one_case(forms)
            return _checked(alike, text, limits)
        except GdlError:
            raise flaw from None


def _checked(forms: Sequence[Located], text: str, limits: Limits) -> Rules:
    rules: list[Rule] = []
    room = _Room(limits.expanded)
    for form in forms:
        term = form.term
        clause = arguments(term) if name_of(term) == "<=" else (term,)
        if not clause:
            raise complaint(form, "a rule has a head: (<= head condition ...)")
        head, *body = clause
        for literals in _alternatives(body, form, room):
            room.take(words(head), form)
            rule = _make_rule(head, literals, form)
            if rule is None:
                continue
            if len(rule.body) + len(rule.distinct) > limits.conditions:
                raise complaint(form, f"a rule has more than {limits.conditions:,} conditions")
            rules.append(rule)
    try:
        check_rules(rules)
    except UnstratifiedError:
        from palaestra.ggp.soundness import is_sound

        if not is_sound(Rules(roles_of(rules), tuple(rules), text)):
            raise
    return Rules(roles_of(rules), tuple(rules), text)


def _in_one_case(forms: Sequence[Located]) -> list[Located]:
    """The forms with each name in the case in which it comes first; GdlError if that changes nothing."""
    first: dict[str, str] = {}
    changed: dict[str, str] = {}
    for form in forms:
        for part in subterms(form.term):
            name = name_of(part)
            spelling = first.setdefault(name.lower(), name)
            if spelling != name:
                changed[name] = spelling
    if not changed:
        raise GdlError("every name is written in one case")
    return [Located(substitute(form.term, changed), form.line, form.column) for form in forms]


def rulesheet_names() -> list[str]:
    """The games whose rules come with the package; the ones that are also built in have the same names there."""
    sheets = (files("palaestra.ggp") / "rulesheets").iterdir()
    return sorted(sheet.name.removesuffix(".kif") for sheet in sheets if sheet.name.endswith(".kif"))


def rulesheet(name: str) -> str:
    """The text of one of them."""
    if name not in rulesheet_names():
        raise GdlError(f"no rulesheet is called {name!r}; known: {', '.join(rulesheet_names())}")
    return (files("palaestra.ggp") / "rulesheets" / f"{name}.kif").read_text(encoding="utf-8")


def _join_roles(forms: Sequence[Located]) -> list[Located]:
    """The forms, with the two halves of role(x) put together."""
    joined: list[Located] = []
    for form in forms:
        begun = bool(joined) and term_text(joined[-1].term).lower() == "role"
        if begun and isinstance(form.term, tuple) and len(form.term) == 1:
            joined[-1] = Located(("role", *form.term), joined[-1].line, joined[-1].column)
        else:
            joined.append(form)
    return joined


def _tidy(form: Located) -> Term:
    """The form's term with (x) written x and the words of GDL in lower case; every bracket begins with a name."""
    levels: list[list[Term]] = [[]]
    waiting: list[Term | None] = [form.term]  # None closes a bracket
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            levels.append([])
            waiting.append(None)
            waiting.extend(reversed(part))
            continue
        if part is None:
            inside = levels.pop()
            if not inside:
                raise complaint(form, "there is nothing in the brackets ()")
            if len(inside) > 1 and (isinstance(inside[0], tuple) or is_variable(inside[0])):
                what = f"{shown(tuple(inside))} begins with {shown(inside[0])}"
                raise complaint(form, f"{what}; a bracket begins with a name")
            if len(inside) > 1 and name_of(inside[0]).lower() in OPERATORS:
                inside[0] = name_of(inside[0]).lower()
            part = tuple(inside) if len(inside) > 1 else inside[0]
        elif part.lower() in KEYWORDS:
            part = part.lower()
        levels[-1].append(part)
    return levels[0][0]


class _Room:
    """How many words the rules may still have: n times (or a b) would make 2^n rules."""

    def __init__(self, most: int) -> None:
        self._most = self._left = most

    def take(self, count: int, form: Located) -> None:
        self._left -= count
        if self._left < 0:
            raise complaint(form, f"with every 'or' multiplied out, the rules have more than {self._most:,} words")


def _alternatives(body: Sequence[Term], form: Located, room: _Room) -> Iterator[list[Literal]]:
    """The conjunctions whose disjunction the conditions are; `distinct` still stands among the literals."""
    branches: list[tuple[Chain, Chain]] = [(_prepend(body, True, None), None)]  # what is to be done, what is done
    while branches:
        pending, done = branches.pop()
        while pending is not None:
            room.take(1, form)
            condition, pending = pending
            name, inside = name_of(condition.atom), arguments(condition.atom)
            _check_operator(condition.atom, form)
            if name == "not":
                pending = _prepend(inside, not condition.positive, pending)
            elif name in ("or", "and"):
                if (name == "and") == condition.positive:
                    pending = _prepend(inside, condition.positive, pending)
                else:
                    later = [(_prepend([part], condition.positive, pending), done) for part in reversed(inside)]
                    branches.extend(later[:-1])
                    pending = later[-1][0]
            else:
                done = (condition, done)
        literals: list[Literal] = []
        while done is not None:
            literal, done = done
            literals.append(literal)
            room.take(words(literal.atom), form)
        yield literals[::-1]


def _prepend(conditions: Sequence[Term], positive: bool, rest: Chain) -> Chain:
    for condition in reversed(conditions):
        rest = (Literal(condition, positive), rest)
    return rest


def _check_operator(condition: Term, form: Located) -> None:
    name, count = name_of(condition), len(arguments(condition))
    if is_variable(condition):
        variable = shown(condition)
        raise complaint(form, f"{variable} stands where a condition is wanted, for example (true {variable})")
    if name in ("or", "and") and count == 0:
        raise complaint(form, f"'{name}' combines conditions: ({name} (true a) (true b))")
    if name == "not" and count != 1:
        raise complaint(form, f"'not' takes one condition and has {count}: (not (true a))")
    if name == "distinct" and count != 2:
        raise complaint(form, f"'distinct' compares two terms and has {count}: (distinct ?x ?y)")


def _make_rule(head: Term, literals: Sequence[Literal], form: Located) -> Rule | None:
    """One rule; None where it asks two different constants to be equal, so that it never applies."""
    compared = [literal for literal in literals if name_of(literal.atom) == "distinct"]
    equal = _equalities([arguments(literal.atom) for literal in compared if not literal.positive], form)
    if equal is None:
        return None
    pairs = [arguments(literal.atom) for literal in compared if literal.positive]
    return Rule(
        substitute(head, equal),
        tuple(
            Literal(substitute(literal.atom, equal), literal.positive)
            for literal in literals
            if name_of(literal.atom) != "distinct"
        ),
        tuple((substitute(left, equal), substitute(right, equal)) for left, right in pairs),
        form.line,
        form.column,
    )


def _equalities(pairs: Sequence[tuple[Term, ...]], form: Located) -> dict[str, str] | None:
    """What to put in place of variables so that both terms of every pair are equal; None if nothing does it."""
    standing_for: dict[str, str] = {}

    def representative(atom: str) -> str:
        while atom in standing_for:
            following = standing_for[atom]
            standing_for[atom] = standing_for.get(following, following)  # shortens the way for the next time
            atom = following
        return atom

    for left, right in pairs:
        if isinstance(left, tuple) or isinstance(right, tuple):
            text = shown(("not", ("distinct", left, right)))
            raise complaint(form, f"{text} compares a function; write that term in place of the variable instead")
        left, right = representative(left), representative(right)
        if left != right:
            if is_variable(left):
                standing_for[left] = right
            elif is_variable(right):
                standing_for[right] = left
            else:
                return None
    return {variable: representative(variable) for variable in list(standing_for)}
