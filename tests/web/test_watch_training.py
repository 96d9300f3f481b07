"""Runs that a page starts: what a browser may ask for, the command that it becomes, and how it is ended."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from palaestra.base.errors import ConfigError, GameError, PalaestraError, PlayerError, RunError
from palaestra.base.user_code import trusted
from palaestra.learn.loop import train
from palaestra.runs.folder import LOCK, RunFolder
from palaestra.web import training
from palaestra.web.house import House
from tests.learn.fakes import FAKES, tiny

GAME = "tic_tac_toe-3x3"
SMALL = ["selfplay.games=4", "selfplay.search.simulations=4", "net=b1c8", "evaluation.every=0", "evaluation.games=2",
         "evaluation.simulations=2", 'evaluation.anchors=["random"]', "learn.batch=8"]  # fmt: skip


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """A page whose runs are where the command's are."""
    monkeypatch.chdir(tmp_path)
    found = House(Path("runs"))
    yield found
    found.close()


def until(true: Callable[[], object], seconds: float = 90.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)


# What may be asked for.


@pytest.mark.parametrize(
    "text",
    ["net=my:Net", "learn.loss=my:loss", "reward=my:reward", 'reward=switch("my:first", primitive, at=3)',
     "selfplay.search.rule=my.rules:Rule", "net=../net", "net=/etc/passwd", "learn.loss=file.onnx", "reward=~/x",
     'evaluation.anchors=["puct(net.onnx)"]', 'evaluation.anchors=["my:Player"]', 'evaluation.anchors=["qtable:/x"]',
     'evaluation.anchors=["run:../../x"]', 'evaluation.anchors=["random", 3]', "net=a\nb", "game=hex-3x3", "seed=1",
     "nothing=1", "learn=1", "learn.lr", "=1", "learn.lr=" + "1" * 1000],
)  # fmt: skip
def test_a_setting_from_a_browser_names_neither_code_nor_files(house: House, text: str) -> None:
    before = trusted()
    with pytest.raises((ConfigError, PlayerError, RunError)):
        training.start(house, game=GAME, iterations=1, sets=[text])
    assert trusted() == before, "and makes nothing trusted"
    assert not (house.runs / training.COMMANDS).exists(), "nothing is left behind"


@pytest.mark.parametrize("game", ["my:GAME", "gdl:/etc/passwd", "nothing-3x3", "../x", "--help", "", "hex-99999x3"])
def test_only_games_of_the_page_are_trained(house: House, game: str) -> None:
    with pytest.raises(GameError):
        training.start(house, game=game, iterations=1)


@pytest.mark.parametrize("name", ["../x", "a/b", "-x", ".hidden", "a b", "a=b", "x" * 300, "<b>", "a\nb", "\u202ea"])
def test_a_name_is_a_plain_one(house: House, name: str) -> None:
    with pytest.raises(ConfigError):
        training.start(house, game=GAME, iterations=1, name=name)


@pytest.mark.parametrize(
    ("wishes", "words"),
    [({"preset": "quick"}, "unknown preset"), ({"minutes": -1.0}, "minutes"), ({"iterations": 2.5}, "whole number"),
     ({"iterations": 0}, "iterations"), ({"iterations": 1, "seed": -1}, "seed"),
     ({"iterations": 1, "threads": 0}, "threads"),
     ({"iterations": 1, "sets": ["learn.lr=-1"]}, "learn.lr is -1"),
     ({"iterations": 1, "preset": "ranked"}, "one player"),
     ({"minutes": float("nan")}, "minutes"), ({"iterations": float("nan")}, "whole number")],
)  # fmt: skip
def test_what_is_wrong_is_said_in_the_words_of_the_command(house: House, wishes: dict[str, Any], words: str) -> None:
    with pytest.raises(PalaestraError, match=words):
        training.plan(house, game=GAME, **wishes)


def test_a_plan_is_the_command_that_a_person_would_type(house: House) -> None:
    sets = ['evaluation.anchors=["uct(simulations=20)"]', "learn.lr=0.01"]
    made = training.plan(
        house, game="connect_four", preset="fast", minutes=1.5, seed=3, threads=1, name="one", sets=sets
    )
    assert made.name == "one"
    assert made.line == (
        "palaestra train connect_four-6x7 --preset fast --out one --minutes 1.5 --seed 3 --threads 1"
        """ --set 'evaluation.anchors=["uct(simulations=20)"]' --set learn.lr=0.01"""
    )


def test_a_run_without_a_name_gets_one_that_nobody_has(house: House) -> None:
    train(tiny(iterations=1), house.runs / f"{GAME}-fast", stages=FAKES)
    assert training.plan(house, game=GAME, iterations=1).name == f"{GAME}-fast-2"
    with pytest.raises(RunError, match="is a run already"):
        training.plan(house, game=GAME, iterations=1, name=f"{GAME}-fast")


def test_runs_elsewhere_are_named_by_their_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    house = House(Path("other"))
    train(tiny(iterations=1), Path("other/one"), stages=FAKES)
    assert "other/two" in training.plan(house, game=GAME, iterations=1, name="two").words
    anchors = 'evaluation.anchors=["net:one@1", "random"]'
    assert training.checked_sets(house, [anchors]) == ['evaluation.anchors=["net:other/one@1", "random"]']
    assert training.resume_words(house, "one", minutes=2) == ["resume", "other/one", "--minutes", "2"]


# Starting and stopping, with a process that only looks like one.


class Sleeping:
    """Stands for commands: they hold their log's lock, and do nothing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("palaestra.web.commands._spawn", self._spawn)

    def _spawn(self, words: list[str], log: int) -> subprocess.Popen[bytes]:
        code = "import time; time.sleep(60)"
        return subprocess.Popen([sys.executable, "-c", code], stdout=log, stderr=log, start_new_session=True)


def test_only_a_few_runs_are_trained_at_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    Sleeping(monkeypatch)
    names = [training.start(house, game=GAME, iterations=1) for _ in range(training.MOST_AT_ONCE)]
    try:
        assert len(set(names)) == training.MOST_AT_ONCE and training.running(house) == set(names)
        with pytest.raises(RunError, match="3 runs are trained already"):
            training.start(house, game=GAME, iterations=1)
        with pytest.raises(RunError, match="being started already"):
            training.plan(house, game=GAME, iterations=1, name=names[0])
    finally:
        for name in names:
            training.stop(house, name)
    assert training.running(house) == set()


def test_a_run_that_nobody_trains_cannot_be_stopped(house: House) -> None:
    train(tiny(iterations=1), house.runs / "one", stages=FAKES)
    with pytest.raises(RunError, match="is not running"):
        training.stop(house, "one")
    with pytest.raises(RunError):
        training.stop(house, "nowhere")


def test_a_stranger_who_holds_the_lock_is_left_alone(house: House) -> None:
    train(tiny(iterations=1), house.runs / "one", stages=FAKES)
    code = "import fcntl, sys; f = open(sys.argv[1], 'r+'); fcntl.flock(f, 2); print(flush=True); sys.stdin.read()"
    words = [sys.executable, "-c", code, str(house.runs / "one" / LOCK)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as stranger:
        assert stranger.stdout is not None and stranger.stdin is not None
        stranger.stdout.readline()
        with pytest.raises(RunError, match="not started from a page"):
            training.stop(house, "one")
        with pytest.raises(RunError, match="running already"):
            training.resume(house, "one")
        assert stranger.poll() is None
        stranger.stdin.close()
        assert stranger.wait(10) == 0


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="processes are found by the system's list of them")
def test_a_run_that_was_started_on_a_terminal_is_stopped_as_by_ctrl_c(house: House, tmp_path: Path) -> None:
    """A process whose words are those of the command, and which holds the lock."""
    train(tiny(iterations=1), house.runs / "one", stages=FAKES)
    script = tmp_path / "palaestra"
    script.write_text(
        "import fcntl, sys, time\nf = open(sys.argv[3], 'r+')\nfcntl.flock(f, 2)\nprint(flush=True)\ntime.sleep(60)\n"
    )
    words = [sys.executable, str(script), "train", GAME, str(house.runs / "one" / LOCK)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        training.stop(house, "one")
        assert process.wait(10) == -15


# The real command.


def bits(folder: Path) -> dict[str, str]:
    """The hashes of all that counts but times."""
    manifest = RunFolder(folder).manifest()
    assert manifest is not None
    return {name: found for name, found in manifest.files.items() if name != "metrics.jsonl"}


@pytest.mark.slow
def test_a_run_that_a_page_starts_has_the_same_bits_as_the_command(house: House) -> None:
    name = training.start(house, game=GAME, iterations=2, seed=5, threads=1, name="from-page", sets=SMALL)
    command = training.last_command(house, name)
    assert command is not None and command.is_running
    words = ["palaestra", *command.words]
    words[words.index("from-page")] = "typed"
    typed = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)
    assert typed.returncode == 0, typed.stderr
    until(lambda: not command.is_running)
    assert not command.failed, command.log()
    assert bits(house.runs / "from-page") == bits(house.runs / "typed")
    assert any(key.startswith("checkpoints/0002") for key in bits(house.runs / "typed"))
    assert not (house.runs / "from-page" / "progress.json").exists()


@pytest.mark.slow
def test_a_run_is_stopped_and_goes_on_to_the_same_end(house: House) -> None:
    sets = [*SMALL[1:], "selfplay.games=200"]
    name = training.start(house, game=GAME, iterations=4, threads=1, name="stopped", sets=sets)
    until(lambda: (house.runs / name / "games" / "0001.pgn").exists())
    training.stop(house, name)
    assert training.running(house) == set()
    training.resume(house, name)
    command = training.last_command(house, name)
    assert command is not None
    until(lambda: not command.is_running)
    training.start(house, game=GAME, iterations=4, threads=1, name="through", sets=sets)
    until(lambda: not training.running(house))
    assert bits(house.runs / "stopped") == bits(house.runs / "through")


@pytest.mark.slow
def test_an_extension_that_lies_behind_says_so(house: House) -> None:
    name = training.start(house, game=GAME, iterations=1, threads=1, sets=SMALL)
    until(lambda: not training.running(house))
    training.resume(house, name, iterations=1)
    until(lambda: (last := training.last_command(house, name)) is not None and last.code is not None)
    command = training.last_command(house, name)
    assert command is not None and command.failed and "to extend it, give more in all" in command.last_line
