"""A run's folder: what is in it, saved so that a kill at any instant loses one iteration at most.

    config.toml                    every setting, versions, and what was changed on the way
    manifest.json                  renamed last: the current iteration, and the SHA-256 of each file it needs
    metrics.jsonl                  one line an iteration; the manifest says how many bytes of it count
    games/NNNN.pgn                 the self-play games of an iteration
    checkpoints/NNNN.onnx          networks that played, 0000 untrained
    checkpoints/NNNN.safetensors   the trainer's state after the last accepted iteration
    replay/NNNN.safetensors        examples of the iterations in the window
    reward/NNNN.safetensors        what the reward has learned, if it is one that learns
    solutions/                     with one player, every best solution so far (`best_solutions`); never deleted

Loading runs no code: JSON, TOML and safetensors only, and no file is used whose hash differs. This module moves bytes;
it knows no network, no game and no training.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from palaestra.errors import RunError
from palaestra.learn.atomic import TEMPORARY, append_file, disk_error, make_folder, remove_file, sweep, write_file
from palaestra.players.runs import RUNS

FORMAT = 1
MANIFEST, CONFIG, METRICS, LOCK = "manifest.json", "config.toml", "metrics.jsonl", "lock"
FOLDERS, SOLUTIONS = ("games", "checkpoints", "replay", "reward"), "solutions"
Arrays = Mapping[str, np.ndarray[Any, Any]]


@dataclass(frozen=True)
class Manifest:
    """Where a run is. `files` holds what resuming needs; networks that once played stay on the disk beside them."""

    iteration: int
    best: int  # iteration of the network that plays
    trainer: int  # iteration whose trainer state is current
    game: str
    game_version: int
    net: str
    seconds: float
    games: int
    positions: int
    finished: bool
    metrics_bytes: int
    config: dict[str, Any]  # the settings in force; config.toml says the same to people
    about: dict[str, Any]  # versions of what computed this
    history: tuple[dict[str, Any], ...] = ()  # settings that were changed on resuming
    files: dict[str, str] = field(default_factory=dict)  # relative path -> SHA-256

    def to_bytes(self) -> bytes:
        body = {"format": FORMAT, **self.__dict__, "history": list(self.history)}
        body["check"] = _digest(json.dumps(body, sort_keys=True).encode())
        return (json.dumps(body, indent=1) + "\n").encode()

    @classmethod
    def from_bytes(cls, data: bytes, path: Path) -> Manifest:
        try:
            body = json.loads(data)
            if body["format"] != FORMAT:
                raise RunError(f"{path} has format {body['format']!r}; this version of Palaestra reads {FORMAT}")
            check = body.pop("check")
            if check != _digest(json.dumps(body, sort_keys=True).encode()):
                raise ValueError
            del body["format"]
            return cls(**{**body, "history": tuple(body["history"])})
        except (ValueError, KeyError, TypeError, AttributeError):
            raise RunError(f"{path} is damaged: it is not the manifest of a run") from None


class RunFolder:
    """The folder of one run."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def __str__(self) -> str:
        return str(self.path)

    # Being a run.

    def refuse_if_taken(self) -> None:
        """RunError if the folder holds a run, or anything that a run does not."""
        known = {METRICS, LOCK, *FOLDERS, SOLUTIONS}  # all that there is when a run was killed before its config.toml
        try:
            there = sorted(entry.name for entry in self.path.iterdir()) if self.path.exists() else []
        except OSError as error:
            raise disk_error("cannot read", self.path, error) from None
        if MANIFEST in there or CONFIG in there:
            raise RunError(f"{self.path} is a run already; go on with it: palaestra resume {self.path}")
        if strange := [name for name in there if name not in known and not name.endswith(TEMPORARY)]:
            raise RunError(f"{self.path} holds other files, such as {strange[0]}; choose another name for the run")

    def create(self) -> None:
        """Make the folder with nothing in it yet."""
        self.refuse_if_taken()
        for path in (self.path, *(self.path / name for name in FOLDERS)):
            make_folder(path)
        self.clean()
        write_file(self.path / METRICS, b"")

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Only one process writes a run. The lock ends with the process, however it ends."""
        try:
            handle = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise disk_error("cannot write", self.path, error) from None
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise RunError(f"{self.path} is being written by another process; wait for it or end it") from None
            yield
        finally:
            os.close(handle)

    def clean(self) -> None:
        """Remove what a killed process left half-written."""
        for folder in (self.path, *(self.path / name for name in (*FOLDERS, SOLUTIONS))):
            sweep(folder)

    # Reading.

    def manifest(self) -> Manifest | None:
        """The current manifest; None if the run was killed before its first one. RunError where there is no run."""
        path = self.path / MANIFEST
        try:
            return Manifest.from_bytes(path.read_bytes(), path)
        except FileNotFoundError:
            if (self.path / CONFIG).is_file():
                return None
        except OSError as error:
            raise disk_error("cannot read", path, error) from None
        what = "does not exist" if not self.path.exists() else "is not a run: it has no manifest.json"
        raise RunError(f"{self.path} {what}; runs are made by palaestra train, by default in ./runs")

    def config(self) -> dict[str, Any]:
        """config.toml as it stands."""
        path = self.path / CONFIG
        try:
            return tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise disk_error("cannot read", path, error) from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise RunError(f"{path} is not TOML: {error}") from None

    def read(self, name: str, manifest: Manifest) -> bytes:
        """A file that the manifest names; RunError if it is gone or changed by a single bit."""
        path = self.path / name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise disk_error("cannot read", path, error) from None
        if _digest(data) != manifest.files.get(name):
            raise RunError(f"{path} is damaged: it is not the file that {MANIFEST} names")
        return data

    def read_arrays(self, name: str, manifest: Manifest) -> dict[str, np.ndarray[Any, Any]]:
        """The arrays of a safetensors file that the manifest names."""
        return unpack(self.read(name, manifest), self.path / name)

    def metrics(self, manifest: Manifest) -> list[dict[str, Any]]:
        """The lines of metrics.jsonl that count."""
        path = self.path / METRICS
        try:
            data = path.read_bytes()
        except OSError as error:
            raise disk_error("cannot read", path, error) from None
        try:
            lines = [json.loads(line) for line in data[: manifest.metrics_bytes].splitlines()]
            if len(data) < manifest.metrics_bytes or [line["iteration"] for line in lines] != list(
                range(1, manifest.iteration + 1)
            ):
                raise ValueError
        except (ValueError, KeyError, TypeError):
            raise RunError(
                f"{path} is damaged: it does not hold the {manifest.iteration} iterations of the run"
            ) from None
        return lines

    # Writing.

    def write_config(self, text: str) -> None:
        write_file(self.path / CONFIG, text.encode())

    def save(self, manifest: Manifest, files: Mapping[str, bytes], line: Mapping[str, Any] | None = None) -> Manifest:
        """Save an iteration: its files, its line of metrics, then the manifest, and only then drop what is not needed.

        `manifest.files` names what is needed; hashes of the new files are filled in here, and it is returned as saved.
        """
        hashes = {name: _digest(data) for name, data in files.items()}
        for name, data in files.items():
            write_file(self.path / name, data)
        if line is not None:
            text = (json.dumps(line, allow_nan=False) + "\n").encode()
            append_file(self.path / METRICS, text, manifest.metrics_bytes)
            manifest = replace(manifest, metrics_bytes=manifest.metrics_bytes + len(text))
        needed = {name: hashes.get(name, old) for name, old in manifest.files.items()}
        manifest = replace(manifest, files=needed)
        write_file(self.path / MANIFEST, manifest.to_bytes())
        self.prune(manifest)
        return manifest

    def prune(self, manifest: Manifest) -> None:
        """Remove examples and states that the manifest does not name. Networks and games stay."""
        needed = manifest.files
        for folder in ("checkpoints", "replay", "reward"):
            for path in sorted((self.path / folder).glob("*.safetensors")):
                if f"{folder}/{path.name}" not in needed:
                    remove_file(path)
        for folder, ending in (("checkpoints", "onnx"), ("games", "pgn")):
            for path in sorted((self.path / folder).glob(f"*.{ending}")):
                if path.stem.isdigit() and int(path.stem) > manifest.iteration:  # of an iteration that was cut off
                    remove_file(path)


def free_folder(name: str, root: Path = RUNS) -> Path:
    """A folder below `root` that does not exist yet: the name, made fit for a file system, or with -2, -3, … behind."""
    base = "".join(character if character.isalnum() or character in "-_." else "-" for character in name)
    number = 1
    while (folder := root / (base if number == 1 else f"{base}-{number}")).exists():
        number += 1
    return folder


def numbered(folder: str, iteration: int, ending: str) -> str:
    """ "checkpoints/0012.onnx"."""
    return f"{folder}/{iteration:04d}.{ending}"


def pack(arrays: Arrays) -> bytes:
    """Arrays as a safetensors file. The same arrays give the same bytes (metadata would not: its order is random)."""
    from safetensors.numpy import save

    contiguous = {key: np.ascontiguousarray(arrays[key]).reshape(arrays[key].shape) for key in sorted(arrays)}
    return bytes(save(contiguous))


def unpack(data: bytes, path: Path) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a safetensors file; RunError for anything else, which is never executed."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return dict(load(data))
    except (SafetensorError, ValueError, KeyError, TypeError):
        raise RunError(f"{path} is not a safetensors file") from None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
