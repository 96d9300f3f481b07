from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from palaestra.base import atomic
from palaestra.base.errors import ConfigError, RunError
from palaestra.learn.events import Event, Warned
from palaestra.learn.loop import resume, train
from palaestra.learn.presets import NAMES
from palaestra.runs.folder import RunFolder
from tests.learn.fakes import FAKES, SOLO, tiny, tree_of

pytestmark = pytest.mark.usefixtures("quick_disk")
CHANGING = ("open", "write", "fsync", "replace", "ftruncate", "makedirs", "unlink")


class Killed(BaseException):
    """The process is gone: nothing catches this, and nothing that is tried afterwards has an effect."""


class KillingDisk:
    """The module `os` for a process that dies at its n-th call that changes the disk; a write dies half-way."""

    def __init__(self, calls: int) -> None:
        self.calls = calls

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self._counted(name, real) if name in CHANGING else real

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.calls -= 1
            if self.calls > 0:
                return real(*arguments, **options)
            if self.calls == 0 and name == "write":
                real(arguments[0], arguments[1][: len(arguments[1]) // 2])
            raise Killed

        return call


def begin_or_resume(folder: Path, config: Any) -> None:
    """What a person does after a crash: resume, or start again where the crash came before there was a run."""
    if (folder / "config.toml").exists():
        resume(folder, stages=FAKES)
    else:
        train(config, folder, stages=FAKES)


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_a_run_killed_at_any_call_that_touches_the_disk_ends_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    config = tiny("net=b1c8-outcome", "reward=cdf(generations=2)", "keep=2", iterations=3)
    train(config, tmp_path / "whole", stages=FAKES)
    expected = tree_of(tmp_path / "whole")
    kills = 0
    for calls in range(1, 2000, step):
        run = tmp_path / f"killed{calls}"
        with monkeypatch.context() as patch:
            patch.setattr(atomic, "os", KillingDisk(calls))
            try:
                train(config, run, stages=FAKES)
            except Killed:
                kills += 1
            else:
                break
        begin_or_resume(run, config)
        assert tree_of(run) == expected, calls
    assert kills > 80 / step


@pytest.mark.parametrize(
    ("game", "sets"),
    [
        ("tic_tac_toe-3x3", ()),
        ("tic_tac_toe-3x3", ("gate.kind=off", "evaluation.history=4", "evaluation.every=1")),
        (
            "tic_tac_toe-3x3",
            (
                "net=b1c8-outcome",
                'reward=switch(primitive, "cdf_bonus(alpha=0.5)", at=2)',
            ),
        ),
        ("morpion-4d", SOLO),
        ("bin_packing-2d", (*SOLO, "selfplay.sampling=true")),
        ("hex-4x4", ("net=r1c8", 'course.games=["2x2", "3x3"]', "course.shares=[1, 1, 2]")),
        ("othello-4x4", ("net=r1c8", 'course.games=["hex-4x4", "gobang-4x4"]', "course.judged=each")),
        (
            "hex-4x4",
            (
                "net=r1c8",
                'course.games=["2x2", "3x3"]',
                "course.mode=curriculum",
                "evaluation.history=4",
                "evaluation.every=1",
            ),
        ),
    ],
)
def test_a_run_killed_again_and_again_still_ends_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, game: str, sets: tuple[str, ...]
) -> None:
    config = tiny(*sets, game=game, iterations=4)
    train(config, tmp_path / "whole", stages=FAKES)
    run = tmp_path / "killed"
    chance = random.Random(3)
    kills, done = 0, False
    while not done:
        with monkeypatch.context() as patch:
            patch.setattr(atomic, "os", KillingDisk(chance.randrange(1, 70)))  # an iteration needs about 40 calls
            try:
                begin_or_resume(run, config)
                done = True
            except Killed:
                kills += 1
    assert kills > 5
    assert tree_of(run) == tree_of(tmp_path / "whole")


def test_a_finished_run_is_extended_and_says_so(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(tiny(iterations=2), run, stages=FAKES)
    assert resume(run, stages=FAKES).iterations == 2, "without an extension there is only its summary"
    assert resume(run, iterations=5, stages=FAKES).iterations == 5
    config = RunFolder(run).config()
    assert config["iterations"] == 5
    assert config["history"] == [{"after_iteration": 2, "changed": ["iterations: 2 -> 5"]}]
    assert len((run / "metrics.jsonl").read_text().splitlines()) == 5


def test_extending_by_minutes_replaces_the_bound_of_iterations(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(tiny(iterations=2), run, stages=FAKES)
    manifest = RunFolder(run).manifest()
    assert manifest is not None
    summary = resume(run, minutes=(manifest.seconds + 0.2) / 60, stages=FAKES)
    assert summary.iterations > 2 and summary.seconds >= manifest.seconds + 0.2


def test_an_extension_that_is_behind_the_run_is_refused(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(tiny(iterations=3), run, stages=FAKES)
    before = tree_of(run)
    with pytest.raises(RunError, match=r"3 iterations .* already"):
        resume(run, iterations=2, stages=FAKES)
    assert tree_of(run) == before


def test_a_changed_setting_has_its_effect_and_is_recorded(tmp_path: Path) -> None:
    for name, sets in (("same", ()), ("changed", ("learn.lr=0.5",))):
        train(tiny(iterations=2), tmp_path / name, stages=FAKES)
        resume(tmp_path / name, sets, iterations=4, stages=FAKES)
    rates = {
        name: [json.loads(line)["lr"] for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        for name in ("same", "changed")
    }
    assert rates["same"][:2] == rates["changed"][:2]
    assert rates["changed"][2:] == [100 * rate for rate in rates["same"][2:]]
    changed = RunFolder(tmp_path / "changed").config()
    assert changed["learn"]["lr"] == 0.5
    assert "learn.lr: 0.005 -> 0.5" in changed["history"][0]["changed"]


def test_an_edit_of_config_toml_counts_as_a_change(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(tiny(iterations=2), run, stages=FAKES)
    path = run / "config.toml"
    path.write_text(path.read_text().replace("lr = 0.005", "lr = 0.25").replace("iterations = 2", "iterations = 3"))
    heard: list[Event] = []
    assert resume(run, ["evaluation.games=4"], listeners=[heard.append], stages=FAKES).iterations == 3
    assert [event.message for event in heard if isinstance(event, Warned)] == [
        "config.toml was edited: iterations: 2 -> 3",
        "config.toml was edited: learn.lr: 0.005 -> 0.25",
    ]
    heard.clear()
    resume(run, iterations=4, listeners=[heard.append], stages=FAKES)
    assert not [event for event in heard if isinstance(event, Warned)], "it is said once"
    assert "learn.lr: 0.005 -> 0.25" in RunFolder(run).config()["history"][0]["changed"]
    path.write_text(path.read_text().replace('net = "b1c8"', 'net = "b2c8"'))
    with pytest.raises(ConfigError, match="net cannot change from b1c8 to b2c8"):
        resume(run, stages=FAKES)


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        ("seed=5", "seed cannot change"),
        ("reward=cdf", "reward cannot change from default to cdf"),
        ("net=b2c8", "net cannot change"),
        ("game=hex-3x3", "game cannot change"),
        ("learn.optimizer=sgd", "learn.optimizer cannot change"),
        ("warm.enhancement=rollout", "warm.enhancement cannot change"),
        ("learn.lr=0", "learn.lr is 0"),
        ("learn.rate=0.1", "unknown setting 'learn.rate'"),
    ],
)
def test_a_setting_that_cannot_change_is_refused_and_nothing_is_touched(tmp_path: Path, sets: str, words: str) -> None:
    run = tmp_path / "run"
    train(tiny(iterations=1), run, stages=FAKES)
    before = tree_of(run)
    with pytest.raises(ConfigError, match=words.replace(".", r"\.")):
        resume(run, [sets], iterations=2, stages=FAKES)
    assert tree_of(run) == before


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x"), "is damaged"),
        (lambda path: path.unlink(), "cannot read"),
    ],
)
def test_a_run_whose_reward_is_not_what_was_saved_does_not_go_on(
    tmp_path: Path, damage: Callable[[Path], None], words: str
) -> None:
    run = tmp_path / "run"
    train(tiny("net=b1c8-outcome", "reward=cdf", "keep=1", iterations=2), run, stages=FAKES)
    assert [path.name for path in (run / "reward").iterdir()] == ["0002.safetensors"], "what it was before is gone"
    damage(run / "reward" / "0002.safetensors")
    with pytest.raises(RunError, match=words):
        resume(run, iterations=3, stages=FAKES)


def test_other_threads_or_versions_are_told_in_one_line_and_the_run_goes_on(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(tiny(iterations=1), run, stages=FAKES)
    heard: list[Event] = []
    summary = resume(run, ["threads=3"], iterations=2, listeners=[heard.append], stages=FAKES)
    warnings = [event.message for event in heard if isinstance(event, Warned)]
    assert summary.iterations == 2
    assert len(warnings) == 1 and "threads 2 -> 3" in warnings[0] and "\n" not in warnings[0]
    heard.clear()
    resume(run, iterations=3, listeners=[heard.append], stages=FAKES)
    assert not [event for event in heard if isinstance(event, Warned)], "it is said once, not for ever"


# With real stages, in processes that are really killed.

SMALL = (
    "--seed", "3", "--threads", "2", "--set", "selfplay.games=8", "--set", "selfplay.search.simulations=8",
    "--set", "learn.batch=16", "--set", "evaluation.games=4", "--set", "evaluation.simulations=4",
    "--set", 'evaluation.anchors=["random"]',
)  # fmt: skip
GATED = (
    "tic_tac_toe-3x3", "--set", "net=b1c8-outcome", "--set", "reward=cdf(generations=2)", "--set", "learn.window=2",
    "--set", "gate.games=4", "--set", "gate.threshold=0.4", "--set", "gate.simulations=4",
    "--set", "evaluation.every=3",
)  # fmt: skip
ONE_PLAYER = ("--set", "net=mlp16x1", "--set", "solo.every=3", "--set", "solo.simulations=8")
PRESETS = {
    "fast": ("tic_tac_toe-3x3", "--set", "net=b1c8"),
    "strong": ("tic_tac_toe-3x3", "--set", "net=b1c8", "--set", 'growth.nets=["b1c16"]', "--set", "growth.after=[0.5]"),
    "thesis": GATED,
    "thesis-small": GATED,
    "schmidt": ("opposition-3x5-absolute",),
    "opposition-fast": ("opposition-3x5",),
    "ranked": ("bin_packing-2d", *ONE_PLAYER),
    "record": ("morpion-4d", *ONE_PLAYER),
    "thesis-ranked": ("morpion-4d", *ONE_PLAYER),
    "curriculum": ("hex-4x4", "--set", "net=r1c8", "--set", 'course.games=["2x2", "3x3"]'),
}
KILLS = 15  # of a run of every preset: more than a hundred in all


def palaestra(*arguments: str) -> subprocess.Popen[bytes]:
    code = "from palaestra.cli.main import run; run()"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(*arguments: str) -> None:
    with palaestra(*arguments) as process:
        _, errors = process.communicate(timeout=3600)
    assert process.returncode == 0, errors.decode()


def go_on(run: Path, preset: str, iterations: int) -> tuple[str, ...]:
    if (run / "config.toml").exists():
        return "resume", str(run)
    return "train", *PRESETS[preset], *SMALL, "--preset", preset, "--iterations", str(iterations), "--out", str(run)


def kill_at_random(run: Path, preset: str, iterations: int, kills: int, seed: int) -> int:
    """Kill the run at random moments of its work until `kills` are counted or it ends; returns how many there were."""
    chance = random.Random(seed)
    for done in range(kills):
        with palaestra(*go_on(run, preset, iterations)) as process:
            seen = iteration_of(run)
            while process.poll() is None and iteration_of(run) == seen:  # it has loaded and begun to work
                time.sleep(0.005)
            time.sleep(chance.uniform(0, 0.3))
            if process.poll() is not None:
                assert process.returncode == 0, process.communicate()[1].decode()
                return done
            process.send_signal(signal.SIGKILL)
            process.communicate()
    return kills


def iteration_of(run: Path) -> int:
    try:
        return int(json.loads((run / "manifest.json").read_bytes())["iteration"])
    except FileNotFoundError:
        return -1


def compare_killed_with_whole(tmp_path: Path, preset: str, iterations: int, kills: int) -> None:
    finish(*go_on(tmp_path / "whole", preset, iterations))
    run = tmp_path / "killed"
    killed = kill_at_random(run, preset, iterations, kills, seed=1)
    assert killed == kills, "more iterations are needed for so many kills"
    finish(*go_on(run, preset, iterations))
    assert tree_of(run) == tree_of(tmp_path / "whole")


@pytest.mark.slow
def test_a_real_run_killed_twice_ends_with_the_same_bits(tmp_path: Path) -> None:
    compare_killed_with_whole(tmp_path, "thesis-small", iterations=5, kills=2)


@pytest.mark.slow
@pytest.mark.parametrize("preset", NAMES)
def test_a_run_of_any_preset_killed_many_times_ends_with_the_same_bits(tmp_path: Path, preset: str) -> None:
    compare_killed_with_whole(tmp_path, preset, iterations=120, kills=KILLS)
