"""Run folders written by hand: random networks, invented metrics, real games."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from palaestra.arena.match import play_match
from palaestra.games.registry import make_game
from palaestra.learn.config import RunConfig
from palaestra.players.registry import make_player
from palaestra.runs.folder import RunFolder
from palaestra.runs.manifest import Manifest
from palaestra.runs.metrics import MetricsLine, read_lines
from palaestra.runs.pgn_games import write_game
from tests.players.run_folders import random_model


def metrics_line(iteration: int, **changes: Any) -> MetricsLine:
    """A line as the loop writes it; strength is measured every second iteration."""
    policy, value = 1.8 / iteration**0.3, 0.9 / iteration**0.4
    measured = {
        "random": [None, 300.0 + 10 * iteration, None],
        "uct(simulations=200)": [-200.0 + 40 * iteration, -260.0 + 40 * iteration, -140.0 + 40 * iteration],
    }
    line: dict[str, Any] = {
        "iteration": iteration,
        "games": 50,
        "positions": 1000,
        "seconds": {"selfplay": 5.0 + iteration % 3, "training": 3.0, "gate": 2.0, "evaluation": 1.0 - iteration % 2},
        "elapsed": 60.0 * iteration,
        "losses": {"policy": policy, "value": value, "sum": policy + value, "product": policy * value},
        "loss_minimised": "sum",
        "lr": 0.005,
        "steps": 40,
        "mean_plies": 20 + 8 * (1 - 1 / iteration),
        "results": {"first": 25 + iteration, "draw": iteration, "second": 25 - iteration},
        "reward": "primitive",
        "learned": None,
        "gate": gate_line(iteration),
        "elo": measured if iteration % 2 == 0 else None,
        "history": None,
        "demerits": None,
        "network_share": 0.9,
        "simulations": 60000,
        "simulations_per_second": 30000.0 + 100 * iteration,
        "warm": None,
        "buffer": 1000 * iteration,
        "running_elo": {"network": iteration, "elo": 40.0 * iteration, "plus": 30.0 + iteration, "minus": 30.0},
    }  # fmt: skip
    (read,) = read_lines(json.dumps({**line, **changes}).encode(), Path("metrics.jsonl"))
    return read


def lines_of(folder: Path) -> list[MetricsLine]:
    """All lines of a run's metrics.jsonl."""
    return read_lines((folder / "metrics.jsonl").read_bytes(), folder)


def gate_line(iteration: int) -> dict[str, Any]:
    """Every third candidate is rejected; the one before it was not."""
    wins = 14 + iteration % 3 * 5
    return {
        "accepted": iteration % 3 != 0, "wins": wins, "draws": 2, "losses": 9, "reason": "", "games": 11 + wins,
        "distinct_games": 11 + wins, "first": [wins // 2, 1, 5], "network": iteration,
        "against": iteration - 2 if iteration % 3 == 1 and iteration > 1 else iteration - 1,
    }  # fmt: skip


def make_run(path: Path, id: str = "connect_four-4x4", iterations: int = 4, best: int = 2) -> Path:
    """A run of `iterations` with networks 0 and `best`, and one file of games an iteration."""
    game = make_game(id)
    home = RunFolder(path)
    home.create()
    config = RunConfig(game=id, net="b1c8", iterations=iterations)
    home.write_config("")
    needed = {f"checkpoints/{number:04d}.onnx": "" for number in (0, best)}
    state = Manifest(
        iteration=0, best=best, trainer=best, game=id, game_version=game.version, net="b1c8", seconds=0.0, games=0,
        positions=0, finished=False, metrics_bytes=0, config=config.model_dump(mode="json"), about={"numpy": "2"},
        files=needed,
    )  # fmt: skip
    networks = {name: random_model(game, seed) for seed, name in enumerate(needed)}
    for iteration in range(1, iterations + 1):
        match = play_match(game, make_player("random", game), make_player("random", game), 4, seed=iteration)
        text = "".join(write_game(record, game, {"White": "one", "Black": "two"}) for record in match.records)
        files = {f"games/{iteration:04d}.pgn": text.encode(), **networks}
        changed: dict[str, Any] = {"iteration": iteration, "seconds": 60.0 * iteration, "games": 4 * iteration}
        state = replace(state, **changed, files={**state.files, **dict.fromkeys(files, "")})
        state = home.save(state, files, metrics_line(iteration))
    return path
