"""Names that a terminal or a page would obey, and files that hold them."""

from __future__ import annotations

import dataclasses
import json
import unicodedata
from pathlib import Path

import onnx

from palaestra.games.registry import make_game
from palaestra.players.table import About, Table, table_bytes
from palaestra.runs.folder import METRICS, RunFolder
from palaestra.runs.manifest import digest
from palaestra.runs.metrics import write_line
from tests.learn.run_folders import make_run, metrics_line
from tests.players.run_folders import random_model, write_run

CODES = "\x1b[2J\x1b]0;t\x07\r\x08\x7f\x9b31m\u0085\u200b\u202e\u2066\ufeff"  # ESC, CR, C1, marks of direction
NAME = f"a{CODES}[red]z$"  # and markup of Rich, and half a formula of Matplotlib
QUOTED = json.dumps(NAME)  # as it stands in a player's text
HEX = make_game("hex-3x3")


def obeyed(text: str) -> set[str]:
    """The characters that are not simply shown."""
    return {c for c in text if not (c.isprintable() or c == "\n" or unicodedata.category(c) == "Zs")}


def write_files(folder: Path) -> None:
    """A file of every kind, called NAME or with NAME in it."""
    model = random_model(HEX)
    (folder / NAME).write_bytes(model)  # a network
    (folder / "odd.onnx").write_bytes(_renamed(model))
    write_run(folder / "runs" / NAME, HEX, {0: model})
    write_run(folder / "runs" / "game", dataclasses.replace(HEX, id=NAME), {0: model})
    _learned(folder / "learned")
    games = [
        f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n\n1. a1 {result}\n\n'
        for white, black, result in ((NAME, "b", "1-0"), ("b", NAME, "0-1"), ("b", NAME + "c", "1/2-1/2"))
    ]
    (folder / "games.pgn").write_text("".join(games))
    (folder / "bad.pgn").write_text(f'[White "{NAME}"]\n[Black "b"]\n[Result "{NAME}"]\n\n1. {NAME}\n\n')
    scores = [-1, -1, 1, 1, 1, 1, 1, -1, -1]
    (folder / "sets.json").write_text(json.dumps({NAME: [{"moves": "", "scores": scores}]}))
    (folder / "wrong.json").write_text(json.dumps({NAME: [{"moves": NAME, "scores": scores}]}))
    (folder / "openings.txt").write_text(NAME)
    (folder / "solution.txt").write_text(f"# {NAME}\ngame: {NAME}\nscore: 3\nmoves:\n{NAME}\n")
    (folder / "wrong.txt").write_text(f"game: morpion-5d\nscore: 3\nmoves:\n{NAME}\n")
    (folder / "other.table").write_bytes(table_bytes(Table(HEX), About(NAME, 1)))
    (folder / f"{NAME}.kif").write_text(f"(role {NAME.split()[0]}) (init")


def _renamed(model: bytes) -> bytes:
    """A network of whose names every one is NAME."""
    graph = onnx.load_model_from_string(model)
    graph.producer_name = graph.graph.name = NAME
    for one in (*graph.graph.input, *graph.graph.output, *graph.metadata_props):
        setattr(one, "key" if hasattr(one, "key") else "name", NAME)
    return graph.SerializeToString()


def _learned(folder: Path) -> None:
    """A whole run whose every text is NAME."""
    make_run(folder, "hex-3x3", iterations=2, best=2)
    home = RunFolder(folder)
    manifest = home.manifest()
    assert manifest is not None
    lines = [metrics_line(n, reward=NAME, elo={NAME: [1.0, 0.0, 2.0]}) for n in (1, 2)]
    data = b"".join(map(write_line, lines))
    (folder / METRICS).write_bytes(data)
    changed = dataclasses.replace(
        manifest,
        metrics_bytes=len(data),
        net=NAME,
        config={**manifest.config, "net": NAME, NAME: NAME},
        about={NAME: NAME},
        files={**manifest.files, METRICS: digest(data)},
    )
    (folder / "manifest.json").write_bytes(changed.to_bytes())
