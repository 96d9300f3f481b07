"""The runs of an experiment: each in a folder of its own, begun, gone on with or only read, as needed.

So an experiment of hours can be stopped at any time and goes on when its command is given again. Several runs learn at
the same time, each in a process of its own: a small network's steps are too short to be shared among threads (the one
of Schmidt et al. takes 5.7 ms a step of 64 positions on one thread, 4.9 on two), while two processes do twice the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from palaestra.base.errors import ConfigError, RunError
from palaestra.learn.config import RunConfig
from palaestra.learn.events import Event, IterationEnded, Listener
from palaestra.learn.loop import resume, train
from palaestra.learn.settings import flatten, make_config
from palaestra.runs.folder import CONFIG, RunFolder
from palaestra.runs.metrics import MetricsLine
from palaestra.work.jobs import Job, report
from palaestra.work.workers import make_workers

MAY_DIFFER = ("iterations", "minutes", "threads")  # between what an experiment asks for and what a folder holds
Bring = Callable[[Path, RunConfig, Iterable[Listener]], object]  # a function of a module, for other processes call it
OWN = ("game", "reward", "seed", "iterations", "minutes", "evaluation.demerits")  # what an experiment itself chooses


def refuse_own_settings(sets: Sequence[str], *others: str) -> None:
    """ConfigError if a `key=value` text changes what the experiment itself chooses: `OWN` and `others`."""
    for text in sets:
        key = text.partition("=")[0].strip()
        if key in (*OWN, *others):
            raise ConfigError(
                f"{key} is what this experiment itself chooses, so that --set {text} would make its table wrong;"
                " --set changes other settings, for example --set learn.lr=0.01"
            )


def trained(folder: Path, config: RunConfig, listeners: Iterable[Listener] = ()) -> list[MetricsLine]:
    """The lines of metrics of the run in this folder, up to the end that `config` sets.

    RunError if the folder holds a run with other settings.
    """
    home = RunFolder(folder)
    if not (folder / CONFIG).is_file():
        train(config, folder, listeners)
    else:
        refuse_other_settings(home, config)
        if _share(folder, config) < 1.0:
            resume(
                folder,
                iterations=config.iterations,
                minutes=config.minutes,
                game=config.game,
                listeners=listeners,
            )
    manifest = home.manifest()
    assert manifest is not None  # the run has been begun, or RunError was raised
    return list(home.metrics(manifest)[: config.iterations])


def train_side_by_side(
    runs: Mapping[Path, RunConfig], jobs: int, listen: Callable[[float], None], bring: Bring = trained
) -> None:
    """Bring the run of every folder to its end, `jobs` of them at a time.

    `bring` does it for one run; unless given, to the end that its configuration sets. `listen` hears again and again
    how much is done, a whole run counting 1. An interrupt or an error ends all of them, each keeps its last iteration.
    One at a time learns in this process.
    """
    done = {str(folder): _share(folder, config) for folder, config in runs.items()}
    work = [Job(str(folder), _bring_one, (bring, folder, config)) for folder, config in runs.items()]

    def heard(job: Job, share: float, words: str = "") -> None:
        done[job.key] = share
        listen(sum(done.values()))

    with make_workers("here" if jobs == 1 else f"processes:{jobs}") as workers:
        for job, _ in workers.run(work, heard):
            heard(job, 1.0)


def _bring_one(bring: Bring, folder: Path, config: RunConfig) -> None:
    def heard(event: Event) -> None:
        if isinstance(event, IterationEnded):
            report(_share(folder, config))

    bring(folder, config, [heard])


def _share(folder: Path, config: RunConfig) -> float:
    """How much of a run is done, from 0 to 1: whichever of its two ends is nearer."""
    manifest = RunFolder(folder).manifest() if (folder / CONFIG).is_file() else None
    if manifest is None:  # not begun, or killed before its first checkpoint
        return 0.0
    by_iterations = manifest.iteration / config.iterations if config.iterations is not None else 0.0
    by_minutes = manifest.seconds / (60 * config.minutes) if config.minutes is not None else 0.0
    return min(1.0, max(by_iterations, by_minutes))


def refuse_other_settings(home: RunFolder, config: RunConfig) -> None:
    """RunError if the run in a folder is not the one that is asked for."""
    written = make_config({key: value for key, value in home.config().items() if key not in ("about", "history")})
    there, wanted = flatten(written), flatten(config)
    for key, value in wanted.items():
        if key not in MAY_DIFFER and there[key] != value:
            raise RunError(
                f"{home} holds a run with {key} {there[key]}, not {value}; choose another folder for this experiment,"
                " for example --out runs/again"
            )
