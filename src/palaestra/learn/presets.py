"""Presets: settings of whole runs, shipped as TOML files beside this one.

A preset's table [preset] has a line about itself and one that says what to expect in how many minutes; the rest of the
file are settings as in config.toml. What a preset leaves out is that of its `base`, if it names one there, or else the
thesis's value (`config`).
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files

from palaestra.base.cores import usable_cores
from palaestra.base.errors import ConfigError
from palaestra.base.reading import parse_toml
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import clip
from palaestra.base.types import JsonLike
from palaestra.base.user_code import trust
from palaestra.games.base import Game
from palaestra.games.registry import full_id, make_game, text_of
from palaestra.learn.config import RunConfig
from palaestra.learn.settings import NONE, as_settings, bounds, flat, make_config, merge, parse_sets
from palaestra.learn.start import read_start
from palaestra.nets.architecture import parse_net
from palaestra.nets.heads import VALUE_HEAD

NAMES = (
    "fast",
    "strong",
    "thesis",
    "thesis-small",
    "schmidt",
    "opposition-fast",
    "ranked",
    "record",
    "thesis-ranked",
    "curriculum",
)
DEFAULT, LONG, SOLO, ONE_BEGINNING = "fast", "strong", "ranked", "record"
LONG_MINUTES = 30.0  # from which on a run of two players is a long one


@dataclass(frozen=True)
class Preset:
    """One preset: its name, two lines for people, and its settings, nested."""

    name: str
    about: str
    expect: str
    settings: dict[str, JsonLike]


def load_preset(name: str) -> Preset:
    """The preset with this name; ConfigError lists the ones there are."""
    if name not in NAMES:
        raise ConfigError(
            f"unknown preset {clip(name)}{did_you_mean(name, NAMES)}; known: {', '.join(NAMES)}; settings change with"
            " --set learn.lr=0.01"
        )
    found = _shipped(name)
    return replace(found, settings=deepcopy(found.settings))


@lru_cache
def _shipped(name: str) -> Preset:
    """Read once: an experiment configures thousands of runs."""
    text = (files("palaestra.learn") / "presets" / f"{name}.toml").read_text(encoding="utf-8")
    settings = parse_toml(text)
    lines = settings.pop("preset")
    if "base" in lines:
        settings = merge(_shipped(lines["base"]).settings, settings)
    return Preset(name, lines["about"], lines["expect"], settings)


def default_preset(game: Game, minutes: float | None = None, iterations: float | None = None) -> str:
    """The preset for a game and an end when none is named.

    A run that is given no end lasts as long as its preset says; a number of iterations alone says nothing about time.
    With one player and one initial position only the best game counts.
    """
    if game.players > 1:
        long = iterations is None if minutes is None else minutes >= LONG_MINUTES
        return LONG if long else DEFAULT
    return ONE_BEGINNING if game.num_starts == 1 else SOLO


def configure(
    game: str | Game,
    preset: str | None = None,
    sets: Iterable[str] = (),
    *,
    iterations: int | None = None,
    minutes: float | None = None,
    **settings: JsonLike,
) -> RunConfig:
    """The configuration of a run: the preset, then the given settings, then the `key=value` texts.

    Without a preset it is the one for the game; without a number of threads, in any of them, all cores are used.
    `iterations` or `minutes` replace the preset's end of the run, both of them. Settings that are None are left alone.
    A network that learns what games end in reads no other value target: it gets z unless one is given. A run that
    starts from the weights of another network has that network unless one is given. A network that is not the preset's
    does not grow as the preset's would.
    """
    text = full_id(game) if isinstance(game, str) else text_of(game)
    trust(text, *map(str, settings.values()))
    chosen = load_preset(preset or default_preset(make_game(text), minutes, iterations)).settings
    given: dict[str, JsonLike] = {
        "threads": chosen.get("threads") or usable_cores(),
        "game": text,
        **bounds(iterations, minutes),
    }
    given |= {key: value for key, value in settings.items() if value is not None}
    given = merge(given, parse_sets(sets))
    if "net" not in given and isinstance(start := given.get("start"), str) and start != NONE:
        given["net"] = read_start(start).written.net
    if given.get("net", chosen.get("net")) != chosen.get("net") and "growth" not in given:
        given["growth"] = {"nets": [], "after": []}
    config = make_config(merge(chosen, given))
    if "selfplay.value_target" in flat(given) or parse_net(config.net).head == VALUE_HEAD:
        return config
    return make_config(merge(as_settings(config), {"selfplay": {"value_target": "z"}}))
