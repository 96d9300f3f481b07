from __future__ import annotations

import numpy as np
import pytest

from palaestra.lab.tabular_plots import curves_figure
from palaestra.learn.tabular import Curve


def test_no_bar_of_a_win_rate_ends_beyond_a_hundred_percent_or_below_none() -> None:
    rates = np.array([[1.0, 0.2], [0.9, 0.0]])  # of two repeats, whose intervals are wide
    curve = Curve(np.array([10, 20]), rates, rates)
    (bars,) = curves_figure({"here": {"Q": curve}}, {}).axes[0].collections
    ends = np.concatenate([path.vertices[:, 1] for path in bars.get_paths()])
    assert (ends.min(), ends.max()) == (pytest.approx(0.0), pytest.approx(100.0))
