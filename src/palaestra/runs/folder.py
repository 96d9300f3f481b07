"""A run's folder: what is in it, saved so that a kill at any instant loses one iteration at most.

    config.toml                    every setting, versions, and what was changed on the way
    manifest.json                  renamed last: the current iteration, and the SHA-256 of each file that counts
    generations/NNNN.json          the manifests of the last iterations, whose files are kept: the way back
    metrics.jsonl                  one line an iteration; the manifest says how many bytes of it count
    games/NNNN.pgn                 the self-play games of an iteration; 0000 those that the run was given
    games/NNNN.GAME.pgn            those of another game of the course
    checkpoints/NNNN.onnx          networks that played, 0000 untrained
    checkpoints/NNNN.safetensors   the trainer's state after an accepted iteration
    replay/NNNN.safetensors        examples of the iterations in the window
    reward/NNNN.safetensors        what the reward has learned, if it is one that learns
    solutions/                     with one player, every best solution so far; never deleted
    progress.json                  while a process trains, where it is; for views alone, and no part of the run

Loading runs no code: JSON, TOML and safetensors only, and no file is used whose hash differs. This module moves bytes;
it knows no network, no game and no training.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from palaestra.base.atomic import TEMPORARY, append_file, disk_error, make_folder, remove_file, sweep, write_file
from palaestra.base.errors import DamagedRunError, RunError
from palaestra.base.locks import lock
from palaestra.base.reading import parse_toml, read_bytes
from palaestra.base.text import whole_number
from palaestra.base.types import Array, Arrays, JsonLike
from palaestra.runs.manifest import FORMAT, Manifest, digest
from palaestra.runs.metrics import MetricsLine, read_lines, write_line

MANIFEST, CONFIG, METRICS, LOCK = "manifest.json", "config.toml", "metrics.jsonl", "lock"
GENERATIONS, SOLUTIONS = "generations", "solutions"
FOLDERS = ("games", "checkpoints", "replay", "reward", GENERATIONS)


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run."""

    path: Path

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

    def refuse_if_none(self) -> None:
        """RunError if the folder holds nothing that a run begins with."""
        if not any((self.path / name).exists() for name in (CONFIG, MANIFEST)):
            what = "is not a run: it has no manifest.json" if self.path.exists() else "does not exist"
            raise RunError(f"{self.path} {what}; runs are made by palaestra train, by default in ./runs")

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
            lock(handle, self.path, RunError)
            yield
        finally:
            os.close(handle)

    def clean(self) -> None:
        """Remove what a killed process left half-written."""
        for folder in (self.path, *(self.path / name for name in (*FOLDERS, SOLUTIONS))):
            sweep(folder)

    # Games that a run is given. They come before config.toml, without which there is no run.

    def give_games(self, pgn: bytes | None) -> None:
        """Put games into a new folder; None: take away those of a run that was killed before it began."""
        path = self.path / numbered("games", 0, "pgn")
        if pgn is not None:
            write_file(path, pgn)
        elif path.exists():
            remove_file(path)

    def given_games(self) -> dict[str, bytes]:
        """The file of the games that were put there, by its name; empty without any."""
        name = numbered("games", 0, "pgn")
        try:
            return {name: read_bytes(self.path / name)}
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise disk_error("cannot read", self.path / name, error) from None

    # Reading.

    def manifest(self) -> Manifest | None:
        """The current manifest; None if the run was killed before its first one. RunError where there is no run."""
        path = self.path / MANIFEST
        try:
            return self._adopted(Manifest.from_bytes(read_bytes(path), path))
        except FileNotFoundError:
            if any(self.generations()):  # it was there: only a run without any iteration may begin anew
                raise DamagedRunError(f"{path} is gone, and the run has iterations") from None
        except OSError as error:
            raise disk_error("cannot read", path, error) from None
        self.refuse_if_none()
        return None

    def generation(self, iteration: int) -> Manifest:
        """The manifest of an earlier iteration whose files are still kept; RunError says which there are."""
        path = self._generation(iteration)
        try:
            return Manifest.from_bytes(read_bytes(path), path)
        except FileNotFoundError:
            kept = ", ".join(map(str, self.generations())) or "none"
            raise RunError(f"{self.path} cannot go back to iteration {iteration}; it has kept: {kept}") from None
        except OSError as error:
            raise disk_error("cannot read", path, error) from None

    def generations(self) -> list[int]:
        """The iterations that a run can go back to, as far as names of files tell, ascending."""
        found = (self.path / GENERATIONS).glob("*.json")
        return sorted(number for path in found if (number := whole_number(path.stem)) is not None)

    def way_back(self) -> str:
        """Words with the command that goes back to the newest iteration of which every file is whole."""
        for iteration in reversed(self.generations()):
            try:
                manifest = self.generation(iteration)
                for name in manifest.files:
                    self.read(name, manifest)
            except RunError:
                continue
            return f"go back to iteration {iteration}: palaestra resume {self.path} --from {iteration}"
        return "no earlier iteration that is kept is whole"

    def config(self) -> dict[str, JsonLike]:
        """config.toml as it stands."""
        path = self.path / CONFIG
        try:
            return parse_toml(read_bytes(path))
        except OSError as error:
            raise disk_error("cannot read", path, error) from None
        except ValueError as error:
            raise DamagedRunError(f"{path} is not TOML: {error}") from None

    def read(self, name: str, manifest: Manifest) -> bytes:
        """A file that the manifest names, of metrics.jsonl what counts; RunError if it is gone or was changed."""
        path = self.path / name
        if name not in manifest.files:
            raise RunError(f"{path} is not part of the run: {MANIFEST} does not name it")
        try:
            data = read_bytes(path)
        except OSError as error:
            raise DamagedRunError(str(disk_error("cannot read", path, error))) from None
        if name == METRICS:
            data = data[: manifest.metrics_bytes]
        if digest(data) != manifest.files[name]:
            raise DamagedRunError(f"{path} is damaged: it is not the file that {MANIFEST} names")
        return data

    def read_arrays(self, name: str, manifest: Manifest) -> dict[str, Array]:
        """The arrays of a safetensors file that the manifest names."""
        return unpack(self.read(name, manifest), self.path / name)

    def metrics(self, manifest: Manifest) -> list[MetricsLine]:
        """The lines of metrics.jsonl that count."""
        lines = read_lines(self.read(METRICS, manifest), self.path / METRICS)
        if [line.iteration for line in lines] != list(range(1, manifest.iteration + 1)):
            raise DamagedRunError(
                f"{self.path / METRICS} is damaged: it does not hold the {manifest.iteration} iterations of the run"
            )
        return lines

    def _adopted(self, manifest: Manifest) -> Manifest:
        """A manifest of version 0.1 did not hash games and metrics: they are taken as they stand now."""
        if manifest.format == FORMAT:
            return manifest
        games = (numbered("games", number, "pgn") for number in range(1, manifest.iteration + 1))
        try:
            found = {name: read_bytes(self.path / name) for name in (METRICS, *games)}
        except OSError as error:
            raise DamagedRunError(f"{self.path} is damaged: {disk_error('cannot read', self.path, error)}") from None
        found[METRICS] = found[METRICS][: manifest.metrics_bytes]
        hashes = {name: digest(data) for name, data in found.items()}
        return replace(manifest, files={**manifest.files, **hashes}, format=FORMAT)

    def _generation(self, iteration: int) -> Path:
        return self.path / numbered(GENERATIONS, iteration, "json")

    # Writing.

    def write_config(self, text: str) -> None:
        write_file(self.path / CONFIG, text.encode())

    def save(
        self,
        manifest: Manifest,
        files: Mapping[str, bytes],
        line: MetricsLine | None = None,
        keep: int = 1,
    ) -> Manifest:
        """Save an iteration: its files, its line of metrics, then the manifest, and only then drop what is not needed.

        `manifest.files` names what is needed; hashes of the new files are filled in here, and it is returned as saved.
        The files of the last `keep` iterations stay, so that the run can go back to any of them.
        """
        hashes = {name: digest(data) for name, data in files.items()}
        for name, data in files.items():
            write_file(self.path / name, data)
        counted = self.read(METRICS, manifest) if METRICS in manifest.files else b""
        if line is not None:
            text = write_line(line)
            append_file(self.path / METRICS, text, manifest.metrics_bytes)
            counted += text
        needed = {name: hashes.get(name, old) for name, old in manifest.files.items()}
        manifest = replace(manifest, metrics_bytes=len(counted), files={**needed, METRICS: digest(counted)})
        content = manifest.to_bytes()
        write_file(self._generation(manifest.iteration), content)
        write_file(self.path / MANIFEST, content)
        self.prune(manifest, keep)
        return manifest

    def prune(self, manifest: Manifest, keep: int) -> None:
        """Remove what neither this manifest nor one of the `keep` last generations names. Networks and games stay."""
        needed = set(manifest.files)
        for iteration in self.generations():
            if not manifest.iteration - keep < iteration <= manifest.iteration:
                remove_file(self._generation(iteration))
            elif iteration < manifest.iteration:
                with contextlib.suppress(RunError):  # then there is no way back to it
                    needed |= set(self.generation(iteration).files)
        for folder in ("checkpoints", "replay", "reward"):
            for path in sorted((self.path / folder).glob("*.safetensors")):
                if f"{folder}/{path.name}" not in needed:
                    remove_file(path)
        for folder, ending in (("checkpoints", "onnx"), ("games", "pgn")):
            for path in sorted((self.path / folder).glob(f"*.{ending}")):
                if (
                    whole_number(path.name.partition(".")[0]) or 0
                ) > manifest.iteration:  # of an iteration that was cut off
                    remove_file(path)


def numbered(folder: str, iteration: int, ending: str) -> str:
    """ "checkpoints/0012.onnx"."""
    return f"{folder}/{iteration:04d}.{ending}"


def pack(arrays: Arrays) -> bytes:
    """Arrays as a safetensors file. The same arrays give the same bytes (metadata would not: its order is random)."""
    from safetensors.numpy import save

    contiguous = {key: np.ascontiguousarray(arrays[key]).reshape(arrays[key].shape) for key in sorted(arrays)}
    return bytes(save(contiguous))


def unpack(data: bytes, path: Path) -> dict[str, Array]:
    """The arrays of a safetensors file; RunError for anything else, which is never executed."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return dict(load(data))
    except (SafetensorError, ValueError, KeyError, TypeError):
        raise DamagedRunError(f"{path} is not a safetensors file") from None
