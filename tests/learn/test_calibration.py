"""Calibration measures each part once, remembers it for this machine, and gives an estimate all that it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from palaestra.base.errors import ConfigError
from palaestra.games.registry import make_game
from palaestra.learn import calibration, near_speeds, speed_memory
from palaestra.learn.calibration import calibrate
from palaestra.learn.config import RunConfig
from palaestra.learn.near_speeds import Together, as_there
from palaestra.learn.presets import configure
from palaestra.learn.provenance import about_program
from palaestra.learn.speed_memory import code_digest, memory_file
from palaestra.learn.time_model import Probe, SearchSpeed, estimate

SMALL = ("net=b1c8", "gate.games=4", "gate.simulations=4", "evaluation.simulations=4", 'evaluation.anchors=["random"]')


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measurements that mean nothing and take no time, and a memory of the test's own."""
    own = tmp_path / "cache"
    monkeypatch.setattr(speed_memory, "cache_root", lambda: own)
    monkeypatch.setattr(calibration, "PART_SECONDS", 0.01)
    monkeypatch.setattr(calibration, "PROBES", ((2, 2), (4, 2), (2, 6)))
    monkeypatch.setattr(calibration, "MATCH_PROBES", ((2, 2), (4, 2), (2, 6)))
    monkeypatch.setattr(calibration, "ANCHOR_GAMES", 2)
    monkeypatch.setattr(calibration, "DRIFT_GAMES", 2)
    monkeypatch.setattr(calibration, "DRIFT_SIMULATIONS", 2)
    monkeypatch.setattr(calibration, "DRIFT_ITERATIONS", 3)


def config(*sets: str, threads: int = 1) -> RunConfig:
    return configure("tic_tac_toe-3x3", "thesis-small", (*SMALL, *sets), iterations=3, threads=threads)


def test_every_stage_gets_its_seconds_and_nothing_is_measured_twice() -> None:
    heard: list[str] = []
    speeds = calibrate(config("warm.enhancement=rollout"), heard.append)
    assert heard == [
        "a run that does nothing",
        "the network",
        "training",
        "self-play",
        "self-play of the warm start",
        "matches",
        "how games change",
    ]
    told = estimate(config("warm.enhancement=rollout"), speeds)
    assert all(seconds > 0 for stage, seconds in told.seconds.items())
    heard.clear()
    assert calibrate(config("warm.enhancement=rollout", "selfplay.games=7", "gate.games=8"), heard.append) == speeds
    assert heard == []


def test_only_what_a_changed_setting_decides_is_measured_again() -> None:
    calibrate(config())
    heard: list[str] = []
    calibrate(config("learn.batch=16"), heard.append)
    assert heard == ["training", "how games change"]
    heard.clear()
    calibrate(config("learn.batch=16"), heard.append, anew=True)
    assert len(heard) == 6
    heard.clear()
    calibrate(config(threads=2), heard.append)
    assert len(heard) == 6


def test_a_run_that_grows_is_measured_as_one_that_does_not() -> None:
    """Each of its networks is asked about by itself, and what is known of one that never grows serves it."""
    heard: list[str] = []
    usual = calibrate(config("gate.kind=off"))
    sets = ('growth.nets=["b4c48"]', "growth.after=[0.5]")
    assert calibrate(config("gate.kind=off", *sets), heard.append) == usual and heard == []


def test_of_estimates_together_one_measures_how_games_go_for_all() -> None:
    together, heard = Together(), list[str]()
    calibrate(config(), heard.append, together=together)
    assert len(heard) == 6
    heard.clear()
    calibrate(config("learn.lr=0.5", "selfplay.search.c_puct=3.0"), heard.append, together=together)
    assert heard == []
    calibrate(config("learn.batch=16", "net=b1c4"), heard.append, together=together)
    assert heard == ["a run that does nothing", "the network", "training"]
    heard.clear()
    calibrate(config("learn.lr=0.5"), heard.append)  # one alone is measured by its own settings
    assert heard == ["how games change"]


def test_when_time_is_up_another_board_says_how_games_change_and_what_a_warm_start_costs() -> None:
    together, heard = Together(), list[str]()
    calibrate(config("warm.enhancement=rollout"), together=together)
    other = configure("hex-3x3", "thesis-small", (*SMALL, "warm.enhancement=rollout"), iterations=3, threads=1)
    together.left = 0.0
    speeds = calibrate(other, heard.append, together=together)
    assert heard == ["the network", "training", "self-play", "matches"]
    assert speeds.warm is not None and speeds.warm.probes[0].lengths == speeds.selfplay.probes[0].lengths
    heard.clear()
    together.left = 1.0
    calibrate(other, heard.append, together=together)
    assert heard == ["self-play of the warm start", "how games change"]


def test_a_search_is_as_much_dearer_as_on_another_board() -> None:
    def search(evaluations: int, seconds: float) -> SearchSpeed:
        return SearchSpeed((Probe(10, 2, (5, 5), 5.0, evaluations, seconds),), 1, 0.0, 1.0)

    found = as_there(search(60, 1.0), warm=search(80, 6.0), plain=search(40, 2.0))
    assert found.probes[0].evaluations == 120 and found.probes[0].other_seconds == pytest.approx(3.0)


def test_changed_code_is_measured_again_unless_old_speeds_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    before = calibrate(config())
    monkeypatch.setattr(near_speeds, "code_digest", lambda game: "another")
    heard: list[str] = []
    assert calibrate(config(), heard.append, old=True) == before and not heard
    calibrate(config(), heard.append)
    assert len(heard) == 6


def test_speeds_depend_on_the_code_that_takes_the_time_and_on_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed_memory, "TIMED_FOLDERS", (str(tmp_path),))
    (tmp_path / "kernel.py").write_text("steps = 1")
    game, path = make_game("tic_tac_toe-3x3"), memory_file()
    before = code_digest(game)
    monkeypatch.setattr(speed_memory, "about_program", lambda: {**about_program(), "revision": "another"})
    assert (code_digest(game), memory_file()) == (before, path)
    (tmp_path / "kernel.py").write_text("steps = 2")
    assert code_digest(game) != before


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe", b'{"a": NaN}'])
def test_a_damaged_memory_is_measured_again_and_replaced(content: bytes) -> None:
    path = memory_file()
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_bytes(content)
    calibrate(config())
    heard: list[str] = []
    calibrate(config(), heard.append)
    assert heard == []


def test_a_game_of_one_player_is_refused_in_one_line() -> None:
    alone = configure("morpion-5d", "record", iterations=1, threads=1)
    with pytest.raises(ConfigError, match="morpion-5d has one player"):
        calibrate(alone)
