"""Small parts of the page Watch: its style, facts about a run, its settings, what was warned. Every text is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from nicegui import ui

from palaestra.arena.statistics import elo_in_words
from palaestra.base.printable import escape
from palaestra.learn.catalogue import Setting, catalogue, shown
from palaestra.learn.presets import NAMES
from palaestra.live.words import clock, mean_in_words
from palaestra.runs.manifest import Manifest
from palaestra.runs.metrics import Lines
from palaestra.web import parts
from palaestra.web.watching import SeenRun

ENDS = ("game", "seed", "iterations", "minutes", "threads", "device")  # settings that say nothing about a preset
_DASH = "–"


def style() -> None:
    """The look of this page, beside that of all pages."""
    parts.style()
    text = (files("palaestra.web") / "watch.css").read_text(encoding="utf-8")
    ui.add_head_html(f"<style>{text}</style>")


def state_chip(state: str) -> str:
    """A run's state as a small mark."""
    kind = {"running": "live", "starting": "live", "finished": "good", "damaged": "bad", "failed": "bad"}
    return f'<span class="px-chip px-{kind.get(state, "soft")}">{escape(state)}</span>'


# Facts.


def facts(manifest: Manifest, lines: Lines) -> list[tuple[str, str]]:
    """(what, how much) of a run, the most telling first."""
    found = [(f"Elo against {anchor}", elo_in_words(elo)) for anchor, elo in _last_elo(lines).items()]
    judged = next((line.score for line in reversed(lines) if line.score is not None), None)
    for score in (judged, *judged.anchors) if judged is not None else ():
        found.append((f"mean score of {score.player}", mean_in_words(score.mean, score.low, score.high)))
    last = lines[-1] if lines else None
    if last is not None and last.scores is not None:
        found.append(("best score of the run", str(last.scores.best)))
    if last is not None and last.demerits is not None:
        found.append(("demerits", f"{last.demerits.demerits:.2f}"))
    found += [
        ("iterations", f"{manifest.iteration:,}"),
        ("time", clock(manifest.seconds)),
        ("games", f"{manifest.games:,}"),
        ("positions", f"{manifest.positions:,}"),
        ("network", manifest.net),
        ("is its best network", f"iteration {manifest.best}"),
    ]
    reward = str(manifest.config.get("reward", "default"))
    return found if reward == "default" else [*found, ("reward", reward)]


def _last_elo(lines: Lines) -> Mapping[str, Any]:
    return next((line.elo for line in reversed(lines) if line.elo), {})


def facts_html(rows: Iterable[tuple[str, str]]) -> str:
    return "".join(
        f'<div class="w-fact"><b>{escape(value)}</b><small>{escape(what)}</small></div>' for what, value in rows
    )


# Progress.


def progress_html(seen: SeenRun) -> str:
    """Where a run is that is trained now."""
    told = seen.progress
    if told is None:
        words = "The run goes on in another process."
        if seen.starting:
            words = "The command is starting. On a new machine rules are compiled first, which takes half a minute."
        return f'<div class="w-now-row"><span>{words}</span></div>'
    left = "" if told.seconds_left is None else f", about {clock(told.seconds_left)} left"
    of = "" if told.total is None else f" of {told.total:,}"
    stage = f"{told.stage or 'beginning'}: {told.done:,}{of} {told.unit}".rstrip(": 0") if told.stage else "beginning"
    inside = min(1.0, told.done / told.total) if told.total else 0.0
    return (
        f'<div class="w-now-row"><b>iteration {told.iterations + 1}</b><span>{escape(stage)}</span></div>'
        f"<div>{parts.bar(inside)}</div>"
        f'<div class="w-now-row"><span>{100 * told.share:.0f} % of the run</span>'
        f'<span class="p-soft">{clock(told.seconds)}{left}</span></div><div>{parts.bar(told.share)}</div>'
    )


# What happened.


def events_of(manifest: Manifest, lines: Lines, warnings: Sequence[str] = ()) -> list[str]:
    """What was changed, undone or warned of in the life of a run, in sentences."""
    found = [f"iteration {line.iteration} diverged: {line.diverged}" for line in lines if line.diverged]
    refused = [str(line.iteration) for line in lines if not line.is_accepted]
    if refused:
        shown_ones = ", ".join(refused[-12:])
        found.append(
            f"{len(refused)} of {len(lines)} networks were rejected by the gate, and their training undone: "
            + (f"… {shown_ones}" if len(refused) > 12 else shown_ones)
        )
    for entry in manifest.history:
        changed = entry.get("changed")
        for change in changed if isinstance(changed, list) else ():
            found.append(f"after iteration {entry.get('after_iteration')}: {change}")
    return found + [words for words in warnings if words not in found]


def events_html(words: Iterable[str]) -> str:
    return '<ul class="w-notes">' + "".join(f"<li>{escape(one)}</li>" for one in words) + "</ul>"


# Settings.


def flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a manifest by their dotted names, "none" for what is absent, as in config.toml."""
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Mapping[str, Any]]] = [("", settings)]
    while waiting:
        prefix, table = waiting.pop()
        for key, value in table.items():
            if isinstance(value, Mapping):
                waiting.append((f"{prefix}{key}.", value))
            else:
                found[prefix + str(key)] = "none" if value is None else value
    return found


_catalogue = cache(catalogue)


def nearest_preset(given: Mapping[str, Any], settings: Sequence[Setting]) -> tuple[str, list[str]]:
    """The preset that differs least from these settings, and the names of those that differ."""
    differing = {
        preset: [
            one.name
            for one in settings
            if one.name not in ENDS and one.name in given and given[one.name] != one.value(preset)
        ]
        for preset in NAMES
    }
    best = min(NAMES, key=lambda preset: len(differing[preset]))
    return best, differing[best]


def settings_table(given: Mapping[str, Any], search: str, only_differing: bool) -> tuple[str, str]:
    """(words, HTML): which preset the settings are of, and a table of those that are asked for."""
    settings = _catalogue()
    preset, differing = nearest_preset(given, settings)
    count = "no setting differs" if not differing else f"{len(differing)} setting{'s'[: len(differing) > 1]} differ"
    words = f"Nearest preset: {preset}; {count}{'s' if len(differing) == 1 else ''}."
    asked = search.lower().split()
    rows = [
        _row(one, given[one.name], preset, one.name in differing)
        for one in settings
        if one.name in given
        and (one.name in differing or not only_differing)
        and all(word in f"{one.name} {one.description}".lower() for word in asked)
    ]
    head = '<tr><th>setting</th><th>value</th><th class="w-hide">preset</th><th class="w-hide">is</th></tr>'
    return words, f'<table class="w-settings">{head}{"".join(rows)}</table>' if rows else ""


def _row(setting: Setting, value: Any, preset: str, differs: bool) -> str:
    text = shown(value) if not isinstance(value, dict) else json.dumps(value)
    usual = setting.value(preset)
    return (
        f'<tr class="{"w-differs" if differs else ""}"><td>{escape(setting.name)}</td><td>{escape(text)}</td>'
        f'<td class="w-hide">{_DASH if usual is None else escape(shown(usual))}</td>'
        f'<td class="w-hide">{escape(setting.description)}; {escape(setting.accepted)}</td></tr>'
    )
