"""How long the command line takes to start: whole processes, with the compiled code in the cache."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from functools import partial

from benchmarks.table import Table
from benchmarks.timing import timed

COMMANDS = (
    "--version",
    "games",
    "settings",
    "runs",
    "reproduce",
    "perft tic_tac_toe-3x3 3",
    "match connect_four-5x5 random random --games 2",
    "match connect_four-5x5 uct(simulations=50) random --games 2",
)
TARGET = 0.7

PROGRAM = "from palaestra.cli.start import run; run()"


def run(rounds: int) -> Table:
    table = Table(
        "Start of the command line",
        ("command", "median s", "best s", "target", "reached"),
        "Wall time of the whole process, after one run that compiles what is missing; Python and its imports included.",
    )
    for command in COMMANDS:
        _process(command)
        seconds = [timed(partial(_process, command)) for _ in range(rounds)]
        middle = statistics.median(seconds)
        reached = "yes" if middle <= TARGET else "no"
        table.add(f"palaestra {command}", middle, min(seconds), f"≤ {TARGET:g} s", reached)
    return table


def _process(command: str) -> None:
    """With Python's own files of compiled modules, as everybody has them who does not forbid it."""
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", PROGRAM, *command.split()], check=True, capture_output=True, env=usual)
