"""What a sweep varies: settings with their choices or ranges, from a TOML file or from a space of the package.

    preset = "fast"                                     # what every trial begins with
    design = "grid"                                     # or one-at-a-time; without it a sampler chooses
    [settings]                                          # the same in all trials
    iterations = 20
    [space]
    "learn.lr" = { low = 0.01, high = 0.08, log = true }
    "selfplay.search.simulations, gate.simulations" = [25, 50, 100]   # two settings, always equal

Every value is checked against the settings of a run. A file is data: nothing that it names is imported. Knows no
trial and no sampler.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from typing import Any, Literal, cast

from palaestra.base.errors import ConfigError
from palaestra.base.reading import parse_toml, read_bytes
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import clip
from palaestra.learn.config import RunConfig
from palaestra.learn.presets import configure
from palaestra.learn.settings import NONE as NO_VALUE
from palaestra.learn.settings import as_settings, check_key, flat, flatten, make_config, merge, nested

NAMES = ("fast", "thesis-3.4", "thesis-3.5")
KEYS = ("about", "preset", "design", "settings", "space")
DESIGNS = ("grid", "one-at-a-time")
RANGE = ("low", "high", "step", "log")
MOST_CHOICES = 1000
MOST_POINTS = 100_000  # of a grid
EXAMPLE = '"learn.lr" = [0.001, 0.005] or "learn.lr" = { low = 0.001, high = 0.01, log = true }'

Value = bool | int | float | str
Design = Literal["grid", "one-at-a-time"]


@dataclass(frozen=True)
class Parameter:
    """One thing that varies: a setting, or several that are always equal."""

    settings: tuple[str, ...]
    choices: tuple[Value, ...] = ()  # empty: a range
    low: float = 0.0
    high: float = 0.0
    step: float | None = None
    log: bool = False
    whole: bool = False  # a range of whole numbers

    @property
    def name(self) -> str:
        """Its first setting."""
        return self.settings[0]

    @property
    def values(self) -> tuple[Value, ...]:
        """All values, where they can be counted; ConfigError for a range without steps."""
        if self.choices:
            return self.choices
        step = 1.0 if self.whole and self.step is None and not self.log else self.step
        if step is None:
            raise ConfigError(f"{self.name} is a range without step, and a grid needs single values: give a list")
        count = math.floor((self.high - self.low) / step + 1e-9) + 1
        if count > MOST_CHOICES:
            raise ConfigError(f"{self.name} has {count} values; a grid takes at most {MOST_CHOICES}: give a step")
        return tuple(round(self.low + i * step) if self.whole else self.low + i * step for i in range(count))

    def number(self, value: Value) -> float:
        """A value as a number, for statistics: itself, or its place among the choices."""
        if isinstance(value, bool | str):
            return float(self.choices.index(value))
        return float(value)


@dataclass(frozen=True)
class Space:
    """The parameters, and the settings that all trials share."""

    name: str
    preset: str | None
    design: Design | None
    settings: Mapping[str, Any]  # nested
    parameters: tuple[Parameter, ...]
    text: str  # TOML, as it was read

    def config(self, base: RunConfig, values: Mapping[str, Value]) -> RunConfig:
        """The base with the values of a trial, by the parameters' names; ConfigError where they do not go together."""
        table: dict[str, Any] = {}
        for parameter in self.parameters:
            for key in parameter.settings:
                table = merge(table, nested(key, values[parameter.name]))
        return make_config(merge(as_settings(base), table))

    def base(self, game: str, preset: str | None, sets: Sequence[str], **given: Any) -> RunConfig:
        """What every trial begins with: the preset, the space's own settings, then what the user gives."""
        name = preset or self.preset or "fast"
        config = configure(game, name, sets, **given)
        fixed = {key: value for key, value in flat(self.settings).items() if not _is_given(key, sets, given)}
        table: dict[str, Any] = {}
        for key, value in fixed.items():
            table = merge(table, nested(key, value))
        return make_config(merge(as_settings(config), _ends(table)))

    def points(self, base: RunConfig) -> list[dict[str, Value]]:
        """The trials of the space's design, in order."""
        if self.design == "grid":
            return list(self.grid())
        there = cast("dict[str, Value]", flatten(base))  # what a space varies are single values
        first = {parameter.name: there[parameter.name] for parameter in self.parameters}
        points = [first]
        for parameter in self.parameters:
            if first[parameter.name] not in parameter.values:
                raise ConfigError(
                    f"{parameter.name} is {first[parameter.name]} where the others vary, which is not among its choices"
                    f" {', '.join(map(str, parameter.values))}; set one of them, for example --set"
                    f" {parameter.name}={parameter.values[0]}"
                )
            points += [{**first, parameter.name: value} for value in parameter.values if value != first[parameter.name]]
        return points

    def grid(self) -> list[dict[str, Value]]:
        """Every combination of values."""
        lists = [parameter.values for parameter in self.parameters]
        if (count := math.prod(map(len, lists))) > MOST_POINTS:
            raise ConfigError(f"the grid of {self.name} has {count:,} points; at most {MOST_POINTS:,} are tried")
        names = [parameter.name for parameter in self.parameters]
        return [dict(zip(names, values, strict=True)) for values in itertools.product(*lists)]


def check_extra() -> None:
    """ConfigError with the command that installs what sweeps need."""
    if missing := [name for name in ("optuna", "sklearn") if find_spec(name) is None]:
        raise ConfigError(f"sweeps need {' and '.join(missing)}: pip install 'palaestra[lab]'")


def spaces_in_words() -> dict[str, str]:
    """The spaces of the package, and what each is for."""
    return {name: str(parse_toml(load_space(name).text)["about"]) for name in NAMES}


def load_space(text: str) -> Space:
    """The space with this name, or in this file; ConfigError in one line."""
    if text in NAMES:
        content = (files("palaestra.lab") / "spaces" / f"{text}.toml").read_text(encoding="utf-8")
        return parse_space(text, content)
    if not text.endswith(".toml"):
        raise ConfigError(
            f"unknown space {clip(text)}{did_you_mean(text, NAMES)}; known: {', '.join(NAMES)}; a file ends in .toml"
        )
    try:
        content = read_bytes(text).decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = (getattr(error, "strerror", None) or "it is no text").lower()
        raise ConfigError(f"cannot read the space {clip(text)}: {reason}") from None
    return parse_space(text, content)


def parse_space(name: str, text: str) -> Space:
    """The space that a TOML text describes."""
    try:
        table = parse_toml(text)
    except ValueError as error:
        raise ConfigError(f"{clip(name)} is not TOML: {clip(str(error))}") from None
    for key in table:
        if key not in KEYS:
            raise ConfigError(
                f"{clip(name)}: unknown key {clip(key)}{did_you_mean(key, KEYS)}; a space has {', '.join(KEYS)}"
            )
    design, space, settings = table.get("design"), table.get("space"), table.get("settings", {})
    if design is not None and design not in DESIGNS:
        raise ConfigError(
            f"{clip(name)}: design is {clip(str(design))}; it must be {' or '.join(DESIGNS)}, or be left out"
        )
    if not isinstance(space, dict) or not space or not isinstance(settings, dict):
        raise ConfigError(f"{clip(name)} has no table [space] of settings to vary; for example {EXAMPLE}")
    for key in flat(settings):
        check_key(key)
    parameters = tuple(_parameter(key, value) for key, value in _flat_space(space).items())
    taken = [key for parameter in parameters for key in parameter.settings]
    if double := next((key for key in taken if taken.count(key) > 1), None):
        raise ConfigError(f"{clip(name)}: {double} is varied twice")
    preset = table.get("preset")
    made = Space(name, None if preset is None else str(preset), design, settings, parameters, text)
    _try_values(made)
    return made


def _parameter(key: str, value: Any) -> Parameter:
    names = tuple(part.strip() for part in key.split(","))
    for name in names:
        check_key(name)
        if name in ("game", "seed"):
            raise ConfigError(f"{name} cannot be varied: a sweep has one game and one seed")
    if isinstance(value, list):
        if not 2 <= len(value) <= MOST_CHOICES or len(set(map(str, value))) < len(value):
            raise ConfigError(f"{names[0]} needs 2 to {MOST_CHOICES} different choices; for example {EXAMPLE}")
        return Parameter(names, choices=tuple(value))
    if not isinstance(value, dict) or not {"low", "high"} <= value.keys() <= set(RANGE):
        raise ConfigError(f"{names[0]} is neither a list of choices nor a range; for example {EXAMPLE}")
    low, high, step = value["low"], value["high"], value.get("step")
    numbers = [low, high, *([] if step is None else [step])]
    if any(isinstance(number, bool) or not isinstance(number, int | float) for number in numbers) or not low < high:
        raise ConfigError(f"{names[0]}: a range goes from a smaller number to a larger one; for example {EXAMPLE}")
    log = value.get("log", False)
    if log and (step is not None or low <= 0):
        raise ConfigError(f"{names[0]}: a range with log begins above 0 and has no step")
    if step is not None and not 0 < step <= high - low:
        raise ConfigError(f"{names[0]}: step is {step}; it must be above 0 and at most the range")
    whole = all(isinstance(number, int) for number in numbers)
    return Parameter(names, low=low, high=high, step=step, log=bool(log), whole=whole)


def _try_values(space: Space) -> None:
    """ConfigError if a value is not one of its setting; whether values go together is seen in the trials."""
    for parameter in space.parameters:
        values = parameter.choices or (
            (round(parameter.low), round(parameter.high)) if parameter.whole else (parameter.low, parameter.high)
        )
        for value in values:
            for key in parameter.settings:
                other = {"learn.epochs": "learn.samples_per_position", "learn.samples_per_position": "learn.epochs"}
                table = merge({"game": "tic_tac_toe-3x3", "iterations": 1}, nested(key, value))
                if key in other:  # exactly one of the two is given
                    table = merge(table, nested(other[key], NO_VALUE if value != NO_VALUE else 1.0))
                try:
                    make_config(table)
                except ConfigError as error:
                    if str(error).startswith(key + " "):  # not that it needs another setting
                        raise


def _flat_space(table: Mapping[str, Any]) -> dict[str, Any]:
    """Like `settings.flat`, but a table with low and high is a range."""
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Mapping[str, Any]]] = [("", table)]
    while waiting:
        prefix, group = waiting.pop(0)
        for key, value in group.items():
            if isinstance(value, dict) and not set(value) & set(RANGE):
                waiting.append((f"{prefix}{key}.", value))
            else:
                found[prefix + key] = value
    return found


def _is_given(key: str, sets: Sequence[str], given: Mapping[str, Any]) -> bool:
    """Whether the user has set something that the space sets too; the user wins."""
    ended = key in ("iterations", "minutes") and (given.get("iterations") or given.get("minutes"))
    return bool(ended) or any(text.partition("=")[0].strip() == key for text in sets)


def _ends(table: dict[str, Any]) -> dict[str, Any]:
    """A space that gives one end of runs replaces both."""
    if "iterations" in table or "minutes" in table:
        return {"iterations": NO_VALUE, "minutes": NO_VALUE, **table}
    return table
