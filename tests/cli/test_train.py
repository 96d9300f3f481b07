"""train, resume, export and demo on the command line. Runs are as small as they can be; some are real."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from palaestra.cli.train import say_expectation
from palaestra.cli.training_view import LiveView, PlainView, iterations
from palaestra.learn.loop import train
from palaestra.learn.presets import NAMES, configure
from palaestra.live.training import TrainedRun, demerits_in_words
from palaestra.live.words import clock
from palaestra.players import shipped
from palaestra.runs.metrics import AgentScore, Demerits
from tests.cli.interrupts import hear_interrupts, signals
from tests.learn.fakes import FAKES, tiny
from tests.learn.run_folders import metrics_line

TINY = (
    "--set", "net=b1c8", "--set", "selfplay.games=6", "--set", "selfplay.search.simulations=6",
    "--set", "evaluation.games=4", "--set", "evaluation.simulations=4", "--set", "learn.batch=32",
    "--set", 'evaluation.anchors=["random"]',
)  # fmt: skip


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_game_it_explains_itself_and_offers_the_demo(cli: Any) -> None:
    done = cli("train")
    assert done.code == 0 and done.err == ""
    assert "palaestra demo" in done.out and "minutes" in done.out
    assert all(name in done.out for name in NAMES)
    assert len(done.out.splitlines()) <= 32


def test_a_run_from_training_to_export(cli: Any) -> None:
    done = cli("train", "tic_tac_toe-3x3", "--iterations", "2", "--out", "t", "--seed", "5", *TINY)
    assert done.code == 0, done.err
    assert "iteration 2" in done.err and "left" in done.err
    for piece in ("random", "all positions of tic_tac_toe-3x3", "What to try next"):
        assert piece in done.out
    commands = [line.split("palaestra ")[1] for line in done.out.splitlines() if line.startswith("  ")]
    verbs = [words.split()[0] for words in commands]
    assert verbs == ["play", "analyse", "match", "evaluate", "report", "resume", "export"]

    resumed = json.loads(cli("resume", "t", "--iterations", "3", "--json").out)
    assert {"run", "iterations", "games", "seconds", "best", "elo"} <= set(resumed)
    assert (resumed["run"], resumed["iterations"], resumed["games"], resumed["best"]) == ("t", 3, 18, 3)
    assert set(resumed["elo"]) == {"random"} and resumed["error_rate"][0]["simulations"] == 0

    exported = json.loads(cli("export", "t", "--out", "t.onnx", "--json").out)
    assert exported["path"] == "t.onnx" and exported["network"] == 3
    assert exported["sha256"] == hashlib.sha256(Path("t.onnx").read_bytes()).hexdigest()
    played = cli("match", "tic_tac_toe-3x3", "puct(t.onnx, simulations=4)", "run:t(simulations=4)", "--games", "2")
    assert played.code == 0, played.err
    first = json.loads(cli("export", "t", "--out", "first.onnx", "--network", "0", "--json").out)
    assert first["sha256"] != exported["sha256"]


def test_a_name_is_made_from_game_and_preset_and_made_again_differently(cli: Any) -> None:
    for name in ("tic_tac_toe-3x3-fast", "tic_tac_toe-3x3-fast-2"):
        done = cli("train", "tic_tac_toe-3x3", "--iterations", "1", "--json", *TINY)
        assert json.loads(done.out)["run"] == name


@pytest.mark.parametrize(
    ("arguments", "pieces"),
    [
        (("train", "tic_tac_toe-3x3", "--preset", "slow"), ["unknown preset 'slow'", "fast, strong, thesis"]),
        (
            ("train", "tic_tac_toe-3x3", "--set", "learn.lrr=1"),
            ["unknown setting 'learn.lrr'", "did you mean learn.lr?"],
        ),
        (("train", "tic_tac_toe-3x3", "--set", "learn.lr=-1"), ["learn.lr is -1", "above 0"]),
        (("train", "tic_tac_toe-3x3", "--minutes", "-1"), ["minutes is -1"]),
        (("train", "tic_tac_toe-3x3", "--iterations", "0"), ["iterations is 0", "from 1"]),
        (("train", "tic_tac_toe-3x3", "--device", "tpu"), ["device is 'tpu'", "cpu"]),
        (("train", "tic_tac_toe-3x3", "--set", "net=huge"), ["huge"]),
        (("train", "tic_tac_toe-3x3", "--set", "reward=elo"), ["unknown reward 'elo'", "cdf"]),
        (("train", "tic_tac_toe-3x3", "--set", "evaluation.demerits=true"), ["demerits need", "opposition-3x9"]),
        (("train", "tic_tac_toe-3x3", "--out", "a@b"), ["cannot name a run"]),
        (("train", "tic_tac_toe-3x3", "--out", "old"), ["is a run already", "palaestra resume"]),
        (("train", "nim"), ["unknown game 'nim'"]),
        (("train", "morpion-5d", "--preset", "thesis"), ["gate.kind is threshold", "--preset ranked"]),
        (("train", "tic_tac_toe-3x3", "--preset", "ranked"), ["one player", "has two"]),
        (("resume", "nothing"), ["'nothing' is not a run", "old"]),
        (("resume", "old", "--set", "net=b2c8"), ["net cannot change from b1c8 to b2c8"]),
        (("resume", "old", "--set", "reward=cdf"), ["reward cannot change from default to cdf", "switch("]),
        (("resume", "old", "--iterations", "1"), ["has 1 iterations", "already"]),
        (("resume", "empty"), ["not a run"]),
        (("export", "nothing", "--out", "x.onnx"), ["not a run"]),
        (("export", "old", "--out", "x.onnx"), ["not ONNX"]),
        (("export", "old", "--out", "x.onnx", "--network", "77"), ["no network '77'"]),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing_behind(
    cli: Any, own_folder: Path, arguments: tuple[str, ...], pieces: list[str]
) -> None:
    train(tiny("gate.kind=off", iterations=1), Path("runs/old"), stages=FAKES)
    Path("runs/empty").mkdir()
    before = {path: path.read_bytes() for path in own_folder.rglob("*") if path.is_file()}
    done = cli(*arguments)
    assert done.code == 2 and done.out == ""
    assert len(done.err.strip().splitlines()) == 1, done.err
    for piece in pieces:
        assert piece in done.err
    assert {path: path.read_bytes() for path in own_folder.rglob("*") if path.is_file()} == before


def test_an_edit_of_config_toml_other_threads_and_the_device_are_told_on_resuming(cli: Any) -> None:
    assert cli("train", "tic_tac_toe-3x3", "--iterations", "1", "--out", "t", "--threads", "2", *TINY).code == 0
    path = Path("runs/t/config.toml")
    path.write_text(path.read_text().replace("window = 30", "window = 7"))
    done = cli("resume", "t", "--iterations", "2", "--threads", "1", "--device", "cpu", "--json")
    assert done.code == 0 and json.loads(done.out)["iterations"] == 2
    assert "note: config.toml was edited: learn.window: 30 -> 7\n" in done.err
    assert "threads 2 -> 1" in done.err and "not bit for bit" in done.err
    config = tomllib.loads(path.read_text())
    assert (config["threads"], config["device"], config["learn"]["window"]) == (1, "cpu", 7)
    refused = cli("resume", "t", "--iterations", "3", "--device", "cuda:99")
    assert refused.code == 2 and "device 'cuda:99' is not there" in refused.err
    path.write_text(path.read_text().replace("seed = 0", "seed = 1"))
    refused = cli("resume", "t", "--iterations", "3")
    assert refused.code == 2 and "seed cannot change from 0 to 1" in refused.err


def test_a_run_that_diverges_is_told_stops_after_three_and_goes_on_with_other_settings(cli: Any) -> None:
    far = ("--preset", "schmidt", "--set", "learn.lr=1", "--set", "evaluation.demerits=false", *TINY[2:])
    done = cli("train", "tic_tac_toe-3x3", "--iterations", "9", "--out", "t", *far)
    lines = [json.loads(line) for line in Path("runs/t/metrics.jsonl").read_text().splitlines()]
    assert (done.code, done.out, len(lines)) == (1, "", 3)
    assert all("not finite" in line["diverged"] for line in lines)
    assert done.err.count("note: iteration") == 3 and "iteration 3 diverged" in done.err
    last = done.err.splitlines()[-1]
    assert last.startswith("error: runs/t stopped: 3 iterations in a row diverged") and "learn.policy_weight" in last
    command = last.partition("palaestra resume ")[2].split()
    assert command == ["runs/t", "--set", "learn.lr=0.1", "--set", "learn.clip=1"]
    again = cli("resume", *command, "--set", "learn.lr=0.001", "--iterations", "5", "--json")
    assert again.code == 0 and json.loads(again.out)["iterations"] == 5
    assert json.loads(Path("runs/t/metrics.jsonl").read_text().splitlines()[-1])["diverged"] is None


@signals("SIGINT")
def test_a_signal_leaves_the_last_iteration_and_says_how_to_go_on(number: int, code: int) -> None:
    command = [sys.executable, "-m", "palaestra", "train", "tic_tac_toe-3x3", "--out", "t", "--minutes", "9", *TINY]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear_interrupts
    )
    kept = Path("runs/t/manifest.json")  # written last: an iteration counts from then on
    until = time.monotonic() + 120
    while time.monotonic() < until and not (kept.exists() and json.loads(kept.read_bytes())["iteration"]):
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code and out == ""
    assert "Traceback" not in err and "resume t" in err.splitlines()[-1]
    done = subprocess.run(
        [sys.executable, "-m", "palaestra", "resume", "t", "--iterations", "100000", "--minutes", "0.001", "--json"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 2 and "already" in done.stderr  # it is a whole run, past that bound


def test_the_live_view_shows_stage_losses_gate_and_strength(own_folder: Path) -> None:
    with open(os.devnull, "w") as nowhere:
        view = LiveView(Console(file=nowhere, force_terminal=True, width=160))
        with view.shown():
            train(tiny(iterations=6), Path("runs/t"), [view], FAKES)
        paper = Console(record=True, width=160, file=nowhere)
        paper.print(view.draw())
    text = paper.export_text()
    for piece in ("tic_tac_toe-3x3, b1c8", "saving", "games/s", "gate", "running Elo", "Elo against random", "✓", "✗"):
        assert piece in text
    assert view.share() == 1.0 and view.seconds_left() == 0.0
    narrow = {len(iterations(view.lines, width).columns) for width in (80, 100)}
    assert narrow == {len(iterations(view.lines, 160).columns) - 1}, "the running Elo gives way to the anchors"


def test_demerits_have_their_place_in_the_views_and_at_the_end(own_folder: Path) -> None:
    config = tiny("net=b1c8-outcome", "reward=cdf", "evaluation.demerits=true", game="opposition-3x9", iterations=3)
    with open(os.devnull, "w") as nowhere:
        view = LiveView(Console(file=nowhere, force_terminal=True, width=160))
        plain = PlainView(Console(file=(paper := io.StringIO()), width=100))
        summary = train(config, Path("runs/t"), [view, plain], FAKES)
        drawn = Console(record=True, width=160, file=nowhere)
        drawn.print(view.draw())
    counts = [line.demerits.demerits for line in summary.metrics if line.demerits is not None]
    text = drawn.export_text()
    assert "opposition-3x9, b1c8-outcome, cdf, seed 0" in text and "demerits" in text
    assert all(f"{count:.2f}" in text and f"{count:.2f} demerits" in paper.getvalue() for count in counts)
    words = demerits_in_words([(i, Demerits(d, 0, 0, 0, 9.0)) for i, d in ((1, 16.5), (2, 0.0), (3, 2.25))])
    assert words == (
        "Demerits against perfect play: 16.50 at first, none for the first time in iteration 2, 2.25 in the end"
    )
    demerits = TrainedRun(summary).document()["demerits"]
    assert demerits is not None and demerits["demerits"] == counts[-1]


def test_times_read_like_a_clock() -> None:
    assert [clock(seconds) for seconds in (0, 59.6, 125, 3725)] == ["0:00", "1:00", "2:05", "1:02:05"]


def test_playing_against_a_run_never_loads_pytorch(own_folder: Path) -> None:
    code = (
        "import sys, numpy as np, palaestra\n"
        "game = palaestra.make_game('tic_tac_toe-3x3')\n"
        "player = palaestra.make_player('run:t(simulations=4)', game)\n"
        "player.act(game.initial(2), np.random.default_rng(0))\n"
        "sys.exit('torch' in sys.modules)"
    )
    command = [sys.executable, "-m", "palaestra", "train", "tic_tac_toe-3x3", "--out", "t", "--iterations", "1", *TINY]
    assert subprocess.run(command, capture_output=True, timeout=120).returncode == 0
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


@pytest.mark.slow
def test_the_demo_trains_says_how_strong_and_draws_a_game_it_won(cli: Any) -> None:
    done = cli("demo", "--minutes", "0.01")
    assert done.code == 0, done.err
    for piece in ("random", "uct(simulation", "mistakes on", "Perfect play", "a draw", "1 2 3 4 5", "What to try next"):
        assert piece in done.out
    assert Path("runs/demo/manifest.json").exists()


@pytest.mark.parametrize(("given", "threads"), [((), 1), (("--threads", "2"), 2)])
def test_a_preset_may_say_how_many_threads(cli: Any, tmp_path: Path, given: tuple[str, ...], threads: int) -> None:
    small = ("selfplay.games=2", "selfplay.search.simulations=2", "evaluation.simulations=2", "learn.epochs=0.2")
    sets = [word for text in small for word in ("--set", text)]
    run = tmp_path / "run"
    done = cli("train", "opposition-3x5", "--preset", "schmidt", "--iterations", "1", *sets, *given, "--out", str(run))
    assert done.code == 0
    assert tomllib.loads((run / "config.toml").read_text())["threads"] == threads


@pytest.mark.parametrize("solo", [False, True])
def test_the_commands_that_are_advised_are_never_broken(
    solo: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from palaestra.cli.train import NEXT, NEXT_SOLO, print_next
    from palaestra.games.registry import make_game
    from palaestra.learn.config import RunConfig
    from palaestra.learn.events import Summary

    monkeypatch.setenv("COLUMNS", "40")
    folder = tmp_path / "a-run-with-a-rather-long-name"
    score = AgentScore("agent", 1.0, None, None, 1, 1, 1)
    lines = (replace(metrics_line(1), score=score),) if solo else ()
    print_next(Summary(folder, make_game("hex"), RunConfig(game="hex", iterations=3), 3, 1, 1, 1.0, 0, lines))
    printed = capsys.readouterr().out
    assert len(printed.strip().splitlines()) == len((NEXT_SOLO if solo else NEXT).splitlines())
    assert f" resume {folder} --iterations 6\n" in printed and "hex-11x11" in printed


def test_an_estimate_trains_nothing_and_says_the_seconds_of_each_stage(
    cli: Any, own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from palaestra.learn import calibration
    from palaestra.learn.time_model import AnchorSpeed, NetworkSpeed, Probe, SearchSpeed, Speeds

    search = SearchSpeed((Probe(10, 4, (5,) * 4, 5.0, 100, 0.1), Probe(40, 4, (5,) * 4, 5.0, 300, 0.2)), 1, 0.0, 1.0)
    anchors = {"random": AnchorSpeed(0.0, 5.0)}
    speeds = Speeds(NetworkSpeed((1, 64), (0.001, 0.01)), search, 0.01, 0.1, 0.5, match=search, anchors=anchors)
    monkeypatch.setattr(calibration, "calibrate", lambda config, listen: speeds)
    given = ("train", "tic_tac_toe-3x3", "--iterations", "3", "--threads", "1", "--estimate", *TINY)
    told = json.loads(cli(*given, "--json").out)
    assert told["iterations"] == 3 and told["games"] == 18
    assert told["total_seconds"] == pytest.approx(sum(told["seconds"].values()))
    assert "self-play" in cli(*given).out
    assert not list(own_folder.iterdir())


def test_how_strong_to_expect_a_run_comes_from_the_agent_that_was_made_alike(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    card = shipped.find_card("tic_tac_toe-3x3")
    stages = tuple(shipped.Stage(minutes=at, iteration=at, elo=100.0 * at, plus=9.0, minus=9.0) for at in (1, 4))
    monkeypatch.setattr(shipped, "cards", lambda: {card.game: card.model_copy(update={"curve": stages})})
    alike = {"minutes": 3.0, "threads": card.threads}
    for sets, settings, told in (
        (
            [f"net={card.net}"],
            alike,
            "After 1.0 minutes expect about 100 Elo above random, as agent:tic_tac",
        ),
        ([f"net={card.net}"], {**alike, "minutes": 0.5}, ""),
        (
            ["net=b1c8"],
            alike,
            "After 1.0 minutes expect about 100 Elo above random, as agent:tic_tac_toe-3x3 had with b2",
        ),
        (
            [f"net={card.net}", "selfplay.search.simulations=64"],
            alike,
            "After 1.0 minutes expect about 100 Elo above random, as agent:tic_tac_toe-3x3 had with 32 simulations in",
        ),
        ([f"net={card.net}", "selfplay.search.c_puct=1"], alike, ""),
        ([f"net={card.net}", f"start=agent:{card.game}"], alike, ""),
        ([f"net={card.net}"], {**alike, "threads": 1}, ""),
    ):
        say_expectation(configure(card.game, "fast", sets, **settings))
        said = " ".join(capsys.readouterr().err.split())
        assert said.startswith(told) if told else not said
