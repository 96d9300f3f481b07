"""What the tests of the machines have in common: rulesheets to read, and how two machines are compared."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from palaestra.ggp.machine import Machine, State
from palaestra.ggp.terms import Term, term_text
from tests.ggp.plain import Plain

FOLDER = Path(__file__).parents[3] / "shared" / "gdl"
SHEETS = tuple(sorted(FOLDER.glob("*.kif")))
LEAVES = {  # every joint move counts one; from the table that comes with the files
    "ticTacToe": (9, 72, 504, 3024),
    "connectFour": (8, 64, 512, 4096),
    "reversi": (4, 12, 56),
    "sheepAndWolf": (2, 14, 56),
    "nim1": (12, 115, 866),
}

# Two walkers on a ring of four places with a bridge that one of them may open; who can reach the other's home along
# open ways, which are found by recursion through a cycle, wins. Both move at once.
RING = """
(role left) (role right)
(init (at left a)) (init (at right c)) (init (count 0))
(way a b) (way b c) (way c d) (way d a)
(bridge b d)
(succ 0 1) (succ 1 2) (succ 2 3)
(home left a) (home right c)
(<= (link ?x ?y) (way ?x ?y) (not (true (shut ?x ?y))))
(<= (link ?x ?y) (bridge ?x ?y) (true open))
(<= (path ?x ?y) (link ?x ?y))
(<= (path ?x ?z) (path ?x ?y) (link ?y ?z))
(<= (legal ?r stay) (role ?r))
(<= (legal left open) (not (true open)))
(<= (legal right (shut ?x ?y)) (way ?x ?y) (not (true (shut ?x ?y))))
(<= (legal ?r (go ?y)) (true (at ?r ?x)) (link ?x ?y))
(<= (next open) (true open))
(<= (next open) (does left open))
(<= (next (shut ?x ?y)) (true (shut ?x ?y)))
(<= (next (shut ?x ?y)) (does right (shut ?x ?y)))
(<= (next (at ?r ?y)) (does ?r (go ?y)))
(<= (next (at ?r ?x)) (true (at ?r ?x)) (not (goes ?r)))
(<= (goes ?r) (does ?r (go ?y)))
(<= (next (count ?n)) (true (count ?m)) (succ ?m ?n))
(<= (reaches ?r) (true (at ?r ?x)) (home ?o ?y) (distinct ?r ?o) (path ?x ?y))
(<= terminal (true (count 3)))
(<= (goal ?r 100) (role ?r) (reaches ?r))
(<= (goal ?r 30) (role ?r) (not (reaches ?r)))
"""


def sheets(*names: str) -> list[object]:
    """Parameters for the files of these names, or for all; one that skips where they are absent."""
    if not SHEETS:
        return [pytest.param(None, marks=pytest.mark.skip(reason="the folder of rulesheets is not there"))]
    return [pytest.param(path, id=path.stem) for path in SHEETS if not names or path.stem in names]


def questions(machine: Machine | Plain, state: State) -> tuple[object, ...]:
    """Everything that can be asked about one state, in a form that does not depend on the machine."""
    facts = machine.facts(state) if isinstance(machine, Machine) else state
    legal = [sorted(map(term_text, moves)) for moves in machine.legal(state)]  # type: ignore[arg-type]
    assert all(len(set(moves)) == len(moves) for moves in legal), "a move is listed twice"
    return facts, legal, machine.terminal(state), machine.goals(state)  # type: ignore[arg-type]


def agree(machines: Sequence[Machine | Plain], seed: int, most: int = 10_000) -> int:
    """Play one random game on all machines, comparing every answer; the number of states compared."""
    chance = random.Random(seed)
    states = [machine.initial() for machine in machines]
    for count in range(1, most + 1):
        answers = [questions(machine, state) for machine, state in zip(machines, states, strict=True)]
        assert all(answer == answers[0] for answer in answers[1:])
        if answers[0][2]:
            return count
        legal = machines[0].legal(states[0])  # type: ignore[arg-type]
        joint = [chance.choice(sorted(moves, key=term_text)) for moves in legal]
        states = [machine.step(state, joint) for machine, state in zip(machines, states, strict=True)]  # type: ignore[arg-type]
    return most


def leaves(machine: Machine, depth: int) -> int:
    """Joint moves `depth` deep below the initial state."""
    states = [machine.initial()]
    for _ in range(depth):
        states = [machine.step(state, joint) for state in states for joint in joints(machine, state)]
    return len(states)


def joints(machine: Machine, state: State) -> list[tuple[Term, ...]]:
    """Every joint move."""
    found: list[tuple[Term, ...]] = [()]
    for moves in machine.legal(state):
        found = [(*joint, move) for joint in found for move in moves]
    return found
