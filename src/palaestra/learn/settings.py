"""Settings from texts and tables: `--set learn.lr=0.01`, presets, config.toml; and what may change on resuming.

Values are checked by the models of `config`; here whatever is wrong becomes one line that says what was given and what
is accepted. TOML has no null: the text "none" stands for it where a setting may be absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from functools import lru_cache
from typing import get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from palaestra.base.errors import ConfigError
from palaestra.base.fields import accepted
from palaestra.base.reading import parse_toml
from palaestra.base.suggest import nearest
from palaestra.base.text import clip, refuse_long
from palaestra.base.types import JsonLike
from palaestra.base.user_code import trust
from palaestra.learn.config import RunConfig
from palaestra.search.config import OLD_NAMES, SearchConfig, new_names

NONE = "none"
EXAMPLE = "--set learn.lr=0.01"

# Settings that a run keeps for life, and why; a name stands for everything below it too.
FIXED = {
    "game": "a run learns one game",
    "net": "the weights belong to this network",
    "start": "it began from those weights",
    "course": "the games so far followed it",
    "reward": "the games so far were valued by it, and switch(primitive, cdf, at=20) plans a change beforehand",
    "seed": "the games so far came from it",
    "learn.optimizer": "its state would be lost",
    "warm": "a warm start is decided before the first iteration",
    "defects": "a run that had a defect for a while reproduces nothing",
}


def make_config(settings: Mapping[str, JsonLike]) -> RunConfig:
    """The checked configuration of nested settings; ConfigError is one line."""
    try:
        return RunConfig.model_validate(_from_toml(RunConfig, settings), strict=True)
    except ValidationError as error:
        raise ConfigError(_complaint(error)) from None


def as_settings(config: RunConfig) -> dict[str, JsonLike]:
    """Every setting, nested, as TOML and JSON can hold it; `make_config` is the inverse."""
    return _to_toml(config)


def parse_sets(texts: Iterable[str]) -> dict[str, JsonLike]:
    """Nested settings from `key=value` texts that the user has typed; a value is TOML, or a plain text."""
    settings: dict[str, JsonLike] = {}
    for text in texts:
        trust(text)
        refuse_long(text, "a setting", ConfigError)
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key:
            raise ConfigError(f"a setting is written key=value, not {clip(text)}; for example {EXAMPLE}")
        key = new_key(key)
        check_key(key)
        settings = merge(settings, nested(key, deepcopy(_value(value))))
    return settings


@lru_cache(maxsize=4096)
def _value(text: str) -> JsonLike:
    """A value as the user has typed it; experiments give the same ones thousands of times."""
    try:
        found: JsonLike = parse_toml(f"value = {text}")["value"]
    except ValueError:
        return text.strip()
    return found


def nested(key: str, value: JsonLike) -> dict[str, JsonLike]:
    """`learn.lr` and a value as nested settings."""
    *groups, last = key.split(".")
    settings: dict[str, JsonLike] = {last: value}
    for group in reversed(groups):
        settings = {group: settings}
    return settings


def every_setting() -> dict[str, FieldInfo]:
    """Every single setting by its dotted name, in the order of config.toml: those of a group before its groups."""
    found: dict[str, FieldInfo] = {}
    waiting: list[tuple[str, type[BaseModel]]] = [("", RunConfig)]
    while waiting:
        prefix, model = waiting.pop()
        groups = {name: _group_of(field) for name, field in model.model_fields.items()}
        found |= {prefix + name: field for name, field in model.model_fields.items() if groups[name] is None}
        waiting += [(f"{prefix}{name}.", group) for name, group in reversed(groups.items()) if group is not None]
    return found


def new_key(key: str) -> str:
    """The name of today of a setting that an earlier version called otherwise; other names as they are."""
    group, _, last = key.rpartition(".")
    return f"{group}.{OLD_NAMES[last]}" if group == "selfplay.search" and last in OLD_NAMES else key


def check_key(key: str) -> None:
    """ConfigError if a dotted key names no setting, with the ones that there are."""
    model: type[BaseModel] = RunConfig
    parts = key.split(".")
    for depth, part in enumerate(parts):
        if part not in model.model_fields:
            raise ConfigError(_unknown(".".join(parts[:depth]), part, model))
        deeper = _group_of(model.model_fields[part])
        last = depth == len(parts) - 1
        if deeper is None and not last:
            raise ConfigError(f"{'.'.join(parts[: depth + 1])} is a single setting; {key!r} does not exist")
        if deeper is not None:
            if last:
                raise ConfigError(
                    f"{key} is a group: set one of {', '.join(f'{key}.{k}' for k in deeper.model_fields)}"
                )
            model = deeper


def merge(base: Mapping[str, JsonLike], over: Mapping[str, JsonLike]) -> dict[str, JsonLike]:
    """`base` with the values of `over`, group by group; neither is changed."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged


def bounds(iterations: int | None, minutes: float | None) -> dict[str, JsonLike]:
    """The settings that end a run: what is given replaces both, so that an old bound never ends a run unnoticed."""
    if iterations is None and minutes is None:
        return {}
    return {
        "iterations": NONE if iterations is None else iterations,
        "minutes": NONE if minutes is None else float(minutes),
    }


def flatten(config: RunConfig) -> dict[str, JsonLike]:
    """Every setting by its dotted name."""
    return flat(as_settings(config))


def flat(settings: Mapping[str, JsonLike]) -> dict[str, JsonLike]:
    """Nested settings by dotted name, in their order; a name that has dots itself stays as it is."""
    found: dict[str, JsonLike] = {}
    waiting = list(settings.items())[::-1]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [(f"{path}.{key}", inner) for key, inner in list(value.items())[::-1]]
        else:
            found[path] = value
    return found


def changes(old: RunConfig, new: RunConfig) -> dict[str, tuple[JsonLike, JsonLike]]:
    """The settings that differ, by dotted name; ConfigError if one of them cannot change in the life of a run."""
    before, after = flatten(old), flatten(new)
    changed = {key: (before[key], after[key]) for key in after if after[key] != before[key]}
    for key in changed:
        for fixed, why in FIXED.items():
            if key == fixed or key.startswith(fixed + "."):
                raise ConfigError(
                    f"{key} cannot change from {before[key]} to {after[key]} in a run: {why}; start a new one"
                )
    return changed


def _from_toml(model: type[BaseModel], settings: Mapping[str, JsonLike]) -> dict[str, object]:
    """Lists become tuples and "none" becomes None where a field may be absent."""
    result: dict[str, object] = {}
    if model is SearchConfig:
        settings = new_names(settings)
    for key, value in settings.items():
        field = model.model_fields.get(key)
        group = _group_of(field) if field is not None else None
        if group is not None and isinstance(value, Mapping):
            result[key] = _from_toml(group, value)
        elif field is not None and value == NONE and type(None) in get_args(field.annotation):
            result[key] = None
        else:
            result[key] = tuple(value) if isinstance(value, list) else value
    return result


def _to_toml(model: BaseModel) -> dict[str, JsonLike]:
    result: dict[str, JsonLike] = {}
    for key in type(model).model_fields:
        value = getattr(model, key)
        result[key] = _to_toml(value) if isinstance(value, BaseModel) else toml_value(value)
    return result


def toml_value(value: JsonLike) -> JsonLike:
    """A value of a setting as TOML and JSON can hold it."""
    return NONE if value is None else list(value) if isinstance(value, tuple) else value


def _group_of(field: FieldInfo) -> type[BaseModel] | None:
    annotation = field.annotation
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _complaint(error: ValidationError) -> str:
    """The first thing that is wrong, in one line."""
    first = error.errors(include_url=False)[0]
    path = [str(part) for part in first["loc"]]
    model: type[BaseModel] = RunConfig
    field: FieldInfo | None = None
    for depth, part in enumerate(path):
        if part not in model.model_fields:
            if field is not None and _group_of(field) is None:
                break  # an item of a list, or a branch of a union
            return _unknown(".".join(path[:depth]), part, model)
        field = model.model_fields[part]
        model = _group_of(field) or model
    name = ".".join(path)
    if first["type"] == "value_error" or field is None:
        message = first["msg"].removeprefix("Value error, ")
        return f"{name}: {message}" if name else message
    if first["type"] == "missing":
        return f"{name} is missing; it must be {accepted(field)}"
    return f"{name} is {_shown(first['input'])}; it must be {accepts(field)}"


def accepts(field: FieldInfo) -> str:
    """What may be given for a setting, in words: "a number above 0 and at most 10, or none"."""
    devices = any(getattr(item, "pattern", None) for item in field.metadata)
    or_none = f", or {NONE}" if type(None) in get_args(field.annotation) else ""
    return ("cpu, mps, cuda or cuda:NUMBER" if devices else accepted(field)) + or_none


def _unknown(group: str, key: str, model: type[BaseModel]) -> str:
    name = f"{group}.{key}" if group else key
    meant = _meant(group, key, model)
    hint = f" (did you mean {' or '.join(meant)}?)" if meant else ""
    has = f"{group or 'a run'} has: {', '.join(model.model_fields)}"
    return f"unknown setting {clip(name)}{hint}; {has}; palaestra settings explains them"


def _meant(group: str, key: str, model: type[BaseModel]) -> list[str]:
    """The settings that an unknown name may stand for: of that name in other groups, else of nearly that name."""
    by_last: dict[str, list[str]] = {}
    for name in every_setting():
        by_last.setdefault(name.rpartition(".")[2], []).append(name)
    if key in by_last:
        return by_last[key]
    if near := nearest(key, model.model_fields):
        return [f"{group}.{near}" if group else near]
    elsewhere = nearest(key, by_last, OLD_NAMES)
    return [] if elsewhere is None else by_last[elsewhere]


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 60 else text[:57] + "…"
