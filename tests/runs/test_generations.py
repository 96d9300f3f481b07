"""The way back: the last iterations are kept whole, and a run whose newest is damaged says how to go on."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from palaestra.base.errors import RunError
from palaestra.learn.loop import resume, train
from palaestra.players.runs import open_run
from palaestra.runs.folder import RunFolder
from palaestra.runs.manifest import digest
from tests.learn.fakes import FAKES, tiny, tree_of

pytestmark = pytest.mark.usefixtures("quick_disk")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    train(tiny("net=b1c8-outcome", "reward=cdf", iterations=6), tmp_path / "run", stages=FAKES)
    return tmp_path / "run"


def test_going_back_and_on_again_gives_the_same_bits(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "back")
    summary = resume(tmp_path / "back", from_iteration=4, stages=FAKES)
    assert summary.iterations == 6
    again, whole = tree_of(tmp_path / "back"), tree_of(run)
    assert RunFolder(tmp_path / "back").config()["history"] == [
        {"after_iteration": 4, "changed": ["went back to iteration 4"]}
    ]
    told = {"config.toml", "manifest.json", *(f"generations/{number:04d}.json" for number in (4, 5, 6))}
    assert {name: data for name, data in again.items() if name not in told} == {
        name: data for name, data in whole.items() if name not in told
    }


@pytest.mark.parametrize("keep", [1, 2, 5])
def test_as_many_iterations_are_kept_as_the_setting_says(tmp_path: Path, keep: int) -> None:
    home = RunFolder(tmp_path / "run")
    train(tiny(f"keep={keep}", "gate.kind=off", iterations=6), home.path, stages=FAKES)
    assert home.generations() == list(range(7 - keep, 7))
    for number in home.generations():
        manifest = home.generation(number)
        assert manifest.iteration == number
        for name in manifest.files:
            home.read(name, manifest)
    states = {path.stem for path in (home.path / "checkpoints").glob("*.safetensors")}
    assert states == {f"{number:04d}" for number in home.generations()}


@pytest.mark.parametrize(
    "name", ["checkpoints/0006.safetensors", "manifest.json", "replay/0006.safetensors", "reward/0006.safetensors"]
)
@pytest.mark.parametrize("gone", [False, True])
def test_a_damaged_newest_iteration_is_refused_with_the_command_that_goes_back(
    tmp_path: Path, name: str, gone: bool
) -> None:
    run = tmp_path / "run"
    train(tiny("net=b1c8-outcome", "reward=cdf", "gate.kind=off", iterations=6), run, stages=FAKES)
    path = run / name
    if gone:
        path.unlink()
    else:
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    with pytest.raises(RunError) as error:
        resume(run, iterations=8, stages=FAKES)
    words = str(error.value)
    found = re.search(r"go back to iteration (\d): palaestra resume (\S+) --from (\d)$", words)
    assert found is not None and str(path) in words and found[2] == str(run)
    newest = 6 if name == "manifest.json" else 5  # the manifest's own copy is whole
    assert found[1] == found[3] == str(newest)
    summary = resume(run, iterations=8, from_iteration=newest, stages=FAKES)
    assert summary.iterations == 8 and open_run(str(run)).iteration == 8


def test_where_all_is_damaged_there_is_no_way_back(run: Path) -> None:
    metrics = run / "metrics.jsonl"
    metrics.write_text(metrics.read_text().replace('"iteration": 1,', '"iteration": 7,'))
    with pytest.raises(RunError, match=r"metrics\.jsonl is damaged.*no earlier iteration that is kept is whole"):
        resume(run, iterations=8, stages=FAKES)


@pytest.mark.parametrize("number", [0, 3, 7])
def test_an_iteration_that_is_not_kept_is_refused_and_nothing_is_touched(run: Path, number: int) -> None:
    before = tree_of(run)
    with pytest.raises(RunError, match=rf"cannot go back to iteration {number}; it has kept: 4, 5, 6"):
        resume(run, from_iteration=number, stages=FAKES)
    assert tree_of(run) == before


def test_a_run_cannot_go_back_to_an_iteration_that_is_damaged_itself(run: Path) -> None:
    replay = run / "replay" / "0004.safetensors"
    replay.write_bytes(b"")
    before = tree_of(run)
    with pytest.raises(RunError, match=r"0004\.safetensors is damaged"):
        resume(run, from_iteration=4, stages=FAKES)
    assert tree_of(run) == before


def test_settings_are_those_of_the_iteration_and_may_change_again(run: Path) -> None:
    resume(run, ["learn.lr=0.25"], iterations=7, stages=FAKES)
    (run / "config.toml").write_text("not toml [[[")
    resume(run, ["selfplay.games=3"], from_iteration=5, stages=FAKES)
    config = RunFolder(run).config()
    assert config["learn"]["lr"] == 0.005 and config["iterations"] == 6 and config["selfplay"]["games"] == 3
    assert config["history"][-1]["changed"][0] == "went back to iteration 5"


def test_a_run_of_version_0_1_is_read_and_goes_on(run: Path, tmp_path: Path) -> None:
    """That version hashed neither games nor metrics, kept one generation and had another format number."""
    shutil.copytree(run, tmp_path / "old")
    old = tmp_path / "old"
    shutil.rmtree(old / "generations")
    body = json.loads((old / "manifest.json").read_text())
    del body["check"], body["config"]["keep"]
    body["format"] = 1
    body["files"] = {name: hash for name, hash in body["files"].items() if not re.match("games|metrics", name)}
    body["check"] = digest(json.dumps(body, sort_keys=True).encode())
    (old / "manifest.json").write_text(json.dumps(body))
    (old / "config.toml").write_text((old / "config.toml").read_text().replace("keep = 3\n", ""))
    (old / "generations").mkdir()
    assert open_run(str(old)).checkpoints == open_run(str(run)).checkpoints
    for folder in (old, run):
        resume(folder, iterations=8, stages=FAKES)
    ours, theirs = tree_of(old), tree_of(run)
    for name in set(theirs) - {"config.toml"}:
        if not name.startswith(("generations", "manifest")):
            assert ours[name] == theirs[name], name
