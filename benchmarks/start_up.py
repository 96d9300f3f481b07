"""How long the command line takes to start: whole processes, with the compiled code in the cache."""

from __future__ import annotations

import statistics
import subprocess
import sys
from functools import partial

from benchmarks.table import Table
from benchmarks.timing import alternate, timed

COMMANDS = (
    "--version",
    "games",
    "perft tic_tac_toe-3x3 3",
    "match connect_four-5x5 random random --games 2",
    "match connect_four-5x5 uct(simulations=50) random --games 2",
)
TARGET = 1.0

AS_INSTALLED = "from palaestra.cli.main import run; run()"
WITHOUT_SCIPY = (
    "import sys; sys.modules['scipy'] = None; " + AS_INSTALLED
)  # importing it then fails, as if it were absent


def run(rounds: int) -> Table:
    table = Table(
        "Start of the command line",
        ("command", "median s", "best s", "median s without SciPy", "target", "reached"),
        "Wall time of the whole process, after one run that compiles what is missing; Python and its imports included."
        " Numba imports SciPy where it finds it. The peers bring it along and playing does not need it, so the third"
        " figure is that of a plain installation; the target is for the first.",
    )
    for command in COMMANDS:
        _process(AS_INSTALLED, command)
        seconds, bare = alternate(
            partial(timed, partial(_process, AS_INSTALLED, command)),
            partial(timed, partial(_process, WITHOUT_SCIPY, command)),
            rounds,
        )
        middle = statistics.median(seconds)
        reached = "yes" if middle < TARGET else "no"
        table.add(f"palaestra {command}", middle, min(seconds), statistics.median(bare), f"< {TARGET:g} s", reached)
    return table


def _process(program: str, command: str) -> None:
    subprocess.run([sys.executable, "-c", program, *command.split()], check=True, capture_output=True)
