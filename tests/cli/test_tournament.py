"""`palaestra tournament` as a person uses it: what it says, what it refuses, and what a kill leaves behind."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from palaestra.arena.crosstable import Crosstable
from palaestra.arena.ratings import rate
from palaestra.arena.results import Results
from palaestra.cli.crosstables import crosstable
from palaestra.cli.output import at_words
from palaestra.cli.ratings import ratings_table, superiority_table
from palaestra.games.registry import make_game
from palaestra.nets.inference_speed import model_bytes
from palaestra.runs.game_record import GameRecord
from palaestra.runs.pgn_games import read_games
from tests.cli.interrupts import hear_interrupts, signals

GAME = "gobang-5x5"
SMALL = ("tournament", "tic_tac_toe-3x3", "random", "greedy", "uct(simulations=20)", "--games", "6", "--seed", "2")
LONG = ("tournament", GAME, *(f"uct(simulations={n})" for n in (200, 300, 400)), "random", "--games", "20")
COMMAND = [sys.executable, "-m", "palaestra", *LONG, "--lockstep", "6", "--threads", "2", "--json"]


def test_a_tournament_reports_the_agreed_fields(cli: Any) -> None:
    done = cli(*SMALL, "--json")
    assert (done.code, done.err) == (0, "")
    report = json.loads(done.out)
    assert set(report["ratings"][0]) == {"player", "elo", "plus", "minus", "games", "score", "draws", "opponents"}
    assert [row["player"] for row in report["ratings"]] == report["players"]
    assert (report["games"], report["recalled"], report["pgn"]) == (18, 0, None)
    assert 0 < report["distinct_games"] <= 18
    assert report["network_share"] is None and report["faults"] == []
    for row in range(3):
        assert report["crosstable"][row][row] is None
        assert sum(sum(tally) for tally in report["crosstable"][row] if tally) == report["ratings"][row]["games"] == 12
        for column in range(3):
            assert report["superiority"][row][column] + report["superiority"][column][row] == pytest.approx(1.0)


def test_the_tables_fit_into_the_columns_there_are(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    players = [f"mcs(playouts={n})" for n in range(1, 13)]
    done = cli("tournament", "tic_tac_toe-3x3", *players, "--games", "2")
    assert done.code == 0
    assert all(len(line) <= 100 for line in done.out.splitlines())
    table = done.out.split("Ratings")[0]
    assert all(player in table for player in players), "no name is cut"
    assert " 12 " in table.splitlines()[1]
    monkeypatch.setenv("COLUMNS", "60")
    narrow = cli("tournament", "tic_tac_toe-3x3", *players, "--games", "2").out.split("Ratings")[0]
    assert all(len(line) <= 60 for line in narrow.splitlines())
    assert " 12 " not in narrow.splitlines()[1], "where that is too wide, only standings"


def test_ratings_follow_the_options(cli: Any) -> None:
    report = json.loads(cli(*SMALL, "--anchor", "random=100", "--advantage", "0", "--json").out)
    assert next(row["elo"] for row in report["ratings"] if row["player"] == "random") == pytest.approx(100.0)
    assert report["advantage"] == 0.0


@pytest.mark.parametrize(("format", "games"), [("gauntlet", 12), ("swiss", 12)])
def test_other_formats_play_fewer_games(cli: Any, format: str, games: int) -> None:
    assert json.loads(cli(*SMALL, "--format", format, "--json").out)["games"] == games


def test_adjudicated_games_are_counted_and_shorter(cli: Any, tmp_path: Path) -> None:
    arguments = (*SMALL, "--json", "--pgn")
    plain = json.loads(cli(*arguments, str(tmp_path / "plain.pgn")).out)
    short = json.loads(cli(*arguments, str(tmp_path / "short.pgn"), "--adjudicate").out)
    assert (plain["adjudicated"], short["adjudicated"] > 0) == (0, True)
    lengths = [
        sum(len(game.moves) for game in read_games((tmp_path / name).read_text()))
        for name in ("plain.pgn", "short.pgn")
    ]
    assert lengths[0] > lengths[1]


def test_the_share_of_networks_is_a_share(cli: Any, tmp_path: Path) -> None:
    game = make_game("tic_tac_toe-3x3")
    (tmp_path / "net.onnx").write_bytes(model_bytes(game, "b1c8"))  # type: ignore[arg-type]
    player = f"puct({tmp_path / 'net.onnx'}, simulations=30)"
    report = json.loads(cli("tournament", game.id, player, "random", "--games", "20", "--threads", "2", "--json").out)
    assert 0.0 < report["network_share"] < 1.0


def test_pictures_are_drawn(cli: Any, tmp_path: Path) -> None:
    report = json.loads(cli(*SMALL, "--plot", str(tmp_path / "elo.svg"), "--json").out)
    assert str(tmp_path / "elo.svg") in report["plots"]
    assert all(Path(file).stat().st_size > 1000 for file in report["plots"])


def test_a_finished_file_is_recalled_whole(cli: Any, tmp_path: Path) -> None:
    pgn = str(tmp_path / "games.pgn")
    first = json.loads(cli(*SMALL, "--pgn", pgn, "--resume", "--json").out)
    again = json.loads(cli(*SMALL, "--pgn", pgn, "--resume", "--json").out)
    assert (first["recalled"], again["recalled"]) == (0, 18)
    assert first["ratings"] == again["ratings"]
    refused = cli(*SMALL, "--pgn", pgn)
    assert (refused.code, refused.out) == (2, "") and "--resume" in refused.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("random",), "at least two different players"),
        (("random", "greedy", "random"), "random is given twice"),
        (("random", "uct(simulation=3)"), "player 'uct(simulation=3)': uct has no argument"),
        (("random", "run:nowhere@*"), "player 'run:nowhere@*'"),
        (("random", "human"), "a person cannot play many games"),
        (("random", "greedy", "--games", "3"), "even number"),
        (("random", "greedy", "--format", "knockout"), "round-robin, gauntlet, swiss"),
        (("random", "greedy", "--rounds", "2"), "leave rounds out"),
        (("random", "greedy", "--resume"), "--pgn games.pgn --resume"),
        (("random", "greedy", "--anchor", "nobody=0"), "not among the players"),
        (("random", "greedy", "--plot", "elo.gif"), ".png or .svg"),
        (("random", "greedy", "--plot", "no/such/elo.png"), "no folder"),
        (("random", "greedy", "--pgn", "no/such/games.pgn"), "cannot write"),
        (("random", "greedy", "--openings", "nonsense"), "openings 'nonsense'"),
    ],
)
def test_bad_input_is_one_line_before_the_first_game(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = cli("tournament", "tic_tac_toe-3x3", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err and done.err.count("\n") == 1
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def start(pgn: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "--pgn", str(pgn), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_interrupts,
    )


def wait_for(pgn: Path, size: int, process: subprocess.Popen[str]) -> None:
    """Until the file has more than `size` bytes."""
    while process.poll() is None and not (pgn.exists() and pgn.stat().st_size > size):
        time.sleep(0.002)


def killed_and_resumed(tmp_path: Path, kills: int, rng: np.random.Generator) -> None:
    whole, pgn = tmp_path / "whole.pgn", tmp_path / "killed.pgn"
    out, err = start(whole).communicate(timeout=300)
    report = json.loads(out)
    total, landed = whole.stat().st_size, 0
    for _ in range(kills):
        process = start(pgn, "--resume")
        before = pgn.stat().st_size if pgn.exists() else 0
        # Somewhere in the next part of the file: the kills spread over the whole tournament.
        wait_for(pgn, before + int(rng.uniform(0, 1.2 * total / kills)), process)
        time.sleep(rng.uniform(0, 0.02))
        landed += process.poll() is None
        process.kill()
        process.communicate()
        assert whole.read_bytes().startswith(pgn.read_bytes()), "what is there is right at any time"
    out, err = start(pgn, "--resume").communicate(timeout=300)
    resumed = json.loads(out)
    assert pgn.read_bytes() == whole.read_bytes(), err
    assert landed >= kills // 2 and resumed["games"] == 120
    for name in ("ratings", "crosstable", "distinct_games", "games"):
        assert resumed[name] == report[name]


@pytest.mark.slow
def test_a_tournament_that_is_killed_three_times_ends_with_the_same_file(tmp_path: Path) -> None:
    killed_and_resumed(tmp_path, 3, np.random.default_rng(0))


@pytest.mark.slow
def test_a_tournament_that_is_killed_twenty_times_ends_with_the_same_file(tmp_path: Path) -> None:
    killed_and_resumed(tmp_path, 20, np.random.default_rng(1))


@signals("SIGTERM")
def test_a_signal_says_in_one_line_how_to_go_on(tmp_path: Path, number: int, code: int) -> None:
    pgn = tmp_path / "games.pgn"
    process = start(pgn)
    wait_for(pgn, 0, process)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (code, "")
    assert err.count("\n") == 1 and "with --resume goes on" in err
    assert f"{len(read_games(pgn.read_text()))} games are in {pgn}" in err


NAMES = (
    "random",
    "uct(simulations=200)",
    "puct(runs/first-try/best.onnx, simulations=1000, c=1.5)",
    "mcs(playouts=50)",
)


@pytest.mark.parametrize("players", [2, 4, 6, 9, 14])
def test_a_cross_table_and_ratings_have_room_in_80_columns_with_every_word_whole(players: int) -> None:
    names = tuple(f"{i}{NAMES[i % 4]}" for i in range(players))
    table = Crosstable(names)
    games = [(names[i], names[j], points) for i in range(players) for j in range(i) for points in (1.0, 0.5, 0.0, 1.0)]
    for first, second, points in games:
        table.add(GameRecord(0, 0, (), 0, None, points, first, second))
    ratings = rate(Results.count(games))
    for shown in (crosstable(table, 80), ratings_table(ratings, 80), superiority_table(ratings, 80)):
        console = Console(width=80)
        with console.capture() as written:
            console.print(shown)
        text = written.get()
        assert "…" not in text and max(map(len, text.splitlines())) <= 80
        for word in " ".join(names[1:]).replace("(", "( ").split():
            assert word in text
        assert "score (95 %)" in text or "Elo" in text or "stronger than" in text


def test_names_are_broken_after_brackets_and_commas_only() -> None:
    assert at_words(NAMES[2], 17) == "puct(\n runs/first-try/best.onnx,\n simulations=1000,\n c=1.5)"
    assert at_words(NAMES[2], 100) == NAMES[2] and at_words("", 5) == ""
