"""Every setting with what it accepts, what it is for and its value in each preset: the models, for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from palaestra.base.errors import ConfigError
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import clip
from palaestra.base.types import JsonLike
from palaestra.learn.presets import NAMES, load_preset
from palaestra.learn.settings import accepts, every_setting, flat, toml_value

RUN = "run"  # the group of the settings that have none


@dataclass(frozen=True)
class Setting:
    """One setting. Values are as in config.toml, where "none" stands for an absent one."""

    name: str
    default: JsonLike  # None for a setting that must be given
    accepted: str
    description: str
    presets: Mapping[str, JsonLike]  # preset -> its value, where that is another one than the default

    @property
    def group(self) -> str:
        return self.name.rpartition(".")[0] or RUN

    def value(self, preset: str | None) -> JsonLike:
        """In this preset; the default without one."""
        return self.presets.get(preset, self.default) if preset is not None else self.default

    def to_json(self, preset: str | None) -> dict[str, JsonLike]:
        value = {} if preset is None else {"value": self.value(preset)}
        return {"name": self.name, "group": self.group, "default": self.default, **value, "accepted": self.accepted,
                "description": self.description, "presets": dict(self.presets)}  # fmt: skip


def catalogue(pattern: str = "") -> list[Setting]:
    """The settings whose name, group or description holds the pattern, in the order of config.toml."""
    presets = {preset: flat(load_preset(preset).settings) for preset in NAMES}
    found = []
    for name, field in every_setting().items():
        default = None if field.is_required() else toml_value(field.default)
        changed = {preset: values[name] for preset, values in presets.items() if values.get(name, default) != default}
        found.append(Setting(name, default, accepts(field), field.description or "", changed))
    if chosen := [setting for setting in found if pattern.lower() in f"{setting.name} {setting.description}".lower()]:
        return chosen
    hint = did_you_mean(pattern, every_setting())
    raise ConfigError(f"no setting has {clip(pattern)} in its name or description{hint}; palaestra settings lists all")


def shown(value: JsonLike) -> str:
    """A value as it is written after `--set name=`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(f'"{item}"' for item in value) + "]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def markdown(settings: Iterable[Setting]) -> str:
    """docs/settings.md: one table a group."""
    lines = [
        "# Settings",
        "",
        "Made by `palaestra settings --markdown > docs/settings.md`; do not edit. A setting is changed by a preset, by",
        "`--set learn.lr=0.01`, or in a run's `config.toml`. `palaestra settings PATTERN` searches names and",
        "descriptions, `--preset P` shows a preset's values. A preset is named where it changes the default.",
    ]
    group = None
    for setting in settings:
        if setting.group != group:
            group = setting.group
            lines += ["", f"## {group}", "", "| setting | default | accepted | is | presets |", "| --- " * 5 + "|"]
        default = "must be given" if setting.default is None else f"`{shown(setting.default)}`"
        presets = ", ".join(f"{preset} `{shown(value)}`" for preset, value in setting.presets.items())
        lines.append(f"| `{setting.name}` | {default} | {setting.accepted} | {setting.description} | {presets} |")
    return "\n".join(lines) + "\n"
