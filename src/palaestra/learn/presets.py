"""Presets: settings of whole runs, shipped as TOML files beside this one.

A preset's table [preset] has a line about itself and one that says what to expect in how many minutes; the rest of the
file are settings as in config.toml. What a preset leaves out is the thesis's value (`config`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from palaestra.errors import ConfigError
from palaestra.learn.config import RunConfig
from palaestra.learn.settings import bounds, make_config, merge, parse_sets

NAMES = ("fast", "thesis", "thesis-small", "schmidt")
DEFAULT = "fast"


@dataclass(frozen=True)
class Preset:
    """One preset: its name, two lines for people, and its settings, nested."""

    name: str
    about: str
    expect: str
    settings: dict[str, Any]


def load_preset(name: str) -> Preset:
    """The preset with this name; ConfigError lists the ones there are."""
    if name not in NAMES:
        raise ConfigError(
            f"unknown preset {name!r}; known: {', '.join(NAMES)}; settings change with --set learn.lr=0.01"
        )
    text = (files("palaestra.learn") / "presets" / f"{name}.toml").read_text(encoding="utf-8")
    settings = tomllib.loads(text)
    lines = settings.pop("preset")
    return Preset(name, lines["about"], lines["expect"], settings)


def configure(
    game: str,
    preset: str = DEFAULT,
    sets: Iterable[str] = (),
    *,
    iterations: int | None = None,
    minutes: float | None = None,
    **settings: Any,
) -> RunConfig:
    """The configuration of a run: the preset, then the given settings, then the `key=value` texts.

    `iterations` or `minutes` replace the preset's end of the run, both of them. Settings that are None are left alone.
    """
    given = {key: value for key, value in settings.items() if value is not None}
    chosen = merge(load_preset(preset).settings, {"game": game, **bounds(iterations, minutes), **given})
    return make_config(merge(chosen, parse_sets(sets)))
