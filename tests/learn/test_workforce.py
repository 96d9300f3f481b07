"""Who plays changes no game; games that are played ahead can be repeated bit for bit, also after a kill."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from palaestra.base.errors import ConfigError
from palaestra.games.registry import make_game
from palaestra.learn.config_check import trainable
from palaestra.learn.events import Event, IterationEnded, WorkersSeen
from palaestra.learn.loop import resume, train
from palaestra.learn.presets import configure
from palaestra.learn.selfplay import games_ahead, play_games
from palaestra.learn.workforce import LEAST, Workforce
from palaestra.runs.metrics import TIMES
from palaestra.work.workers import Threads, Workers, make_workers
from tests.learn.selfplay_games import model, run_config
from tests.learn.test_selfplay import assert_same_games

SETS = ("net=b1c8", "selfplay.games=24", "selfplay.search.simulations=8", "evaluation.every=0", "evaluation.games=2")


class Counted(Workers):
    """Workers that may die, as far as anybody knows; they do jobs here."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count, self.keys = count, list[str]()

    def run(self, jobs: Any, listen: Any = None) -> Any:
        for job in jobs:
            self.keys.append(job.key)
            arguments = [getattr(one, "value", one) for one in job.arguments]
            piece = job.function(*arguments)
            yield job, replace(piece, seconds=0.01 * len(piece.outcomes))


def config(overlap: float, iterations: int = 3) -> Any:
    return configure(
        "tic_tac_toe-3x3", "fast", (*SETS, f"selfplay.overlap={overlap}"), iterations=iterations, threads=2
    )


def told(folder: Path) -> list[dict[str, Any]]:
    """What a run has learned and played, without what a clock decides."""
    import json

    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    games = [path.read_text() for path in sorted((folder / "games").iterdir())]
    return [
        {k: v for k, v in line.items() if k not in TIMES} | {"pgn": pgn} for line, pgn in zip(lines, games, strict=True)
    ]


def test_shares_for_workers_that_may_die_are_small_until_it_is_known_how_long_games_take() -> None:
    workers, game = Counted(2), make_game("tic_tac_toe-3x3")
    settings = run_config(game.id, games=5 * LEAST)
    force = Workforce(workers)
    first = play_games(game, model(game.id), settings, 1, workforce=force)
    assert workers.keys[0] == f"games range(0, {LEAST}) of iteration 1" and len(workers.keys) == 3
    assert_same_games(first, play_games(game, model(game.id), settings, 1))
    workers.keys.clear()
    play_games(game, model(game.id), settings, 2, workforce=force)
    assert workers.keys == [f"games range({n}, {5 * LEAST}, 2) of iteration 2" for n in (0, 1)]


def test_killed_processes_change_no_game() -> None:
    game = make_game("connect_four-5x5")
    settings = run_config(game.id, games=4 * LEAST)
    whole = play_games(game, model(game.id), settings, 1)
    with make_workers("processes:2") as workers:
        killed: list[int] = []

        def kill() -> None:
            while len(killed) < 2:
                for process in list(workers._living):  # type: ignore[attr-defined]
                    if process._process.pid not in killed and hasattr(process, "job"):
                        killed.append(process._process.pid)
                        os.kill(process._process.pid, signal.SIGKILL)
                        break
                time.sleep(0.5)

        threading.Thread(target=kill, daemon=True).start()
        made = play_games(game, model(game.id), settings, 1, workforce=Workforce(workers))
    assert killed
    assert_same_games(made, whole)


@pytest.mark.parametrize("overlap", [0.5, 1.0])
def test_games_that_are_played_ahead_are_the_same_after_a_kill(tmp_path: Path, overlap: float) -> None:
    train(config(overlap), tmp_path / "whole")
    seen: list[Event] = []

    def stop(event: Event) -> None:
        seen.append(event)
        if isinstance(event, IterationEnded) and event.iteration == 2:
            raise KeyboardInterrupt  # while games of the third are being played

    with pytest.raises(KeyboardInterrupt):
        train(config(overlap), tmp_path / "stopped", [stop])
    assert not [thread for thread in threading.enumerate() if thread.name == "ahead"]
    resume(tmp_path / "stopped")
    assert told(tmp_path / "stopped") == told(tmp_path / "whole")
    early = games_ahead(config(overlap))
    assert [line["ages"] for line in told(tmp_path / "whole")] == [[24, 0], *[[24 - early, early]] * 2]
    assert any(isinstance(event, WorkersSeen) and event.speeds for event in seen)


def test_a_game_that_is_played_ahead_is_played_by_the_network_before() -> None:
    game = make_game("tic_tac_toe-3x3")
    settings = run_config(game.id, games=12, overlap=0.5)
    older, newer = model(game.id), replace_weights(model(game.id))
    both = play_games(game, newer, settings, 2, older=older)
    old, new = (play_games(game, one, settings, 2) for one in (older, newer))
    assert both.records[:6] == old.records[:6] and both.records[6:] == new.records[6:]
    assert both.ages == (6, 6) and new.ages == (12, 0)
    assert both.records != new.records


def replace_weights(given: bytes) -> bytes:
    """Another network of the same shape."""
    from palaestra.nets.inference_speed import model_bytes

    made = model_bytes(make_game("tic_tac_toe-3x3"), "b2c8")
    assert isinstance(made, bytes) and made != given
    return made


def test_what_cannot_be_played_ahead_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"selfplay\.overlap plays ahead of what an adaptive warm start decides"):
        configure("tic_tac_toe-3x3", "fast", ("selfplay.overlap=1", "warm.adaptive=true", "warm.enhancement=rollout"))
    solo = configure("morpion-4d", "ranked", ("selfplay.overlap=0.5",))
    with pytest.raises(ConfigError, match="has one player, and how its games explore depends on the iteration before"):
        trainable(solo, make_game("morpion-4d"))


def test_threads_get_one_share_each() -> None:
    assert isinstance(make_workers("threads:3"), Threads)
    made = play_games(
        make_game("tic_tac_toe-3x3"), model("tic_tac_toe-3x3"), run_config("tic_tac_toe-3x3", threads=3), 1
    )
    assert made.threads == 3 and sum(speed.games for speed in made.speeds) == 6
