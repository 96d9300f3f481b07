"""The runs of an experiment: each in a folder of its own, begun, gone on with or only read, as needed.

So an experiment of hours can be stopped at any time and goes on when its command is given again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from palaestra.errors import ConfigError, RunError
from palaestra.learn.config import RunConfig
from palaestra.learn.events import Listener, Metrics
from palaestra.learn.folder import CONFIG, RunFolder
from palaestra.learn.loop import resume, train
from palaestra.learn.settings import flatten, make_config

MAY_DIFFER = ("iterations", "minutes", "threads")  # between what an experiment asks for and what a folder holds
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


def trained(folder: Path, config: RunConfig, listeners: Iterable[Listener] = ()) -> list[Metrics]:
    """The lines of metrics of the run in this folder, up to the end that `config` sets.

    RunError if the folder holds a run with other settings.
    """
    home = RunFolder(folder)
    if not (folder / CONFIG).is_file():
        train(config, folder, listeners)
    else:
        refuse_other_settings(home, config)
        manifest = home.manifest()  # none if it was killed before its first checkpoint
        if manifest is None or not _reached(config, manifest.iteration, manifest.seconds):
            resume(folder, iterations=config.iterations, minutes=config.minutes, listeners=listeners)
    manifest = home.manifest()
    assert manifest is not None  # the run has been begun, or RunError was raised
    return list(home.metrics(manifest)[: config.iterations])


def refuse_other_settings(home: RunFolder, config: RunConfig) -> None:
    """RunError if the run in a folder is not the one that is asked for."""
    written = make_config({key: value for key, value in home.config().items() if key not in ("about", "history")})
    there, wanted = flatten(written), flatten(config)
    for key, value in wanted.items():
        if key not in MAY_DIFFER and there[key] != value:
            raise RunError(
                f"{home} holds a run with {key} {there[key]}, not {value}; choose another folder for this experiment,"
                " for example --folder runs/again"
            )


def _reached(config: RunConfig, iteration: int, seconds: float) -> bool:
    """Whether a run is as long as is asked for."""
    by_iterations = config.iterations is not None and iteration >= config.iterations
    return by_iterations or (config.minutes is not None and seconds >= 60 * config.minutes)
