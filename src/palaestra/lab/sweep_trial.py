"""One trial of a sweep: a run, and the matches that say how strong it became. What it came to is one JSON file.

A trial is a job: it can be done in any process, and begun again after a kill, which finds the run's last iteration and,
if there is one, the finished outcome. Knows nothing of samplers and of other trials but the runs it is told to meet.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from palaestra.arena.parallel import Team, play_parallel
from palaestra.base.atomic import write_file
from palaestra.base.errors import DivergedError, RunError
from palaestra.base.reading import parse_json, read_bytes
from palaestra.base.streams import keyed_seeds
from palaestra.games.base import Game
from palaestra.games.registry import make_game
from palaestra.lab.sweep_space import Value
from palaestra.learn.config import RunConfig
from palaestra.learn.events import Event, IterationEnded, Listener
from palaestra.learn.loop import resume, train
from palaestra.learn.running_elo import tally_of_first
from palaestra.players.base import Player
from palaestra.players.registry import make_player
from palaestra.players.runs import make_agent, open_run, playing_search
from palaestra.runs.folder import CONFIG, RunFolder
from palaestra.runs.metrics import MetricsLine
from palaestra.runs.places import TRIALS
from palaestra.work.jobs import report

COMPLETE, PRUNED, FAILED = "complete", "pruned", "failed"
STARTUP = 5  # finished trials before any is stopped early
Curve = tuple[tuple[int, float], ...]  # (iteration, mean score against the anchors)
Tally = tuple[int, int, int]  # wins, draws, losses


@dataclass(frozen=True)
class Encounter:
    """A match of a trial's agent: its results in the games that it began, and in the others."""

    against: str  # an anchor's text, or the name of another trial
    first: Tally
    second: Tally


@dataclass(frozen=True)
class Outcome:
    """What a trial came to."""

    number: int
    state: str
    values: Mapping[str, Value]  # by the parameters' names
    reason: str = ""  # of a trial that failed or was stopped early
    iterations: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)  # of each stage
    loss: float | None = None  # l₊ of the last iteration
    curve: Curve = ()
    matches: tuple[Encounter, ...] = ()

    @property
    def minutes(self) -> float:
        """Of self-play, training and gate (Eq. 3.2); what only watches is not counted."""
        return sum(seconds for stage, seconds in self.seconds.items() if stage != "evaluation") / 60


@dataclass(frozen=True)
class Task:
    """All that a process needs to do a trial."""

    number: int
    folder: Path  # of the sweep
    config: RunConfig
    values: Mapping[str, Value]
    anchors: tuple[str, ...]
    rivals: tuple[int, ...]  # numbers of trials to meet
    games: int  # against each
    simulations: int  # a move
    curves: tuple[Curve, ...] | None  # of finished trials, to be stopped early by; None: never


class _Stopped(Exception):
    """The learning curve lies below the others'."""


def trial_name(number: int) -> str:
    return f"trial {number}"


def run_folder(folder: Path, number: int) -> Path:
    return folder / TRIALS / f"{number:04}"


def outcome_file(folder: Path, number: int) -> Path:
    return folder / TRIALS / f"{number:04}.json"


def do_trial(task: Task) -> Outcome:
    """The trial's outcome: read if it is there, otherwise after training and playing."""
    if (known := read_outcome(task.folder, task.number)) is not None:
        return known
    curve: list[tuple[int, float]] = []

    def heard(event: Event) -> None:
        if not isinstance(event, IterationEnded):
            return
        share = event.iteration / task.config.iterations if task.config.iterations else 0.0
        report(min(0.9, 0.9 * share), f"{trial_name(task.number)}: iteration {event.iteration}")
        if task.curves is not None and (score := _score(event.metrics)) is not None:
            curve.append((event.iteration, score))
            if falls_behind(task.curves, curve):
                raise _Stopped

    state, reason, matches = COMPLETE, "", tuple[Encounter, ...]()
    run = run_folder(task.folder, task.number)
    try:
        lines: Sequence[MetricsLine] = _trained(run, task.config, heard)
        matches = _play(task, run)
    except _Stopped:
        state, reason = PRUNED, f"its score after iteration {curve[-1][0]} was below the median of the trials before"
        lines = _trained_so_far(run)
    except DivergedError as error:
        state, reason, lines = FAILED, str(error), _trained_so_far(run)
    outcome = Outcome(task.number, state, dict(task.values), reason, matches=matches, **_measured(lines))
    write_outcome(task.folder, outcome)
    return outcome


def _trained(run: Path, config: RunConfig, heard: Listener) -> Sequence[MetricsLine]:
    """The lines of the run, which is begun, gone on with or only read."""
    if not (run / CONFIG).is_file():
        return train(config, run, [heard]).metrics
    return resume(run, game=config.game, listeners=[heard]).metrics


def _trained_so_far(run: Path) -> list[MetricsLine]:
    """The lines of a run that did not come to its end."""
    home = RunFolder(run)
    manifest = home.manifest()
    return [] if manifest is None else list(home.metrics(manifest))


def falls_behind(curves: Sequence[Curve], own: Sequence[tuple[int, float]]) -> bool:
    """Whether a trial's best score so far is below the median of finished trials' at the same iteration."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize")
    for curve in curves:
        if curve:
            study.add_trial(optuna.create_trial(value=curve[-1][1], intermediate_values=dict(curve)))
    running = optuna.create_trial(state=optuna.trial.TrialState.RUNNING, intermediate_values=dict(own))
    return optuna.pruners.MedianPruner(n_startup_trials=STARTUP).prune(study, running)


def _score(line: MetricsLine) -> float | None:
    """The mean score against the anchors, where they were met."""
    return sum(met.score for met in line.against) / len(line.against) if line.against else None


def _measured(lines: Sequence[MetricsLine]) -> dict[str, Any]:
    seconds: dict[str, float] = {}
    for line in lines:
        for stage, spent in line.seconds.by_stage().items():
            seconds[stage] = seconds.get(stage, 0.0) + spent
    scores = [(line.iteration, _score(line)) for line in lines]
    return {
        "iterations": len(lines),
        "seconds": seconds,
        "loss": lines[-1].losses.sum if lines else None,
        "curve": tuple((iteration, score) for iteration, score in scores if score is not None),
    }


def _play(task: Task, run: Path) -> tuple[Encounter, ...]:
    """The matches of the trial's agent, from openings that depend on the seed and the opponent alone."""
    game = make_game(task.config.game)
    opponents = [*task.anchors, *map(trial_name, task.rivals)]
    played = []
    for index, against in enumerate(opponents):
        report(0.9 + 0.1 * index / len(opponents), f"{trial_name(task.number)} against {against}")
        teams: list[Team] = []
        for _ in range(task.config.threads):
            other = make_player(against, game) if index < len(task.anchors) else None
            if other is None:
                other = _agent(game, task, task.rivals[index - len(task.anchors)])
            teams.append((_agent(game, task, task.number), other))
        seed = int(keyed_seeds(task.config.seed, task.number, index)[0] >> 1)
        match = play_parallel(game, teams, task.games, seed=seed)
        first = tally_of_first(match)
        whole = (match.wins, match.draws, match.losses)
        second = (whole[0] - first[0], whole[1] - first[1], whole[2] - first[2])
        played.append(Encounter(against, first, second))
    return tuple(played)


def _agent(game: Game, task: Task, number: int) -> Player:
    run = open_run(str(run_folder(task.folder, number)))
    search = playing_search(run.search, task.simulations)
    return make_agent(game, trial_name(number), run.network(run.best), search, reward=run.make_reward(game))


# The file.


def write_outcome(folder: Path, outcome: Outcome) -> None:
    path = outcome_file(folder, outcome.number)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, (json.dumps(asdict(outcome), indent=1) + "\n").encode())


def read_outcome(folder: Path, number: int) -> Outcome | None:
    """The outcome of a trial, or None if it has none yet; RunError if its file is damaged."""
    path = outcome_file(folder, number)
    try:
        data = read_bytes(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    try:
        return _outcome(parse_json(data), number)
    except (KeyError, TypeError, ValueError):
        raise RunError(f"{path} is not the outcome of a trial; remove it, and the trial goes on from its run") from None


def _outcome(table: dict[str, Any], number: int) -> Outcome:
    matches = tuple(
        Encounter(str(one["against"]), _tally(one["first"]), _tally(one["second"])) for one in table["matches"]
    )
    values = {str(key): value for key, value in table["values"].items()}
    if table["number"] != number or table["state"] not in (COMPLETE, PRUNED, FAILED):
        raise ValueError
    if not all(isinstance(value, bool | int | float | str) for value in values.values()):
        raise ValueError
    return Outcome(
        number,
        table["state"],
        values,
        str(table["reason"]),
        int(table["iterations"]),
        {str(stage): float(seconds) for stage, seconds in table["seconds"].items()},
        None if table["loss"] is None else float(table["loss"]),
        tuple((int(iteration), float(score)) for iteration, score in table["curve"]),
        matches,
    )


def _tally(counts: Sequence[Any]) -> Tally:
    wins, draws, losses = (int(count) for count in counts)
    if min(wins, draws, losses) < 0:
        raise ValueError
    return wins, draws, losses
