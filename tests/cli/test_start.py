"""Signals while the command starts, with nothing but imports behind it, and in an experiment of many processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.interrupts import hear_interrupts, signals

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals differ")
OURS = f"{os.sep}palaestra{os.sep}cli{os.sep}"


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "palaestra", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear_interrupts,
    )  # fmt: skip


@signals()
def test_a_signal_at_any_instant_of_the_start_shows_no_traceback(tmp_path: Path, number: int, code: int) -> None:
    """The first hundredths of a second belong to Python: what it prints there names none of our files."""
    ended = set()
    for step in range(10):
        process = start("train", "tic_tac_toe-3x3", "--out", str(tmp_path / str(step)), "--iterations", "100")
        time.sleep(0.06 * step)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        assert "Traceback" not in err or OURS not in err, (step, err)
        ended.add(process.returncode)
    assert code in ended


@pytest.mark.slow
@signals("SIGTERM")
def test_an_experiment_says_how_to_go_on(tmp_path: Path, number: int, code: int) -> None:
    process = start("reproduce", "bonus", "--out", str(tmp_path), "--jobs", "2", "--generations", "16", "--seeds", "1")
    until = time.monotonic() + 240
    while not list(tmp_path.rglob("manifest.json")):
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, "")
    assert "Traceback" not in err and "To go on: palaestra reproduce bonus" in err


def test_a_signal_that_the_parent_ignores_stays_ignored() -> None:
    """As with nohup, or in the background of a script."""
    process = subprocess.Popen(
        [sys.executable, "-m", "palaestra", "perft", "tic_tac_toe-3x3", "3", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
    assert process.returncode == 0, process.communicate()
