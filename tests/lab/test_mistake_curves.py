"""Mistakes over the minutes of a run."""

from __future__ import annotations

from palaestra.lab.mistake_curves import Point, by_simulations, halved, mistakes_figure
from palaestra.learn.oracles import ErrorRate


def test_networks_are_those_that_played_at_the_end_at_half_of_the_time_and_so_on() -> None:
    minutes = {1: 1.0, 2: 2.0, 3: 3.5, 5: 6.0, 8: 9.5}
    assert halved(minutes, 10.0, 1) == {8: 9.5}
    assert halved(minutes, 10.0, 4) == {1: 1.0, 2: 2.0, 3: 3.5, 8: 9.5}
    assert halved(minutes, 10.0, 9) == halved(minutes, 10.0, 4), "before the first there is none"
    assert halved({7: 30.0}, 100.0, 2) == {7: 30.0}, "one network may have played for long"
    assert halved({}, 100.0, 3) == {}


def test_a_panel_a_budget_and_a_curve_a_set() -> None:
    def rates(mistakes: int) -> tuple[ErrorRate, ...]:
        return tuple(ErrorRate(name, count, mistakes, 50, 20) for count in (0, 100) for name in ("easy", "hard"))

    points = [Point(1, 0.5, rates(20)), Point(4, 60.0, rates(3))]
    table = by_simulations(points)
    assert list(table) == [0, 100] and [rate.mistakes for rate in table[100]["hard"]] == [20, 3]
    figure = mistakes_figure(points)
    assert [axes.get_title() for axes in figure.axes] == ["network alone", "100 simulations"]
    lines = figure.axes[1].lines
    assert [line.get_label() for line in lines] == ["easy", "hard"]
    assert [list(line.get_ydata()) for line in lines] == [[40.0, 6.0]] * 2
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["0.5", "60"]
