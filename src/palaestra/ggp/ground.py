"""From rules with variables to propositions: every fact and every instance of a rule that play may ever reach.

First a fixpoint says which facts are reachable at all, taking every negated condition that depends on the state for
granted: what is next may be true, what is legal may be done. Then each rule is answered once over those facts, and
every answer is an instance; rules are split beforehand, so that there are fewer. Relations that are the same in all
states are evaluated away. All of it runs inside a budget of time and instances, since some rules have too many:
`BudgetError` says which. Knows nothing of networks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from palaestra.base.types import Bools, Int64s
from palaestra.ggp.budget import Budget, BudgetError
from palaestra.ggp.demand import asked, is_asked, on_demand
from palaestra.ggp.joins import Database, Negation, Table, saturate, solve
from palaestra.ggp.machine import goal_value
from palaestra.ggp.relations import Predicate, build, predicate, row_keys
from palaestra.ggp.split import split
from palaestra.ggp.strata import Strata
from palaestra.ggp.terms import Literal, Rule, Rules, Term, arguments, name_of

ASKED = ("next", "legal", "goal", "terminal")
TRUE, DOES, LEGAL, NEXT, GOAL, TERMINAL, INIT = (
    ("true", 1),
    ("does", 2),
    ("legal", 2),
    ("next", 1),
    ("goal", 2),
    ("terminal", 0),
    ("init", 1),
)
# What makes a fact reachable, as rules.
REACHABLE = (
    Rule(("true", "?fact"), (Literal(("init", "?fact")),)),
    Rule(("true", "?fact"), (Literal(("next", "?fact")),)),
    Rule(("does", "?role", "?move"), (Literal(("legal", "?role", "?move")), Literal(("role", "?role")))),
)
NEVER = -1  # in place of an atom: one that no state can make true


@dataclass(frozen=True, eq=False)
class Grounding:
    """Propositions and instances of rules.

    Atoms are numbered: first what may be true (`facts`), then what may be done (the moves of one role after another),
    then what is derived. Instance i says that atom heads[i] holds if all its literals do, which are
    literals[starts[i]:starts[i + 1]], each 2·atom, plus 1 if negated; instances are sorted by head.
    """

    facts: tuple[Term, ...]
    initial: Bools  # [facts]: true at the start
    moves: tuple[tuple[Term, ...], ...]  # of each role
    atoms: int
    heads: Int64s
    starts: Int64s
    literals: Int64s
    next: Int64s  # [facts]: the atom that makes the fact true in the next state, or NEVER
    legal: Int64s  # [moves of all roles]: the atom that makes it legal
    terminal: int  # an atom, or NEVER
    goals: tuple[tuple[tuple[int, int], ...], ...]  # of each role: (value, atom), highest value first


def ground(rules: Rules, budget: Budget) -> Grounding:
    """All reachable propositions and instances; BudgetError if there are too many, or finding them takes too long.

    Where whole relations are too large, what nobody asks for is left out.
    """
    whole = split(rules.rules, budget)
    strata = Strata((*whole, *REACHABLE))
    exempt = {name for name in strata.needed(ASKED) if strata.is_fixed(name)} | {*ASKED, "init", "role"}
    restricted, requests = on_demand(rules.rules, exempt)
    if not requests:
        return _ground(rules, whole, budget)
    try:
        return _ground(rules, whole, budget.part(0.5))
    except BudgetError:
        return _ground(rules, [*split(restricted, budget), *split(requests, budget, asked("part"))], budget)


def _ground(rules: Rules, parts: Sequence[Rule], budget: Budget) -> Grounding:
    strata = Strata((*parts, *REACHABLE))
    needed = strata.needed((*ASKED, "true", "does", *strata.tangled))  # so that all that is tangled is looked at
    fixed = {name for name in needed if strata.is_fixed(name)}
    changing = [rule for layer in strata.layers((needed - fixed) | set(ASKED)) for rule in layer]

    def relaxed(database: Database, literal: Literal, table: Table) -> Bools | None:
        return database.lacks(literal.atom, table) if name_of(literal.atom) in fixed else None

    database = Database(budget)
    for layer in strata.layers(fixed):
        saturate(database, layer)
    saturate(database, changing, relaxed)
    own = [rule for rule in changing if rule not in REACHABLE and not is_asked(name_of(rule.head))]
    return _Numbering(rules, database, own, relaxed).grounding()


class _Numbering:
    """Numbers for the atoms of a database that holds everything reachable, and the instances in those numbers."""

    def __init__(self, rules: Rules, database: Database, changing: Sequence[Rule], relaxed: Negation) -> None:
        self._roles, self._database, self._changing, self._relaxed = rules.roles, database, changing, relaxed
        # What may be done, role by role.
        texts = database.terms.texts
        order = {role: place for place, role in enumerate(rules.roles)}
        done = database.relation(DOES).rows
        by_role = np.array([order[str(texts[row[0]])] for row in done.tolist()], dtype=np.int64)
        self._does = np.argsort(by_role, kind="stable")
        self._counts = np.bincount(by_role, minlength=len(rules.roles))
        self._offsets: dict[Predicate, int] = {TRUE: 0, DOES: len(database.relation(TRUE))}
        end = self._offsets[DOES] + len(done)
        for name in dict.fromkeys(predicate(rule.head) for rule in changing):
            self._offsets[name] = end
            end += len(database.relation(name))
        self._atoms = end
        self._position = np.empty(len(done), dtype=np.int64)
        self._position[self._does] = np.arange(len(done))

    def atoms(self, atom: Term, table: Table) -> Int64s:
        """int64[rows of the table]: the number of the atom in each, NEVER where it is not reachable."""
        rows = build(self._database.terms, arguments(atom), table.columns, table.count, make=False)
        return self.numbers(predicate(atom), rows)

    def numbers(self, name: Predicate, rows: Int64s) -> Int64s:
        if name not in self._offsets:  # no rule has this head: without `next`, no fact holds after a move
            return np.full(len(rows), NEVER, dtype=np.int64)
        found = self._database.relation(name).find(rows, self._database.terms.bits)
        place = self._position[found] if name == DOES and len(self._position) else found
        return np.where(found < 0, NEVER, place + self._offsets[name])

    def grounding(self) -> Grounding:
        heads, starts, literals = self._instances()
        database, texts = self._database, self._database.terms.texts
        facts, does = database.relation(TRUE).rows, database.relation(DOES).rows[self._does]
        moves = [texts[number] for number in does[:, 1].tolist()]
        ends = np.cumsum(self._counts).tolist()
        terminal = self.numbers(TERMINAL, np.zeros((1, 0), dtype=np.int64))
        return Grounding(
            facts=tuple(texts[number] for number in facts[:, 0].tolist()),
            initial=database.relation(INIT).find(facts, database.terms.bits) >= 0,
            moves=tuple(tuple(moves[end - count : end]) for count, end in zip(self._counts, ends, strict=True)),
            atoms=self._atoms,
            heads=heads,
            starts=starts,
            literals=literals,
            next=self.numbers(NEXT, facts),
            legal=self.numbers(LEGAL, does),
            terminal=int(terminal[0]),
            goals=self._goals(),
        )

    def _goals(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        goals: dict[str, list[tuple[int, int]]] = {role: [] for role in self._roles}
        rows = self._database.relation(GOAL).rows
        for (role, value), atom in zip(self._database.facts(GOAL), self.numbers(GOAL, rows).tolist(), strict=True):
            if role in goals:
                goals[str(role)].append((goal_value(value), atom))
        return tuple(tuple(sorted(found, reverse=True)) for found in goals.values())

    def _instances(self) -> tuple[Int64s, Int64s, Int64s]:
        """heads, starts and literals of all instances, each once, sorted by head."""
        blocks: list[Int64s] = []
        total, width = 0, 1
        for rule in self._changing:
            block = self._instances_of(rule)
            total, width = total + len(block), max(width, block.shape[1])
            self._database.budget.check(total, "the whole game")
            self._database.budget.hold(block.nbytes, "the whole game")
            blocks.append(block)
        self._database.budget.hold(8 * total * width, "the whole game")  # all of them, as wide as the widest
        rows = np.concatenate([np.pad(b, ((0, 0), (0, width - b.shape[1])), constant_values=NEVER) for b in blocks])
        (keys,) = row_keys((2 * self._atoms + 2).bit_length(), rows)
        rows = rows[np.unique(keys, return_index=True)[1]]
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        body = rows[:, 1:]
        starts = np.concatenate(([0], np.cumsum((body != NEVER).sum(axis=1))))
        return rows[:, 0].copy(), starts, body[body != NEVER]

    def _instances_of(self, rule: Rule) -> Int64s:
        """int64[instances, 1 + literals]: head and literals of each, NEVER in place of a literal that always holds."""
        table = solve(self._database, rule, self._relaxed)
        changing = [literal for literal in rule.body if predicate(literal.atom) in self._offsets]
        if not table.count:
            return np.zeros((0, 1), dtype=np.int64)
        columns = [self.atoms(rule.head, table)]
        for literal in changing:
            atoms = self.atoms(literal.atom, table)
            columns.append(np.where(atoms == NEVER, NEVER, 2 * atoms + (not literal.positive)))
        body = (
            np.sort(np.stack(columns[1:], axis=1), axis=1) if changing else np.zeros((table.count, 0), dtype=np.int64)
        )
        return np.concatenate((columns[0][:, None], body), axis=1)
