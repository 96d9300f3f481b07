"""What is taken when nothing is said, by the command and from Python alike. Imports nothing heavy."""

from __future__ import annotations

from typing import Final

# For games that no agent of the package plays (`live.usual`):
OPPONENT = "uct(simulations=1000)"  # of a person
ADVISER, SOLO_ADVISER = "uct(simulations=2000)", "nrpa(level=2)"  # who is asked about a position
LEVEL: Final = "medium"  # of the agent that a person plays against

MATCH_GAMES, SPRT_GAMES = 100, 10_000  # of a match; at most, with a sequential test
MATCH_LOCKSTEP = 256  # games that a thread of a match plays at once
TOURNAMENT_GAMES = 20  # of every pairing

ADVANTAGE, DRAW, PRIOR = 32.8, 97.3, 2.0  # BayesElo's

EVALUATION_GAMES, EVALUATION_SIMULATIONS = 100, 100
CURVE_POINTS = 8  # networks on a curve of mistakes

SOLVER, SOLVE_MINUTES = "nrpa(level=3)", 5.0
