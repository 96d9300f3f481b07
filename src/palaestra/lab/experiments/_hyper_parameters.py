"""What the experiments of chapter 3 share: values of hyper-parameters, arms, runs, time (sources: sweep of Ch3).

The values stand in `lab/spaces`, where `palaestra sweep` finds them too. Arms carry the printed ones; a scale replaces
them by smaller ones in the same proportions. A run of 75 iterations holds the networks of 25 and 50 bit for bit,
because nothing in these settings looks at the end of a run; so arms that differ in I alone share one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, cast

import numpy as np

from palaestra.lab.data import Data, Row, Value
from palaestra.lab.experiment import Arm, Claim, Verdict
from palaestra.lab.sweep_space import load_space
from palaestra.learn.settings import flatten

if TYPE_CHECKING:
    from palaestra.lab.jobs import Job, Store, Train
    from palaestra.lab.plan import Plan
    from palaestra.learn.config import RunConfig
    from palaestra.runs.metrics import Lines

PRESET, GAME = "thesis", "othello-6x6"
SYMBOLS = {
    "iterations": "I",
    "selfplay.games": "E",
    "selfplay.temperature_moves": "T′",
    "selfplay.search.simulations": "m",
    "selfplay.search.c_puct": "c",
    "learn.window": "rs",
    "learn.epochs": "ep",
    "learn.batch": "bs",
    "learn.lr": "lr",
    "learn.dropout": "d",
    "gate.games": "n",
    "gate.threshold": "u",
}
LEAST, USUAL, MOST = "min", "default", "max"
QUIET = ("evaluation.every=0", "evaluation.anchors=[]")  # strength is measured when runs are finished
LAST = 5  # iterations whose mean loss is the one that a run ends with
TRAINING = 3  # questions to the network that learning from one sample costs: forwards once, and twice as much backwards
SECONDS, WORK = "seconds", "work"


@dataclass(frozen=True)
class Parameter:
    """A hyper-parameter: its symbol, the settings that it is, and its three printed values."""

    symbol: str
    settings: tuple[str, ...]
    values: tuple[int | float, ...]

    def sets(self, value: int | float) -> tuple[str, ...]:
        """A value as texts for --set."""
        return tuple(f"{setting}={value}" for setting in self.settings)


@cache
def parameters(space: str) -> tuple[Parameter, ...]:
    """The hyper-parameters of `thesis-3.4` or `thesis-3.5`, in the order of the thesis."""
    return tuple(
        Parameter(
            SYMBOLS[one.name], one.settings, tuple(value for value in one.choices if isinstance(value, int | float))
        )
        for one in load_space(space).parameters
    )


def instead(space: str, smaller: Mapping[str, tuple[int | float, ...]]) -> dict[str, str]:
    """What a scale replaces, from three smaller values for some symbols."""
    return {
        before: after
        for one in parameters(space)
        for old, new in zip(one.values, smaller.get(one.symbol, one.values), strict=True)
        for before, after in zip(one.sets(old), one.sets(new), strict=True)
    }


def make_arm(name: str, space: str, levels: Mapping[str, int], shares: bool, *sets: str) -> Arm:
    """An arm with every hyper-parameter at a level (0, 1, 2); `shares`: it is the beginning of the longest run."""
    chosen = [text for one in parameters(space) for text in one.sets(one.values[levels[one.symbol]])]
    longest = next(one for one in parameters(space) if one.symbol == "I")
    values: dict[str, Value] = {symbol: level + 1 for symbol, level in levels.items()} if shares else {}
    values |= {"run": longest.sets(max(longest.values))[0]} if shares else {}
    return Arm(name, GAME, (*QUIET, *sets, *chosen), values)


def trained(plan: Plan, arm: Arm, seed: int) -> tuple[Train, int]:
    """The run that holds an arm, and how many of its iterations are the arm's."""
    own = plan.run(PRESET, arm, seed)
    assert own.config.iterations is not None
    if "run" not in arm.values:
        return own, own.config.iterations
    longest = str(arm.values["run"])
    end = plan.scale.instead.get(longest, longest)
    longer = replace(arm, name=f"{arm.name}, to the longest end", sets=(*arm.sets, end))
    return plan.run(PRESET, longer, seed), own.config.iterations


def chosen_values(config: RunConfig, iterations: int, space: str) -> dict[str, Value]:
    """Symbol -> the value that a run has. T′ is the first move that is not drawn."""
    flat = cast("dict[str, float]", {**flatten(config), "iterations": iterations})  # the symbols are numbers
    return {one.symbol: flat[one.settings[0]] + (one.symbol == "T′") for one in parameters(space)}


@dataclass(frozen=True)
class Stretches:
    """The beginnings of runs that are the arms'; `read` turns their lines into rows, with the values of symbols."""

    space: str
    read: Callable[[Lines, RunConfig], Iterable[Row]]
    name: str = "curve"
    trains = True

    def jobs(self, plan: Plan) -> Iterable[Job]:
        return (trained(plan, arm, seed)[0] for arm, seed in plan.each())

    def rows(self, plan: Plan, store: Store) -> Iterable[Row]:
        for arm, seed in plan.each():
            job, iterations = trained(plan, arm, seed)
            own = {"game": arm.game, "arm": arm.name, "seed": seed, **chosen_values(job.config, iterations, self.space)}
            for row in self.read(store.lines(job)[:iterations], job.config):
                yield {**own, **row}


def read_loss(lines: Lines, config: RunConfig) -> list[Row]:
    """The loss of every iteration's last epoch."""
    return [{"iteration": line.iteration, "loss": line.losses.sum} for line in lines]


def read_epochs(lines: Lines, config: RunConfig) -> list[Row]:
    """The loss of every epoch; `at` is the time in iterations."""
    return [
        {"iteration": line.iteration, "epoch": epoch, "at": line.iteration - 1 + epoch / len(all), "loss": losses.sum}
        for line in lines
        for all in [line.losses_by_epoch]
        for epoch, losses in enumerate(all, start=1)
    ]


def read_totals(lines: Lines, config: RunConfig) -> list[Row]:
    """One row: the loss at the end, and the time: seconds of the stages of Eq. 3.2, and counts that no machine changes.

    Work counts questions to the network: one a simulation, TRAINING a sample. Moves of the arena are not written down;
    its games are taken to be as long as those of self-play.
    """
    losses = [line.losses.sum for line in lines[-LAST:] if line.losses.sum is not None]
    simulations = sum(line.simulations for line in lines)
    arena = sum(
        (line.gate.games or 0) * line.mean_plies * (config.gate.simulations or 0) for line in lines if line.gate
    )
    samples = config.learn.batch * sum(line.steps for line in lines)
    selfplay, training, gate = (
        _seconds([line.seconds.by_stage()[stage] for line in lines]) for stage in ("selfplay", "training", "gate")
    )
    return [
        {
            "loss": float(np.mean(losses)) if losses else None,
            "selfplay_seconds": selfplay,
            "training_seconds": training,
            "arena_seconds": gate,
            SECONDS: selfplay + training + gate,
            "selfplay_work": simulations,
            "training_work": TRAINING * samples,
            "arena_work": round(arena),
            WORK: simulations + TRAINING * samples + round(arena),
        }
    ]


def _seconds(by_iteration: list[float]) -> float:
    """The seconds of a stage. The first iteration also compiles and loads code: it counts no more than the second."""
    return sum(by_iteration[1:], min(by_iteration[:2], default=0.0))


def by_both(text: str, check: Callable[[Data, str], Verdict], *, ours: bool = False) -> Claim:
    """A claim about time: decided where seconds, which other programs disturb, and work agree."""

    def both(data: Data) -> Verdict:
        clock, work = check(data, SECONDS), check(data, WORK)
        words = f"{clock.what}, in seconds; in work {work.estimate}"
        if clock.answer == work.answer:
            return Verdict(clock.answer, clock.estimate, words)
        return Verdict.open(f"{words}, which {work.answer if work.answer != 'open' else 'leaves it open'}",
                            clock.estimate)  # fmt: skip

    return Claim(text, both, ours=ours)
