"""Wheel and sdist: complete, alike, and at work in a new environment, far from the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

import palaestra

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("pyproject.toml", "README.md", "LICENSE")
SMALL = (
    "net=b1c8", "selfplay.games=4", "selfplay.search.simulations=2", "evaluation.games=2", "evaluation.simulations=2",
    'evaluation.anchors=["random"]',
)  # fmt: skip

pytestmark = pytest.mark.slow


def run(*words: str | Path, folder: Path) -> str:
    """What a command prints; it must succeed. Nothing of the development environment reaches it but the cache."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        list(map(str, words)), cwd=folder, capture_output=True, text=True, timeout=900, env=environment
    )
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def wheel_of(source: Path, out: Path) -> Path:
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation")
    run(*pip, "--wheel-dir", out, source, folder=out.parent)
    (made,) = out.glob("palaestra-*.whl")
    return made


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """(a wheel of the repository, its sdist, a wheel of the sdist), made from a copy without the tests."""
    work = tmp_path_factory.mktemp("packages")
    copy = work / "copy"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in NEEDED:
        shutil.copy(ROOT / name, copy)
    code = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    run(sys.executable, "-c", code, work / "sdist", folder=copy)
    (sdist,) = (work / "sdist").glob("*.tar.gz")
    return wheel_of(copy, work / "wheel"), sdist, wheel_of(sdist, work / "again")


def test_wheel_and_sdist_hold_every_file_of_the_package(packages: tuple[Path, Path, Path]) -> None:
    source = packages[0].parents[1] / "copy" / "src"
    files = (file for file in (source / "palaestra").rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    ours = {file.relative_to(source).as_posix() for file in files}
    for wheel in (packages[0], packages[2]):
        with zipfile.ZipFile(wheel) as archive:
            held = {name for name in archive.namelist() if name.startswith("palaestra/")}
        assert held == ours
    with tarfile.open(packages[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in ours} | set(NEEDED) <= names


def test_the_package_works_in_a_new_environment_from_another_folder(
    packages: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    """Dependencies are those of the development environment, read from where they are; the package is the wheel's."""
    home, here = tmp_path / "home", tmp_path / "here"
    here.mkdir()
    run(sys.executable, "-m", "venv", "--without-pip", home, folder=tmp_path)
    run(sys.executable, "-m", "pip", "--python", home / "bin" / "python", "install", "--quiet", "--no-deps",
        "--no-index", packages[2], folder=here)  # fmt: skip
    (site,) = home.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")  # whose own .pth files are not read
    command = home / "bin" / "palaestra"
    where = run(home / "bin" / "python", "-c", "import palaestra; print(palaestra.__file__)", folder=here)
    assert Path(where.strip()).is_relative_to(home)
    assert run(command, "--version", folder=here) == f"{palaestra.__version__}\n"
    assert "morpion-5d" in run(command, "games", folder=here)
    assert "fast: 0.04" in run(command, "settings", "learn.lr", folder=here)  # presets
    game = "gdl:tic_tac_toe-3x3"  # a rulesheet of the package
    run(command, "match", game, "random", "random", "--games", "2", folder=here)
    uct = "uct(simulations=20)"
    run(command, "match", "tic_tac_toe", uct, "random", "--games", "2", "--pgn", "games.pgn", folder=here)
    run(command, "review", "games.pgn", "--number", "1", "--player", uct, "--out", "review.html", folder=here)
    sets = [word for text in SMALL for word in ("--set", text)]
    run(command, "train", "tic_tac_toe", "--out", "mine", "--iterations", "1", "--threads", "1", *sets, folder=here)
    run(command, "report", "mine", folder=here)
    for page in (here / "review.html", here / "runs" / "mine" / "report.html"):
        text = page.read_text(encoding="utf-8")
        assert "<style>" in text and "<script" in text, "the page holds its css and js"
