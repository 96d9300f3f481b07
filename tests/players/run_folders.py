"""The few files of a run that players read, written by hand."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from palaestra.games.base import Game
from palaestra.nets.architecture import GameFacts, parse_net, random_weights
from palaestra.nets.graph import build_model
from palaestra.runs.manifest import Manifest


def random_model(game: Game, seed: int = 0, net: str = "b1c8") -> bytes:
    spec, facts = parse_net(net), GameFacts.of(game)
    return build_model(spec, facts, random_weights(spec, facts, np.random.default_rng(seed)))


def write_run(folder: Path, game: Game, networks: dict[int, bytes], net: str = "b1c8", **changes: Any) -> Path:
    """A run whose last and best iteration is that of the last network, or what `changes` to the manifest say."""
    (folder / "checkpoints").mkdir(parents=True)
    files = {}
    for iteration, content in networks.items():
        name = f"checkpoints/{iteration:04d}.onnx"
        (folder / name).write_bytes(content)
        files[name] = hashlib.sha256(content).hexdigest()
    last = max(networks)
    search = {"c_puct": 1.5, "fpu": 0.2, "dirichlet_fraction": 0.25, "solver": False}
    config = {"net": net, "selfplay": {"search": search}}
    manifest = Manifest(
        iteration=last, best=last, trainer=last, game=game.id, game_version=game.version, net=net, seconds=0.0,
        games=0, positions=0, finished=True, metrics_bytes=0, config=config, about={}, files=files,
    )  # fmt: skip
    (folder / "manifest.json").write_bytes(replace(manifest, **changes).to_bytes())
    return folder
