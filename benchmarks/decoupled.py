"""Decoupled UCT against flat Monte Carlo at equal time: `python -m benchmarks.decoupled RULES.kif --matches 100`.

One seat is decoupled UCT's, all others are flat Monte Carlo's; the seat goes round, so that no seat's advantage counts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from palaestra.ggp.decoupled import Decoupled
from palaestra.ggp.machine import Machine, State, make_machine
from palaestra.ggp.monte_carlo import monte_carlo
from palaestra.ggp.rules import load_rules
from palaestra.ggp.terms import Term

Choose = Callable[[State, int, float], Term]


def play(machine: Machine, seconds: float, seats: list[Choose]) -> list[int]:
    """The goals of one match in which every choice takes so many seconds."""
    state = machine.initial()
    while not machine.terminal(state):
        joint = []
        for seat, legal in enumerate(machine.legal(state)):
            choose = seats[seat]
            joint.append(legal[0] if len(legal) == 1 else choose(state, seat, time.monotonic() + seconds))
        state = machine.step(state, joint)
    return machine.goals(state)


def mean(values: list[float]) -> str:
    """With its 95 % interval."""
    half = 1.96 * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return f"{np.mean(values):.1f} ± {half:.1f}"


def main(
    sheets: list[Path],
    matches: Annotated[int, typer.Option(min=2)] = 100,
    ms: Annotated[float, typer.Option(min=1)] = 50.0,
    seed: int = 0,
) -> None:
    for sheet in sheets:
        machine = make_machine(load_rules(sheet))
        roles, rng = len(machine.roles), np.random.default_rng(seed)
        ours: list[float] = []
        theirs: list[float] = []

        def flat(state: State, seat: int, deadline: float) -> Term:
            return monte_carlo(machine, state, seat, deadline, rng)  # noqa: B023, called in this round

        play(machine, 0.001, [flat] * roles)  # compiles
        play(machine, 0.001, [Decoupled(machine, rng).search] * roles)
        for number in range(matches):
            seats: list[Choose] = [flat] * roles
            seats[number % roles] = Decoupled(machine, rng).search
            goals = play(machine, ms / 1000.0, seats)
            ours.append(goals[number % roles])
            theirs.append(float(np.mean([goal for seat, goal in enumerate(goals) if seat != number % roles])))
        margin = mean([one - other for one, other in zip(ours, theirs, strict=True)])
        kind = type(machine).__name__
        print(
            f"{sheet.stem:24} {kind:11} {roles} roles, {matches} matches, {ms:g} ms a move: decoupled {mean(ours)}, "
            f"flat {mean(theirs)}, margin {margin}",
            flush=True,
        )


if __name__ == "__main__":
    typer.run(main)
