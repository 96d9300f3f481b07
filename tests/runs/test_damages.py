"""Random damages to any file of a run, before any use of it: refused naming the file, or without any effect."""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from palaestra.cli.main import _run
from tests.learn.fakes import tree_of

SETTINGS = (
    "net=b1c8-outcome", "reward=cdf(generations=2)", "selfplay.games=6", "selfplay.search.simulations=4",
    "learn.epochs=1", "learn.window=2", "gate.games=4", "gate.simulations=2", "gate.threshold=0", "evaluation.every=2",
    "evaluation.games=2", "evaluation.simulations=2", "evaluation.anchors=[\"random\"]", "threads=1",
)  # fmt: skip


def command(*arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a verb."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = _run(list(arguments))
    return code, out.getvalue(), err.getvalue()


def without_times(text: str) -> Any:
    """The JSON object that a verb printed, without what a clock decides."""
    clock = ("seconds", "network_share")
    return json.loads(text, object_hook=lambda fields: {key: fields[key] for key in fields if not key.endswith(clock)})


def resume(run: Path) -> tuple[int, Any, str]:
    code, _, err = command("resume", str(run), "--iterations", "5", "--json")
    if code:
        return code, None, err
    shutil.rmtree(run / "generations")  # copies of manifests
    tree = tree_of(run)
    del tree["config.toml"]  # whose comments have no effect; settings that were edited stand in the history
    return code, tree, err


def report(run: Path) -> tuple[int, Any, str]:
    code, _, err = command("report", str(run), "--out", str(run / "page.html"), "--json")
    return code, None if code else (run / "page.html").read_bytes(), err


def export(run: Path) -> tuple[int, Any, str]:
    code, _, err = command("export", str(run), "--out", str(run / "out.onnx"), "--json")
    return code, None if code else (run / "out.onnx").read_bytes(), err


def shown(*arguments: str) -> Callable[[Path], tuple[int, Any, str]]:
    """A use whose result is the JSON that the verb prints; RUN stands for the run's folder."""

    def use(run: Path) -> tuple[int, Any, str]:
        code, out, err = command(*(argument.replace("RUN", str(run)) for argument in arguments), "--json")
        return code, None if code else without_times(out), err

    return use


GAME = "tic_tac_toe-3x3"
USES: dict[str, Callable[[Path], tuple[int, Any, str]]] = {
    "resume": resume,
    "report": report,
    "export": export,
    "evaluate": shown("evaluate", "RUN", "--games", "2", "--simulations", "2", "--against", "random", "--threads", "1"),
    "run:": shown("analyse", GAME, "--player", "run:RUN(simulations=8)"),
    "reward": shown("analyse", GAME, "--player", 'run:RUN(simulations=8, reward="cdf_bonus(alpha=0.5)")'),
    "tournament": shown("tournament", GAME, "run:RUN@*2(simulations=2)", "random", "--games", "2", "--threads", "1"),
}


def damage(path: Path, others: Sequence[Path], chance: random.Random) -> str:
    """Do something bad to a file; the words say what."""
    data = bytearray(path.read_bytes())
    at = chance.randrange(len(data)) if data else 0
    kind = chance.choice(["bit", "bit", "bits", "cut", "zeros", "gone", "swapped", "longer", "digit", "digit"])
    digits = [place for place, byte in enumerate(data) if chr(byte).isdigit()] if kind == "digit" else []
    if kind == "gone" or not data:
        path.unlink()
        return "gone"
    if kind == "bit" or (kind == "digit" and not digits):
        data[at] ^= 1 << chance.randrange(8)
    elif kind == "bits":
        for _ in range(8):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == "cut":
        del data[at:]
    elif kind == "zeros":
        data[at : at + 16] = bytes(len(data[at : at + 16]))
    elif kind == "swapped":
        data = bytearray(chance.choice(others).read_bytes())
    elif kind == "longer":
        data += chance.randbytes(16)
    else:  # what a text still reads as text
        data[chance.choice(digits)] = ord(chance.choice("0123456789"))
    path.write_bytes(data)
    return f"{kind} at {at}"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("whole") / "run"
    sets = [word for setting in SETTINGS for word in ("--set", setting)]
    code, _, err = command("train", GAME, "--preset", "thesis", "--out", str(run), "--iterations", "4", *sets, "--json")
    assert code == 0, err
    return run


def try_damages(whole: Path, scratch: Path, count: int, seed: int) -> dict[str, int]:
    """How many damages were refused, and how many had no effect."""
    expected = {}
    for name, use in USES.items():
        shutil.copytree(whole, scratch / "run")
        code, expected[name], err = use(scratch / "run")
        assert code == 0, err
        shutil.rmtree(scratch / "run")
    chance = random.Random(seed)
    counts = {"refused": 0, "without effect": 0, "told": 0}
    for number in range(count):
        run = scratch / "run"
        shutil.copytree(whole, run)
        files = sorted(path for path in run.rglob("*") if path.is_file())
        path = chance.choice(files)
        same_kind = [other for other in files if other.suffix == path.suffix and other != path] or files
        use = chance.choice(list(USES))
        what = f"{number}: {path.relative_to(run)}, {damage(path, same_kind, chance)}, {use}"
        code, found, err = USES[use](run)
        if use == "resume" and not code:  # what it did not read may stay as it is
            found.pop(str(path.relative_to(run)), None)
            wanted = {name: data for name, data in expected[use].items() if name in found}
        else:
            wanted = expected[use]
        if code:
            assert code == 2 and err.startswith("error: ") and err.count("\n") == 1, (what, err)
            assert path.name in err, (what, err)
            counts["refused"] += 1
        elif path.name == "config.toml" and found != wanted:  # an edit, which a person may make
            assert "changed" in str(found), (what, err)
            counts["told"] += 1
        else:
            assert found == wanted, what
            counts["without effect"] += 1
        shutil.rmtree(run)
    return counts


@pytest.mark.usefixtures("quick_disk")
def test_damages_are_refused_or_without_effect(whole: Path, tmp_path: Path) -> None:
    counts = try_damages(whole, tmp_path, 15, seed=1)
    assert counts["refused"] and counts["without effect"]


@pytest.mark.slow
@pytest.mark.usefixtures("quick_disk")
def test_a_thousand_damages_are_refused_or_without_effect(whole: Path, tmp_path: Path) -> None:
    counts = try_damages(whole, tmp_path, 1000, seed=2)
    print(counts)
    assert counts["refused"] > 100 and counts["without effect"] > 100
