"""A sweep: trials that a sampler or a design chooses, done side by side, each told to the study once.

The folder holds `sweep.toml` (what the sweep is), `study.db` or `study.journal` (Optuna's, from which samplers choose)
and `trials/NNNN` (a run) with `trials/NNNN.json` (its outcome). A trial is begun in the study before its run, and told
to it after its outcome is on the disk: killed at any moment, unfinished trials go on under their numbers. Reports read
outcomes alone. If the database is lost, it is made again from them.

Loading runs no code: Optuna keeps JSON in SQLite's tables and in its journal. It unpickles only what its CMA-ES sampler
and its Redis backend keep, and neither is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from palaestra.arena.anchors import ANCHORS
from palaestra.base.atomic import make_folder, write_file
from palaestra.base.errors import ConfigError, RunError
from palaestra.base.locks import lock
from palaestra.base.reading import parse_toml, read_bytes
from palaestra.base.suggest import did_you_mean
from palaestra.base.text import clip
from palaestra.games.registry import make_game
from palaestra.lab.sweep_analysis import elos
from palaestra.lab.sweep_space import Parameter, Space, Value, load_space, parse_space
from palaestra.lab.sweep_trial import (
    COMPLETE,
    FAILED,
    Outcome,
    Task,
    do_trial,
    read_outcome,
    run_folder,
    write_outcome,
)
from palaestra.learn.config import RunConfig
from palaestra.learn.config_check import trainable
from palaestra.learn.settings import as_settings, flatten, make_config
from palaestra.learn.toml import dump_toml
from palaestra.players.registry import make_player
from palaestra.runs.folder import CONFIG, RunFolder
from palaestra.runs.places import SWEEP, SWEEP_LOCK, TRIALS
from palaestra.work.jobs import Job
from palaestra.work.workers import Kind, make_workers

if TYPE_CHECKING:
    from optuna.samplers import BaseSampler
    from optuna.study import Study
    from optuna.trial import Trial

OBJECTIVES = {"elo": "maximize", "minutes": "minimize", "loss": "minimize"}
SAMPLERS = ("tpe", "nsga2", "random", "grid")
STORAGES = ("sqlite", "journal")
ABOUT, LOCK = SWEEP, SWEEP_LOCK
HEADER = "A sweep of Palaestra. The same command goes on with it; palaestra sweep --report FOLDER shows it."

SweepListener = Callable[[int, int, float, str], None]  # trials done, in all, share of those under way, words


@dataclass(frozen=True)
class Plan:
    """What a sweep is; all of it must be the same when it goes on."""

    space: Space
    base: RunConfig
    objectives: tuple[str, ...]
    sampler: str
    storage: str = "sqlite"
    anchors: tuple[str, ...] = ANCHORS
    games: int = 40  # against each opponent
    simulations: int = 100  # a move, in those games
    prune: bool = False

    def __post_init__(self) -> None:
        for kind, given, known in (
            ("objective", self.objectives, tuple(OBJECTIVES)),
            ("sampler", (self.sampler,), (*SAMPLERS, "design")),
            ("storage", (self.storage,), STORAGES),
        ):
            for name in given:
                if name not in known:
                    raise ConfigError(
                        f"unknown {kind} {clip(name)}{did_you_mean(name, known)}; known: {', '.join(known)}"
                    )
        if not self.objectives or len(set(self.objectives)) < len(self.objectives):
            raise ConfigError("name each objective once, for example --objectives elo,minutes")
        if self.games < 2 or self.games % 2:
            raise ConfigError(f"--games is {self.games}: pairs need an even number such as 40")
        if self.prune and not (self.base.evaluation.every and self.base.evaluation.anchors):
            raise ConfigError("--prune looks at evaluations during a run: set evaluation.every, for example to 5")

    @property
    def points(self) -> list[dict[str, Value]] | None:
        """The trials, where they are known beforehand."""
        if self.sampler == "design":
            return self.space.points(self.base)
        return self.space.grid() if self.sampler == "grid" else None

    def config(self, values: Mapping[str, Value]) -> RunConfig:
        """The settings of a trial's run; without pruning nothing is evaluated during it."""
        config = self.space.config(self.base, values)
        if self.prune:
            return config
        evaluation = config.evaluation.model_copy(update={"anchors": (), "every": 0, "history": 0})
        return config.model_copy(update={"evaluation": evaluation})

    def text(self) -> str:
        """As TOML."""
        table: dict[str, Any] = {
            "objectives": list(self.objectives),
            "sampler": self.sampler,
            "storage": self.storage,
            "anchors": list(self.anchors),
            "games": self.games,
            "simulations": self.simulations,
            "prune": self.prune,
            "space_name": self.space.name,
            "space": self.space.text,
            "base": as_settings(self.base),
        }
        return dump_toml(table, {}, HEADER)


def make_plan(
    game: str, space: str, objectives: Sequence[str], sampler: str | None, preset: str | None, sets: Sequence[str],
    ends: Mapping[str, Any], **others: Any,
) -> Plan:  # fmt: skip
    """The plan that a command describes; `ends` are iterations, minutes, seed and threads."""
    found = load_space(space)
    if found.design is not None and sampler is not None:
        raise ConfigError(f"{found.name} says itself which trials there are ({found.design}): leave --sampler out")
    chosen = "design" if found.design is not None else sampler or "tpe"
    return Plan(found, found.base(game, preset, sets, **ends), tuple(objectives), chosen, **others)


def check_players(plan: Plan) -> None:
    """What cannot play is refused before anything is trained."""
    game = trainable(plan.base, make_game(plan.base.game))
    if game.players != 2:
        raise ConfigError(f"{game.id} has one player: a sweep rates agents against each other, as of connect_four-5x5")
    for anchor in plan.anchors:
        make_player(anchor, game)


def read_plan(folder: Path) -> Plan:
    """The plan in a sweep's folder; RunError if it is none."""
    path = folder / ABOUT
    try:
        table = parse_toml(read_bytes(path))
        space = parse_space(str(table["space_name"]), str(table["space"]))
        return Plan(
            space, make_config(table["base"]), tuple(map(str, table["objectives"])), str(table["sampler"]),
            str(table["storage"]), tuple(map(str, table["anchors"])), int(table["games"]), int(table["simulations"]),
            bool(table["prune"]),
        )  # fmt: skip
    except OSError:
        raise RunError(
            f"{folder} is no sweep: it has no {ABOUT}; begin one with palaestra sweep GAME --space fast"
        ) from None
    except (KeyError, TypeError, ValueError, ConfigError) as error:
        raise RunError(f"{path} does not describe a sweep: {clip(str(error))}") from None


def run_sweep(folder: Path, plan: Plan, trials: int | None, who: Kind | str, listen: SweepListener) -> None:
    """Bring the sweep to so many trials in all; the first time, its folder is made."""
    total = count_trials(plan, trials)
    with _own(folder, plan), _Study(folder, plan) as study:
        study.run(total, who, listen)


def count_trials(plan: Plan, trials: int | None) -> int:
    """How many there are to be in all; ConfigError where a design has fewer, or nobody says."""
    points = plan.points
    total = len(points) if points is not None and trials is None else trials or 0
    if points is not None and total > len(points):
        raise ConfigError(f"{plan.space.name} has {len(points)} trials; --trials {trials} are more")
    if total < 1:
        raise ConfigError("say how many trials there are to be in all, for example --trials 40")
    return total


@contextmanager
def _own(folder: Path, plan: Plan) -> Iterator[None]:
    """The folder of this sweep and no other, to oneself."""
    text = plan.text()
    if folder.exists() and not (folder / ABOUT).is_file() and any(folder.iterdir()):
        raise RunError(f"{folder} is there already and is no sweep; choose another --out")
    make_folder(folder / TRIALS)
    handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        lock(handle, folder, RunError)
        if not (folder / ABOUT).is_file():
            write_file(folder / ABOUT, text.encode())
        elif difference := _difference(read_plan(folder), plan):
            raise RunError(
                f"{folder} holds another sweep ({difference}); choose another --out, or give the same settings to go on"
            )
        yield
    finally:
        os.close(handle)


def _difference(there: Plan, wanted: Plan) -> str:
    """In what two sweeps differ; empty where one may go on as the other."""
    for name in ("objectives", "sampler", "storage", "anchors", "games", "simulations", "prune"):
        if getattr(there, name) != getattr(wanted, name):
            return f"{name} {getattr(there, name)} there, {getattr(wanted, name)} here"
    before, now = flatten(there.base), flatten(wanted.base)
    for name in now:
        if name != "threads" and before[name] != now[name]:
            return f"{name} {before[name]} there, {now[name]} here"
    return "" if there.space.parameters == wanted.space.parameters else "another space"


def read_outcomes(folder: Path) -> list[Outcome]:
    """The outcomes of finished trials, by number."""
    numbers = sorted(int(path.stem) for path in (folder / TRIALS).glob("[0-9][0-9][0-9][0-9].json"))
    found = [read_outcome(folder, number) for number in numbers]
    return [outcome for outcome in found if outcome is not None]


class _Study:
    """Optuna's side of a sweep."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.folder, self.plan = folder, plan
        self.outcomes = {outcome.number: outcome for outcome in read_outcomes(folder)}
        from palaestra.lab.sweep_design import distribution

        self.distributions = {parameter.name: distribution(parameter) for parameter in plan.space.parameters}
        path = folder / ("study.db" if plan.storage == "sqlite" else "study.journal")
        try:
            self.storage = _storage(path, plan.storage)
            directions: Any = [OBJECTIVES[name] for name in plan.objectives]
            self.study: Study = optuna.create_study(
                storage=self.storage, study_name="sweep", directions=directions, load_if_exists=True
            )
            if not self.study.get_trials(deepcopy=False):
                self._make_again()
        except Exception as error:  # whatever a damaged file makes of SQLAlchemy and of Optuna
            what = " ".join(str(error).split())
            raise RunError(
                f"{path} is not the database of this sweep ({clip(what)}); the trials are whole: remove it, and it is"
                " made again"
            ) from None

    def __enter__(self) -> _Study:
        return self

    def __exit__(self, *error: object) -> None:
        engine = getattr(self.storage, "engine", None)
        if engine is not None:
            engine.dispose()

    def run(self, total: int, who: Kind | str, listen: SweepListener) -> None:
        shares: dict[str, float] = {}

        def heard(job: Job, share: float, words: str) -> None:
            shares[job.key] = share
            listen(len(self.outcomes), total, sum(shares.values()), words)

        with make_workers(who, folder=self.folder) as workers:
            for job, outcome in workers.run(self._jobs(total), heard):
                shares.pop(job.key, None)
                self.outcomes[outcome.number] = outcome
                self._tell(outcome)
                listen(len(self.outcomes), total, sum(shares.values()), "")

    def _jobs(self, total: int) -> Iterator[Job]:
        """The trials that were begun and not told, then new ones."""
        from optuna.trial import Trial, TrialState

        open_states = (TrialState.RUNNING, TrialState.WAITING)
        for begun in self.study.get_trials(deepcopy=False, states=open_states):
            yield from self._job(Trial(self.study, begun._trial_id))
        while (number := len(self.study.get_trials(deepcopy=False))) < total:
            self.study.sampler = make_sampler(self.plan, number)
            yield from self._job(self.study.ask())

    def _job(self, trial: Trial) -> Iterator[Job]:
        self.study.sampler = make_sampler(self.plan, trial.number)
        values = {parameter.name: suggested(trial, parameter) for parameter in self.plan.space.parameters}
        try:
            config = self.plan.config(values)
        except ConfigError as error:  # values that do not go together
            outcome = Outcome(trial.number, FAILED, values, str(error))
            write_outcome(self.folder, outcome)
            self.outcomes[trial.number] = outcome
            self._tell(outcome)
            return
        done = [self.outcomes[number] for number in sorted(self.outcomes)]
        task = Task(
            trial.number,
            self.folder,
            config,
            values,
            self.plan.anchors,
            rivals(done, self.plan.anchors) if "elo" in self.plan.objectives else (),
            self.plan.games,
            self.plan.simulations,
            tuple(outcome.curve for outcome in done if outcome.state == COMPLETE) if self.plan.prune else None,
        )
        yield Job(f"trial {trial.number}", do_trial, (task,))

    def _tell(self, outcome: Outcome) -> None:
        """Tell the study what a trial came to: its Elo by all matches so far."""
        from optuna.trial import TrialState

        if outcome.state == COMPLETE and (values := self._values(outcome)) is not None:
            self.study.tell(outcome.number, values)
        else:
            self.study.tell(outcome.number, state=TrialState.FAIL if outcome.state != "pruned" else TrialState.PRUNED)

    def _values(self, outcome: Outcome) -> list[float] | None:
        found: dict[str, float | None] = {"minutes": outcome.minutes, "loss": outcome.loss}
        if "elo" in self.plan.objectives:
            found["elo"] = elos(list(self.outcomes.values()), self.plan.anchors)[outcome.number].elo
        values = [found[name] for name in self.plan.objectives]
        known = [value for value in values if value is not None and np.isfinite(value)]
        return known if len(known) == len(values) else None

    def _make_again(self) -> None:
        """Fill an empty study from what the trials left: outcomes, and runs that were begun."""
        from optuna import create_trial
        from optuna.trial import TrialState

        begun = [int(path.name) for path in (self.folder / TRIALS).iterdir() if path.name.isdigit()]
        states = {"pruned": TrialState.PRUNED, FAILED: TrialState.FAIL}
        for number in range(max([-1, *self.outcomes, *begun]) + 1):
            outcome = self.outcomes.get(number)
            told = self._values(outcome) if outcome is not None and outcome.state == COMPLETE else None
            state, values = TrialState.RUNNING, self._begun_with(number)
            if outcome is not None:
                values = dict(outcome.values)
                state = TrialState.COMPLETE if told is not None else states.get(outcome.state, TrialState.FAIL)
            known = {name: self.distributions[name] for name in values}
            self.study.add_trial(create_trial(state=state, values=told, params=values, distributions=known))

    def _begun_with(self, number: int) -> dict[str, Value]:
        """The values of a trial whose run was begun; none if it was not."""
        run = run_folder(self.folder, number)
        if not (run / CONFIG).is_file():
            return {}
        written = {key: value for key, value in RunFolder(run).config().items() if key not in ("about", "history")}
        flat = cast("dict[str, Value]", flatten(make_config(written)))  # what a space varies are single values
        return {name: flat[name] for name in self.distributions}


def rivals(done: Sequence[Outcome], anchors: Sequence[str]) -> tuple[int, ...]:
    """Earlier trials that a new one meets: the best and the middle one so far."""
    rated = elos(done, anchors)
    ranked = sorted(rated, key=lambda number: (-rated[number].elo, number))
    return tuple(sorted({ranked[0], ranked[len(ranked) // 2]})) if ranked else ()


def suggested(trial: Trial, parameter: Parameter) -> Value:
    """The trial's value, chosen now or, in one that was begun before, then."""
    if parameter.choices:
        chosen: Any = trial.suggest_categorical(parameter.name, parameter.choices)
        return chosen
    from palaestra.lab.sweep_design import distribution

    made: Any = distribution(parameter)
    suggest: Any = trial.suggest_int if parameter.whole else trial.suggest_float
    step = {} if parameter.log or made.step is None else {"step": made.step}
    return suggest(parameter.name, made.low, made.high, log=made.log, **step)


def make_sampler(plan: Plan, number: int) -> BaseSampler:
    """The sampler of a trial; its random numbers depend on the seed and the trial's number alone."""
    from optuna.samplers import NSGAIISampler, RandomSampler, TPESampler

    from palaestra.lab.sweep_design import DesignSampler

    seed = int(np.random.SeedSequence([plan.base.seed, number]).generate_state(1)[0])
    if (points := plan.points) is not None:
        return DesignSampler(points)
    if plan.sampler == "nsga2":
        return NSGAIISampler(seed=seed, population_size=20)
    return RandomSampler(seed=seed) if plan.sampler == "random" else TPESampler(seed=seed)


def _storage(path: Path, kind: str) -> Any:
    from optuna.storages import JournalStorage, RDBStorage
    from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

    if kind == "journal":
        return JournalStorage(JournalFileBackend(str(path), lock_obj=JournalFileOpenLock(str(path))))
    return RDBStorage(f"sqlite:///{path.resolve()}")
