"""Parameters in Optuna's words, and trials that are known beforehand as one of its samplers.

Optuna's own grid may choose a point twice when trials overlap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial

from palaestra.lab.sweep_space import Parameter


class DesignSampler(BaseSampler):
    """Trial n is point n."""

    def __init__(self, points: Sequence[Mapping[str, Any]]) -> None:
        self.points = points

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        return {}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        return {}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        return self.points[trial.number][param_name]


def distribution(parameter: Parameter) -> BaseDistribution:
    """A parameter as Optuna describes it."""
    if parameter.choices:
        return CategoricalDistribution(parameter.choices)
    if parameter.whole:
        step = 1 if parameter.step is None else round(parameter.step)
        high = parameter.low + (parameter.high - parameter.low) // step * step
        return IntDistribution(round(parameter.low), round(high), log=parameter.log, step=step)
    return FloatDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)
