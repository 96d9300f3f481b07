"""Systems that lack what Linux has, played on Linux: modules of Unix cannot be imported, and their calls are gone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from palaestra.base.jit import cache_root

WINDOWS = """
import os, signal, sys
for name in ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty", "syslog"):
    sys.modules[name] = None
for name in ("geteuid", "getuid", "sched_getaffinity", "O_NONBLOCK", "O_NOFOLLOW", "O_DIRECTORY", "mkfifo"):
    delattr(os, name)
"""
HOMELESS = """
import os, pwd
def unknown(*_):
    raise KeyError("no such user")
pwd.getpwuid = pwd.getpwnam = unknown
os.environ.pop("HOME", None)
"""
RUN = """
import importlib, json, pkgutil, sys
import palaestra
from palaestra.cli.main import run
modules = [found.name for found in pkgutil.walk_packages(palaestra.__path__, "palaestra.")]
for name in modules:
    if not name.endswith(("__main__", "loops", "alphabeta_values")):  # loops are templates
        importlib.import_module(name)
codes = []
for arguments in json.loads(sys.argv[1]):
    try:
        run(arguments)
    except SystemExit as left:
        codes.append(left.code)
print()
print(json.dumps(codes))
"""
GAME = "tic_tac_toe-3x3"
TINY = [f"--set={setting}" for setting in (
    "net=b1c4", "selfplay.games=4", "selfplay.search.simulations=2", "gate.games=2",
    "evaluation.every=1", "evaluation.games=2", "evaluation.simulations=2",
)]  # fmt: skip
VERBS = [
    ["train", GAME, "--out", "tiny", "--iterations", "1", *TINY],
    ["resume", "tiny", "--iterations", "2"],
    ["report", "tiny"],
    ["evaluate", "tiny", "--games", "2", "--simulations", "2", "--against", "random"],
    ["export", "tiny", "--out", "tiny.onnx"],
    ["match", GAME, "puct(tiny.onnx, simulations=2)", "random", "--games", "2", "--pgn", "match.pgn"],
    ["tournament", GAME, "random", "uct(simulations=2)", "--games", "2", "--pgn", "games.pgn"],
    ["tournament", GAME, "random", "uct(simulations=2)", "--games", "2", "--pgn", "games.pgn", "--resume"],
    ["rate", "games.pgn", "--plot", "ratings.svg"],
    ["solve", "morpion-4d", "--player", "nmcs(level=1)", "--restarts", "1", "--out", "solved"],
    ["qlearn", GAME, "--games", "40", "--seeds", "1", "--save", "tic.table"],
]


def run_verbs(folder: Path, beforehand: str, verbs: list[list[str]], **environment: str) -> None:
    """All verbs succeed, in one process."""
    known = {**os.environ, "PALAESTRA_CACHE": str(cache_root()), **environment}
    command = [sys.executable, "-c", beforehand + RUN, json.dumps(verbs)]
    done = subprocess.run(command, cwd=folder, env=known, text=True, capture_output=True, timeout=900)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [0] * len(verbs), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_every_verb_that_keeps_files_works_without_the_modules_of_unix(tmp_path: Path) -> None:
    run_verbs(tmp_path, WINDOWS, VERBS)
    for name in ("runs/tiny/report.html", "match.pgn", "games.pgn", "ratings.svg", "solved/solve.json", "tic.table"):
        assert (tmp_path / name).stat().st_size > 0


@pytest.mark.slow
def test_a_user_without_a_home_trains_and_draws(tmp_path: Path) -> None:
    pgn = '[White "a"]\n[Black "b"]\n[Result "1-0"]\n\n1. a1 1-0\n\n'
    (tmp_path / "games.pgn").write_text(pgn)
    verbs = [VERBS[0], VERBS[2], ["rate", "games.pgn", "--plot", "ratings.svg"]]
    run_verbs(tmp_path, HOMELESS, verbs, HOME="", XDG_CACHE_HOME="", XDG_CONFIG_HOME="", TMPDIR=str(tmp_path))
    assert (tmp_path / "ratings.svg").stat().st_size > 0
