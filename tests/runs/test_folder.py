from __future__ import annotations

import errno
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from palaestra.base import atomic
from palaestra.base.errors import RunError
from palaestra.learn.loop import resume, train
from palaestra.runs.folder import RunFolder, pack, unpack
from palaestra.runs.manifest import About, Change, Manifest
from tests.learn.fakes import FAKES, tiny, tree_of

pytestmark = pytest.mark.usefixtures("quick_disk")


class FullDisk:
    """The module `os` with a disk that is full from the n-th changing call on: writes are cut short, then refused."""

    def __init__(self, calls: int, code: int = errno.ENOSPC) -> None:
        self.calls, self.code = calls, code

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self._limited(name, real) if name in ("write", "fsync", "replace", "ftruncate") else real

    def _limited(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.calls -= 1
            if self.calls == 0 and name == "write":
                return real(arguments[0], arguments[1][: len(arguments[1]) // 2])
            if self.calls <= 0:
                raise OSError(self.code, os.strerror(self.code))
            return real(*arguments)

        return call


def finished_run(folder: Path, *sets: str, iterations: int = 3) -> Path:
    train(tiny(*sets, iterations=iterations), folder, stages=FAKES)
    return folder


def one_line(error: pytest.ExceptionInfo[RunError]) -> str:
    text = str(error.value)
    assert "\n" not in text and len(text) < 400
    return text


def test_arrays_survive_packing_bit_for_bit_and_give_the_same_bytes_in_any_order() -> None:
    arrays = {
        "b": np.float32([np.nan, -0.0, 1e-45]),
        "a": np.arange(6, dtype=np.int8).reshape(2, 3).T,
        "c": np.array(3),
    }
    packed = pack(arrays)
    assert packed == pack(dict(reversed(arrays.items())))
    for key, array in unpack(packed, Path("x")).items():
        assert array.shape == arrays[key].shape and array.dtype == arrays[key].dtype
        assert array.tobytes() == np.ascontiguousarray(arrays[key]).tobytes()


def test_a_manifest_reads_back_as_written_and_notices_any_changed_byte() -> None:
    change: Change = {"after_iteration": 3, "changed": ["seed: 2 -> 3"]}
    about: About = {"numpy": "2.0", "threads": 2}
    numbers = (7, 5, 5, "hex-3x3", 1, "b1c8", 1.5, 9, 99, False, 12)
    manifest = Manifest(*numbers, {"seed": 3}, about, (change,), {"x": "y"})
    data = manifest.to_bytes()
    assert Manifest.from_bytes(data, Path("m")) == manifest
    for at in range(0, len(data) - 1, 3):  # the last byte is the end of the line
        if not data[at : at + 1].isspace():
            changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
            with pytest.raises(RunError):
                Manifest.from_bytes(changed, Path("m"))


def test_only_what_is_needed_stays_in_the_folder(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "run", "gate.kind=off", iterations=5)
    names = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}
    # A window of two iterations, and three iterations to go back to.
    assert {name for name in names if name.startswith("replay")} == {
        f"replay/{number:04d}.safetensors" for number in (2, 3, 4, 5)
    }
    assert {name for name in names if name.startswith("generations")} == {
        f"generations/{number:04d}.json" for number in (3, 4, 5)
    }
    assert {name for name in names if name.endswith("onnx")} == {f"checkpoints/{i:04d}.onnx" for i in range(6)}
    assert "checkpoints/0003.safetensors" in names and "checkpoints/0002.safetensors" not in names
    assert {name for name in names if name.startswith("games")} == {f"games/{i:04d}.pgn" for i in range(1, 6)}


def test_networks_of_rejected_iterations_are_not_kept(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "run", iterations=6)
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    accepted = [line["iteration"] for line in lines if line["gate"]["accepted"]]
    assert 0 < len(accepted) < 6, "the fake gate should do both"
    assert sorted(int(path.stem) for path in run.glob("checkpoints/*.onnx")) == [0, *accepted]
    manifest = RunFolder(run).manifest()
    assert manifest is not None and manifest.best == manifest.trainer == accepted[-1]


@pytest.mark.parametrize("code", [errno.ENOSPC, pytest.param(errno.EROFS, marks=pytest.mark.slow)])
def test_a_disk_that_fills_up_anywhere_leaves_the_previous_iteration_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    finished_run(tmp_path / "reference", iterations=1)
    resume(tmp_path / "reference", iterations=2, stages=FAKES)
    failures = 0
    for calls in range(1, 1000):
        run = finished_run(tmp_path / f"run{calls}", iterations=1)
        before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
        with monkeypatch.context() as patch:
            patch.setattr(atomic, "os", FullDisk(calls, code))
            try:
                resume(run, iterations=2, stages=FAKES)
            except RunError as error:
                failures += 1
                assert "\n" not in str(error) and os.strerror(code).lower() in str(error)
            else:
                break
        manifest = RunFolder(run).manifest()
        assert manifest is not None
        for name in manifest.files:
            data = RunFolder(run).read(name, manifest)  # raises if anything that is needed is not whole
            if manifest.iteration == 1:
                assert data == before[run / name]
        assert not list(run.rglob("*.tmp")), "nothing half-written stays behind while the process lives"
        resume(run, iterations=2 if manifest.iteration == 1 else None, stages=FAKES)
        assert tree_of(run) == tree_of(tmp_path / "reference"), calls
    assert failures > 15


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunError) as error:
        train(tiny(), tmp_path / "file" / "run", stages=FAKES)
    assert "cannot make the folder" in one_line(error)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("checkpoints/*.safetensors", lambda data: data[:-1]),
        ("checkpoints/*.safetensors", lambda data: bytes([data[0]]) + bytes([data[1] ^ 1]) + data[2:]),
        ("checkpoints/*.safetensors", lambda data: pickle.dumps({"weights": 1})),
        ("checkpoints/*.safetensors", lambda data: b""),
        ("checkpoints/*.onnx", lambda data: data[:-1] + bytes([data[-1] ^ 128])),
        ("replay/*.safetensors", lambda data: data[: len(data) // 2]),
        ("metrics.jsonl", lambda data: data[: len(data) // 2]),
        ("metrics.jsonl", lambda data: b"[]" + data[2:]),
        ("manifest.json", lambda data: data[: len(data) // 2]),
        ("manifest.json", lambda data: b"[1, 2]"),
        ("manifest.json", lambda data: data.replace(b'"format": 2', b'"format": 9')),
        ("manifest.json", lambda data: b"\x80\x04\x95"),
        ("config.toml", lambda data: data + b"[[["),
        ("config.toml", lambda data: data + b"\xff"),
    ],
)
def test_damaged_files_are_refused_with_one_line_that_names_them(
    tmp_path: Path, name: str, damage: Callable[[bytes], bytes]
) -> None:
    run = finished_run(tmp_path / "run", "gate.kind=off")
    path = sorted(run.glob(name))[-1]
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(RunError) as error:
        resume(run, iterations=5, stages=FAKES)
    assert str(path) in one_line(error)


def test_files_of_another_run_are_refused(tmp_path: Path) -> None:
    run, other = finished_run(tmp_path / "run", "gate.kind=off"), tmp_path / "other"
    train(tiny("gate.kind=off", iterations=3, seed=9), other, stages=FAKES)
    (run / "checkpoints/0003.safetensors").write_bytes((other / "checkpoints/0003.safetensors").read_bytes())
    with pytest.raises(RunError, match=r"0003\.safetensors is damaged"):
        resume(run, iterations=5, stages=FAKES)


def test_a_pickle_is_never_executed_even_if_the_manifest_names_it(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return os.system, (f"touch {tmp_path}/executed",)

    run = RunFolder(finished_run(tmp_path / "run", "gate.kind=off"))
    manifest = run.manifest()
    assert manifest is not None
    name = "checkpoints/0003.safetensors"
    run.save(replace(manifest, files={**manifest.files}), {name: pickle.dumps(Bomb())})
    with pytest.raises(RunError) as error:
        resume(run.path, iterations=5, stages=FAKES)
    assert "not a safetensors file" in one_line(error)
    assert not (tmp_path / "executed").exists()


def test_folders_that_are_no_runs_are_refused(tmp_path: Path) -> None:
    for path, words in ((tmp_path / "none", "does not exist"), (tmp_path, "is not a run")):
        with pytest.raises(RunError) as error:
            resume(path, stages=FAKES)
        assert words in one_line(error)


def test_a_folder_that_is_a_run_or_holds_other_things_is_not_trained_into(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "run")
    before = tree_of(run)
    with pytest.raises(RunError, match=r"is a run already.*palaestra resume"):
        train(tiny(), run, stages=FAKES)
    assert tree_of(run) == before
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "thesis.txt").write_text("mine")
    with pytest.raises(RunError, match=r"thesis\.txt"):
        train(tiny(), tmp_path / "notes", stages=FAKES)


def test_two_processes_do_not_write_one_run(tmp_path: Path) -> None:
    run = finished_run(tmp_path / "run")
    code = (
        "import fcntl, os, sys, time\n"
        f"handle = os.open({str(run / 'lock')!r}, os.O_RDWR)\n"
        "fcntl.flock(handle, fcntl.LOCK_EX)\nprint('held', flush=True)\nsys.stdin.read()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdin is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(RunError) as error:
            resume(run, iterations=5, stages=FAKES)
        assert "another process" in one_line(error)
        other.stdin.close()
    assert resume(run, iterations=5, stages=FAKES).iterations == 5
