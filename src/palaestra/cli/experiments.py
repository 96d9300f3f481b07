"""What the commands of `palaestra reproduce` that train runs have in common: options, folders, how to go on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from palaestra.base.cores import usable_cores

if TYPE_CHECKING:
    from rich.progress import Progress

    from palaestra.lab.trained import Bring
    from palaestra.learn.config import RunConfig

Seeds = Annotated[int, typer.Option("--seeds", min=1, max=1000, help="Runs of every agent.")]
Folder = Annotated[
    str | None,
    typer.Option(
        "--out", metavar="FOLDER", help="Where the runs are kept; below ./runs by default.", show_default=False
    ),
]
Plot = Annotated[
    str | None, typer.Option(metavar="FILE", help=".png or .svg; NAME.svg by default.", show_default=False)
]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1, max=1000, help="Runs that learn at the same time; as many as cores by default.", show_default=False
    ),
]
Minutes = Annotated[float, typer.Option(min=0.001, help="Of every run.")]


def share_cores(jobs: int | None) -> tuple[int, int]:
    """How many runs learn at a time, and the threads of each."""
    jobs = jobs or usable_cores()
    return jobs, max(1, usable_cores() // jobs)


def home_of(folder: str | None, name: str) -> Path:
    """Where an experiment keeps its runs."""
    from palaestra.runs.places import RUNS

    return RUNS / name if folder is None else Path(folder)


def say_how_to_go_on(name: str, kept: str) -> None:
    """To be said when an experiment is interrupted."""
    from palaestra.cli.output import command_name, stderr

    words = f"Stopped; {kept}. To go on: {command_name()} reproduce {name}, with the same options"
    stderr().print(words, markup=False, soft_wrap=True)


def train_runs(name: str, runs: Mapping[Path, RunConfig], jobs: int, bring: Bring | None = None) -> None:
    """Bring all runs of an experiment to their end behind a bar; `bring` as in `train_side_by_side`."""
    from palaestra.lab.trained import train_side_by_side, trained

    with stoppable_bar(name) as bar:
        task = bar.add_task(f"runs, {jobs} at a time", total=len(runs))
        train_side_by_side(runs, jobs, lambda done: bar.update(task, completed=done), bring or trained)


@contextlib.contextmanager
def stoppable_bar(name: str) -> Iterator[Progress]:
    """A bar of an experiment; an interrupt behind it says how to go on."""
    from palaestra.cli.output import progress_bar

    try:
        with progress_bar() as bar:
            yield bar
    except KeyboardInterrupt:
        say_how_to_go_on(name, "every run is kept at its last iteration")
        raise
