"""Where runs are: by name below ./runs, or by their folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from palaestra.base.errors import PlayerError
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import clip
from palaestra.runs.folder import MANIFEST

RUNS = Path("runs")  # where `palaestra train` puts runs by default
TOURNAMENTS, SOLVED, SWEEPS = BESIDE_RUNS = ("tournaments", "solved", "sweeps")  # what pages keep below the runs folder
SWEEP, SWEEP_LOCK, TRIALS = "sweep.toml", ".lock", "trials"  # what makes a folder a sweep; of one under way; its runs
MOST_SHOWN = 12  # names or numbers listed in an error


def find_run(name: str, root: Path = RUNS) -> Path:
    """The folder of a run; a name below `root` is tried before a path. PlayerError lists the runs that there are."""
    try:
        for folder in (root / name, Path(name)):
            if (folder / MANIFEST).is_file():
                return folder
        there = sorted(path.parent.name for path in root.glob(f"*/{MANIFEST}"))
        is_folder = Path(name).is_dir()
    except (OSError, ValueError):  # a name too long for a file system, or with a null byte
        there, is_folder = [], False
    what = f"is a folder but not a run: it has no {MANIFEST}" if is_folder else "is not a run"
    known = f"runs in ./{root}: {listed(there)}" if there else f"there are none in ./{root}"
    what += did_you_mean(name, there)
    raise PlayerError(f"{clip(name)} {what}; {known}; a run is made by: palaestra train GAME --out NAME")


def free_folder(name: str, root: Path = RUNS) -> Path:
    """A folder below `root` that does not exist yet: the name, made fit for a file system, or with -2, -3, … behind."""
    base = fit_for_files(name)
    number = 1
    while (folder := root / (base if number == 1 else f"{base}-{number}")).exists():
        number += 1
    return folder


def fit_for_files(name: str) -> str:
    """A name with which a file or a folder can be called."""
    return "".join(character if character.isalnum() or character in "-_." else "-" for character in name)


def listed(names: Sequence[object]) -> str:
    """Names or numbers with commas between them, those in the middle of many left out."""
    shown = [str(name) for name in names]
    if len(shown) > MOST_SHOWN:
        shown = [*shown[: MOST_SHOWN // 2], "…", *shown[-MOST_SHOWN // 2 :]]
    return ", ".join(shown)
