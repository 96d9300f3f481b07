"""`palaestra solve` and `palaestra check-solution` as a person uses them, and what a kill leaves behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from palaestra.lab.solve_folder import read_journal
from tests.cli.interrupts import hear_interrupts, signals

NRPA = ("--player", "nrpa(level=1, n=20)")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_solve_reports_the_agreed_fields_and_goes_on_with_its_folder(cli: Any, here: Path) -> None:
    arguments = ("solve", "morpion-4d", *NRPA, "--threads", "2", "--out", "records", "--seed", "3", "--json")
    first = json.loads(cli(*arguments, "--restarts", "4").out)
    assert first["game"] == "morpion-4d" and first["player"] == "nrpa(level=1, n=20)"
    assert first["restarts"] == 4 == sum(first["scores"].values())
    assert first["best"] == max(map(int, first["scores"])) and first["seconds"] > 0
    assert set(first["first_met"]) == set(first["scores"])
    second = json.loads(cli(*arguments, "--restarts", "3").out)
    assert second["restarts"] == 7 and second["seconds"] > first["seconds"]
    for path in second["solutions"]:
        checked = json.loads(cli("check-solution", path, "--json").out)
        assert (checked["valid"], checked["score"], checked["error"]) == (True, second["best"], None)


def test_solve_tells_people_the_histogram_and_where_the_best_is(cli: Any, here: Path) -> None:
    done = cli("solve", "morpion-4d", *NRPA, "--restarts", "3", "--plot", "curve.svg")
    assert done.code == 0
    for piece in (
        "morpion-4d, nrpa(level=1, n=20), seed 0",
        "first met",
        "█",
        "check-solution solved/morpion-4d/",
        "curve",
    ):
        assert piece in done.out
    assert "new best" in done.err
    assert ElementTree.parse(here / "curve.svg").getroot().tag.endswith("svg")
    assert sum(read_journal(here / "solved" / "morpion-4d").scores.values()) == 3


@pytest.mark.parametrize("player", ["random", "nmcs(level=1)", "uct(simulations=3)", "greedy"])
def test_every_kind_of_player_can_be_restarted(cli: Any, here: Path, player: str) -> None:
    found = json.loads(
        cli("solve", "morpion-4d", "--player", player, "--restarts", "2", "--threads", "1", "--json").out
    )
    assert found["restarts"] >= 2 and found["best"] > 10 and found["stopped_by"] == "restarts"


def test_a_target_stops_the_search(cli: Any, here: Path) -> None:
    found = json.loads(cli("solve", "morpion-4d", *NRPA, "--target", "20", "--json").out)
    assert found["stopped_by"] == "target" and found["best"] >= 20


def test_a_search_may_begin_in_the_middle(cli: Any, here: Path) -> None:
    found = json.loads(cli("solve", "morpion-4d", *NRPA, "--moves", "m15e", "--restarts", "1", "--json").out)
    text = Path(found["solutions"][0]).read_text()
    assert text.split("moves:\n")[1].startswith("m15e\n")
    assert cli("check-solution", found["solutions"][0]).code == 0


def test_a_wrong_solution_is_exit_code_1_and_draws_nothing(cli: Any, here: Path) -> None:
    (here / "wrong.txt").write_text("game: morpion-5d\nscore: 2\nmoves:\nk14e\nk14e\n")
    done = cli("check-solution", "wrong.txt", "--svg", "wrong.svg")
    assert (done.code, done.err) == (1, "")
    assert "wrong.txt: wrong, morpion-5d: move 2 (k14e, line 5 of the file) is wrong: all its 5 points" in done.out
    judged = json.loads(cli("check-solution", "wrong.txt", "--json").out)
    assert (judged["game"], judged["valid"], judged["score"]) == ("morpion-5d", False, None)
    assert judged["error"].startswith("move 2 (k14e, line 5 of the file)")
    assert not (here / "wrong.svg").exists()


def test_a_right_solution_is_drawn_with_its_numbers(cli: Any, here: Path) -> None:
    (here / "short.txt").write_text("game: morpion-5d\nscore: 1\nmoves: k14e\n")
    done = cli("check-solution", "short.txt", "--svg", "short.svg")
    assert (
        done.code == 0 and "verified independently of the engine" in done.out and "more moves are possible" in done.out
    )
    texts = [e.text for e in ElementTree.parse(here / "short.svg").getroot().iter() if e.tag.endswith("text")]
    assert texts == ["1"]


def test_a_game_with_many_initial_positions_says_which_one_was_solved(cli: Any, here: Path) -> None:
    arguments = ("solve", "bin_packing-2d", "--player", "nmcs(level=1)", "--restarts", "1", "--json")
    for moves, opening in (("", "@0"), ("@3", "@3")):
        found = json.loads(cli(*arguments, "--moves", moves, "--out", f"records{opening}").out)
        (path, *_) = found["solutions"]
        assert Path(path).read_text().split("moves:\n")[1].startswith(f"{opening}\n")
        done = cli("check-solution", path, "--svg", f"{opening}.svg")
        assert done.code == 0 and "replayed through the game's own rules" in done.out
        assert (here / f"{opening}.svg").exists()


def test_restarts_avoid_the_grids_of_a_file_however_many_threads_make_them_and_only_those(cli: Any, here: Path) -> None:
    found = json.loads(cli("solve", "morpion-4d", *NRPA, "--restarts", "1", "--json", "--out", "first").out)
    (here / "known.txt").write_text(Path(found["solutions"][0]).read_text())
    arguments = ("solve", "morpion-4d", "--player", "nrpa(level=1, n=20, avoid=known.txt)", "--json")
    for out, threads, restarts in (("one", "1", "3"), ("one", "1", "3"), ("two", "2", "6")):
        assert cli(*arguments, "--restarts", restarts, "--threads", threads, "--out", out).code == 0
    one, two = (
        sorted((line["restart"], line["scores"]) for line in map(json.loads, open(here / out / "journal.jsonl")))
        for out in ("one", "two")
    )
    assert len(one) == 6 and [score for _, score in one] == [score for _, score in two]
    (here / "known.txt").write_text("game: morpion-4d\nscore: 1\nmoves: m15e\n")
    changed = cli(*arguments, "--restarts", "1", "--out", "one")
    assert (changed.code, changed.err.count("\n")) == (2, 1) and "solves with avoided grids" in changed.err


OWN_GAME = """
import numpy as np
from tests.search.toy_games import tree_game
GAME = tree_game(3)
"""


def test_a_game_of_one_s_own_is_replayed_by_the_rules_that_the_person_names(
    cli: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "own_tree.py").write_text(OWN_GAME)
    monkeypatch.syspath_prepend(str(here))
    found = json.loads(cli("solve", "own_tree:GAME", "--player", "nmcs(level=2)", "--restarts", "1", "--json").out)
    (path,) = found["solutions"]
    done = cli("check-solution", path, "--game", "own_tree:GAME")
    assert done.code == 0 and "replayed through the game's own rules" in done.out
    assert "unknown game; if it is one of your own, add --game" in cli("check-solution", path).err
    Path(path).write_text(Path(path).read_text().replace("tree-3", "strangers_tree:GAME"))
    refused = cli("check-solution", path)  # a file's words load no module
    assert refused.code == 2 and "add --trust strangers_tree:GAME" in refused.err


@pytest.mark.parametrize(
    ("arguments", "pieces"),
    [
        (("solve", "hex-3x3"), ["hex-3x3 is for two players", "morpion-5d"]),
        (("solve", "morpion-4d", "--minutes", "0"), ["--minutes is 0", "for example 60"]),
        (("solve", "morpion-4d", "--restarts", "0"), ["--restarts", "1"]),
        (("solve", "morpion-4d", "--player", "nobody"), ["unknown player 'nobody'"]),
        (("solve", "morpion-4d", "--player", "human"), ["a person is not restarted"]),
        (("solve", "morpion-4d", "--player", "nrpa(model=none.onnx)"), ["none.onnx"]),
        (("solve", "morpion-4d", "--player", "nrpa(avoid=none.txt)"), ["cannot read none.txt"]),
        (("solve", "morpion-4d", "--player", "nrpa(avoid=five.txt)"), ["a solution of 'morpion-5d'", "of morpion-4d"]),
        (("solve", "tsp-5", "--player", "nrpa(symmetric=true)"), ["initial positions", "leave out symmetric=true"]),
        (("solve", "morpion-4d", "--plot", "curve.gif"), [".png or .svg"]),
        (("solve", "morpion-4d", "--plot", "no/such/curve.svg"), ["there is no folder no/such"]),
        (("solve", "morpion-4d", "--moves", "zz"), ["move 1", "'zz'"]),
        (("solve", "morpion-4d", "--out", "file.txt"), ["file.txt"]),
        (("check-solution", "nothing.txt"), ["cannot read nothing.txt"]),
        (("check-solution", "file.txt"), ["line 1 cannot be read", "game: morpion-5d"]),
        (("check-solution", "binary.txt"), ["it is not text"]),
        (("check-solution", "two.txt"), ["for one player, and hex-3x3 is for two"]),
        (("check-solution", "five.txt", "--game", "hex-3x3"), ["leave out --game"]),
        (("check-solution", "five.txt", "--svg", "no/such.svg"), ["cannot write no/such.svg"]),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    cli: Any, here: Path, arguments: tuple[str, ...], pieces: list[str]
) -> None:
    (here / "file.txt").write_text("something else\n")
    (here / "binary.txt").write_bytes(b"\xff\xfe\x80")
    (here / "two.txt").write_text("game: hex-3x3\nscore: 1\nmoves: a1\n")
    (here / "five.txt").write_text("game: morpion-5d\nscore: 1\nmoves: k14e\n")
    before = sorted(here.rglob("*"))
    done = cli(*arguments)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    for piece in pieces:
        assert piece in done.err
    assert sorted(here.rglob("*")) == before


def begin(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """The command with restarts that never end by themselves."""
    return subprocess.Popen(
        [sys.executable, "-m", "palaestra", "solve", "morpion-4d", "--player", "nrpa(level=2, n=15)", "--minutes", "60",
         "--threads", "2", "--out", str(folder), *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear_interrupts,
    )  # fmt: skip


def wait_for_lines(folder: Path, count: int, process: subprocess.Popen[str]) -> None:
    journal = folder / "journal.jsonl"
    deadline = time.monotonic() + 240
    while not journal.exists() or journal.read_bytes().count(b"\n") < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.skipif(os.name == "nt", reason="signals differ")
@signals("SIGTERM")
def test_a_signal_ends_it_with_the_summary(tmp_path: Path, number: int, code: int) -> None:
    process = begin(tmp_path / "a", "--json")
    wait_for_lines(tmp_path / "a", 3, process)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    found = json.loads(out)
    assert process.returncode == code and found["stopped_by"] == "interrupt" and "Traceback" not in err
    assert found["restarts"] == read_journal(tmp_path / "a").restarts >= 3


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_killed_again_and_again_it_loses_only_what_was_under_way(cli: Any, tmp_path: Path) -> None:
    killed = 0
    for kills in range(2):
        process = begin(tmp_path / "killed")
        wait_for_lines(tmp_path / "killed", killed + 3 + kills, process)
        process.kill()
        process.communicate()
        killed = read_journal(tmp_path / "killed").restarts
        assert killed >= 3 + kills
    arguments = ("solve", "morpion-4d", "--player", "nrpa(level=2, n=15)", "--json", "--threads", "1")
    cli(*arguments, "--out", str(tmp_path / "killed"), "--restarts", "4")
    journal = read_journal(tmp_path / "killed")
    assert len({entry.restart for entry in journal.entries}) == journal.restarts == killed + 4
    whole = json.loads(cli(*arguments, "--out", str(tmp_path / "whole"), "--restarts", str(killed + 4)).out)
    there = {entry.restart: entry.scores for entry in read_journal(tmp_path / "whole").entries}
    assert {entry.restart: entry.scores for entry in journal.entries} == there
    assert whole["best"] == journal.best
