"""From instances of rules to a small network of gates: one kind of gate, each function once, in order of evaluation.

Every gate is the conjunction of literals, and a literal is 2·node, plus 1 if inverted: a disjunction is the inverse of
the conjunction of inverses. So constants, single inputs and equal gates fall together as they are made. Nodes are the
constant, the facts, the moves, then the gates:

    node   0        1 ...           1 + facts ...    1 + facts + moves ...
           true     what is true    what is done     gates, each after what it reads

Facts that derive each other within one state (paths on a board) make a cycle. Its gates stand together, and are
evaluated again and again from all false until nothing changes: `loops` says where. Knows no evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from palaestra.base.types import Bools, Int64s
from palaestra.ggp.atom_graph import components, reached
from palaestra.ggp.budget import Budget
from palaestra.ggp.ground import NEVER, Grounding

ALWAYS, IMPOSSIBLE = 0, 1  # literals of the constant
CHECK_EVERY = 4096  # components between two looks at the clock

# Parts of the network, in the order of evaluation: what legal moves and the end need; what both goals and next states
# need beyond that; what only the next state needs; what only goals need.
STATE, COMMON, AFTER, GOALS = range(4)


@dataclass(frozen=True, eq=False)
class Network:
    """Gates in order of evaluation, and the literals that answer the questions."""

    inputs: int  # nodes before the first gate
    starts: Int64s  # [gates + 1]
    literals: Int64s
    loops: Int64s  # [loops, 3]: first gate, first gate that begins as false (stored inverted), end
    parts: tuple[int, int, int, int]  # where STATE, COMMON, AFTER and GOALS end, in gates
    next: Int64s  # [facts]: literals
    legal: Int64s  # [moves]: literals
    terminal: int  # a literal
    goals: tuple[tuple[tuple[int, int], ...], ...]  # of each role: (value, literal), highest value first

    @property
    def nodes(self) -> int:
        return self.inputs + len(self.starts) - 1


def build_network(grounding: Grounding, budget: Budget) -> Network:
    """The network of a grounded game; BudgetError if there is no time left for it."""
    builder = _Builder(grounding)
    order = builder.order()
    part = builder.parts()
    ends = []
    for wanted in (STATE, COMMON, AFTER, GOALS):
        builder.begin(wanted)
        for count, group in enumerate(order):
            if count % CHECK_EVERY == 0:
                budget.check(0, "the network")
            if part[group[0]] == wanted:
                builder.add(group)
        ends.append(len(builder.gates))
    return builder.finish(ends)


class _Builder:
    """The network while it grows. Gate g is node inputs + g, and its literals may name later gates in loops only."""

    def __init__(self, grounding: Grounding) -> None:
        self._grounding = grounding
        moves = sum(len(own) for own in grounding.moves)
        self.inputs = 1 + len(grounding.facts) + moves
        self.gates: list[tuple[int, ...]] = []
        self._loops: list[tuple[int, int, int]] = []
        self._literal = [*range(2, 2 * self.inputs, 2), *[IMPOSSIBLE] * (grounding.atoms - self.inputs + 1)]
        clauses = np.searchsorted(grounding.heads, np.arange(grounding.atoms + 1))
        self._clauses: list[int] = clauses.tolist()
        self._bounds = grounding.starts[clauses]  # where the literals of an atom's instances begin
        self._known: list[dict[tuple[int, ...], int]] = [{} for _ in range(4)]
        self._usable = self._known[:1]

    def begin(self, part: int) -> None:
        """Gates of `part` come next; they may share those of parts that are always evaluated before them."""
        self._usable = [self._known[part], *(self._known[earlier] for earlier in (STATE, COMMON) if earlier < part)]

    def order(self) -> list[list[int]]:
        """The derived atoms, in groups that derive each other; what others need comes first."""
        number = components(self._bounds, self._grounding.literals)
        by_component = np.argsort(number[self.inputs - 1 :], kind="stable") + self.inputs - 1
        cuts = np.flatnonzero(np.diff(number[by_component])) + 1
        atoms = by_component.tolist()
        return [atoms[begin:end] for begin, end in pairwise([0, *cuts.tolist(), len(atoms)])]

    def parts(self) -> Int64s:
        """[atoms]: the part of the network that each belongs to; -1 for what nothing needs."""
        grounding = self._grounding
        roots = (
            np.append(grounding.legal, grounding.terminal),
            grounding.next,
            np.array([atom for own in grounding.goals for _, atom in own], dtype=np.int64),
        )
        state, after, goals = (reached(self._bounds, grounding.literals, root[root != NEVER]) for root in roots)
        return np.select([state, after & goals, after, goals], [STATE, COMMON, AFTER, GOALS], default=-1)

    def add(self, group: list[int]) -> None:
        """The gates of atoms that derive each other, or of a single one."""
        bodies = {atom: self._bodies(atom) for atom in group}
        if len(group) == 1 and not any(2 * group[0] in body for body in bodies[group[0]]):
            self._literal[group[0]] = self._either([self._all(body) for body in self._translated(bodies[group[0]])])
            return
        # Each atom gets a node that is true while the atom is false. They stand behind the clauses that read them.
        begin = len(self.gates)
        names = {atom: -1 - place for place, atom in enumerate(group)}  # until the nodes have places
        for atom in group:
            self._literal[atom] = 2 * names[atom] + 1
        translated = (self._translated(bodies[atom]) for atom in group)
        inverted = [tuple(sorted({self._all(body) ^ 1 for body in one})) for one in translated]
        heads = len(self.gates)
        self.gates.extend(inverted)
        place = {name: self.inputs + heads + count for count, name in enumerate(names.values())}
        for gate in range(begin, len(self.gates)):
            self.gates[gate] = tuple(
                literal if literal >= 0 else 2 * place[literal >> 1] + (literal & 1) for literal in self.gates[gate]
            )
        for clause in [key for key in self._usable[0] if key and key[0] < 0]:
            del self._usable[0][clause]  # written with names that mean something else in the next loop
        for atom in group:
            self._literal[atom] = 2 * place[names[atom]] + 1
        self._loops.append((begin, heads, len(self.gates)))

    def _bodies(self, atom: int) -> list[list[int]]:
        """The instances of an atom, each a list of literals."""
        first, last = self._clauses[atom], self._clauses[atom + 1]
        cuts = self._grounding.starts[first : last + 1].tolist()
        flat = self._grounding.literals[cuts[0] : cuts[-1]].tolist()
        return [flat[a - cuts[0] : b - cuts[0]] for a, b in pairwise(cuts)]

    def _translated(self, bodies: Sequence[Sequence[int]]) -> list[list[int]]:
        """The instances in literals of the network."""
        known = self._literal
        return [[known[lit >> 1] ^ (lit & 1) for lit in body] for body in bodies]

    def _either(self, literals: Sequence[int]) -> int:
        return self._all([literal ^ 1 for literal in literals]) ^ 1

    def _all(self, literals: Sequence[int]) -> int:
        """The literal of a conjunction, with a gate of its own only if there is none like it."""
        wanted = set(literals)
        wanted.discard(ALWAYS)
        if IMPOSSIBLE in wanted or any(literal ^ 1 in wanted for literal in wanted):
            return IMPOSSIBLE
        if len(wanted) < 2:
            return wanted.pop() if wanted else ALWAYS
        key = tuple(sorted(wanted))
        for known in self._usable:
            if key in known:
                return known[key]
        made = self._usable[0][key] = 2 * (self.inputs + len(self.gates))
        self.gates.append(key)
        return made

    def finish(self, ends: Sequence[int]) -> Network:
        """The network without the gates that nothing reads."""
        grounding, literal = self._grounding, np.array(self._literal, dtype=np.int64)
        follow = np.where(grounding.next == NEVER, IMPOSSIBLE, literal[grounding.next])
        legal = literal[grounding.legal]
        terminal = IMPOSSIBLE if grounding.terminal == NEVER else int(literal[grounding.terminal])
        goals = [[(value, int(literal[atom])) for value, atom in own] for own in grounding.goals]
        roots = [*follow.tolist(), *legal.tolist(), terminal, *(lit for own in goals for _, lit in own)]
        self._flatten(roots)
        starts = np.concatenate(([0], np.cumsum([len(gate) for gate in self.gates], dtype=np.int64)))
        literals = np.array([lit for gate in self.gates for lit in gate], dtype=np.int64)
        keep = self._read(starts, literals, roots)
        before = np.concatenate(([0], np.cumsum(keep)))  # kept gates in front of each
        node = np.concatenate((np.arange(self.inputs), self.inputs + before[:-1]))

        def renamed(old: Int64s) -> Int64s:
            return 2 * node[old >> 1] + (old & 1)

        sizes = np.diff(starts)
        return Network(
            inputs=self.inputs,
            starts=np.concatenate(([0], np.cumsum(sizes[keep]))),
            literals=renamed(literals[np.repeat(keep, sizes)]),
            loops=before[np.array(self._loops, dtype=np.int64).reshape(-1, 3)],
            parts=(int(before[ends[0]]), int(before[ends[1]]), int(before[ends[2]]), int(before[ends[3]])),
            next=renamed(follow),
            legal=renamed(legal),
            terminal=int(renamed(np.array([terminal]))[0]),
            goals=tuple(tuple((value, int(renamed(np.array([lit]))[0])) for value, lit in own) for own in goals),
        )

    def _flatten(self, roots: Sequence[int]) -> None:
        """Let a gate read what another reads, if that one is read by nothing else; loops stay as they are."""
        uses = np.zeros(self.inputs + len(self.gates), dtype=np.int64)
        np.add.at(uses, np.array(roots, dtype=np.int64) >> 1, 1)
        np.add.at(uses, np.array([lit for gate in self.gates for lit in gate], dtype=np.int64) >> 1, 1)
        open_gate = uses == 1
        open_gate[: self.inputs] = False
        looping = np.zeros(len(self.gates), dtype=np.bool_)
        for begin, _, end in self._loops:
            looping[begin:end] = True
        open_gate[self.inputs :][looping] = False
        inline = open_gate.tolist()
        for number, gate in enumerate(self.gates):
            if not looping[number] and any(inline[lit >> 1] and not lit & 1 for lit in gate):
                flat = (
                    self.gates[(lit >> 1) - self.inputs] if inline[lit >> 1] and not lit & 1 else (lit,) for lit in gate
                )
                self.gates[number] = tuple(sorted({lit for part in flat for lit in part}))

    def _read(self, starts: Int64s, literals: Int64s, roots: Sequence[int]) -> Bools:
        """[gates]: which ones the roots need, directly or not."""
        own = np.array(sorted({literal >> 1 for literal in roots}), dtype=np.int64)
        bounds = np.concatenate((np.zeros(self.inputs, dtype=np.int64), starts))
        return reached(bounds, literals, own)[self.inputs :]
