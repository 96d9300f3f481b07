"""Code of the user's own, named `module:attribute` wherever a built-in name is accepted, and the one consent for it.

What a file names is data. A run's folder says which game and which network it is of, and that may be `my_game:GAME`;
but the folder may come from a stranger, with a module of that name in it. So `load` imports nothing but

- what the user has named in this command (`trust`): the command line trusts its own words, and so do the functions of
  `import palaestra` that are given a text;
- what the user's own commands have loaded before and that has not changed since, nor any module of the user's own that
  it imports. Such files are remembered by their hashes in a file of the user's (`$PALAESTRA_STATE`, or `palaestra` in
  the user's folder for states), never beside a run.

A command that a player's text would start (`gtp:gnugo --mode gtp`) needs more: the user has typed this very command as
a player (`trust_commands`). It is never remembered, not handed on to other processes, and a text that only contains it,
such as a setting or a configuration, gives no consent.

This module knows no game, network or player: their registries say what a name should have been.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import inspect
import json
import os
import re
import sys
import uuid
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from palaestra.base.errors import PalaestraError
from palaestra.base.imported_files import imported_files, is_own
from palaestra.base.own_files import NotOwn, read_own, write_own
from palaestra.base.reading import parse_json
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import Grammar, Parts, clip

# What stands before the colon of a text that names data or a built-in kind; any other word there is a module.
NOT_CODE: Mapping[str, str] = {
    "gdl": "rules in GDL",
    "openspiel": "a game of OpenSpiel",
    "pgx": "a game of PGX",
    "run": "the agent of a run",
    "net": "the network of a run",
    "agent": "an agent of the package",
    "qtable": "a table that was learned",
    "gtp": "a program that speaks GTP",
    "uci": "a program that speaks UCI",
}
STARTED = ("gtp", "uci")  # of these, the kinds whose subject, or argument `command`, is started as a process

_WORD = r"[^\W\d]\w*"
_NAME = re.compile(rf"{_WORD}(?:\.{_WORD})*:{_WORD}")
_NAMES = re.compile(rf"(?<![\w.:/\\-])({_NAME.pattern})")

_PLAYER = Grammar("player", "gtp:gnugo", ValueError)

FROM_A_PAGE = "PALAESTRA_FROM_A_PAGE"  # set where a page has started the command: code that may be imported

_trusted: set[str] = set()  # what the user has named in this command
_commands: set[str] = set()  # what the user has typed as players that are programs
_came_with: dict[str, frozenset[Path]] = {}  # module -> files of the user's own that importing it imported


def is_code(text: str, built_in: Container[str] = ()) -> bool:
    """Whether a text is that of code, `module:attribute` or `module:attribute(arguments)`, and not of a built-in."""
    head, colon, _ = text.partition("(")[0].partition(":")
    return bool(colon) and head.strip() not in NOT_CODE and head.strip() not in built_in


def code_names(texts: Iterable[str]) -> list[str]:
    """Every `module:attribute` in some texts, also inside arguments, each once."""
    found = [name for text in texts for name in _NAMES.findall(text)]
    return [name for name in dict.fromkeys(found) if name.partition(":")[0] not in NOT_CODE]


# The consent.


def trust(*texts: str) -> None:
    """The user has typed these texts: all code that they name may be imported until the command ends."""
    _trusted.update(code_names(texts))


def trust_commands(*texts: str) -> None:
    """The user has typed these texts: one that is as a whole the text of a program that plays may start it."""
    _commands.update(command for text in texts if (command := command_of(text)) is not None)


def begin_command(words: Iterable[str]) -> None:
    """A command begins: nothing is trusted but what its words name. A word that is a path names that file alone.

    Where a page has started the command, nobody has typed its words: they name no program, and no code but what the
    server's own command named (`for_a_page`).
    """
    _trusted.clear()
    _commands.clear()
    typed = [word for word in words if not os.path.lexists(word)]
    if (allowed := os.environ.get(FROM_A_PAGE)) is None:
        trust(*typed)
        trust_commands(*typed)
    else:
        _trusted.update(set(code_names(typed)) & set(allowed.split()))


def for_a_page() -> dict[str, str]:
    """What the environment of a command says that a page starts: nobody has typed its words."""
    return {FROM_A_PAGE: " ".join(trusted())}


def trusted() -> list[str]:
    """What may be imported now: a process that does a part of this command's work is given it with `trust`."""
    return sorted(_trusted)


def may_load(name: str) -> bool:
    """Whether `load` would import this name."""
    return name in _trusted or _remembered(name) is not None


def command_of(text: str) -> str | None:
    """The command that a player's text would start; None for any other text. An option may stand before it."""
    if text.startswith("-"):
        text = text.partition("=")[2]
    try:
        parts = _PLAYER.parse(text)
    except ValueError:
        return None
    command = parts.keywords.get("command") if parts.subject is None else parts.subject
    return command if parts.name in STARTED and isinstance(command, str) else None


def may_start(command: str) -> bool:
    """Whether the user has typed this very command as a player."""
    return command in _commands


def to_be_named(texts: Iterable[str]) -> list[str]:
    """Of the code that some texts name, what a later command has to name again (`--trust`) before it is imported."""
    return [name for name in code_names(texts) if _remembered(name) is None]


# Loading.


def load(name: str, error: type[PalaestraError], noun: str, where: str = "a file") -> Any:
    """What `module:attribute` names, if the user has consented; `error` says in one line why there is nothing.

    Modules that the user has named are looked for in the current folder first, remembered ones in their own. `noun` is
    what it should be, `where` which file names it.
    """
    module_name, _, attribute = name.partition(":")
    if not _NAME.fullmatch(name):
        hint = did_you_mean(module_name, NOT_CODE)
        raise error(f"{clip(name)} is not {noun}{hint}: code of your own is module:attribute, for example my_file:NAME")
    if name in _trusted:
        module = _import(module_name, os.getcwd(), error, noun)
        _remember(name, module)
    elif (entry := _remembered(name)) is not None:
        module = _import(module_name, str(entry.root), error, noun)
        if _file_of(module) != entry.file:
            raise error(
                f"{where} names {name} of {entry.file}, but this command has imported {_file_of(module)}: only one"
                " of two modules of the same name can be used"
            )
    else:
        raise error(
            f"{where} names {clip(name)}, which is code and not loaded because a file says so; if you trust it, add"
            f" --trust {name} to this command"
        )
    if not hasattr(module, attribute):
        known = [one for one in vars(module) if not one.startswith("_")]
        raise error(f"{module_name} has no {attribute}{did_you_mean(attribute, known)}; {noun} is module:attribute")
    return getattr(module, attribute)


@contextlib.contextmanager
def in_words(name: str, error: type[PalaestraError], expected: str) -> Iterator[None]:
    """Whatever goes wrong in the user's code becomes one line that names it and says what was expected."""
    try:
        yield
    except PalaestraError:
        raise
    except Exception as failure:
        raise error(f"{name} failed ({_reason(failure)}); expected: {expected}") from failure


def call(made: Any, parts: Parts, given: tuple[object, ...], error: type[PalaestraError], expected: str) -> Any:
    """Call the user's own class or function with what it is always given, then the arguments of its text.

    `expected` says what it is called with and should give, for the message when that fails.
    """
    name = f"{parts.name}:{parts.subject}"
    if not callable(made):
        raise error(f"{name} is {type(made).__name__}; expected: {expected}")
    with contextlib.suppress(ValueError):  # some built-in functions have no signature
        signature = inspect.signature(made)
        try:
            signature.bind(*given, *parts.positional, **parts.keywords)
        except TypeError as failure:
            raise error(f"{clip(str(parts))} does not fit {name}{signature}: {failure}") from None
    with in_words(name, error, expected):
        return made(*given, *parts.positional, **parts.keywords)


def _import(module_name: str, root: str, error: type[PalaestraError], noun: str) -> ModuleType:
    if sys.path[:1] != [root]:  # in front, also where another folder with such a module precedes it
        sys.path[:] = [root, *(path for path in sys.path if path != root)]
    before = set(sys.modules)
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as failure:  # the user's own file may fail in any way at all
        hint = did_you_mean(module_name, NOT_CODE)
        raise error(
            f"cannot import {module_name!r}{hint} ({_reason(failure)}); {noun} is module:attribute"
        ) from failure
    if module_name not in before:
        files = (_file_of(sys.modules.get(other)) for other in set(sys.modules) - before)
        # A module may be made by code and name a file that is none, as two of PyTorch's do.
        _came_with[module_name] = frozenset(file for file in files if file and is_own(file) and file.is_file())
    return module


def _reason(failure: BaseException) -> str:
    return " ".join(f"{type(failure).__name__}: {failure}".split())


# The memory.


@dataclass(frozen=True)
class _Entry:
    """Code that the user has named once: where it is, and the SHA-256 of each file that it is made of."""

    file: Path
    root: Path  # the folder that the first part of the module's name lies in
    hashes: Mapping[Path, str]  # of the file and of all others

    def is_unchanged(self, name: str) -> bool:
        """Whether all files are as they were, and the module imports no other file of the user's own than then."""
        if any(not digest or _sha256(file) != digest for file, digest in self.hashes.items()):
            return False
        return imported_files(name.partition(":")[0], self.file, self.root) <= set(self.hashes)

    def to_json(self) -> dict[str, object]:
        others = {str(file): digest for file, digest in sorted(self.hashes.items()) if file != self.file}
        return {
            "file": str(self.file),
            "root": str(self.root),
            "sha256": self.hashes[self.file],
            "others": others,
        }

    @staticmethod
    def from_json(entry: Mapping[str, Any]) -> _Entry:
        """An entry of an earlier version has no others: it holds as long as the file imports none."""
        file, others = Path(entry["file"]), entry.get("others", {})
        hashes = {file: str(entry["sha256"]), **{Path(other): str(digest) for other, digest in others.items()}}
        return _Entry(file, Path(entry["root"]), hashes)


def _remember(name: str, module: ModuleType) -> None:
    """Remember the files behind a name that the user typed, where a file can be written."""
    if (file := _file_of(module)) is None:
        return
    parts = module.__name__.count(".") + 1 + (file.name == "__init__.py")
    root = file.parents[parts - 1]
    files = imported_files(module.__name__, file, root) | _came_with.get(module.__name__, frozenset()) | {file}
    entry = _Entry(file, root, {one: _sha256(one) for one in files})
    known = _read()
    if not all(entry.hashes.values()) or entry in known.get(name, []):
        return
    others = [old for old in known.get(name, []) if old.file != entry.file]
    document = {text: [one.to_json() for one in entries] for text, entries in {**known, name: [*others, entry]}.items()}
    with contextlib.suppress(OSError, RuntimeError, NotOwn):  # without it, later commands ask for --trust
        write_own(_file(), json.dumps(document, indent=1).encode(), f"{uuid.uuid4().hex}.tmp")


def _remembered(name: str) -> _Entry | None:
    """The entry of a name that a file holds; None where the user has not used this code as it is now.

    Of several, the one in the current folder; elsewhere only one that cannot be confused with another.
    """
    entries = [entry for entry in _read().get(name, []) if entry.is_unchanged(name)]
    here = [entry for entry in entries if entry.root == Path.cwd().resolve()]
    return here[0] if here else entries[0] if len(entries) == 1 else None


def _file_of(module: object) -> Path | None:
    name = getattr(module, "__file__", None)
    return Path(name).resolve() if isinstance(name, str) else None


def _file() -> Path:
    if chosen := os.environ.get("PALAESTRA_STATE"):
        return Path(chosen) / "used_code.json"
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "palaestra" / "used_code.json"


def _read() -> dict[str, list[_Entry]]:
    """What is remembered; nothing if the file is not there, not whole, or not the user's own."""
    try:
        known = parse_json(read_own(_file()))
        return {text: [_Entry.from_json(entry) for entry in entries] for text, entries in known.items()}
    except (OSError, NotOwn, RuntimeError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _sha256(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""
