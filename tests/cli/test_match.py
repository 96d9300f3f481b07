"""The verb `match`: openings, early stops, adjudication, files of games, and threads that change nothing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from palaestra.games.registry import make_game
from palaestra.runs.pgn_games import PgnGame, read_games
from tests.cli.conftest import Cli
from tests.cli.interrupts import hear_interrupts
from tests.games.perfect import perfect_outcome

TIMES = ("seconds", "seconds_per_move")
STRONG, WEAK = "uct(simulations=30)", "random"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def result(cli: Cli, *arguments: str) -> dict[str, Any]:
    done = cli("match", *arguments, "--json")
    assert (done.code, done.err) == (0, "")
    found: dict[str, Any] = json.loads(done.out)
    return found


def games_of(path: str) -> list[PgnGame]:
    return read_games(Path(path).read_text())


def test_openings_come_from_the_place_that_is_named(cli: Cli) -> None:
    Path("book.txt").write_text("a1 b2\nc3 b2\nb2 a1\n")
    arguments = ("tic_tac_toe-3x3", STRONG, WEAK, "--games", "6")
    found = result(cli, *arguments, "--openings", "book.txt", "--pgn", "games.pgn")
    assert (found["openings"], found["opening_plies"], found["distinct_openings"]) == ("book.txt", 2, 3)
    begun = [" ".join(game.moves[:2]) for game in games_of("games.pgn")]
    assert sorted(begun) == sorted(2 * ["a1 b2", "c3 b2", "b2 a1"])
    again = result(cli, *arguments, "--openings", "games.pgn:1")
    assert (again["openings"], again["opening_plies"]) == ("games.pgn:1", 1)
    assert result(cli, *arguments, "--openings", "all:1")["distinct_openings"] == 3
    same = [result(cli, *arguments, *words) for words in (("--opening-plies", "3"), ("--openings", "random:3"))]
    assert same[0]["pairs"] == same[1]["pairs"] and same[0]["mean_plies"] == same[1]["mean_plies"]


def test_openings_that_repeat_are_never_passed_over_in_silence(cli: Cli) -> None:
    arguments = ("tic_tac_toe-3x3", STRONG, WEAK, "--openings", "all:1", "--games")
    assert result(cli, *arguments, "30")["distinct_openings"] == 9
    few, enough = (" ".join(cli("match", *arguments, games).out.split()) for games in ("30", "18"))
    assert "all positions at ply 1; only 9 distinct for 15 pairs, so they were repeated" in few
    assert "all positions at ply 1, 9 distinct" in enough and "repeated" not in enough


def test_threads_and_lockstep_change_neither_the_result_nor_the_file(cli: Cli) -> None:
    arguments = ("connect_four-4x4", STRONG, "uct(simulations=20)", "--games", "40", "--seed", "3")
    results, files = [], []
    for number, words in enumerate((("--threads", "1"), ("--threads", "3"), ("--threads", "2", "--lockstep", "2"))):
        found = result(cli, *arguments, *words, "--pgn", f"{number}.pgn")
        results.append({name: value for name, value in found.items() if name not in (*TIMES, "pgn")})
        files.append(Path(f"{number}.pgn").read_text())
    assert results[0] == results[1] == results[2]
    assert files[0] == files[1] == files[2]
    rounds = [int(game.tags["Round"]) for game in games_of("0.pgn")]
    assert rounds == list(range(1, 41))


def test_the_file_holds_every_game_with_its_players_and_result(cli: Cli) -> None:
    found = result(cli, "tic_tac_toe-3x3", STRONG, WEAK, "--games", "10", "--seed", "5", "--pgn", "games.pgn")
    assert found["pgn"] == "games.pgn"
    points = 0.0
    game = make_game("tic_tac_toe-3x3")
    for number, played in enumerate(games_of("games.pgn")):
        first, second = (STRONG, WEAK) if number % 2 == 0 else (WEAK, STRONG)
        assert (played.tags["White"], played.tags["Black"], played.tags["Seed"]) == (first, second, "5")
        white = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}[played.result]
        assert int(played.tags["Outcome"]) == game.outcome(played.states(game)[-1][None])[0]
        points += white if number % 2 == 0 else 1.0 - white
    assert points == 10 * found["score"]


@pytest.mark.parametrize(("players", "verdict"), [((STRONG, WEAK), "accepted"), ((WEAK, STRONG), "rejected")])
def test_a_sequential_test_ends_the_match(cli: Cli, players: tuple[str, str], verdict: str) -> None:
    arguments = ("connect_four-4x4", *players, "--sprt", "0,100,0.1,0.2")
    found = result(cli, *arguments, "--games", "400", "--pgn", "games.pgn")
    test = found["sprt"]
    assert (test["elo0"], test["elo1"], test["alpha"], test["beta"]) == (0.0, 100.0, 0.1, 0.2)
    assert test["verdict"] == verdict and found["games"] < 400
    low, high = test["bounds"]
    assert test["llr"] >= high if verdict == "accepted" else test["llr"] <= low
    assert len(games_of("games.pgn")) == found["games"] == 2 * sum(found["pairs"])
    shown = cli("match", *arguments).out
    assert f"{verdict}: " in shown and "rather than" in shown and "log-likelihood ratio" in shown


def test_a_sequential_test_says_when_the_games_ran_out(cli: Cli) -> None:
    arguments = ("connect_four-4x4", STRONG, STRONG, "--sprt", "0,5", "--games", "20")
    found = result(cli, *arguments)
    assert found["sprt"]["verdict"] is None and found["games"] == 20
    assert "undecided between +0 and +5 Elo" in cli("match", *arguments).out
    assert result(cli, *arguments[:3], "--games", "2")["sprt"] is None


def test_adjudicated_games_end_early_with_the_result_of_perfect_play(cli: Cli) -> None:
    arguments = ("tic_tac_toe-3x3", "uct(simulations=300)", "alphabeta(depth=9)", "--games", "20")
    played_out = result(cli, *arguments)
    found = result(cli, *arguments, "--adjudicate", "--pgn", "games.pgn")
    assert played_out["adjudicated"] == 0 < found["adjudicated"]
    assert found["mean_plies"] < played_out["mean_plies"]
    game = make_game("tic_tac_toe-3x3")
    ended = [played for played in games_of("games.pgn") if played.tags["Termination"] == "adjudication"]
    assert len(ended) == found["adjudicated"]
    for played in ended:
        states = played.states(game)
        assert np.sign(perfect_outcome(game, states[-1])) == {"1-0": 1, "0-1": -1, "1/2-1/2": 0}[played.result]
    assert "ended where the result was proved" in cli("match", *arguments, "--adjudicate").out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--openings", "nowhere.txt"), "for example all:4"),
        (("--openings", "all:4", "--opening-plies", "2"), "exclude each other"),
        (("--openings", "bad.txt"), "bad.txt, line 2: move 1: 'z9'"),
        (("--sprt", "30,0"), "elo1 must be larger"),
        (("--sprt", "0"), "elo0,elo1,alpha,beta, for example"),
        (("--pgn", "bad.txt"), "bad.txt exists"),
        (("--pgn", "no/folder.pgn"), "no/folder.pgn"),
        (("--games", "7", "--pgn", "new.pgn"), "even number"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_file(cli: Cli, words: tuple[str, ...], complaint: str) -> None:
    Path("bad.txt").write_text("# one\nz9\n")
    done = cli("match", "tic_tac_toe-3x3", STRONG, WEAK, *words)
    assert (done.code, done.out) == (2, "")
    assert complaint in done.err and done.err.count("\n") == 1
    assert [path.name for path in Path().iterdir()] == ["bad.txt"]


def interrupted(path: Path) -> subprocess.Popen[str]:
    """A long match on two threads that was interrupted after some of its games."""
    process = subprocess.Popen(
        [sys.executable, "-m", "palaestra", "match", "gobang-6x6", "uct(simulations=300)", "random", "--games", "20000",
         "--threads", "2", "--lockstep", "2", "--pgn", str(path), "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear_interrupts,
    )  # fmt: skip
    while process.poll() is None and not (path.exists() and path.read_text().count("[Event") >= 3):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    return process


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
def test_an_interrupt_ends_all_threads_and_keeps_the_games_that_are_over(tmp_path: Path) -> None:
    process = interrupted(tmp_path / "games.pgn")
    assert process.communicate(timeout=60) == ("", "") and process.returncode == 130
    kept = games_of("games.pgn")
    assert 3 <= len(kept) < 20000 and all(game.result != "*" for game in kept)


def test_a_match_of_networkless_players_loads_no_network_library() -> None:
    script = (
        "import sys; from palaestra.cli.main import _run; "
        "code = _run(['match', 'tic_tac_toe-3x3', 'random', 'greedy', '--games', '2', '--pgn', 'g.pgn', '--json']); "
        "print(code, [name for name in ('torch', 'onnxruntime', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr
