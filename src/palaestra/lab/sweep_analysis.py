"""What a sweep says: Elo of all trials by one fit, the Pareto front, rank correlations, interactions, importances.

Numbers have 95 % intervals where the data give them. Functions of outcomes and a space alone: no file, no database.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from palaestra.arena.ratings import RatingConfig, Results, rate
from palaestra.arena.statistics import student_95
from palaestra.base.types import Float64s
from palaestra.lab.statistics import spearman
from palaestra.lab.sweep_space import Parameter, Space
from palaestra.lab.sweep_trial import COMPLETE, Outcome, trial_name

PRIOR = 0.5  # virtual draws: trials are spread widely, and a larger prior would pull them together
FEWEST = 4  # trials for a correlation


@dataclass(frozen=True)
class Elo:
    """A rating with its 95 % interval; the anchor's is 0."""

    elo: float
    low: float
    high: float


@dataclass(frozen=True)
class Correlation:
    """Spearman's rank correlation of a parameter with an objective."""

    parameter: str
    objective: str
    rho: float
    low: float
    high: float
    trials: int

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Interaction:
    """How much more an objective changes with one parameter where another is larger, both by a standard deviation."""

    one: str
    other: str
    objective: str
    effect: float
    low: float
    high: float


def elos(outcomes: Sequence[Outcome], anchors: Sequence[str]) -> dict[int, Elo]:
    """Of every finished trial, by one fit over all matches; the first anchor has 0."""
    played = [outcome for outcome in outcomes if outcome.state == COMPLETE and outcome.matches]
    if not played:
        return {}
    games = [game for outcome in played for game in _games(outcome)]
    names = {name for pair in games for name in pair[:2]}
    anchor = next((text for text in anchors if text in names), None)
    config = RatingConfig(prior=PRIOR, anchor=None if anchor is None else (anchor, 0.0))
    ratings = rate(Results.count(games), config)
    rows = zip(ratings.players, ratings.elo, ratings.plus, ratings.minus, strict=True)
    by_name = {name: Elo(float(elo), float(elo - minus), float(elo + plus)) for name, elo, plus, minus in rows}
    return {outcome.number: by_name[trial_name(outcome.number)] for outcome in played}


def _games(outcome: Outcome) -> list[tuple[str, str, float]]:
    own, games = trial_name(outcome.number), list[tuple[str, str, float]]()
    for match in outcome.matches:
        for count, points in zip(match.first, (1.0, 0.5, 0.0), strict=True):
            games += [(own, match.against, points)] * count
        for count, points in zip(match.second, (0.0, 0.5, 1.0), strict=True):
            games += [(match.against, own, points)] * count
    return games


def measured(outcomes: Sequence[Outcome], anchors: Sequence[str]) -> dict[str, dict[int, float]]:
    """objective -> trial -> value, of finished trials."""
    done = [outcome for outcome in outcomes if outcome.state == COMPLETE]
    return {
        "elo": {number: elo.elo for number, elo in elos(done, anchors).items()},
        "minutes": {outcome.number: outcome.minutes for outcome in done},
        "loss": {outcome.number: outcome.loss for outcome in done if outcome.loss is not None},
    }


def correlations(space: Space, outcomes: Sequence[Outcome], anchors: Sequence[str]) -> list[Correlation]:
    """Of every parameter with every objective that was measured."""
    values, found = measured(outcomes, anchors), list[Correlation]()
    for parameter in space.parameters:
        for objective, by_trial in values.items():
            rows = _rows(parameter, outcomes, by_trial)
            if len(rows) >= FEWEST and all(len(set(column)) > 1 for column in zip(*rows, strict=True)):
                rho = spearman(*map(list, zip(*rows, strict=True)))
                low, high = rho.interval or (-1.0, 1.0)
                found.append(Correlation(parameter.name, objective, rho.value, low, high, len(rows)))
    return found


def interactions(
    space: Space, outcomes: Sequence[Outcome], anchors: Sequence[str], objective: str
) -> list[Interaction]:
    """Products of two parameters in a linear model of an objective, the clearest first; none if trials are too few.

    Parameters are in standard deviations, those on a logarithmic range by their logarithms.
    """
    by_trial = measured(outcomes, anchors)[objective]
    done = [outcome for outcome in outcomes if outcome.number in by_trial]
    varied = [one for one in space.parameters if len({outcome.values[one.name] for outcome in done}) > 1]
    pairs = [(i, j) for i in range(len(varied)) for j in range(i)]
    freedom = len(done) - 1 - len(varied) - len(pairs)
    if freedom < 2 or not pairs:
        return []
    columns = [_standard([_scaled(one, outcome) for outcome in done]) for one in varied]
    products = [columns[i] * columns[j] for i, j in pairs]
    design = np.column_stack([np.ones(len(done)), *columns, *products])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return []
    target = np.array([by_trial[outcome.number] for outcome in done])
    solved = np.linalg.lstsq(design, target, rcond=None)[0]
    variance = float(((target - design @ solved) ** 2).sum()) / freedom
    errors = np.sqrt(np.maximum(variance * np.diagonal(np.linalg.inv(design.T @ design)), 0.0))
    reach, first = student_95(freedom), 1 + len(varied)
    found = [
        Interaction(
            varied[i].name, varied[j].name, objective, float(solved[first + k]),
            float(solved[first + k] - reach * errors[first + k]), float(solved[first + k] + reach * errors[first + k]),
        )
        for k, (i, j) in enumerate(pairs)
    ]  # fmt: skip
    return sorted(found, key=lambda one: -abs(one.effect) / max(one.high - one.low, 1e-12))


def importances(space: Space, outcomes: Sequence[Outcome], anchors: Sequence[str], objective: str) -> dict[str, float]:
    """Share of an objective's variance that each parameter explains (fANOVA), largest first; {} of too few trials."""
    import optuna

    from palaestra.lab.sweep_design import distribution

    by_trial = measured(outcomes, anchors)[objective]
    done = [outcome for outcome in outcomes if outcome.number in by_trial]
    if len(done) < FEWEST or len({by_trial[outcome.number] for outcome in done}) < 2:
        return {}
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    distributions = {parameter.name: distribution(parameter) for parameter in space.parameters}
    study = optuna.create_study()
    for outcome in done:
        values: dict[str, Any] = dict(outcome.values)
        value = by_trial[outcome.number]
        study.add_trial(optuna.create_trial(value=value, params=values, distributions=distributions))
    evaluator = optuna.importance.FanovaImportanceEvaluator(seed=0)
    shares = optuna.importance.get_param_importances(study, evaluator=evaluator)
    return {name: float(share) for name, share in shares.items()}


def _rows(parameter: Parameter, outcomes: Sequence[Outcome], by_trial: dict[int, float]) -> list[tuple[float, float]]:
    return [
        (parameter.number(outcome.values[parameter.name]), by_trial[outcome.number])
        for outcome in outcomes
        if outcome.number in by_trial
    ]


def _scaled(parameter: Parameter, outcome: Outcome) -> float:
    number = parameter.number(outcome.values[parameter.name])
    return math.log(number) if parameter.log else number


def _standard(values: Sequence[float]) -> Float64s:
    column = np.array(values)
    return np.asarray((column - column.mean()) / column.std())
