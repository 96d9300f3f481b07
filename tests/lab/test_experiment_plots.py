"""Figures of experiments: axes that do not make much of nothing, and one legend in the order of the data."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.lab.experiment_plots import ELO_SPAN, curves_figure, estimates_figure
from palaestra.lab.statistics import Estimate


@pytest.mark.parametrize("values", [(65.4, 65.4), (0.0, 3.0), (-400.0, 400.0)])
def test_elo_that_hardly_differs_looks_alike(values: tuple[float, float]) -> None:
    groups = {str(place): {"here": Estimate(value)} for place, value in enumerate(values)}
    curve = (np.array([1.0, 2.0]), np.array([values]))
    for figure in (
        estimates_figure({"board": groups}, "Elo", span=ELO_SPAN),
        curves_figure({"board": {"here": curve}}, "iteration", "Elo", span=ELO_SPAN),
    ):
        low, high = figure.axes[0].get_ylim()
        assert high - low >= ELO_SPAN and low <= min(values) and max(values) <= high


def test_the_legend_names_labels_as_they_come() -> None:
    one = Estimate(1.0, (0.0, 2.0))
    panels = {"a": {"x": {"without": one, "with L1": one}}, "b": {"x": {"without": one, "with L2": one}}}
    figure = estimates_figure(panels, "Elo", published={("a", "x", "without"): 3.0})
    assert [text.get_text() for text in figure.legends[0].texts] == ["without", "with L1", "with L2", "published"]
