"""How a run is computed, for config.toml and the manifest: versions, threads, device; and how two of them differ."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from palaestra import __version__
from palaestra.base.types import JsonLike
from palaestra.base.versions import version_of
from palaestra.games.base import Game
from palaestra.learn.config import RunConfig
from palaestra.learn.settings import as_settings, every_setting
from palaestra.learn.toml import dump_toml
from palaestra.runs.manifest import About, Change

LIBRARIES = ("numpy", "numba", "torch", "onnx", "onnxruntime")  # whose versions can change the last bit of a result
HEADER = "Every setting of this run. `palaestra settings` says what each accepts; `palaestra resume` reads changes."


def config_text(config: RunConfig, game: Game, history: Sequence[Change]) -> str:
    """config.toml: every setting, what computes the run, and the settings that were changed on resuming."""
    told: list[JsonLike] = [{"after_iteration": one["after_iteration"], "changed": one["changed"]} for one in history]
    table: dict[str, JsonLike] = {**as_settings(config), "about": about(config, game), "history": told}
    comments = {name: field.description or "" for name, field in every_setting().items()}
    return dump_toml({key: value for key, value in table.items() if value != []}, comments, HEADER)


def about(config: RunConfig, game: Game) -> About:
    """Versions of the game, of this program and of what it stands on, and how the run is computed."""
    return {
        "game_version": game.version,
        **about_program(),
        "threads": config.threads,
        "device": config.device,
    }


def about_program() -> About:
    """Versions of this program and of what it stands on; the code's revision where git knows it."""
    return {
        "palaestra": __version__,
        "revision": revision(),
        "python": platform.python_version(),
        **{name: version_of(name) for name in LIBRARIES},
        "machine": platform.machine(),
    }


def differences(then: About, now: About) -> list[str]:
    """One phrase, if at all, naming whatever can change results: libraries, machine and threads, not the revision."""
    names = ("threads", "device", "python", "machine", *LIBRARIES)
    changed = [f"{name} {then[name]} -> {now[name]}" for name in names if name in then and then[name] != now[name]]
    return [f"this run was computed with other versions, threads or device ({', '.join(changed)})"] if changed else []


@cache
def revision() -> str:
    """The commit of the source tree that this package is run from, "+" where it was edited; "unknown" without one."""
    here = Path(__file__).resolve().parent
    try:
        told = subprocess.run(
            ["git", "-C", str(here), "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
        return told.stdout.strip() or "unknown"
    except (OSError, subprocess.SubprocessError):
        return "unknown"
