"""A run's manifest: where the run is, and the SHA-256 of every file that counts. It carries a checksum of itself."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue, TypeAdapter
from typing_extensions import TypedDict  # pydantic takes that of the standard library from Python 3.12 on

from palaestra.base.errors import DamagedRunError, RunError
from palaestra.base.reading import parse_json

FORMAT = 2
MOST_ITERATIONS = 10**7
OLDEST = 1  # version 0.1, which did not hash games and metrics


About = dict[str, str | int]  # versions of what computed a run, its threads and its device, by name


class Change(TypedDict):
    """What was changed when a run was resumed."""

    after_iteration: int
    changed: list[str]  # one line each: "learn.lr: 0.01 -> 0.02"


@dataclass(frozen=True)
class Manifest:
    """Where a run is. `files` holds what resuming needs, all networks that once played, all games and the metrics."""

    iteration: int
    best: int  # iteration of the network that plays
    trainer: int  # iteration whose trainer state is current
    game: str  # the game's own id; config["game"] is the text that the user gave
    game_version: int
    net: str
    seconds: float
    games: int
    positions: int
    finished: bool
    metrics_bytes: int
    config: dict[str, JsonValue]  # the settings in force; config.toml says the same to people
    about: About
    history: tuple[Change, ...] = ()
    files: dict[str, str] = field(default_factory=dict)  # relative path -> SHA-256
    format: int = FORMAT

    def settings(self, *groups: str) -> dict[str, JsonValue]:
        """A group of the settings in force, such as ("selfplay", "search"); KeyError where there is none."""
        found = self.config
        for group in groups:
            inner = found[group]
            if not isinstance(inner, dict):
                raise KeyError(group)
            found = inner
        return found

    def to_bytes(self) -> bytes:
        body = {**self.__dict__, "format": FORMAT, "history": list(self.history)}
        body["check"] = _checksum(body)
        return (json.dumps(body, indent=1) + "\n").encode()

    @classmethod
    def from_bytes(cls, data: bytes, path: Path) -> Manifest:
        try:
            body = parse_json(data)
            if body["format"] not in range(OLDEST, FORMAT + 1):
                raise RunError(
                    f"{path} has format {body['format']!r}; this version of Palaestra reads {OLDEST} to {FORMAT}"
                )
            if body.pop("check") != _checksum(body):
                raise ValueError
            return _checked(cls(**{**body, "history": tuple(body["history"])}))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise DamagedRunError(f"{path} is damaged: it is not the manifest of a run") from None


def _checked(manifest: Manifest) -> Manifest:
    """The manifest; ValueError if a field is not of its type: the checksum of a stranger's manifest fits too."""
    manifest = TypeAdapter(Manifest).validate_python(manifest.__dict__)
    if not all(0 <= number <= MOST_ITERATIONS for number in (manifest.iteration, manifest.best, manifest.trainer)):
        raise ValueError
    return manifest


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _checksum(body: dict[str, object]) -> str:
    return digest(json.dumps(body, sort_keys=True).encode())
