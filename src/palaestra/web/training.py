"""Runs that a page starts, stops and goes on with: the very command that a person would type, as a process of its own.

What a browser asks for is checked here before anything is started: games by `house.allowed`, settings by the same
readers as the command's, so that the messages are the same. A setting may name neither code nor a file. What belongs to
a run's command, its log above all, lies in a hidden folder beside the runs and is no part of any of them.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from palaestra.base.errors import ConfigError, RunError
from palaestra.base.reading import parse_toml
from palaestra.base.text import clip, refuse_long
from palaestra.base.user_code import is_code
from palaestra.games.registry import full_id
from palaestra.learn.config_check import trainable
from palaestra.learn.presets import configure, default_preset, load_preset
from palaestra.learn.settings import check_key, new_key
from palaestra.live.run import LONGEST_NAME, named_folder
from palaestra.runs.folder import LOCK, RunFolder
from palaestra.runs.overview import folders_of, is_running
from palaestra.runs.places import RUNS, free_folder
from palaestra.web import commands
from palaestra.web.commands import Command
from palaestra.web.house import House

COMMANDS = ".commands"  # below the runs: a folder for each command that a page started
MOST_AT_ONCE = 3  # runs that train at the same time
LONGEST_SETTING = 500  # characters
OWN_FIELDS = ("game", "seed", "iterations", "minutes", "threads")  # settings that `start` takes by name
VERBS = ("train", "resume", "demo")  # commands that end like Ctrl-C, with the run at its last iteration

_NAME = re.compile(r"\w[\w.+-]*", re.UNICODE)
_starting = threading.Lock()  # counting runs and starting one more is one step


@dataclass(frozen=True)
class Plan:
    """A run that can be started: its name, and the words of its command after `palaestra`."""

    name: str
    words: tuple[str, ...]

    @property
    def line(self) -> str:
        """The command as a person types it."""
        return Command(Path(), self.words, 0, 0.0).line


def plan(
    house: House,
    *,
    game: str,
    preset: str | None = None,
    minutes: float | None = None,
    iterations: float | None = None,
    seed: float | None = 0,
    threads: float | None = None,
    name: str | None = None,
    sets: Sequence[str] = (),
) -> Plan:
    """What would be started; an error in the command's words if it cannot be."""
    rules = house.allowed.game(game)
    checked = checked_sets(house, sets)
    whole = {"iterations": iterations, "seed": seed or 0, "threads": threads}
    count = {key: _whole(key, value) for key, value in whole.items()}
    chosen = load_preset(preset).name if preset else default_preset(rules, minutes, count["iterations"])
    config = configure(
        game, chosen, checked, minutes=minutes, iterations=count["iterations"], seed=count["seed"],
        threads=count["threads"],
    )  # fmt: skip
    trainable(config, rules)
    folder = _new_folder(house, name, f"{full_id(game)}-{chosen}")
    words = ["train", full_id(game), "--preset", chosen, "--out", run_text(house, folder.name)]
    words += _ends(minutes, count["iterations"])
    words += ["--seed", str(count["seed"])] if count["seed"] else []
    words += ["--threads", str(count["threads"])] if count["threads"] is not None else []
    for text in checked:
        words += ["--set", text]
    return Plan(folder.name, tuple(words))


def start(house: House, **wishes: Any) -> str:
    """Start the run that `plan` describes, with the same arguments, and return its name."""
    with _starting:
        made = plan(house, **wishes)
        _refuse_crowd(house)
        Command.start(list(made.words), folder_of_command(house, made.name))
    return made.name


def resume_words(house: House, name: str, minutes: float | None = None, iterations: float | None = None) -> list[str]:
    """The words of the command that goes on with a run, or extends it to so much in all."""
    home = RunFolder(house.allowed.run(name))
    manifest = home.manifest()
    game = str((home.config() if manifest is None else manifest.config).get("game", ""))
    own = ["--game", game] if is_code(game) and game in house.own_games else []
    return ["resume", run_text(house, name), *_ends(minutes, _whole("iterations", iterations)), *own]


def resume(house: House, name: str, *, minutes: float | None = None, iterations: float | None = None) -> None:
    """Go on with a run that stopped, or extend one that is finished."""
    words = resume_words(house, name, minutes, iterations)
    with _starting:
        if is_running(RunFolder(house.allowed.run(name))):
            raise RunError(f"{name} is running already; stop it first, or wait until it ends")
        _refuse_crowd(house)
        Command.start(words, folder_of_command(house, name))


def stop(house: House, name: str) -> None:
    """End a run's process as Ctrl-C does: its last iteration is kept. Waits until a command of a page has ended."""
    command = last_command(house, name)
    if command is not None and command.is_running:
        command.stop()
        return
    home = RunFolder(house.allowed.run(name))
    if not is_running(home):
        raise RunError(f"{name} is not running: there is nothing to stop")
    _stop_holder(home.path)


def last_command(house: House, name: str) -> Command | None:
    """The command that a page started last for a run of this name."""
    return Command.last(folder_of_command(house, name))


def folder_of_command(house: House, name: str) -> Path:
    """Where a run's command keeps its log; ConfigError if no run can have this name."""
    return house.runs / COMMANDS / _checked_name(name)


def running(house: House) -> set[str]:
    """The names of the runs that are trained now, those that are still being started among them."""
    if not house.runs.exists():
        return set()
    found = {folder.name for folder in folders_of(house.runs) if is_running(RunFolder(folder))}
    begun = house.runs / COMMANDS
    return found | {folder.name for folder in (folders_of(begun) if begun.is_dir() else ()) if _is_begun(folder)}


def run_text(house: House, name: str) -> str:
    """How a command names a run of this page."""
    return name if house.runs == RUNS else str(house.runs / name)


# What may be asked for.


def checked_sets(house: House, sets: Iterable[str]) -> list[str]:
    """Settings as a command takes them; ConfigError or PlayerError for what a browser may not name."""
    found = []
    for text in sets:
        refuse_long(text, "a setting", ConfigError, LONGEST_SETTING)
        key, equals, value = text.partition("=")
        key = new_key(key.strip())
        if not equals or not key or not text.isprintable():
            raise ConfigError(f"a setting is written key=value, not {clip(text)}; for example learn.lr=0.01")
        check_key(key)
        if key in OWN_FIELDS:
            raise ConfigError(f"{key} has a field of its own on this page; it is not one of the settings")
        try:
            parsed = parse_toml(f"value = {value}")["value"]
        except ValueError:
            parsed = value.strip()
        if key == "evaluation.anchors" and isinstance(parsed, list):
            found.append(f"{key}={json.dumps([_anchor(house, item) for item in parsed], ensure_ascii=False)}")
            continue
        if any(_names_outside(key, item) for item in _strings(parsed)):
            raise ConfigError(
                f"a page cannot set {key} to {clip(value)}: that names code or a file, which only the command line may"
                f" do: palaestra train GAME --set {clip(text)}"
            )
        found.append(f"{key}={value.strip()}")
    return found


def _anchor(house: House, item: Any) -> str:
    """A player as the command finds it; runs are those of this page."""
    if not isinstance(item, str):
        raise ConfigError(f"evaluation.anchors are players, and {clip(str(item))} is none; for example random")
    allowed = house.allowed.player(item)
    return allowed if item.lstrip().startswith(("run:", "net:")) else item


def _names_outside(key: str, text: str) -> bool:
    """Whether a value may be read as code or as a file: nothing that is built in has such a name."""
    return any(sign in text for sign in "/\\~$") or text.endswith(".onnx") or (":" in text and key != "device")


def _strings(value: Any) -> list[str]:
    """All texts in a value of TOML, which is never nested deep."""
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (*_strings(key), *_strings(item))]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return [value] if isinstance(value, str) else []


def _whole(key: str, value: float | None) -> int | None:
    """A number of a form as the command takes it."""
    if value is None:
        return None
    if not isinstance(value, int | float) or value != value or not float(value).is_integer():
        raise ConfigError(f"{key} is {clip(str(value))}; it must be a whole number")
    return int(value)


def _ends(minutes: float | None, iterations: int | None) -> list[str]:
    if minutes is not None and not 0 < minutes <= 10**6:
        raise ConfigError(f"minutes is {minutes}; it must be a number above 0 and at most 1000000")
    if iterations is not None and not 1 <= iterations <= 10**7:
        raise ConfigError(f"iterations is {iterations}; it must be a whole number from 1 to 10000000")
    words = [] if minutes is None else ["--minutes", f"{minutes:.10g}"]
    return words if iterations is None else [*words, "--iterations", str(iterations)]


def _checked_name(name: str) -> str:
    refuse_long(name, "the name of a run", ConfigError, LONGEST_NAME)
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{clip(name)} cannot name a run: use letters, digits, - _ and ., for example first-try")
    return name


def _new_folder(house: House, name: str | None, otherwise: str) -> Path:
    """A folder that no run has, also none that is being started."""
    if name:
        folder = house.runs / _checked_name(name)
        named_folder(run_text(house, name))
        RunFolder(folder).refuse_if_taken()
        if _is_begun(folder_of_command(house, name)):
            raise RunError(f"{name} is being started already; choose another name")
        return folder
    folder = free_folder(otherwise, house.runs)
    number = 1
    while _is_begun(folder_of_command(house, folder.name)):
        number += 1
        folder = free_folder(f"{otherwise}-{number}", house.runs)
    return folder


def _is_begun(folder: Path) -> bool:
    return commands.is_running(folder)


def _refuse_crowd(house: House) -> None:
    names = sorted(running(house))
    if len(names) >= MOST_AT_ONCE:
        raise RunError(
            f"{len(names)} runs are trained already ({', '.join(names)}); stop one, or wait until it ends: more than"
            f" {MOST_AT_ONCE} at once would only make all of them slow"
        )


# Runs that were started elsewhere.


def _stop_holder(folder: Path) -> None:
    """Ask the process that holds a run's lock to end, if it is a command of Palaestra's; RunError if that is not known.

    The handle of the process is taken before it is looked at, so that a number that is used again reaches nobody else.
    """
    elsewhere = RunError(f"{folder.name} was not started from a page, and is to be ended where it was: Ctrl-C stops it")
    if not hasattr(os, "pidfd_open") or not hasattr(signal, "pidfd_send_signal"):
        raise elsewhere
    file = os.stat(folder / LOCK)
    for entry in Path("/proc").glob("[0-9]*"):
        if int(entry.name) == os.getpid():
            continue
        try:
            handle = os.pidfd_open(int(entry.name))
        except OSError:  # it has just ended
            continue
        try:
            if _is_training(entry) and _has_open(entry, (file.st_dev, file.st_ino)):
                signal.pidfd_send_signal(handle, signal.SIGTERM)
                return
        except OSError:  # of another user, or ended meanwhile
            continue
        finally:
            os.close(handle)
    raise elsewhere


def _is_training(process: Path) -> bool:
    words = (process / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    return any(os.path.basename(word) == "palaestra" and verb in VERBS for word, verb in pairwise(words))


def _has_open(process: Path, file: tuple[int, int]) -> bool:
    return any((found.st_dev, found.st_ino) == file for found in map(os.stat, (process / "fd").iterdir()))
