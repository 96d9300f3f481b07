"""Scores over time, from journals."""

from __future__ import annotations

import numpy as np
import pytest

from palaestra.lab.solo_plots import best_so_far, mean_of_best, scores_over_time, time_in_words
from palaestra.lab.solve_folder import About, Entry, Journal


def journal(player: str, *ends: tuple[float, int], seed: int = 0) -> Journal:
    made = Journal(About("morpion-5d", 1, player, seed, "", 1))
    for number, (seconds, score) in enumerate(ends):
        made.add(Entry(number, 1, {score: 1, 3: 2}, seconds, 1.0))
    return made


def test_the_best_so_far_never_falls() -> None:
    times, best = best_so_far(journal("a", (1.0, 50), (2.0, 70), (4.0, 60), (3.0, 65)))
    assert times.tolist() == [1.0, 2.0, 3.0, 4.0] and best.tolist() == [50, 70, 70, 70]


def test_the_mean_is_taken_where_all_seeds_have_a_score() -> None:
    one, other = journal("a", (1.0, 50), (3.0, 60), (9.0, 80)), journal("a", (2.0, 70), (5.0, 74))
    at, mean = mean_of_best([best_so_far(one), best_so_far(other)])
    assert at.tolist() == [2.0, 3.0, 5.0]
    assert mean.tolist() == [(50 + 70) / 2, (60 + 70) / 2, (60 + 74) / 2]


def test_a_player_is_a_colour_and_a_journal_a_line() -> None:
    seeds = [journal("nrpa(level=2)", (1.0, 60 + seed), (5.0, 66), seed=seed) for seed in range(3)]
    figure = scores_over_time([*seeds, journal("random", (0.0, 40), (7.0, 50)), journal("empty")])
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["nrpa(level=2), 3 seeds", "random"]
    lines = axes.get_lines()
    assert len(lines) == 4 + 2  # three seeds and their mean; a line and its dots
    assert len({line.get_color() for line in lines[:4]}) == 1 and lines[3].get_color() != lines[4].get_color()
    assert np.min(lines[4].get_xdata()) > 0  # time is drawn in powers
    assert axes.get_ylabel() == "best score so far, morpion-5d"


def test_nothing_found_yet_is_an_empty_picture() -> None:
    assert scores_over_time([journal("a")]).axes[0].get_lines() == []


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.03, "30 ms"), (3.0, "3 s"), (60.0, "1 min"), (600.0, "10 min"), (36000.0, "10 h"), (86400.0, "1 d")],
)
def test_times_are_written_as_people_say_them(seconds: float, words: str) -> None:
    assert time_in_words(seconds) == words
