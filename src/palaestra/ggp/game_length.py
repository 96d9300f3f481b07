"""How long games can be by rules in GDL, which do not say it: a counter of moves, or a board that only fills up.

A counter ends games exactly. Where facts that never cease to hold (stones that stay) become more with every move, there
are no more moves than such facts; that every move adds one is seen in random games and in all moves of some of their
states, not proven, so that whoever uses the bound must also enforce it. Knows no Game.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from palaestra.base.types import Bools, Int32s, Int64s, UInt64s
from palaestra.ggp.board_layout import Board
from palaestra.ggp.kernels import LANES
from palaestra.ggp.propnet import PropNet
from palaestra.ggp.terms import arguments, name_of

CAP = 1_000  # plies of a game of which nothing else is known


class Counters:
    """Finds the fact with one argument that counts moves, such as (step 1), (step 2) …: the same in all games."""

    def __init__(self, net: PropNet) -> None:
        families: dict[str, list[int]] = {}
        for number, fact in enumerate(net.all_facts):
            if len(arguments(fact)) == 1:
                families.setdefault(name_of(fact), []).append(number)
        self._net = net
        self._families = {name: np.array(facts) for name, facts in families.items() if len(facts) > 1}
        self._seen: dict[str, list[int]] = {name: [] for name in self._families}

    def observe(self, states: UInt64s) -> None:
        """The states of all games after one more ply."""
        if not len(states):
            return
        bits = fact_bits(self._net, states)
        for name in list(self._seen):
            fact = _only(bits[:, self._families[name]])
            if fact is None or fact in self._seen[name]:
                del self._seen[name]
            else:
                self._seen[name].append(fact)

    def settle(self, states: UInt64s) -> tuple[int, ...]:
        """The facts of a counter that ends every game: with its last value, all these states are terminal."""
        for name, seen in self._seen.items():
            if chain := self._chain(self._families[name], seen, states):
                return chain
        return ()

    def _chain(self, family: Int64s, seen: list[int], states: UInt64s) -> tuple[int, ...]:
        """The values from the start on; they go on as they do from the initial state with another value put in."""
        place, chain = seen[0], [int(family[seen[0]])]
        while not self._net.survey(self._with(states, family, place))[0].all():
            start = self._with(self._net.initial_states(1), family, place)
            over, legal = self._net.survey(start)
            if over[0]:
                return ()
            after = self._net.advance(start, random_moves(legal, self._net.gates.roles, np.random.default_rng(0)))
            found = _only(fact_bits(self._net, after)[:, family])
            if found is None or family[found] in chain:
                return ()
            place = found
            chain.append(int(family[place]))
        return tuple(chain) if len(chain) > 1 else ()

    def _with(self, states: UInt64s, family: Int64s, place: int) -> UInt64s:
        """The states with another value of the counter."""
        states = states.copy()
        for i, fact in enumerate(family.tolist()):
            bit = np.uint64(1) << np.uint64(fact % LANES)
            if i == place:
                states[:, fact // LANES] |= bit
            else:
                states[:, fact // LANES] &= ~bit
        return states


def _only(bits: Bools) -> int | None:
    """The column that is true in every row, if all others are false in every row."""
    columns = np.flatnonzero(bits.any(axis=0))
    return int(columns[0]) if len(columns) == 1 and bits[:, columns[0]].all() else None


class Growth:
    """Finds facts that stay, such as stones, and become more with every move; those in one cell count once."""

    def __init__(self, net: PropNet, board: Board | None) -> None:
        places = [board.place(fact) if board else None for fact in net.all_facts]
        numbers: dict[object, int] = {}
        groups = {
            fact: numbers.setdefault(place.cell if (place := places[fact]) else ("fact", fact), len(numbers))
            for fact in _staying(net)
        }
        self._net = net
        self._membership = np.zeros((len(net.all_facts), len(numbers)), dtype=np.float32)
        self._membership[list(groups), list(groups.values())] = 1.0
        self._grows = bool(groups)

    def observe(self, before: UInt64s, after: UInt64s) -> None:
        """States, and what a move has made of each."""
        self._grows = self._grows and bool((self._filled(after) > self._filled(before)).all())

    def settle(self, states: UInt64s) -> int | None:
        """Plies after which such facts have filled the game; None if a move seen, or any move from these, adds none.

        The states are not terminal.
        """
        if self._grows:
            parents, joint = _all_moves(self._net.survey(states)[1], self._net.gates.roles)
            self.observe(states[parents], self._net.advance(states[parents], joint))
        if not self._grows:
            return None
        return self._membership.shape[1] - int(self._filled(self._net.initial_states(1))[0])

    def _filled(self, states: UInt64s) -> Int64s:
        return np.count_nonzero(fact_bits(self._net, states) @ self._membership, axis=1)


def _staying(net: PropNet) -> list[int]:
    """Facts that hold for ever once they do, as their gates show: next is the fact itself, or it is one alternative."""
    network, found = net.network, []
    for fact, literal in enumerate(network.next.tolist()):
        own = 2 * (1 + fact)
        gate = (literal >> 1) - network.inputs
        if literal == own:
            found.append(fact)
        elif literal & 1 and gate >= 0:
            alternatives = network.literals[network.starts[gate] : network.starts[gate + 1]]
            if own + 1 in alternatives:
                found.append(fact)
    return found


def _all_moves(legal: Bools, bounds: Int32s) -> tuple[Int64s, Int32s]:
    """Every joint move of states in which at most one role has a choice: the state's row, and int32[n, roles]."""
    counts = np.stack([legal[:, begin:end].sum(axis=1) for begin, end in pairwise(bounds)])
    chooser = counts.argmax(axis=0)
    rows: list[int] = []
    joint: list[list[int]] = []
    for row, role in enumerate(chooser.tolist()):
        forced = [int(legal[row, begin:end].argmax()) for begin, end in pairwise(bounds)]
        for move in np.flatnonzero(legal[row, bounds[role] : bounds[role + 1]]).tolist():
            rows.append(row)
            joint.append([move if other == role else forced[other] for other in range(len(forced))])
    return np.array(rows, dtype=np.int64), np.array(joint, dtype=np.int32)


def random_moves(legal: Bools, bounds: Int32s, rng: np.random.Generator) -> Int32s:
    """int32[B, roles]: a uniform legal move of each role, each a number among its role's moves."""
    keys = np.where(legal, rng.random(legal.shape), -1.0)
    chosen = [keys[:, begin:end].argmax(axis=1) for begin, end in pairwise(bounds)]
    return np.stack(chosen, axis=1).astype(np.int32)


def fact_bits(net: PropNet, states: UInt64s) -> Bools:
    """bool[B, facts]."""
    rows = np.ascontiguousarray(states).view(np.uint8)
    return np.unpackbits(rows, axis=1, bitorder="little")[:, : len(net.all_facts)].astype(np.bool_)
