"""The laws of GDL for rules that have been read; GdlError names the first one that is broken, and where.

Of each rule: keywords in their places, equal arities, no variable that nothing binds. Of all rules together: roles,
moves, goals and an end are there (a game may begin with no fact), and relations depend on each other as they may
(`palaestra.ggp.dependence`). Knows no state and plays nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from palaestra.base.errors import GdlError
from palaestra.ggp.dependence import check_dependence
from palaestra.ggp.terms import Rule, Term, arguments, complaint, is_variable, name_of, shown, subterms, variables

# Relations with a meaning of their own, and how they are written.
KEYWORDS = {
    "role": "(role NAME)",
    "init": "(init FACT)",
    "true": "(true FACT)",
    "next": "(next FACT)",
    "legal": "(legal ROLE MOVE)",
    "does": "(does ROLE MOVE)",
    "goal": "(goal ROLE NUMBER)",
    "terminal": "terminal",
    "base": "(base FACT)",
    "input": "(input ROLE MOVE)",
}
OPERATORS = ("<=", "not", "or", "and", "distinct")
NO_HEAD = {
    "true": "what is true is given by init and next",
    "does": "what players do is their choice",
}
NO_CONDITION = {
    "init": "ask (true ...) instead",
    "next": "ask (true ...) instead, or give both rules the same conditions",
}
NEEDED = {
    "role": "nobody plays; name the players, for example (role xplayer)",
    "legal": "there are no moves; give them, for example (<= (legal ?role noop) (role ?role))",
    "goal": "there are no goals; give them, for example (<= (goal xplayer 100) (line x))",
    "terminal": "the game has no end; give it, for example (<= terminal (line x))",
}
BEST_GOAL = 100


def check_rules(rules: Sequence[Rule]) -> None:
    """Raise GdlError if these are not the rules of a game in GDL."""
    arities: dict[tuple[str, str], tuple[int, Rule]] = {}
    for rule in rules:
        _check_head(rule)
        for literal in rule.body:
            _check_condition(rule, literal.atom)
        _check_arities(rule, arities)
        _check_safety(rule)
    heads = {name_of(rule.head) for rule in rules}
    for relation, message in NEEDED.items():
        if relation not in heads:
            raise GdlError(f"no rule for '{relation}': {message}")
    _check_roles(rules)
    check_dependence(rules)


def roles_of(rules: Sequence[Rule]) -> tuple[str, ...]:
    """The roles in the order of their facts, each once."""
    names = [arguments(rule.head)[0] for rule in rules if name_of(rule.head) == "role"]
    return tuple(dict.fromkeys(name_of(name) for name in names))


def _check_head(rule: Rule) -> None:
    name, inside = name_of(rule.head), arguments(rule.head)
    if is_variable(rule.head):
        raise complaint(rule, f"{shown(rule.head)} is a variable; the head of a rule is a relation")
    if name in OPERATORS:
        raise complaint(rule, f"{shown(rule.head)} stands where a fact or the head of a rule is wanted")
    _check_relation(rule, rule.head)
    if name in NO_HEAD:
        raise complaint(rule, f"'{name}' is no head of a rule: {NO_HEAD[name]}")
    if name == "role":
        if rule.body or rule.distinct or isinstance(inside[0], tuple):
            raise complaint(
                rule, f"{shown(rule.head)}: a role is a plain fact with a plain name, such as (role xplayer)"
            )
    if name == "goal" and not is_variable(inside[1]) and not _is_goal(inside[1]):
        raise complaint(rule, f"the goal {shown(inside[1])} is none: goals are whole numbers from 0 to {BEST_GOAL}")


def _check_condition(rule: Rule, atom: Term) -> None:
    """`not`, `or`, `and` and `distinct` are gone by now, and variables alone refused."""
    name = name_of(atom)
    if name == "<=":
        raise complaint(rule, "a rule stands inside another; is a bracket missing before it?")
    _check_relation(rule, atom)
    if name in NO_CONDITION:
        raise complaint(rule, f"'{name}' is no condition: {NO_CONDITION[name]}")


def _check_relation(rule: Rule, atom: Term) -> None:
    name = name_of(atom)
    if name == "sees":
        raise complaint(rule, "'sees' is GDL-II, games of hidden information; only GDL without it is played here")
    if name in KEYWORDS:
        wanted = KEYWORDS[name].count(" ")
        if len(arguments(atom)) != wanted:
            raise complaint(rule, f"{shown(atom)} has {len(arguments(atom))} arguments; write {KEYWORDS[name]}")


def _check_arities(rule: Rule, arities: dict[tuple[str, str], tuple[int, Rule]]) -> None:
    """Every relation and every function has one number of arguments throughout; `arities` remembers the first ones."""
    compared = [term for pair in rule.distinct for term in pair]
    for atom in [rule.head, *(literal.atom for literal in rule.body)]:
        compared.extend(arguments(atom))
        _check_arity(rule, "relation", atom, arities)
    for term in compared:
        for part in subterms(term):
            if isinstance(part, tuple):
                if name_of(part) in (*OPERATORS, "true", "does", "next", "init"):
                    raise complaint(rule, f"{shown(part)} stands inside a term; '{name_of(part)}' is a word of GDL")
                _check_arity(rule, "function", part, arities)


def _check_arity(rule: Rule, kind: str, term: Term, arities: dict[tuple[str, str], tuple[int, Rule]]) -> None:
    name, count = name_of(term), len(arguments(term))
    known, first = arities.setdefault((kind, name), (count, rule))
    if known != count:
        where = f"the {kind} '{shown(name)}' has {count} arguments here and {known} in line {first.line}"
        raise complaint(rule, f"{where}; it has one number of them throughout")


def _check_safety(rule: Rule) -> None:
    """Every variable of the head, of a negated condition and of `distinct` is bound by a positive condition."""
    bound = variables(*(literal.atom for literal in rule.body if literal.positive))
    wanted = [("the head", rule.head)]
    wanted += [("(not ...)", literal.atom) for literal in rule.body if not literal.positive]
    wanted += [("(distinct ...)", term) for pair in rule.distinct for term in pair]
    for where, term in wanted:
        for variable in variables(term):
            if variable not in bound and not rule.body and not rule.distinct:
                raise complaint(rule, f"{shown(variable)} in {shown(rule.head)}: a fact has no variables")
            if variable not in bound:
                unsafe = f"{shown(variable)} in {where} is bound by no positive condition"
                raise complaint(rule, f"{unsafe}, in the rule for {shown(rule.head)}")


def _check_roles(rules: Sequence[Rule]) -> None:
    """Moves are given for every role. Moves and goals of anybody else do no harm, and a role may have no goal."""
    named = {arguments(rule.head)[0] for rule in rules if name_of(rule.head) == "legal"}
    for role in roles_of(rules):
        if role not in named and not any(is_variable(who) for who in named):
            raise GdlError(f"no rule for 'legal' is about the role {shown(role)}")


def _is_goal(term: Term) -> bool:
    return isinstance(term, str) and term.isascii() and term.isdecimal() and len(term) <= 3 and int(term) <= BEST_GOAL
