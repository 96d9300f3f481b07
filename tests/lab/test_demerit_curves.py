from __future__ import annotations

import numpy as np

from palaestra.lab.demerit_curves import (
    AFTER,
    NEAR,
    first_zero,
    generations_in_words,
    plateau,
    settles,
    waits,
)


def test_the_first_generation_without_demerits_counts_from_one() -> None:
    assert first_zero(np.array([3.0, 0.5, 0.0, 1.0, 0.0])) == 3
    assert first_zero(np.array([1e-9, 1.0])) == 1  # rounding
    assert first_zero(np.array([2.0, 0.01])) is None
    assert first_zero(np.array([2.0, 0.11, 0.01]), most=NEAR) == 3


def test_a_curve_settles_if_four_fifths_of_what_follows_is_zero() -> None:
    def after(zeros: int, length: int = AFTER) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.concatenate([[9.0, 0.0], np.zeros(zeros), np.ones(length - zeros)])

    assert settles(after(24)) is True and settles(after(23)) is False
    assert settles(after(20, 20)) is None, "too few generations follow to say"
    assert settles(np.ones(50)) is False


def test_a_plateau_is_the_longest_flat_stretch_between_the_fall_and_the_first_zero() -> None:
    assert plateau(np.array([16, 12, 8, 7.5, 7.8, 7.2, 3, 1, 0, 5, 5, 5, 5, 5, 5.0])) == 4
    assert plateau(np.array([16, 3, 3, 8, 5, 6, 7.0])) == 4, "within a quarter of the maximum"
    assert plateau(np.array([16, 16.2, 16.1, 16, 16, 6, 1, 0.0])) == 1, "nothing learned yet is no plateau"
    assert plateau(np.array([5.0, 5.0, 5.0])) == 0
    assert plateau(np.array([0.0, 1.0])) == 0
    assert plateau(np.zeros(3)) == 0


def test_a_seed_that_never_comes_to_zero_waits_longer_than_all_generations() -> None:
    assert waits(np.array([[3.0, 0.0, 1.0], [3.0, 2.0, 1.0]])).tolist() == [2.0, 4.0]


def test_generations_are_told_seed_by_seed() -> None:
    curves = np.array([[3.0, 0.0, 1.0], [3.0, 2.0, 0.05]])
    assert generations_in_words(curves) == "2, –" and generations_in_words(curves, NEAR) == "2, 3"
