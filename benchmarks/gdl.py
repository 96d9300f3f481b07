"""Games given by their rules: random games on one core, as a network, interpreted, and beside the built-in kernels."""

from __future__ import annotations

import statistics
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.table import Table
from benchmarks.timing import per_second, ratio
from palaestra.games.registry import make_game
from palaestra.ggp.interpreter import Interpreter
from palaestra.ggp.propnet import PropNet
from palaestra.ggp.rules import load_rules
from palaestra.search.search_speed import measure_rollouts

FOLDER = Path(__file__).parents[2] / "shared" / "gdl"
# Rulesheet, and the built-in game that is nearest: Connect Four has eight columns in the rulesheet.
GAMES = (("ticTacToe", "tic_tac_toe-3x3"), ("connectFour", "connect_four-6x8"), ("reversi", "othello-8x8"))
BATCH = 4096
WANTED, WANTED_OF = 500_000, "connectFour"

NOTE = (
    "One core. Transitions are joint moves in uniform random games from the start, with goals. The network"
    " plays 4,096 games a call in blocks of 512. Built-in kernels count moves of one player."
)


class Interpreted:
    """One random game after another with the interpreter; `play` returns the transitions of one."""

    def __init__(self, machine: Interpreter) -> None:
        self._machine, self._rng = machine, np.random.default_rng(1)

    def play(self) -> int:
        machine, state, moves = self._machine, self._machine.initial(), 0
        while not machine.terminal(state):
            joint = [own[self._rng.integers(len(own))] for own in machine.legal(state)]
            state = machine.step(state, joint)
            moves += 1
        machine.goals(state)
        return moves


def _transitions(network: PropNet, rng: np.random.Generator) -> int:
    return int(network.random_playouts(BATCH, rng).lengths.sum())


def run(rounds: int, seconds: float) -> Table:
    columns = (
        "rulesheet",
        "transitions/s",
        "games/s",
        "interpreted",
        "over interpreted",
        "built in",
        "of built in",
        "target",
        "reached",
    )
    table = Table("Games from rules in GDL", columns, NOTE)
    for sheet, id in GAMES:
        path = FOLDER / f"{sheet}.kif"
        if not path.exists():
            continue
        rules, game = load_rules(path), make_game(id)
        network, interpreted = PropNet(rules), Interpreted(Interpreter(rules))
        rng = np.random.default_rng(1)
        length = float(network.random_playouts(BATCH, rng).lengths.mean())  # compiles, too
        ours, slow, built_in = list[float](), list[float](), list[float]()
        for _ in range(rounds):
            ours.append(per_second(partial(_transitions, network, rng), seconds))
            slow.append(per_second(interpreted.play, seconds))
            built_in.append(measure_rollouts(game, BATCH, seconds).plies_per_second)
        median = statistics.median(ours)
        target = WANTED if sheet == WANTED_OF else None
        table.add(
            sheet,
            median,
            median / length,
            statistics.median(slow),
            ratio(ours, slow),
            statistics.median(built_in),
            ratio(ours, built_in),
            f"≥ {WANTED // 1000} k/s" if target else None,
            None if target is None else "yes" if median >= target else "no",
        )
    return table
