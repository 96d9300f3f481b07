"""Figures 2.2 to 2.7 of the thesis: small runs."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.base.errors import ConfigError
from palaestra.lab.chapter_2 import FIGURES, LENGTHS, TIC, ceilings_of, matches_of, run_figure
from palaestra.lab.tabular_plots import curves_figure, finals_figure
from palaestra.learn.tabular import Curve


def test_every_figure_plays_one_and_a_half_times_the_published_lengths() -> None:
    lengths = {name: [series.l for series in FIGURES[name]] for name in FIGURES}
    assert lengths["figure-2.2"] == 3 * [30_000]
    assert lengths["figure-2.4"] == [30_000, 50_000, 80_000]
    assert lengths["figure-2.5"] == 3 * [50_000]
    assert lengths["figure-2.6"] == lengths["figure-2.7"] == sorted(2 * LENGTHS)
    for name, all_series in FIGURES.items():
        configs = [series.config(1.0) for series in all_series]
        assert [config.matches for config in configs] == [1.5 * l for l in lengths[name]]
        assert [config.horizon for config in configs] == lengths[name]
        assert matches_of(name, 2, 1.0) == 3 * sum(lengths[name])


def test_a_fixed_epsilon_is_zero_in_the_end_as_the_decaying_one() -> None:
    decaying, low, high = (series.config(0.01).epsilons() for series in FIGURES["figure-2.2"])
    assert (decaying[0], low[0], high[0]) == (0.5, 0.1, 0.2)
    assert (decaying[150], low[150], high[150]) == (pytest.approx(0.3536, abs=1e-4), 0.1, 0.2)
    assert decaying[-1] == low[-1] == high[-1] == 0.0


def test_a_figure_runs_every_series_as_often_as_asked_and_tells_of_its_matches() -> None:
    told: list[tuple[str, int]] = []
    measured = list(run_figure("figure-2.3", 2, seed=1, scale=0.01, heard=lambda what, n: told.append((what, n))))
    assert [one.series for one in measured] == list(FIGURES["figure-2.3"])
    assert [one.config.learner for one in measured] == ["q", "td"]
    assert all(one.curve.rates.shape == (2, 15) and one.finals.shape == one.so_far.shape == (2,) for one in measured)
    assert sum(n for _, n in told) == matches_of("figure-2.3", 2, 0.01) == 1800
    assert all(one.states > 100 for one in measured)


def test_ceilings_are_known_for_the_small_games_only() -> None:
    assert ceilings_of("figure-2.2") == {TIC: pytest.approx(0.980, abs=5e-4)}


def test_pictures_have_a_panel_a_title_and_the_ceiling() -> None:
    curves = {one.series.label: one.curve for one in run_figure("figure-2.3", 2, scale=0.005)}
    figure = curves_figure({"here": curves, "there": curves}, {"here": {"best": 0.98}}, {"here": 150})
    assert [axes.get_title() for axes in figure.axes] == ["here", "there"]
    labels = [[text.get_text() for text in axes.get_legend().get_texts()] for axes in figure.axes]
    assert sorted(labels[0]) == sorted([*labels[1], "best 98.0 %"])
    finals = {"Q": {l: curve.rates[:, -1] for l, curve in zip((5, 9), curves.values(), strict=True)}}
    axes = finals_figure(finals, {"best": 0.98}).axes[0]
    assert axes.get_xlim()[0] < 5 and axes.get_xlim()[1] > 9


def test_no_bar_of_a_win_rate_ends_beyond_a_hundred_percent_or_below_none() -> None:
    rates = np.array([[1.0, 0.2], [0.9, 0.0]])  # of two repeats, whose intervals are wide
    curve = Curve(np.array([10, 20]), rates, rates)
    (bars,) = curves_figure({"here": {"Q": curve}}, {}).axes[0].collections
    ends = np.concatenate([path.vertices[:, 1] for path in bars.get_paths()])
    assert (ends.min(), ends.max()) == (pytest.approx(0.0), pytest.approx(100.0))


def test_a_figure_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"figure-2\.9.*known: figure-2\.2"):
        next(run_figure("figure-2.9"))
