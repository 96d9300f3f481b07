"""How long jobs take on this machine: by the model of a run's time, by a short trial of a call, never by guessing.

What was measured is remembered in a file of the user's own, as the model's measurements are (`learn/speed_memory`).
Without a listener nothing is measured, and what is not remembered is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from palaestra.base.compiling import clock
from palaestra.base.errors import ConfigError, PalaestraError
from palaestra.base.jit import cache_root
from palaestra.base.own_files import NotOwn, read_own
from palaestra.base.reading import parse_json
from palaestra.lab.jobs import Call, Job, Train
from palaestra.learn.config import RunConfig
from palaestra.learn.growth import sizes, with_net
from palaestra.learn.near_speeds import IDLE, Together
from palaestra.learn.speed_memory import FOLDER, machine_digest, write_memory
from palaestra.learn.time_model import Speeds, estimate, learned_games

if TYPE_CHECKING:
    from palaestra.learn.calibration import MeasureListener


class _Unknown(Exception):
    """Nobody has measured it, and nothing is to be measured now."""


class Costs:
    """The seconds of jobs; jobs that differ in their seed alone cost the same."""

    def __init__(self, listen: MeasureListener | None = None) -> None:
        self._listen = listen
        self._runs: dict[str, float | None] = {}
        self._pairings: dict[tuple[object, ...], float] = {}
        self._known: dict[str, Speeds] = {}
        self._together = Together()
        self._path = _memory_file()
        self._trials = _read(self._path)

    def seconds(self, job: Job) -> float | None:
        """Of one job from its beginning to its end, alone on its core; None where that is not known."""
        try:
            return self._train(job) if isinstance(job, Train) else self._call(job)
        except (_Unknown, PalaestraError):  # what cannot be done at all is told of when it is done
            return None

    def total(self, jobs: Sequence[Job]) -> float | None:
        """Of all of them after each other; None if one of them is not known."""
        total = 0.0
        for job in jobs:
            if (seconds := self.seconds(job)) is None:
                return None
            total += seconds
        return total

    def _train(self, job: Train) -> float | None:
        config = job.config.model_copy(update={"seed": 0})
        if config.minutes is not None and config.iterations is None:
            return 60 * config.minutes
        name = config.model_dump_json()
        if name not in self._runs:
            try:
                if config.minutes is None:
                    self._refuse_unmeasured(config)
                speeds, *grown = (self._speeds(with_net(config, net)) for net in sizes(config))
                self._runs[name] = estimate(config, speeds, grown=grown).total
            except ConfigError:  # of games for one player the model says nothing
                self._runs[name] = None if config.minutes is None else 60 * config.minutes
        return self._runs[name]

    def _call(self, job: Call) -> float | None:
        if "minutes" in job.arguments:
            return 60 * float(job.arguments["minutes"] or 0)
        if job.needs and {"games", "simulations"} <= job.arguments.keys():
            return self._pairing(job)
        if job.trial is None:
            return 0.0
        if self._listen is None and not self._trials:
            raise _Unknown
        trial = Call(job.function, {**job.trial.arguments, "seed": 0}, units=job.trial.units)
        if trial.key not in self._trials:
            self._measure(str(trial))
            began = clock()
            list(trial.function(**trial.arguments))
            self._trials[trial.key] = clock() - began
            write_memory(self._path, self._trials)
        return self._trials[trial.key] * job.units / trial.units

    def _pairing(self, job: Call) -> float:
        """A match of networks: both sides as the network of the first run; a player without a network takes less."""
        games, simulations = (int(job.arguments[name] or 0) for name in ("games", "simulations"))
        beside = 1 if job.batch is None else job.batch.beside  # on one table, with larger calls of the network
        place = (job.needs[0].same, games, simulations, beside)
        if place not in self._pairings:
            self._pairings[place] = self._match(job.needs[0].config, games, simulations, beside)
        return self._pairings[place]

    def _match(self, config: RunConfig, games: int, simulations: int, beside: int) -> float:
        self._refuse_unmeasured(config)
        judged = config.model_copy(update={"evaluation": config.evaluation.model_copy(update={"history": 2})})
        speeds = self._speeds(judged)
        assert speeds.match is not None, "evaluation.history has matches"
        drift = speeds.match_course.after(learned_games(config, config.iterations or 0))
        return 2 * speeds.match.match_seconds(speeds.network, simulations, games * beside, drift) / beside

    def _speeds(self, config: RunConfig) -> Speeds:
        from palaestra.learn.calibration import calibrate

        name = config.model_copy(update={"seed": 0}).model_dump_json()
        if name not in self._known:
            old = self._listen is None  # where nothing is measured, what was measured before the code changed will do
            told = partial(self._tell, config)
            self._known[name] = calibrate(config, told, old=old, together=self._together)
        return self._known[name]

    def _refuse_unmeasured(self, config: RunConfig) -> None:
        """What `calibrate` asks for first: where it is not remembered, no game has to be made to find that out."""
        key = {"net": config.net, "device": config.device, "threads": config.threads}
        if self._listen is None and self._together.nearest(IDLE, key, old=True) is None:
            raise _Unknown

    def _tell(self, config: RunConfig, what: str) -> None:
        self._measure(f"{what}, {config.game}, {config.net}")

    def _measure(self, what: str) -> None:
        if self._listen is None:
            raise _Unknown
        self._listen(what)


def _memory_file() -> Path:
    return cache_root() / FOLDER / f"calls-{machine_digest()}.json"  # a trial's key holds the text of its function


def _read(path: Path) -> dict[str, float]:
    try:
        return {str(name): float(seconds) for name, seconds in parse_json(read_own(path)).items()}
    except (OSError, NotOwn, ValueError, TypeError, AttributeError):
        return {}
